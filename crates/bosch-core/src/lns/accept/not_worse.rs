//! [`NotWorse`]

use super::Accept;
use crate::rng::Rng;

/// Accepts what is not worse: the hill climber that walks on plateaus.
#[derive(Debug, Clone, Copy)]
pub struct NotWorse;

impl Accept for NotWorse {
    fn accept(&mut self, new: f64, current: f64, _: f64, _: &mut Rng) -> bool {
        new >= current
    }
}
