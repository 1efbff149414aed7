//! [`NiahSample`]: one question, with RULER's JSON keys.

use serde::{Deserialize, Serialize};

use super::assemble::listed;
use super::config::PromptForm;
use crate::{Prompt, Question};

/// One sample. As a JSON line it has RULER's keys, and `depths` and `form` beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NiahSample {
    /// Number of the sample in its set, from 0.
    pub index: usize,
    /// What is told and asked: instruction, haystack with needles, question.
    pub input: String,
    /// The values asked for.
    pub outputs: Vec<String>,
    /// Tokens of the rendered prompt, answer prefix included, and those kept free for the answer.
    pub length: usize,
    /// How the answer begins, the leading space included; part of the prompt.
    pub answer_prefix: String,
    /// For each output the depth of its needle: sentences or lines before it, in percent of all.
    #[serde(default)]
    pub depths: Vec<f64>,
    /// How the prompt is put to the model.
    #[serde(default)]
    pub form: PromptForm,
}

impl NiahSample {
    /// What the model is asked to continue, the answer prefix included.
    pub fn prompt(&self) -> Prompt {
        match self.form {
            PromptForm::Text => Prompt::Text(format!("{}{}", self.input, self.answer_prefix)),
            PromptForm::Chat => Prompt::Chat {
                user: self.input.clone(),
                answer_prefix: self.answer_prefix.trim_start().to_owned(),
            },
        }
    }

    /// The answer as it continues the prompt: `" 1234567"`, or `" 1234567, 2345678, and 3456789"`.
    pub fn answer(&self) -> String {
        format!(" {}", listed(&self.outputs))
    }

    /// Prompt and answer, for scoring by log-probability.
    pub fn question(&self) -> Question {
        Question {
            prompt: self.prompt(),
            answer: self.answer(),
        }
    }
}
