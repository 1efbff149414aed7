//! How freed variables are set anew.

use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;
use crate::space::Space;

mod advised;
mod random;

pub use advised::RepairAdvised;
pub use random::RepairRandom;

/// Chooses a mask once the destroyed variables are free. Called once for each proposal.
pub trait Repair {
    /// A mask of `open`, in which all variables but the freed ones are fixed.
    fn repair(&mut self, open: &Space, experience: &Experience, rng: &mut Rng) -> Mask;
}
