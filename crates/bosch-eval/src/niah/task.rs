//! [`Niah`]: samples as a task.

use super::sample::NiahSample;
use crate::{Error, Generation, Item, Result, Task, ruler_postprocess, string_match_all};

/// Needle-in-a-haystack samples, scored by `string_match_all`.
pub struct Niah {
    name: String,
    samples: Vec<NiahSample>,
    generation: Generation,
}

impl Niah {
    /// Samples as a task of that name; answers have at most `new_tokens` tokens.
    pub fn new(name: impl Into<String>, samples: Vec<NiahSample>, new_tokens: usize) -> Self {
        Self {
            name: name.into(),
            samples,
            generation: Generation::new(new_tokens),
        }
    }
}

impl Task for Niah {
    fn name(&self) -> &str {
        &self.name
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
        Ok(Item {
            prompt: sample.prompt(),
            generation: self.generation.clone(),
            answers: sample.outputs.clone(),
            all_classes: Vec::new(),
            length: Some(sample.length),
        })
    }

    fn score(&self, item: &Item, prediction: &str) -> Result<f64> {
        Ok(string_match_all(
            &ruler_postprocess(prediction),
            &item.answers,
        ))
    }
}
