//! The main job: from a model and calibration samples to a [`Selection`].

use std::ops::ControlFlow;
use std::path::PathBuf;

use bosch_core::{Blocks, Error, Evaluator, Event, InvalidInput, Outcome, StagedSettings, staged};
use bosch_eval::niah::NiahSample;
use serde_json::json;

use crate::{HybridModel, NiahForm, NiahObjective, Provenance, Selection};

/// How [`select_heads`] searches.
#[derive(Clone, Debug)]
pub struct SelectSettings {
    /// Ratio, budget, seed and the settings of the stages.
    pub search: StagedSettings,
    /// What is maximised on the calibration samples.
    pub form: NiahForm,
    /// Bound on the generated tokens of a sample, for [`NiahForm::ExactMatch`].
    pub max_new_tokens: usize,
    /// Name of the model: part of the trace's header, so that a trace of another model is refused,
    /// and of the selection's provenance.
    pub model: String,
    /// File that every evaluation is written to; a search started again with the same settings and
    /// samples goes on from it. `None` keeps nothing.
    pub trace: Option<PathBuf>,
}

impl SelectSettings {
    /// Log-probabilities as the score, generations of at most 128 tokens, no trace.
    pub fn new(model: impl Into<String>, search: StagedSettings) -> Self {
        Self {
            search,
            form: NiahForm::LogProbability,
            max_new_tokens: 128,
            model: model.into(),
            trace: None,
        }
    }
}

/// A finished search.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The mask and where it came from.
    pub selection: Selection,
    /// The anchors, the curve and the account of the stages.
    pub outcome: Outcome,
}

/// Chooses the KV groups of `model` that become sliding-window attention: the mask of exactly
/// `round(ratio · N)` ones that scores best on `samples`.
///
/// `observer` hears of every step and may stop the search; what was found until then is returned.
///
/// # Errors
///
/// [`Error`], with the model's own error inside: no samples or impossible settings, anchors that
/// are equal, a model that fails, panics or scores NaN, a trace of another search. What was
/// evaluated before is in the trace.
pub fn select_heads<M: HybridModel>(
    model: &mut M,
    samples: &[NiahSample],
    settings: &SelectSettings,
    observer: impl FnMut(&Event) -> ControlFlow<()>,
) -> Result<Selected, Error<M::Error>> {
    if samples.is_empty() {
        return Err(InvalidInput::new("samples", "at least one", "none").into());
    }
    let grid = model.grid();
    let blocks = Blocks::uniform(grid.layers, grid.groups)?;
    let objective = NiahObjective::new(model, samples, settings.form, settings.max_new_tokens);
    let mut evaluator = Evaluator::new(objective).with_observer(observer);
    if let Some(path) = &settings.trace {
        let context = json!({
            "model": settings.model,
            "grid": grid,
            "form": settings.form,
            "samples": { "count": samples.len(), "fingerprint": fingerprint(samples) },
        });
        evaluator = evaluator.with_trace(path, context);
    }
    let outcome = staged::search(&mut evaluator, &blocks, &settings.search)?;
    let provenance = Provenance {
        method: "bosch".into(),
        model: Some(settings.model.clone()),
        objective: Some(format!("{:?} on {} NIAH samples", settings.form, samples.len())),
        seed: Some(settings.search.seed),
        evaluations: Some(outcome.evaluations),
        score: Some(outcome.score),
        score_full: Some(outcome.anchors.full),
        score_all_swa: Some(outcome.anchors.all),
    };
    let selection = Selection::new(grid, outcome.mask.clone(), provenance)
        .map_err(|error| InvalidInput::new("grid", "a grid that fits the mask", error))?;
    Ok(Selected { selection, outcome })
}

/// FNV-1a over the prompts and answers, so that a trace of other samples is refused.
fn fingerprint(samples: &[NiahSample]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for sample in samples {
        let question = sample.question();
        for byte in format!("{:?}\0{}\0", question.prompt, question.answer).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}
