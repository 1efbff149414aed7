//! [`Gsm8k`]: questions and few-shot examples as a task.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::extract::{Gsm8kFilter, gsm8k_score};
use crate::json_lines::parse_lines;
use crate::{Error, Generation, Item, Prompt, Result, Task};

/// A question with its solution, with the official keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gsm8kQuestion {
    /// The problem.
    pub question: String,
    /// The solution; it ends with `#### ` and the number.
    pub answer: String,
}

/// The questions of an official file of JSON lines; also for the few-shot examples.
///
/// # Errors
///
/// [`Error::Io`], or [`Error::Format`] with the line for what is no question or has a solution
/// without `#### `.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Gsm8kQuestion>> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    parse_lines(&text, path, |question: &Gsm8kQuestion| {
        let missing = !question.answer.contains("#### ");
        missing.then_some("expected \"#### \" in the answer, found none")
    })
}

/// GSM8K as a task: `Question: …` and `Answer: …` for each example, then the question.
pub struct Gsm8k {
    questions: Vec<Gsm8kQuestion>,
    examples: String,
    filter: Gsm8kFilter,
}

impl Gsm8k {
    /// Bound on the generated tokens.
    pub const MAX_NEW_TOKENS: usize = 256;

    /// Questions to ask after the few-shot `examples`, five in lm-evaluation-harness.
    pub fn new(
        questions: Vec<Gsm8kQuestion>,
        examples: &[Gsm8kQuestion],
        filter: Gsm8kFilter,
    ) -> Self {
        let shown =
            |e: &Gsm8kQuestion| format!("Question: {}\nAnswer: {}\n\n", e.question, e.answer);
        Self {
            questions,
            examples: examples.iter().map(shown).collect(),
            filter,
        }
    }
}

impl Task for Gsm8k {
    fn name(&self) -> &str {
        "gsm8k"
    }

    fn samples(&self) -> usize {
        self.questions.len()
    }

    fn item(&self, index: usize) -> Result<Item> {
        let Some(question) = self.questions.get(index) else {
            return Err(Error::input(
                "sample",
                format!("below {}", self.questions.len()),
                index,
            ));
        };
        let text = format!("{}Question: {}\nAnswer:", self.examples, question.question);
        // The next question ends an answer; "=" or a line break would cut a calculation short.
        let stops = ["Question:", "</s>", "<|im_end|>"];
        let generation = stops
            .into_iter()
            .fold(Generation::new(Self::MAX_NEW_TOKENS), Generation::stop);
        Ok(Item {
            prompt: Prompt::Text(text),
            generation,
            answers: vec![question.answer.clone()],
            all_classes: Vec::new(),
            length: None,
        })
    }

    fn score(&self, item: &Item, prediction: &str) -> Result<f64> {
        let right = item
            .answers
            .iter()
            .any(|answer| gsm8k_score(self.filter, prediction, answer));
        Ok(f64::from(u8::from(right)))
    }
}
