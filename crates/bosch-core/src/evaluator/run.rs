//! The state of one run of an evaluator.

use std::collections::HashMap;

use serde_json::Value;

use crate::mask::Mask;
use crate::space::Space;
use crate::trace::{Record, Trace};
use crate::trial::Trial;

/// What a run declares before its first evaluation; [`drive`](crate::drive) shows it in use.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Evaluations that the run may use.
    pub budget: usize,
    /// The seed, for the trace's header.
    pub seed: u64,
    /// The settings, for the trace's header.
    pub settings: Value,
    /// The masks that can be the result; others may be evaluated for what they teach.
    pub admissible: Space,
}

/// The run in progress.
pub(super) struct Run {
    /// The number of the last evaluation that the run may use.
    pub(super) last: usize,
    pub(super) budget: usize,
    pub(super) first: usize,
    pub(super) admissible: Space,
    /// Index of the best admissible trial.
    pub(super) best: Option<usize>,
    pub(super) trace: Option<Trace>,
    /// Evaluations of the trace that were not asked for yet.
    pub(super) recorded: HashMap<Mask, Record>,
}

impl Run {
    /// Finds the best admissible one of all trials.
    pub(super) fn find_best(&mut self, trials: &[Trial]) {
        self.best = None;
        for (at, trial) in trials.iter().enumerate() {
            self.consider(trials, at, trial);
        }
    }

    /// Takes note of a trial; whether it is the best so far.
    pub(super) fn consider(&mut self, trials: &[Trial], at: usize, trial: &Trial) -> bool {
        let best = self.best.map(|best| &trials[best]);
        let better = best.is_none_or(|best| {
            trial.score > best.score || (trial.score == best.score && trial.mask < best.mask)
        });
        let better = better && !trial.failed && self.admissible.contains(&trial.mask);
        let improved = better && best.is_none_or(|best| trial.score > best.score);
        if better {
            self.best = Some(at);
        }
        improved
    }
}
