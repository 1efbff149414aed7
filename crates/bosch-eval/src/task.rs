//! What a benchmark is, to [`evaluate`](crate::evaluate): prompts and how answers are scored.

use crate::{Generation, Prompt, Result};

/// One sample of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What the model is asked.
    pub prompt: Prompt,
    /// How its answer is generated.
    pub generation: Generation,
    /// The right answers; each alone is right, except where the metric wants all.
    pub answers: Vec<String>,
    /// The classes to choose from; empty where there are none.
    pub all_classes: Vec<String>,
    /// The length that the data set gives, in words or characters; for buckets.
    pub length: Option<usize>,
}

/// A benchmark. Implementations are pure: the same index always gives the same item.
pub trait Task {
    /// Name for reports and result files.
    fn name(&self) -> &str;

    /// Number of samples.
    fn samples(&self) -> usize;

    /// Sample `index`, below [`samples`](Self::samples). Called when its turn comes.
    ///
    /// # Errors
    ///
    /// Whatever makes this one sample impossible; the others go on.
    fn item(&self, index: usize) -> Result<Item>;

    /// The score in 0..=1 of a prediction for an item of this task, post-processing included.
    ///
    /// # Errors
    ///
    /// Whatever makes the score undefined; it is recorded, not taken for 0. So is a score outside
    /// 0..=1, NaN for example.
    fn score(&self, item: &Item, prediction: &str) -> Result<f64>;
}
