//! [`DestroyDoubtful`]

use super::{Destroy, both_kinds};
use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;

/// Frees the variables whose value the experience speaks against most, or for least, with noise.
#[derive(Debug, Clone)]
pub struct DestroyDoubtful {
    most: usize,
}

impl DestroyDoubtful {
    /// At most `most` (at least 1) ones, and as many zeros.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1) }
    }
}

impl Destroy for DestroyDoubtful {
    fn destroy(&mut self, mask: &Mask, experience: &Experience, rng: &mut Rng) -> Vec<usize> {
        let unit = experience.unit();
        let support = |(i, bit): (usize, bool)| {
            let advantage = experience.advantage(i);
            let support = if bit { advantage } else { -advantage };
            (support + unit * rng.normal(), i)
        };
        let mut order: Vec<(f64, usize)> = mask.iter().enumerate().map(support).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<usize> = order.into_iter().map(|(_, i)| i).collect();
        both_kinds(mask, 1 + rng.below(self.most), &order)
    }
}
