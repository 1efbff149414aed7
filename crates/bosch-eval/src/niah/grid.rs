//! [`NiahGrid`]: scores by depth and length, the data of the well-known heat map.

use serde::{Deserialize, Serialize};

use super::config::{Depth, NiahConfig};
use super::essay::Essay;
use super::generator::Generator;
use crate::{
    Error, Generation, Prompt, Result, TextModel, TokenCounter, ruler_postprocess, string_match_all,
};

/// Which cells a grid has, and how many samples each.
#[derive(Clone, Debug, PartialEq)]
pub struct GridSettings {
    /// Budgets in tokens, one a column.
    pub lengths: Vec<usize>,
    /// Depths of the asked needles in percent, one a row.
    pub depths: Vec<f64>,
    /// Samples a cell, at least 1.
    pub samples: usize,
    /// Seed of all samples.
    pub seed: u64,
}

/// Scores by depth and length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NiahGrid {
    /// Budgets in tokens, one a column.
    pub lengths: Vec<usize>,
    /// Depths in percent, one a row.
    pub depths: Vec<f64>,
    /// Mean `string_match_all` in 0..=1, `scores[row][column]`.
    pub scores: Vec<Vec<f64>>,
}

impl NiahGrid {
    /// Measures a model; `progress` hears of each finished cell: row, column, score.
    ///
    /// The samples of a row differ from those of the others in the depth alone.
    ///
    /// # Errors
    ///
    /// Those of [`Generator`], and [`Error::Model`] for the model's own or for a wrong number of
    /// texts.
    pub fn measure<M: TextModel>(
        model: &mut M,
        (config, essay): (&NiahConfig, &Essay),
        counter: &impl TokenCounter,
        settings: &GridSettings,
        mut progress: impl FnMut(usize, usize, f64),
    ) -> Result<Self> {
        if settings.samples == 0 {
            return Err(Error::input("GridSettings::samples", "at least 1", 0));
        }
        let mut scores = vec![vec![0.0; settings.lengths.len()]; settings.depths.len()];
        for (row, &depth) in settings.depths.iter().enumerate() {
            for (column, &max_tokens) in settings.lengths.iter().enumerate() {
                let config = NiahConfig {
                    max_tokens,
                    depth: Depth::Percent(depth),
                    ..config.clone()
                };
                let generator = Generator::new(config, essay.clone())?;
                let score = cell(model, &generator, counter, settings)?;
                scores[row][column] = score;
                progress(row, column, score);
            }
        }
        Ok(Self {
            lengths: settings.lengths.clone(),
            depths: settings.depths.clone(),
            scores,
        })
    }
}

fn cell<M: TextModel>(
    model: &mut M,
    generator: &Generator,
    counter: &impl TokenCounter,
    settings: &GridSettings,
) -> Result<f64> {
    let samples = generator.samples(counter, settings.samples, settings.seed)?;
    let prompts: Vec<Prompt> = samples.iter().map(|sample| sample.prompt()).collect();
    let generation = Generation::new(generator.config().new_tokens);
    let texts = model
        .generate(&prompts, &generation)
        .map_err(|e| Error::Model(Box::new(e)))?;
    if texts.len() != samples.len() {
        let problem = format!("expected {} texts, found {}", samples.len(), texts.len());
        return Err(Error::Model(problem.into()));
    }
    let scores = texts
        .iter()
        .zip(&samples)
        .map(|(text, sample)| string_match_all(&ruler_postprocess(text), &sample.outputs));
    Ok(scores.sum::<f64>() / samples.len() as f64)
}
