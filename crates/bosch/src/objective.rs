//! Needle in a haystack as an objective of a search, in two forms.

use bosch_core::{Mask, Objective};
use bosch_eval::niah::NiahSample;
use bosch_eval::{Generation, Prompt, Question, string_match_all};
use serde::{Deserialize, Serialize};

use crate::HybridModel;

/// What the score of a mask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NiahForm {
    /// Mean log-probability of the answers' tokens: one forward pass a sample, smooth, at most 0.
    /// The default: it tells masks apart that exact match cannot.
    LogProbability,
    /// Mean of `string_match_all` over greedy generations, in [0, 1]: what the benchmark reports.
    ExactMatch,
}

/// Scores masks of a model on NIAH samples.
pub struct NiahObjective<'m, M> {
    model: &'m mut M,
    form: NiahForm,
    questions: Vec<Question>,
    prompts: Vec<Prompt>,
    references: Vec<Vec<String>>,
    generation: Generation,
}

impl<'m, M: HybridModel> NiahObjective<'m, M> {
    /// An objective over `samples`; `max_new_tokens` bounds the generations of
    /// [`NiahForm::ExactMatch`].
    pub fn new(
        model: &'m mut M,
        samples: &[NiahSample],
        form: NiahForm,
        max_new_tokens: usize,
    ) -> Self {
        Self {
            model,
            form,
            questions: samples.iter().map(NiahSample::question).collect(),
            prompts: samples.iter().map(NiahSample::prompt).collect(),
            references: samples.iter().map(|sample| sample.outputs.clone()).collect(),
            generation: Generation::new(max_new_tokens),
        }
    }

    /// One score for each sample under `mask`, in the samples' order.
    ///
    /// # Errors
    ///
    /// The model's own.
    pub fn sample_scores(&mut self, mask: &Mask) -> Result<Vec<f64>, M::Error> {
        self.model.apply(mask)?;
        match self.form {
            NiahForm::LogProbability => self.model.answer_log_probabilities(&self.questions),
            NiahForm::ExactMatch => {
                let texts = self.model.generate(&self.prompts, &self.generation)?;
                let scores = texts.iter().zip(&self.references);
                Ok(scores.map(|(text, references)| string_match_all(text, references)).collect())
            }
        }
    }
}

impl<M: HybridModel> Objective for NiahObjective<'_, M> {
    type Error = M::Error;

    fn dim(&self) -> usize {
        self.model.grid().dim()
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, M::Error> {
        let scores = self.sample_scores(mask)?;
        Ok(scores.iter().sum::<f64>() / scores.len() as f64)
    }
}
