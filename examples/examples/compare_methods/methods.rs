//! The methods by name, and their masks.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use bosch::attn::{Gate, Method, Ranking};
use bosch::core::{Evaluator, Event, Mask, Plan, Space, StagedSettings, ones_for_ratio};
use bosch::eval::Question;
use bosch::eval::niah::NiahSample;
use bosch::{
    DecoderModel, HybridModel, LayerBaseline, NiahForm, NiahObjective, SelectSettings, select_heads,
};
use serde_json::json;

use crate::{Arguments, Fault};

/// A mask and what it cost to find.
pub struct Candidate {
    pub mask: Mask,
    pub evaluations: usize,
    pub layer_evaluations: f64,
    pub seconds: f64,
}

const OURS: &str = "bosch";
const ABLATION: &str = "single-group ablation";

/// The static rankings, under the paper's names.
const STATIC: [(&str, Method); 7] = [
    ("DCAM", Method::AttentionMass),
    ("APL", Method::AnswerLag),
    ("PROXY", Method::Pooled),
    ("QADA", Method::Gaussian),
    ("RAZOR", Method::Repeats { seed: 1 }),
    ("FISHER gate", Method::Fisher(Gate::Output)),
    ("FISHER mix", Method::Fisher(Gate::Mix)),
];

/// All methods in the order of the table.
pub fn names(seeds: u64) -> Vec<String> {
    let random = (1..=seeds).map(|seed| format!("RAND layers, seed {seed}"));
    let layers = ["INTR layers", "BME layers"].map(str::to_owned);
    let rankings = STATIC.map(|(name, _)| name.to_owned());
    let searched = [ABLATION, OURS].map(str::to_owned);
    random
        .chain(layers)
        .chain(rankings)
        .chain(searched)
        .collect()
}

/// The mask of a method at a ratio.
pub fn candidate(
    name: &str,
    ratio: f64,
    model: &mut DecoderModel,
    calibration: &[NiahSample],
    arguments: &Arguments,
) -> Result<Candidate, Fault> {
    let (started, before) = (Instant::now(), model.layer_evaluations().done);
    let grid = model.grid();
    let ones = ones_for_ratio(ratio, grid.dim())?;
    let output = &arguments.output;
    let (mask, evaluations) = if let Some(seed) = name.strip_prefix("RAND layers, seed ") {
        (LayerBaseline::Random(seed.parse()?).mask(&grid, ratio)?, 0)
    } else if let Some(&(_, method)) = STATIC.iter().find(|(known, _)| *known == name) {
        let path = output.join(format!("ranking {name}.json"));
        (static_mask(&path, method, ones, model, calibration)?, 0)
    } else {
        match name {
            "INTR layers" => (LayerBaseline::Interleaved.mask(&grid, ratio)?, 0),
            "BME layers" => (LayerBaseline::BeginMiddleEnd.mask(&grid, ratio)?, 0),
            ABLATION => ablation(&output.join("ablation.jsonl"), ones, model, calibration)?,
            _ => ours(ratio, model, calibration, arguments)?,
        }
    };
    Ok(Candidate {
        mask,
        evaluations,
        layer_evaluations: model.layer_evaluations().done - before,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The mask of a static ranking, which is kept in a file.
fn static_mask(
    path: &Path,
    method: Method,
    ones: usize,
    model: &DecoderModel,
    calibration: &[NiahSample],
) -> Result<Mask, Fault> {
    let ranking = match path.exists() {
        true => Ranking::load(path)?,
        false => {
            let questions: Vec<Question> = calibration.iter().map(NiahSample::question).collect();
            let ranking = model.rank(method, &questions)?;
            ranking.save(path)?;
            ranking
        }
    };
    Ok(Mask::from_bools(ranking.mask(ones)?.bits()))
}

/// Every group converted alone; those that harm least.
fn ablation(
    trace: &Path,
    ones: usize,
    model: &mut DecoderModel,
    calibration: &[NiahSample],
) -> Result<(Mask, usize), Fault> {
    let dim = model.grid().dim();
    let objective = NiahObjective::new(model, calibration, NiahForm::LogProbability, 0);
    let mut evaluator = Evaluator::new(objective).with_trace(trace, json!("ablation"));
    evaluator.start(Plan {
        budget: dim,
        seed: 0,
        settings: json!({ "samples": calibration.len() }),
        admissible: Space::any(dim),
    })?;
    let mut scores = Vec::with_capacity(dim);
    for i in 0..dim {
        let trials = evaluator.evaluate(&[Mask::zeros(dim).with(i, true)])?;
        scores.extend(trials.iter().map(|trial| trial.score));
    }
    Ok((Space::exactly(dim, ones)?.best_by(&scores)?, dim))
}

fn ours(
    ratio: f64,
    model: &mut DecoderModel,
    calibration: &[NiahSample],
    arguments: &Arguments,
) -> Result<(Mask, usize), Fault> {
    let name = arguments.model.file_name().unwrap_or_default();
    let search = StagedSettings::new(ratio, arguments.budget).seed(1);
    let settings = SelectSettings {
        trace: Some(arguments.output.join(format!("bosch {ratio}.jsonl"))),
        ..SelectSettings::new(name.to_string_lossy(), search)
    };
    let selected = select_heads(model, calibration, &settings, |event| {
        if let Event::Evaluated {
            number,
            budget,
            best: Some(best),
            ..
        } = event
            && number % 20 == 0
        {
            println!("  ρ = {ratio}: {number} of {budget} masks, best {best:.4}");
        }
        ControlFlow::Continue(())
    })?;
    Ok((selected.outcome.mask, selected.outcome.evaluations))
}
