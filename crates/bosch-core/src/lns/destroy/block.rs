//! [`DestroyBlock`]

use super::Destroy;
use crate::blocks::Blocks;
use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;

/// Frees all variables of one random block, and of a second one half of the time.
#[derive(Debug, Clone)]
pub struct DestroyBlock {
    blocks: Blocks,
}

impl DestroyBlock {
    /// Of these blocks.
    pub fn new(blocks: Blocks) -> Self {
        Self { blocks }
    }
}

impl Destroy for DestroyBlock {
    fn destroy(&mut self, mask: &Mask, _: &Experience, rng: &mut Rng) -> Vec<usize> {
        let mut variables: Vec<usize> = self.blocks.range(rng.below(self.blocks.len())).collect();
        if rng.chance(0.5) {
            variables.extend(self.blocks.range(rng.below(self.blocks.len())));
        }
        variables.retain(|&i| i < mask.len());
        variables
    }
}
