//! [`RepairAdvised`]

use super::Repair;
use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;
use crate::space::Space;

/// The values that the experience speaks for, with noise.
#[derive(Debug, Clone, Copy)]
pub struct RepairAdvised;

impl Repair for RepairAdvised {
    fn repair(&mut self, open: &Space, experience: &Experience, rng: &mut Rng) -> Mask {
        let unit = 0.7 * experience.unit();
        let key = |i: usize| experience.advantage(i) + unit * rng.normal();
        let keys: Vec<f64> = (0..open.dim()).map(key).collect();
        open.best_by(&keys).unwrap_or_else(|_| open.random(rng))
    }
}
