//! Whether the search goes on from a new mask.

use crate::rng::Rng;

mod annealing;
mod not_worse;
mod record_to_record;

pub use annealing::Annealing;
pub use not_worse::NotWorse;
pub use record_to_record::RecordToRecord;

/// Decides on each new mask. The best mask is kept in any case.
///
/// ```
/// use bosch_core::Rng;
/// use bosch_core::lns::{Accept, NotWorse, RecordToRecord};
///
/// let mut rng = Rng::stream(1, "example");
/// assert!(!NotWorse.accept(0.8, 0.9, 1.0, &mut rng));
/// assert!(RecordToRecord::new(0.25).accept(0.8, 0.9, 1.0, &mut rng));
/// ```
pub trait Accept {
    /// Whether a mask of score `new` replaces the current one; `best` is the best score so far, `new`
    /// included.
    fn accept(&mut self, new: f64, current: f64, best: f64, rng: &mut Rng) -> bool;
}
