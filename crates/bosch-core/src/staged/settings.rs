//! [`StagedSettings`]: what a staged search can be told.

use serde::{Deserialize, Serialize};

use crate::error::InvalidInput;
use crate::loss::ones_for_ratio;

/// How hard a layer is to convert, from the scores of the cascade (stage 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerDrop {
    /// What is lost from the unmodified model on: S_full − s_best\[ℓ\] (as the paper is summarised).
    Cumulative,
    /// What this layer adds to the loss, for each converted variable:
    /// (s_best\[ℓ+1\] − s_best\[ℓ\]) / quota, at least 0 (ours).
    Marginal,
}

/// What the layers hold that stage 3 has not reached yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// Nothing converted (the paper).
    Full,
    /// Their masks of stage 1 (ours).
    Cascade,
}

/// Whether every variable is converted alone first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ablation {
    /// If the budget is at least twice the number of variables.
    Auto,
    /// Yes; a budget that does not allow it is refused.
    Always,
    /// No.
    Never,
}

/// Settings of [`search`](super::search). Each has a setter of its name.
///
/// ```
/// use bosch_core::{Ablation, StagedSettings};
///
/// let settings = StagedSettings::new(0.75, 400).seed(7).ablation(Ablation::Never);
/// let text = serde_json::to_string(&settings)?;
/// assert_eq!(serde_json::from_str::<StagedSettings>(&text)?, settings);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagedSettings {
    /// Target fraction of ones, in (0, 1).
    pub ratio: f64,
    /// Evaluations, anchors included.
    pub budget: usize,
    /// Seed of all randomness.
    pub seed: u64,
    /// Weight of the ratio penalty, > 0.
    pub alpha: f64,
    /// Whether every variable is converted alone first.
    pub ablation: Ablation,
    /// How hard a layer is to convert.
    pub drop: LayerDrop,
    /// What the layers hold that stage 3 has not reached yet.
    pub rest: Rest,
    /// Share of the budget for stage 1, in [0, 1].
    pub probe_share: f64,
    /// Share of the budget for stage 3, in [0, 1].
    pub groups_share: f64,
    /// Most variables that stage 3 searches jointly.
    pub chunk: usize,
    /// Masks that are asked for at a time.
    pub batch: usize,
}

impl StagedSettings {
    /// The fewest evaluations of a search: two anchors and one mask.
    pub const LEAST_BUDGET: usize = 3;

    /// The target `ratio` of ones, strictly between no ones and all ones, and the `budget` of
    /// evaluations, at least [`LEAST_BUDGET`](Self::LEAST_BUDGET), anchors included. Checked when
    /// the search starts.
    pub fn new(ratio: f64, budget: usize) -> Self {
        Self {
            ratio,
            budget,
            seed: 0,
            alpha: 10.0,
            ablation: Ablation::Auto,
            drop: LayerDrop::Marginal,
            rest: Rest::Full,
            probe_share: 0.15,
            groups_share: 0.15,
            chunk: 50,
            batch: 1,
        }
    }

    /// The seed of all randomness; 0 at first.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The weight α > 0 of the ratio's penalty in the loss; 10 at first. The search holds the exact
    /// ratio, so that this only shows in reported losses.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Whether every variable is converted alone first; [`Ablation::Auto`] at first.
    pub fn ablation(mut self, ablation: Ablation) -> Self {
        self.ablation = ablation;
        self
    }

    /// The reading of a layer's drop in stage 2; [`LayerDrop::Marginal`] at first.
    pub fn drop(mut self, drop: LayerDrop) -> Self {
        self.drop = drop;
        self
    }

    /// What the layers hold that stage 3 has not reached yet; [`Rest::Full`] at first.
    pub fn rest(mut self, rest: Rest) -> Self {
        self.rest = rest;
        self
    }

    /// The shares, in \[0, 1\] with a sum of at most 1, that stages 1 and 3 get of the budget left
    /// by anchors and ablation; the polish gets the rest. 0.15 and 0.15 at first.
    pub fn shares(mut self, probe: f64, groups: f64) -> Self {
        (self.probe_share, self.groups_share) = (probe, groups);
        self
    }

    /// The most variables that stage 3 searches at once, at least 1; 50 at first.
    pub fn chunk(mut self, variables: usize) -> Self {
        self.chunk = variables;
        self
    }

    /// How many masks a stage asks for at once, at least 1; 1 at first. More use an objective's
    /// `score_batch`, but each proposal then knows less.
    pub fn batch(mut self, masks: usize) -> Self {
        self.batch = masks;
        self
    }

    /// Checks the settings for `dim` variables; the number of ones, in 1..dim.
    pub(super) fn check(&self, dim: usize) -> Result<usize, InvalidInput> {
        let ones = ones_for_ratio(self.ratio, dim)?;
        if ones == 0 || ones >= dim {
            let expected = format!("one that converts 1 to {} of {dim}", dim.saturating_sub(1));
            let found = format!("{}, which converts {ones}", self.ratio);
            return Err(InvalidInput::new("ratio", expected, found));
        }
        let least = match self.ablation {
            Ablation::Always => dim + Self::LEAST_BUDGET,
            _ => Self::LEAST_BUDGET,
        };
        if self.budget < least {
            let expected = format!("at least {least} evaluations");
            return Err(InvalidInput::new("budget", expected, self.budget));
        }
        let (probe, groups) = (self.probe_share, self.groups_share);
        if !(probe >= 0.0 && groups >= 0.0 && probe + groups <= 1.0) {
            let expected = "two numbers in [0, 1] with a sum of at most 1";
            return Err(InvalidInput::new(
                "shares",
                expected,
                format!("{probe} and {groups}"),
            ));
        }
        if self.chunk == 0 || self.batch == 0 {
            let found = format!("{} and {}", self.chunk, self.batch);
            return Err(InvalidInput::new(
                "chunk and batch",
                "at least 1 each",
                found,
            ));
        }
        Ok(ones)
    }

    /// Whether the ablation runs.
    pub(super) fn ablates(&self, dim: usize) -> bool {
        match self.ablation {
            Ablation::Auto => self.budget >= 2 * dim + Self::LEAST_BUDGET,
            Ablation::Always => true,
            Ablation::Never => false,
        }
    }
}
