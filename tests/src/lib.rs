//! Helpers shared by the cross-crate tests: a model of which it is known what each group does.

use std::time::Duration;

use bosch::core::Mask;
use bosch::eval::niah::{Essay, Generator, NiahConfig, NiahSample, Subtask};
use bosch::eval::{BoxError, Generation, Prompt, Question, TextModel};
use bosch::{Grid, HybridModel};

/// What a [`PlantedModel`] does wrong, at the evaluation of this number (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Returns its error.
    Error(usize),
    /// Scores NaN.
    Nan(usize),
    /// Panics.
    Panic(usize),
}

/// The error of [`PlantedModel`].
#[derive(Debug, thiserror::Error)]
#[error("the planted model was told to fail")]
pub struct PlantedError;

/// A model without weights: 6 layers of 4 groups. Four groups retrieve; two of them can stand in for
/// each other; converting any other group costs a little, more in higher layers.
pub struct PlantedModel {
    /// The current mask.
    pub mask: Mask,
    /// Evaluations so far.
    pub evaluations: usize,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// What an evaluation takes.
    pub pause: Duration,
}

impl PlantedModel {
    /// The groups whose conversion loses the needle.
    pub const RETRIEVING: [usize; 3] = [5, 10, 19];
    /// Two groups of which one has to stay full.
    pub const EITHER: [usize; 2] = [13, 14];

    /// A model without fault, at full attention.
    pub fn new() -> Self {
        Self {
            mask: Mask::zeros(24),
            evaluations: 0,
            fault: None,
            pause: Duration::ZERO,
        }
    }

    fn log_probability(&self) -> f64 {
        let lost = Self::RETRIEVING
            .iter()
            .filter(|group| self.mask.get(**group))
            .count();
        let both = Self::EITHER.iter().all(|group| self.mask.get(*group));
        let small: f64 = self
            .mask
            .iter_ones()
            .map(|group| 0.002 * (1 + group / 4) as f64)
            .sum();
        -0.1 - 0.8 * lost as f64 - if both { 0.7 } else { 0.0 } - small
    }
}

impl Default for PlantedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl TextModel for PlantedModel {
    type Error = PlantedError;

    fn generate(
        &mut self,
        prompts: &[Prompt],
        _: &Generation,
    ) -> Result<Vec<String>, PlantedError> {
        Ok(vec![String::new(); prompts.len()])
    }

    #[allow(clippy::panic)] // one of the faults that a search has to survive
    fn answer_log_probabilities(
        &mut self,
        questions: &[Question],
    ) -> Result<Vec<f64>, PlantedError> {
        self.evaluations += 1;
        std::thread::sleep(self.pause);
        match self.fault {
            Some(Fault::Error(at)) if at == self.evaluations => Err(PlantedError),
            Some(Fault::Panic(at)) if at == self.evaluations => panic!("told to panic"),
            Some(Fault::Nan(at)) if at == self.evaluations => Ok(vec![f64::NAN; questions.len()]),
            _ => Ok(vec![self.log_probability(); questions.len()]),
        }
    }
}

impl HybridModel for PlantedModel {
    fn grid(&self) -> Grid {
        Grid {
            layers: 6,
            groups: 4,
            query_heads: 8,
            window: 16,
            sinks: 4,
        }
    }

    fn apply(&mut self, mask: &Mask) -> Result<(), PlantedError> {
        self.mask = mask.clone();
        Ok(())
    }
}

/// Three samples, counted in words.
///
/// # Errors
///
/// None in practice: the budget is large enough.
pub fn samples(seed: u64) -> Result<Vec<NiahSample>, bosch::eval::Error> {
    let words = |prompt: &Prompt| -> Result<usize, BoxError> {
        Ok(prompt.to_text().split_whitespace().count())
    };
    let config = NiahConfig::new(Subtask::Single2, 256).new_tokens(16);
    Generator::new(config, Essay::built_in())?.samples(&words, 3, seed)
}

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
