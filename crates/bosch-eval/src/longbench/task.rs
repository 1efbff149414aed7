//! [`LongBench`]: a data set as a task for [`evaluate`](crate::evaluate).

use super::prompt::Templates;
use super::read::LongBenchSample;
use super::table::Dataset;
use super::truncate::{Tokenizer, truncate_middle};
use crate::text::first_line;
use crate::{Error, Generation, Item, Metric, Prompt, Result, Task};

/// One of the 21 data sets, ready to be asked.
pub struct LongBench<'a> {
    dataset: &'static Dataset,
    samples: Vec<LongBenchSample>,
    templates: Templates,
    truncation: Option<(&'a dyn Tokenizer, usize)>,
}

impl<'a> LongBench<'a> {
    /// The samples of a data set with the templates of their prompts, not truncated.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if there is no template for the data set.
    pub fn new(
        dataset: &'static Dataset,
        samples: Vec<LongBenchSample>,
        templates: Templates,
    ) -> Result<Self> {
        if templates.get(dataset.name).is_none() {
            return Err(Error::input(
                "templates",
                format!("one for {}", dataset.name),
                "none",
            ));
        }
        Ok(Self {
            dataset,
            samples,
            templates,
            truncation: None,
        })
    }

    /// Truncates prompts so that they fit into a model of `context` tokens together with the new
    /// tokens of this data set and the `reserved` ones of a chat template.
    ///
    /// # Errors
    ///
    /// [`Error::Budget`] if that leaves less than two tokens for the prompt.
    pub fn truncate(
        mut self,
        tokenizer: &'a dyn Tokenizer,
        context: usize,
        reserved: usize,
    ) -> Result<Self> {
        let taken = self.dataset.max_new_tokens.saturating_add(reserved);
        match context.checked_sub(taken) {
            Some(budget) if budget >= 2 => {
                self.truncation = Some((tokenizer, budget));
                Ok(self)
            }
            _ => Err(Error::Budget {
                what: self.dataset.name.to_owned(),
                budget: context,
                needed: taken.saturating_add(2),
            }),
        }
    }
}

impl Task for LongBench<'_> {
    fn name(&self) -> &str {
        self.dataset.name
    }

    fn samples(&self) -> usize {
        self.samples.len()
    }

    fn item(&self, index: usize) -> Result<Item> {
        let Some(sample) = self.samples.get(index) else {
            return Err(Error::input(
                "sample",
                format!("below {}", self.samples.len()),
                index,
            ));
        };
        let mut text = self.templates.render(self.dataset.name, sample)?;
        if let Some((tokenizer, budget)) = self.truncation {
            text = truncate_middle(&text, budget, tokenizer)?;
        }
        let prompt = if self.dataset.is_chat() {
            Prompt::Chat {
                user: text,
                answer_prefix: String::new(),
            }
        } else {
            Prompt::Text(text)
        };
        let mut generation = Generation::new(self.dataset.max_new_tokens);
        if self.dataset.stops_at_newline() {
            generation = generation.stop("\n").min_new_tokens(1);
        }
        Ok(Item {
            prompt,
            generation,
            answers: sample.answers.clone(),
            all_classes: sample.all_classes.clone(),
            length: Some(sample.length),
        })
    }

    fn score(&self, item: &Item, prediction: &str) -> Result<f64> {
        score_sample(self.dataset, prediction, &item.answers, &item.all_classes)
    }
}

/// The score of one prediction as `eval.py` has it: first line where only that counts, then the
/// greatest over the answers. In 0..=1.
pub(crate) fn score_sample(
    dataset: &Dataset,
    prediction: &str,
    answers: &[String],
    all_classes: &[String],
) -> Result<f64> {
    if dataset.metric == Metric::Classification && all_classes.is_empty() {
        // The official code raises on null; on an empty list every answer would be wrong.
        return Err(Error::input("all_classes", "a list of classes", "none"));
    }
    let prediction = if dataset.first_line_only() {
        first_line(prediction)
    } else {
        prediction
    };
    dataset.metric.score(prediction, answers, all_classes)
}
