//! [`Event`]: what an observer sees of a run.

use crate::mask::Mask;

/// One step of a run, in order: `Started`, then for each stage `StageStarted` and its
/// `Evaluated` (each followed by `Improved` if it is the best so far), at last `Finished`.
///
/// An observer is a closure `FnMut(&Event) -> ControlFlow<()>`; on `Break` the run ends after the
/// evaluation in hand, with the best mask so far.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The run begins.
    Started {
        /// Number of variables.
        dim: usize,
        /// Evaluations that the run may use.
        budget: usize,
        /// How many of them a trace already holds. They cost no time: leave them out of a rate.
        recorded: usize,
    },
    /// A part of the search begins.
    StageStarted {
        /// Such as `ablation` or `polish`.
        name: String,
        /// Evaluations that it may use.
        planned: usize,
    },
    /// A mask has got its score.
    Evaluated {
        /// From 1 up to the budget.
        number: usize,
        /// Evaluations that the run may use.
        budget: usize,
        /// The mask.
        mask: Mask,
        /// Its score.
        score: f64,
        /// The best score of an admissible mask so far, this one included; none before the first.
        best: Option<f64>,
        /// Whether the score came from the trace.
        replayed: bool,
    },
    /// The mask just evaluated is admissible and better than all before it.
    Improved {
        /// Its number.
        number: usize,
        /// The mask.
        mask: Mask,
        /// Its score.
        score: f64,
    },
    /// The run has ended.
    Finished {
        /// Evaluations used, the replayed ones included.
        evaluations: usize,
        /// How many of them came from the trace.
        replayed: usize,
        /// The best score of an admissible mask.
        best: Option<f64>,
    },
}
