//! Needle in a haystack as an objective of a search, in two forms.

use bosch_core::{Mask, Objective, Trial};
use bosch_eval::niah::NiahSample;
use bosch_eval::{Generation, Prompt, Question, string_match_all};
use serde::{Deserialize, Serialize};

use crate::HybridModel;

/// Fewest samples in a portion: fewer say too little of a mask.
const LEAST_PORTION: usize = 4;
/// Masks whose sample scores are kept, beside full attention.
const KEPT_MASKS: usize = 4;

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
///
/// The samples are scored in three portions. A mask that has to beat a rival is given up after a
/// portion on which it is worse by more than half the standard error of the difference; a mask that
/// is only screened is scored on the first portion. Both then get an estimate: the difference on the
/// samples seen, added to the score of the rival, or of full attention. So most samples are spent on
/// the masks that may win.
pub struct NiahObjective<'m, M> {
    model: &'m mut M,
    form: NiahForm,
    portions: Vec<Portion>,
    generation: Generation,
    /// Sample scores of the masks last used, the latest last; of a mask given up, those seen.
    kept: Vec<(Mask, Vec<f64>)>,
}

/// Samples that are scored together.
struct Portion {
    questions: Vec<Question>,
    prompts: Vec<Prompt>,
    references: Vec<Vec<String>>,
}

