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
///
/// ```
/// use bosch_core::lns::{Experience, Repair};
/// use bosch_core::{Mask, Rng, Space};
///
/// /// The first free variables become ones.
/// struct RepairFirst;
///
/// impl Repair for RepairFirst {
///     fn repair(&mut self, open: &Space, _: &Experience, rng: &mut Rng) -> Mask {
///         let keys: Vec<f64> = (0..open.dim()).map(|i| -(i as f64)).collect();
///         open.best_by(&keys).unwrap_or_else(|_| open.random(rng))
///     }
/// }
///
/// let open = Space::exactly(5, 2)?.fix(&[(0, false), (4, true)])?;
/// let mut rng = Rng::stream(1, "example");
/// let mask = RepairFirst.repair(&open, &Experience::new(5), &mut rng);
/// assert_eq!(mask.to_string(), "01001");
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
pub trait Repair {
    /// A mask of `open`, in which all variables but the freed ones are fixed.
    fn repair(&mut self, open: &Space, experience: &Experience, rng: &mut Rng) -> Mask;
}
