//! Which variables are set free.

use crate::lns::Experience;
use crate::mask::Mask;
use crate::rng::Rng;

mod block;
mod doubtful;
mod random;

pub use block::DestroyBlock;
pub use doubtful::DestroyDoubtful;
pub use random::DestroyRandom;

/// Chooses the variables that may change in the next proposal. Called once for each proposal.
///
/// ```
/// use bosch_core::lns::{Destroy, Experience};
/// use bosch_core::{Mask, Rng};
///
/// /// Frees a window of neighbours.
/// struct DestroyWindow(usize);
///
/// impl Destroy for DestroyWindow {
///     fn destroy(&mut self, mask: &Mask, _: &Experience, rng: &mut Rng) -> Vec<usize> {
///         let start = rng.below(mask.len());
///         (start..mask.len()).take(self.0).collect()
///     }
/// }
///
/// let (mask, mut rng) = (Mask::zeros(9), Rng::stream(1, "example"));
/// assert!(DestroyWindow(4).destroy(&mask, &Experience::new(9), &mut rng).len() <= 4);
/// ```
pub trait Destroy {
    /// Variables of `mask`, in any order. Where a quota holds, free both ones and zeros: otherwise
    /// nothing can change.
    fn destroy(&mut self, mask: &Mask, experience: &Experience, rng: &mut Rng) -> Vec<usize>;
}

/// Up to `n` ones and up to `n` zeros of a mask, those first that `order` puts first.
fn both_kinds(mask: &Mask, n: usize, order: &[usize]) -> Vec<usize> {
    let of = |bit: bool| {
        order
            .iter()
            .copied()
            .filter(move |&i| mask.get(i) == bit)
            .take(n)
    };
    of(true).chain(of(false)).collect()
}
