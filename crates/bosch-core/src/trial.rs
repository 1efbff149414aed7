//! [`Trial`] and [`CurvePoint`]: what is known of an evaluation.

use serde::{Deserialize, Serialize};

use crate::mask::Mask;

/// One evaluated mask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The mask.
    pub mask: Mask,
    /// Its score; finite, higher is better.
    pub score: f64,
    /// The number of the evaluation, from 1.
    pub number: usize,
    /// Whether the evaluation failed and was skipped; the score is then the worst one before it.
    #[serde(default)]
    pub failed: bool,
}

impl Trial {
    /// A trial that did not fail.
    pub fn new(mask: Mask, score: f64, number: usize) -> Self {
        Self {
            mask,
            score,
            number,
            failed: false,
        }
    }

    /// Whether a solver of `dim` variables can learn from it.
    pub(crate) fn is_usable(&self, dim: usize) -> bool {
        self.mask.len() == dim && self.score.is_finite()
    }
}

/// One evaluation in the course of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// From 1.
    pub number: usize,
    /// The score of the mask evaluated, admissible or not.
    pub score: f64,
    /// The best score of an admissible mask so far; none before the first.
    pub best: Option<f64>,
}
