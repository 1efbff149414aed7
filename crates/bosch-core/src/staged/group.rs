//! Stage 3: the layers of one ratio searched jointly, from the easiest group to the hardest.

use crate::blocks::Blocks;
use crate::error::Error;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::optimizer::{LocalSearch, drive};
use crate::staged::Search;
use crate::staged::allocate::Allocation;
use crate::staged::probe::Cascade;
use crate::staged::settings::Rest;

/// Searches group after group with the layers' ones held, and evaluates the mask that results.
pub(super) fn groups<O: Objective>(
    search: &mut Search<'_, '_, O>,
    allocation: &Allocation,
    cascade: Option<&Cascade>,
    budget: usize,
) -> Result<(), Error<O::Error>> {
    let blocks = search.blocks;
    let chunks = chunks(blocks, allocation, search.settings.chunk);
    let start = search.begin("groups", budget);
    let mut mask = initial(blocks, allocation, cascade, search.settings.rest);
    let prior = cascade.map(|cascade| &cascade.mask);
    let size = |chunk: &[usize]| chunk.iter().map(|&layer| blocks.size(layer)).sum::<usize>();
    let mut variables: usize = chunks.iter().map(|chunk| size(chunk)).sum();
    for (at, chunk) in chunks.iter().enumerate() {
        // One evaluation is kept for the mask that results.
        let left = budget.saturating_sub(search.evaluator.evaluations() - start + 1);
        let share = left * size(chunk) / variables.max(1);
        variables -= size(chunk);
        let space = search.space_of(&mask, chunk, &allocation.ones)?;
        let first = space.best_by(&search.keys(prior.unwrap_or(&mask)))?;
        let seed = search.seed_of("groups", at);
        let mut solver = LocalSearch::new(space, seed).start_with(std::slice::from_ref(&first));
        drive(search.evaluator, &mut solver, share, search.settings.batch)?;
        mask = solver.incumbent().map_or(first, |(found, _)| found.clone());
    }
    search.evaluator.evaluate(&[mask])?;
    search.end("groups", start);
    Ok(())
}

/// The layers that leave a choice, easiest ratio first, cut into chunks of at most `most`
/// variables, neighbouring layers together; a layer that is larger is a chunk of its own.
fn chunks(blocks: &Blocks, allocation: &Allocation, most: usize) -> Vec<Vec<usize>> {
    let open = |&layer: &usize| (1..blocks.size(layer)).contains(&allocation.ones[layer]);
    let mut layers: Vec<usize> = (0..blocks.len()).filter(open).collect();
    layers.sort_by(|&a, &b| {
        allocation.ratios[b]
            .total_cmp(&allocation.ratios[a])
            .then(a.cmp(&b))
    });
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut variables = 0;
    for layer in layers {
        variables += blocks.size(layer);
        let same = chunks.last().and_then(|chunk| chunk.last());
        let same = same.is_some_and(|&last| allocation.ratios[last] == allocation.ratios[layer]);
        match chunks.last_mut().filter(|_| same && variables <= most) {
            Some(chunk) => chunk.push(layer),
            None => {
                chunks.push(vec![layer]);
                variables = blocks.size(layer);
            }
        }
    }
    chunks
}

/// Whole layers of ones and zeros as allocated; the other layers as [`Rest`] says.
fn initial(
    blocks: &Blocks,
    allocation: &Allocation,
    cascade: Option<&Cascade>,
    rest: Rest,
) -> Mask {
    let mut mask = Mask::zeros(blocks.dim());
    for (layer, &ones) in allocation.ones.iter().enumerate() {
        for i in blocks.range(layer) {
            let probed = || rest == Rest::Cascade && cascade.is_some_and(|c| c.mask.get(i));
            mask.set(i, ones == blocks.size(layer) || (ones > 0 && probed()));
        }
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_neighbours_of_one_ratio_and_skip_decided_layers() {
        let blocks = Blocks::uniform(6, 4).unwrap();
        let allocation = Allocation {
            ratios: vec![0.5, 0.75, 0.5, 0.5, 1.0, 0.0],
            ones: vec![2, 3, 2, 2, 4, 0],
        };
        assert_eq!(chunks(&blocks, &allocation, 50), [vec![1], vec![0, 2, 3]]);
        assert_eq!(
            chunks(&blocks, &allocation, 8),
            [vec![1], vec![0, 2], vec![3]]
        );
        assert_eq!(
            chunks(&blocks, &allocation, 1),
            [vec![1], vec![0], vec![2], vec![3]]
        );
    }
}
