//! [`Outcome`]: what a search found, and how it got there.

use serde::{Deserialize, Serialize};

use crate::loss::Anchors;
use crate::mask::Mask;
use crate::trial::CurvePoint;

/// The result of a staged search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The best mask with exactly the wanted number of ones.
    pub mask: Mask,
    /// Its score.
    pub score: f64,
    /// Its loss, see [`RatioPenalty`](crate::RatioPenalty).
    pub loss: f64,
    /// The scores of the two extreme masks.
    pub anchors: Anchors,
    /// Evaluations used, the replayed ones included.
    pub evaluations: usize,
    /// How many of them came from the trace.
    pub replayed: usize,
    /// Whether the observer stopped the search early.
    pub stopped: bool,
    /// One point for each evaluation.
    pub curve: Vec<CurvePoint>,
    /// What each stage did, in order. Stages that the budget did not allow are missing.
    pub stages: Vec<StageReport>,
}

/// What one stage did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// `anchors`, `ablation`, `probe`, `groups` or `polish`.
    pub name: String,
    /// Evaluations that it used.
    pub evaluations: usize,
    /// The best score of an admissible mask at its end; none if there was none yet.
    pub best: Option<f64>,
}
