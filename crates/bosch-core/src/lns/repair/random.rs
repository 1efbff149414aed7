//! [`RepairRandom`]

use super::Repair;
use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;
use crate::space::Space;

/// Any admissible values, each with the same chance.
#[derive(Debug, Clone, Copy)]
pub struct RepairRandom;

impl Repair for RepairRandom {
    fn repair(&mut self, open: &Space, _: &Experience, rng: &mut Rng) -> Mask {
        open.random(rng)
    }
}
