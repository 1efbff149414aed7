//! Single-variable ablation: a screening that is also a warm start (ours).

use crate::error::Error;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::staged::Search;

/// Scores every variable converted alone and the mask of the K least harmful ones; where the
/// budget does not allow that, an evenly spread mask.
pub(super) fn ablation<O: Objective>(
    search: &mut Search<'_, '_, O>,
) -> Result<(), Error<O::Error>> {
    let dim = search.blocks.dim();
    if !search.settings.ablates(dim) {
        let spread = evenly_spread(dim, search.settings.ratio);
        let keys: Vec<f64> = spread.iter().map(f64::from).collect();
        let mask = search.space.best_by(&keys)?;
        search.evaluator.evaluate(&[mask])?;
        return Ok(());
    }
    let start = search.begin("ablation", dim + 1);
    let alone: Vec<Mask> = (0..dim).map(|i| Mask::zeros(dim).with(i, true)).collect();
    for masks in alone.chunks(search.settings.batch) {
        search.evaluator.evaluate(masks)?;
    }
    let trials = alone.iter().map_while(|mask| search.evaluator.trial(mask));
    let scores: Vec<f64> = trials.map(|trial| trial.score).collect();
    if scores.len() == dim {
        let mask = search.space.best_by(&scores)?;
        search.evaluator.evaluate(&[mask])?;
        search.harmless = Some(scores);
    }
    search.end("ablation", start);
    Ok(())
}

/// How hard each layer is to convert: the mean loss of its variables alone; all 0 without ablation.
pub(super) fn drops<O: Objective>(search: &Search<'_, '_, O>) -> Vec<f64> {
    let blocks = search.blocks;
    let mean = |b: usize| match &search.harmless {
        Some(scores) => {
            let sum: f64 = scores[blocks.range(b)].iter().sum();
            search.full - sum / blocks.size(b) as f64
        }
        None => 0.0,
    };
    (0..blocks.len()).map(mean).collect()
}

/// Ones wherever the running sum of the ratio passes a whole number.
fn evenly_spread(dim: usize, ratio: f64) -> Mask {
    let passed = |i: usize| (ratio * i as f64).floor();
    Mask::from_bools(
        &(0..dim)
            .map(|i| passed(i + 1) > passed(i))
            .collect::<Vec<_>>(),
    )
}
