//! The same test samples under several masks: the table that says whether a choice is good.

use bosch_core::Mask;
use bosch_eval::niah::NiahSample;

use crate::objective::mean;
use crate::{HybridModel, NiahForm, NiahObjective, kv_bytes};

/// What [`compare_masks`] needs to know besides the model.
#[derive(Clone, Copy, Debug)]
pub struct CompareSettings {
    /// Bound on the generated tokens of a sample.
    pub max_new_tokens: usize,
    /// Head dimension, for the KV bytes.
    pub head_dim: usize,
    /// Sequence length at which the KV bytes are counted.
    pub tokens: usize,
    /// Bytes of a cached element: 4 for float32, 2 for bfloat16.
    pub element_bytes: usize,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the method.
    pub method: String,
    /// Its mask.
    pub mask: Mask,
    /// Mean answer log-probability of each sample.
    pub log_probabilities: Vec<f64>,
    /// `string_match_all` of each sample, in [0, 1].
    pub matches: Vec<f64>,
    /// Bytes of the KV cache at the length of the settings.
    pub kv_bytes: u64,
}

impl Row {
    /// Mean answer log-probability over the samples; higher is better.
    #[must_use]
    pub fn score(&self) -> f64 {
        mean(&self.log_probabilities)
    }

    /// Mean `string_match_all` over the samples, in [0, 1].
    #[must_use]
    pub fn exact_match(&self) -> f64 {
        mean(&self.matches)
    }
}

/// Evaluates each named mask on `samples` in both forms; `progress` hears of each finished row.
///
/// # Errors
///
/// The model's own.
pub fn compare_masks<M: HybridModel>(
    model: &mut M,
    methods: &[(String, Mask)],
    samples: &[NiahSample],
    settings: &CompareSettings,
    mut progress: impl FnMut(&Row),
) -> Result<Vec<Row>, M::Error> {
    let grid = model.grid();
    let mut rows = Vec::with_capacity(methods.len());
    for (method, mask) in methods {
        let mut scores = |form| {
            NiahObjective::new(model, samples, form, settings.max_new_tokens).sample_scores(mask)
        };
        let row = Row {
            method: method.clone(),
            mask: mask.clone(),
            log_probabilities: scores(NiahForm::LogProbability)?,
            matches: scores(NiahForm::ExactMatch)?,
            kv_bytes: kv_bytes(
                &grid,
                mask,
                settings.head_dim,
                settings.tokens,
                settings.element_bytes,
            ),
        };
        progress(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// The rows as a Markdown table: method, windows, score, exact match, KV bytes and their share of
/// the full cache (the first row's).
#[must_use]
pub fn markdown_table(rows: &[Row]) -> String {
    let mut table = String::from(
        "| method | windows | score (mean ln p) | exact match | KV bytes | of the first row |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    let first = rows.first().map_or(1, |row| row.kv_bytes.max(1));
    for row in rows {
        table += &format!(
            "| {} | {} | {:.3} | {:.2} | {} | {:.0} % |\n",
            row.method,
            row.mask.count_ones(),
            row.score(),
            row.exact_match(),
            row.kv_bytes,
            100.0 * row.kv_bytes as f64 / first as f64,
        );
    }
    table
}
