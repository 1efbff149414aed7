//! Stage 1: a cascade of probes from the top layer down, and the layers' drops.

use crate::blocks::Blocks;
use crate::error::Error;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::optimizer::{LocalSearch, drive};
use crate::staged::Search;
use crate::staged::settings::LayerDrop;

/// What the cascade found.
pub(super) struct Cascade {
    /// Every layer's best probe; the layers above were at theirs.
    pub(super) mask: Mask,
    /// How hard each layer is to convert.
    pub(super) drops: Vec<f64>,
}

/// Searches the best choice of its quota inside each layer, from the top layer down; none if the
/// budget does not allow two evaluations for each layer.
pub(super) fn cascade<O: Objective>(
    search: &mut Search<'_, '_, O>,
    budget: usize,
) -> Result<Option<Cascade>, Error<O::Error>> {
    let blocks = search.blocks;
    let layers = blocks.len();
    if budget < 2 * layers {
        return Ok(None);
    }
    let start = search.begin("probe", budget);
    let quotas = quotas(blocks, search.settings.ratio);
    let mut mask = Mask::zeros(blocks.dim());
    let mut best = vec![search.full; layers + 1]; // s_best[ℓ]; s_best[L] = S_full
    for layer in (0..layers).rev() {
        let left = budget.saturating_sub(search.evaluator.evaluations() - start);
        let space = search.space_of(&mask, &[layer], &quotas)?;
        let first = space.best_by(&search.keys(&mask))?;
        let mut solver =
            LocalSearch::new(space, search.seed_of("probe", layer)).start_with(&[first]);
        drive(
            search.evaluator,
            &mut solver,
            left / (layer + 1),
            search.settings.batch,
        )?;
        let Some((found, score)) = solver.incumbent() else {
            return Ok(None);
        };
        best[layer] = score;
        mask = found.clone();
    }
    search.end("probe", start);
    let drops = drops(search.settings.drop, search.full, &best, &quotas);
    Ok(Some(Cascade { mask, drops }))
}

/// The probes' ones in each layer: ⌈ρ size⌉. Where that would convert whole layers although ρ < 1,
/// the ones instead follow ρ in their running sum from the top layer down (ours), so that the
/// cascade does not end on a mask of ones.
fn quotas(blocks: &Blocks, ratio: f64) -> Vec<usize> {
    let sizes: Vec<usize> = (0..blocks.len()).map(|b| blocks.size(b)).collect();
    let ceil: Vec<usize> = sizes
        .iter()
        .map(|&size| (ratio * size as f64).ceil() as usize)
        .collect();
    if ratio >= 1.0 || ceil.iter().zip(&sizes).all(|(ones, size)| ones < size) {
        return ceil;
    }
    let mut quotas = vec![0; sizes.len()];
    let (mut variables, mut ones) = (0, 0);
    for layer in (0..sizes.len()).rev() {
        variables += sizes[layer];
        let target = (ratio * variables as f64).round() as usize;
        quotas[layer] = (target - ones).min(sizes[layer]);
        ones += quotas[layer];
    }
    quotas
}

/// δ of each layer from the best scores of the cascade, `best[layers]` being S_full.
fn drops(drop: LayerDrop, full: f64, best: &[f64], quotas: &[usize]) -> Vec<f64> {
    (0..quotas.len())
        .map(|layer| match drop {
            LayerDrop::Cumulative => full - best[layer],
            LayerDrop::Marginal => {
                (best[layer + 1] - best[layer]).max(0.0) / quotas[layer].max(1) as f64
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_the_papers_where_it_leaves_something_to_choose() {
        let blocks = Blocks::uniform(3, 8).unwrap();
        assert_eq!(quotas(&blocks, 0.5), [4, 4, 4]);
        assert_eq!(quotas(&blocks, 0.55), [5, 5, 5]);
    }

    #[test]
    fn quotas_follow_the_ratio_where_whole_layers_would_go() {
        let blocks = Blocks::uniform(30, 3).unwrap();
        let quotas = quotas(&blocks, 0.75);
        let mut ones = 0;
        for (above, quota) in quotas.iter().rev().enumerate() {
            ones += quota;
            assert!((ones as f64 - 0.75 * 3.0 * (above + 1) as f64).abs() <= 0.5);
        }
        assert_eq!(ones, 68);
    }

    #[test]
    fn drops_are_those_of_the_two_readings() {
        let best = [0.2, 0.5, 0.4, 1.0];
        assert_eq!(
            drops(LayerDrop::Cumulative, 1.0, &best, &[1, 1, 1]),
            [0.8, 0.5, 0.6]
        );
        let marginal = drops(LayerDrop::Marginal, 1.0, &best, &[2, 1, 3]);
        assert_eq!(marginal, [(0.5 - 0.2) / 2.0, 0.0, (1.0 - 0.4) / 3.0]);
    }
}
