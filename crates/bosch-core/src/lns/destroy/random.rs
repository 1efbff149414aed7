//! [`DestroyRandom`]

use super::{Destroy, both_kinds};
use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;

/// Frees between one and `most` ones, and as many zeros, at random.
#[derive(Debug, Clone)]
pub struct DestroyRandom {
    most: usize,
}

impl DestroyRandom {
    /// At most `most` (at least 1) of each kind.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1) }
    }
}

impl Destroy for DestroyRandom {
    fn destroy(&mut self, mask: &Mask, _: &Experience, rng: &mut Rng) -> Vec<usize> {
        let mut order: Vec<usize> = (0..mask.len()).collect();
        rng.shuffle(&mut order);
        both_kinds(mask, 1 + rng.below(self.most), &order)
    }
}