impl Portion {
    fn new(samples: &[NiahSample]) -> Self {
        Self {
            questions: samples.iter().map(NiahSample::question).collect(),
            prompts: samples.iter().map(NiahSample::prompt).collect(),
            references: samples
                .iter()
                .map(|sample| sample.outputs.clone())
                .collect(),
        }
    }
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
        let portion = samples.len().div_ceil(3).max(LEAST_PORTION);
        Self {
            model,
            form,
            portions: samples.chunks(portion).map(Portion::new).collect(),
            generation: Generation::new(max_new_tokens),
            kept: Vec::new(),
        }
    }

    /// One score for each sample under `mask`, in the samples' order.
    ///
    /// # Errors
    ///
    /// The model's own.
    pub fn sample_scores(&mut self, mask: &Mask) -> Result<Vec<f64>, M::Error> {
        self.first_portions(mask, self.portions.len())
    }

    /// The scores of the samples of the first `count` portions.
    fn first_portions(&mut self, mask: &Mask, count: usize) -> Result<Vec<f64>, M::Error> {
        let known = self.kept.iter().position(|(kept, _)| kept == mask);
        let mut scores = known.map_or_else(Vec::new, |at| self.kept.remove(at).1);
        let wanted: usize = self.portions[..count]
            .iter()
            .map(|p| p.questions.len())
            .sum();
        let mut start = 0;
        for at in 0..count {
            if start >= scores.len() {
                let new = self.portion_scores(mask, at)?;
                scores.extend(new);
            }
            start += self.portions[at].questions.len();
        }
        let first = scores[..wanted.min(scores.len())].to_vec();
        self.keep(mask, scores);
        Ok(first)
    }

    fn keep(&mut self, mask: &Mask, scores: Vec<f64>) {
        let others = self
            .kept
            .iter()
            .filter(|(mask, _)| mask.count_ones() > 0)
            .count();
        if others >= KEPT_MASKS {
            let oldest = self.kept.iter().position(|(mask, _)| mask.count_ones() > 0);
            oldest.map(|at| self.kept.remove(at));
        }
        self.kept.push((mask.clone(), scores));
    }

    fn portion_scores(&mut self, mask: &Mask, at: usize) -> Result<Vec<f64>, M::Error> {
        self.model.apply(mask)?;
        let portion = &self.portions[at];
        match self.form {
            NiahForm::LogProbability => self.model.answer_log_probabilities(&portion.questions),
            NiahForm::ExactMatch => {
                let texts = self.model.generate(&portion.prompts, &self.generation)?;
                let scores = texts.iter().zip(&portion.references);
                Ok(scores
                    .map(|(text, references)| string_match_all(text, references))
                    .collect())
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
        Ok(mean(&self.sample_scores(mask)?))
    }

    fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, M::Error> {
        for count in 1..self.portions.len() {
            let own = self.first_portions(mask, count)?;
            let others = self.first_portions(&rival.mask, count)?;
            let differences: Vec<f64> = own.iter().zip(&others).map(|(a, b)| a - b).collect();
            let difference = mean(&differences);
            if difference + standard_error(&differences) / 2.0 < 0.0 {
                return Ok(rival.score + difference);
            }
        }
        self.score(mask)
    }

    fn estimate(&mut self, mask: &Mask) -> Result<f64, M::Error> {
        if self.portions.len() == 1 {
            return self.score(mask);
        }
        let full = Mask::zeros(mask.len());
        let all = self.sample_scores(&full)?;
        let own = self.first_portions(mask, 1)?;
        Ok(mean(&all) + mean(&own) - mean(&all[..own.len()]))
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of the mean of these values; infinite for a single one, which says nothing of its spread.
fn standard_error(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    match values.len() {
        0 | 1 => f64::INFINITY,
        n => (squares / (n - 1) as f64 / n as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bosch_eval::niah::{Essay, Generator, NiahConfig, Subtask};
    use bosch_eval::{BoxError, TextModel};

    use super::*;
    use crate::Grid;

    /// Every one costs 1 on every sample, and sample i another i / 100.
    struct Counting {
        mask: Mask,
        texts: usize,
    }

    impl TextModel for Counting {
        type Error = Infallible;
        fn generate(&mut self, p: &[Prompt], _: &Generation) -> Result<Vec<String>, Infallible> {
            Ok(vec![String::new(); p.len()])
        }
        fn answer_log_probabilities(&mut self, q: &[Question]) -> Result<Vec<f64>, Infallible> {
            self.texts += q.len();
            let ones = self.mask.count_ones() as f64;
            Ok((0..q.len()).map(|i| -ones - i as f64 / 100.0).collect())
        }
    }

    impl HybridModel for Counting {
        fn grid(&self) -> Grid {
            Grid {
                layers: 2,
                groups: 2,
                query_heads: 2,
                window: 8,
                sinks: 0,
            }
        }
        fn apply(&mut self, mask: &Mask) -> Result<(), Infallible> {
            self.mask = mask.clone();
            Ok(())
        }
    }

    fn samples(count: usize) -> Vec<NiahSample> {
        let words = |prompt: &Prompt| -> Result<usize, BoxError> {
            Ok(prompt.to_text().split_whitespace().count())
        };
        let config = NiahConfig::new(Subtask::Single1, 256);
        Generator::new(config, Essay::built_in())
            .unwrap()
            .samples(&words, count, 1)
            .unwrap()
    }

    #[test]
    fn a_clearly_worse_mask_costs_one_portion_and_a_better_one_all() {
        let mut model = Counting {
            mask: Mask::zeros(4),
            texts: 0,
        };
        let samples = samples(12);
        let mut objective = NiahObjective::new(&mut model, &samples, NiahForm::LogProbability, 8);
        let rival_mask: Mask = "1100".parse().unwrap();
        let rival = Trial {
            score: objective.score(&rival_mask).unwrap(),
            mask: rival_mask,
            number: 1,
            failed: false,
        };
        assert_eq!(objective.model.texts, 12);
        let worse = objective
            .score_against(&"1110".parse().unwrap(), &rival)
            .unwrap();
        assert!((worse - (rival.score - 1.0)).abs() < 1e-12);
        assert_eq!(objective.model.texts, 12 + 4);
        let better = objective
            .score_against(&"1000".parse().unwrap(), &rival)
            .unwrap();
        assert!((better - (rival.score + 1.0)).abs() < 1e-12);
        assert_eq!(objective.model.texts, 12 + 4 + 12);
    }

    #[test]
    fn an_estimate_is_the_difference_to_full_attention_on_one_portion() {
        let mut model = Counting {
            mask: Mask::zeros(4),
            texts: 0,
        };
        let samples = samples(12);
        let mut objective = NiahObjective::new(&mut model, &samples, NiahForm::LogProbability, 8);
        let full = objective.score(&Mask::zeros(4)).unwrap();
        let estimate = objective.estimate(&"0100".parse().unwrap()).unwrap();
        assert!((estimate - (full - 1.0)).abs() < 1e-12);
        assert_eq!(
            objective.model.texts,
            12 + 4,
            "full attention is remembered"
        );
    }

    #[test]
    fn what_is_forgotten_gives_the_same_answer_again() {
        let samples = samples(12);
        let masks: Vec<Mask> = ["1000", "0100", "0010", "0001", "1100"]
            .map(|m| m.parse().unwrap())
            .into();
        let rival = Trial {
            mask: "1111".parse().unwrap(),
            score: -4.015,
            number: 1,
            failed: false,
        };
        let answers = |forget: bool| {
            let mut model = Counting {
                mask: Mask::zeros(4),
                texts: 0,
            };
            let mut objective =
                NiahObjective::new(&mut model, &samples, NiahForm::LogProbability, 8);
            let mut answers = Vec::new();
            for mask in masks.iter().chain(&masks) {
                if forget {
                    objective.kept.clear();
                }
                answers.push(objective.score_against(mask, &rival).unwrap());
            }
            answers
        };
        assert_eq!(answers(true), answers(false));
    }
}
