//! Stage 2: a number of ones for every layer, from how hard the layers are to convert.

use crate::error::InvalidInput;
use crate::loss::ones_for_ratio;

/// What [`allocate`] gives each layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// The ratio of each layer's bucket, a multiple of 1 / (largest layer). The easier the layer,
    /// the higher: among any two layers the one with the smaller drop never has the lower ratio.
    pub ratios: Vec<f64>,
    /// The ones of each layer: ⌈ratio · size⌉, but for single corrections. They sum up to K.
    pub ones: Vec<usize>,
}

/// Distributes K = ρ N ones (halves rounded up) over layers of `sizes` variables with the
/// given `drops` (higher = harder to convert).
///
/// Layers are sorted by drop, ties to the higher layer, and cut into buckets of near-equal size,
/// one for each of the levels nearest to {1, (1+ρ)/2, ρ, ρ/2, 0}; the easiest bucket gets the
/// highest level. Then layers move between adjacent buckets, always the boundary layer whose move
/// leaves the least to go, until the ones sum up to K; where the steps of the levels make that
/// impossible, layers around the boundary nearest ρ take single corrections.
///
/// Only the order of the drops counts: the paper's weights w = (δ − min δ)/(max δ − min δ) serve
/// only to sort.
///
/// ```
/// use bosch_core::staged::allocate;
///
/// let allocation = allocate(&[0.1, 0.9, 0.5, 0.0], &[4; 4], 0.5)?;
/// assert_eq!(allocation.ones, [3, 0, 1, 4]);
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
///
/// # Errors
///
/// If there are no layers, not one drop for each of them, an empty layer, a NaN, or a ratio
/// outside [0, 1].
pub fn allocate(drops: &[f64], sizes: &[usize], ratio: f64) -> Result<Allocation, InvalidInput> {
    if drops.len() != sizes.len() || drops.is_empty() || drops.iter().any(|drop| drop.is_nan()) {
        let found = format!("{drops:?} for {} layers", sizes.len());
        return Err(InvalidInput::new(
            "drops",
            "one number for each of at least one layer",
            found,
        ));
    }
    if sizes.contains(&0) {
        return Err(InvalidInput::new(
            "layer sizes",
            "at least 1 each",
            format!("{sizes:?}"),
        ));
    }
    let ones = ones_for_ratio(ratio, sizes.iter().sum())?;
    let mut order: Vec<usize> = (0..drops.len()).collect();
    order.sort_by(|&a, &b| drops[a].total_cmp(&drops[b]).then(b.cmp(&a)));
    let levels = levels(ratio, sizes.iter().copied().max().unwrap_or(1));
    let mut buckets = Buckets::new(order, sizes, levels);
    buckets.approach(ones);
    Ok(buckets.correct(ones, ratio))
}

/// The multiples of 1/G nearest to {1, (1+ρ)/2, ρ, ρ/2, 0}, descending, each once, as counts of G.
fn levels(ratio: f64, g: usize) -> Vec<Level> {
    let wanted = [1.0, (1.0 + ratio) / 2.0, ratio, ratio / 2.0, 0.0];
    let mut counts = wanted
        .map(|level| (level * g as f64).round() as usize)
        .to_vec();
    counts.dedup();
    counts
        .into_iter()
        .map(|count| Level { count, of: g })
        .collect()
}

/// The ratio count / of, exact.
#[derive(Debug, Clone, Copy)]
struct Level {
    count: usize,
    of: usize,
}

impl Level {
    fn ratio(self) -> f64 {
        self.count as f64 / self.of as f64
    }

    /// ⌈ratio · size⌉
    fn ones(self, size: usize) -> usize {
        (self.count * size).div_ceil(self.of)
    }
}

/// Layers in order of difficulty, cut into one bucket for each level.
struct Buckets<'s> {
    order: Vec<usize>,
    sizes: &'s [usize],
    levels: Vec<Level>,
    /// `ends[j]`: where bucket j ends in `order`; the last is the number of layers.
    ends: Vec<usize>,
}

impl<'s> Buckets<'s> {
    fn new(order: Vec<usize>, sizes: &'s [usize], levels: Vec<Level>) -> Self {
        let (layers, count) = (order.len(), levels.len());
        let ends = (1..=count).map(|j| j * layers / count).collect();
        Self {
            order,
            sizes,
            levels,
            ends,
        }
    }

    fn level_at(&self, position: usize) -> Level {
        let bucket = self.ends.iter().position(|&end| position < end);
        self.levels[bucket.unwrap_or(self.levels.len() - 1)]
    }

    fn total(&self) -> usize {
        let ones = |(p, &layer): (usize, &usize)| self.level_at(p).ones(self.sizes[layer]);
        self.order.iter().enumerate().map(ones).sum()
    }

    /// Moves boundary layers while that brings the total nearer to `ones`.
    fn approach(&mut self, ones: usize) {
        loop {
            let gap = self.total().abs_diff(ones);
            let up = self.total() < ones;
            let mut best = (gap, None);
            for boundary in 0..self.ends.len() - 1 {
                if let Some(end) = self.moved(boundary, up) {
                    let old = std::mem::replace(&mut self.ends[boundary], end);
                    let left = self.total().abs_diff(ones);
                    self.ends[boundary] = old;
                    if left < best.0 {
                        best = (left, Some((boundary, end)));
                    }
                }
            }
            match best.1 {
                Some((boundary, end)) => self.ends[boundary] = end,
                None => return,
            }
        }
    }

    /// The boundary's place after its layer has moved to the higher level (up) or the lower one.
    fn moved(&self, boundary: usize, up: bool) -> Option<usize> {
        let before = if boundary == 0 {
            0
        } else {
            self.ends[boundary - 1]
        };
        match up {
            true => Some(self.ends[boundary] + 1).filter(|&end| end <= self.ends[boundary + 1]),
            false => self.ends[boundary]
                .checked_sub(1)
                .filter(|&end| end >= before),
        }
    }

    /// The counts, with single corrections outward from the boundary nearest `ratio`.
    fn correct(&self, ones: usize, ratio: f64) -> Allocation {
        let layers = self.order.len();
        let mut allocation = Allocation {
            ratios: vec![0.0; layers],
            ones: vec![0; layers],
        };
        for (position, &layer) in self.order.iter().enumerate() {
            let level = self.level_at(position);
            allocation.ratios[layer] = level.ratio();
            allocation.ones[layer] = level.ones(self.sizes[layer]);
        }
        let middle = (0..self.levels.len()).min_by(|&a, &b| {
            let distance = |j: usize| (self.levels[j].ratio() - ratio).abs();
            distance(a).total_cmp(&distance(b))
        });
        let middle = middle.map_or(0, |bucket| self.ends[bucket]);
        let mut total: usize = allocation.ones.iter().sum();
        let mut near: Vec<usize> = (0..layers).collect();
        // Layers that gain come from the easy side first, layers that lose from the hard side.
        near.sort_by_key(|&p| {
            if total < ones {
                (middle.abs_diff(p + 1), p)
            } else {
                (middle.abs_diff(p), p)
            }
        });
        while total != ones {
            for &position in &near {
                let layer = self.order[position];
                if total < ones && allocation.ones[layer] < self.sizes[layer] {
                    allocation.ones[layer] += 1;
                    total += 1;
                } else if total > ones && allocation.ones[layer] > 0 {
                    allocation.ones[layer] -= 1;
                    total -= 1;
                }
            }
        }
        allocation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inputs() -> impl Strategy<Value = (Vec<f64>, Vec<usize>, f64)> {
        (1usize..20).prop_flat_map(|layers| {
            let drops = prop::collection::vec((0i32..40).prop_map(f64::from), layers);
            let uniform = (1usize..9).prop_map(move |size| vec![size; layers]);
            let mixed = prop::collection::vec(1usize..9, layers);
            (
                drops,
                prop_oneof![uniform, mixed],
                (0u32..=64).prop_map(|r| f64::from(r) / 64.0),
            )
        })
    }

    proptest! {
        #[test]
        fn the_total_is_exact_and_no_layer_overflows((drops, sizes, ratio) in inputs()) {
            let allocation = allocate(&drops, &sizes, ratio).unwrap();
            let wanted = ones_for_ratio(ratio, sizes.iter().sum()).unwrap();
            prop_assert_eq!(allocation.ones.iter().sum::<usize>(), wanted);
            prop_assert!(allocation.ones.iter().zip(&sizes).all(|(ones, size)| ones <= size));
        }

        #[test]
        fn an_easier_layer_never_gets_a_lower_ratio((drops, sizes, ratio) in inputs()) {
            let ratios = allocate(&drops, &sizes, ratio).unwrap().ratios;
            for a in 0..drops.len() {
                for b in 0..drops.len() {
                    prop_assert!(drops[a] >= drops[b] || ratios[a] >= ratios[b]);
                }
            }
        }

        #[test]
        fn shifting_and_scaling_the_scores_changes_nothing((drops, sizes, ratio) in inputs(),
            shift in -50i32..50, scale in 1i32..20) {
            let moved: Vec<f64> = drops.iter().map(|d| (d + f64::from(shift)) * f64::from(scale)).collect();
            prop_assert_eq!(
                allocate(&drops, &sizes, ratio).unwrap(),
                allocate(&moved, &sizes, ratio).unwrap()
            );
        }

        #[test]
        fn with_uniform_layers_corrections_are_fewer_than_a_level_step((drops, _, ratio) in inputs(), size in 1usize..9) {
            let sizes = vec![size; drops.len()];
            let allocation = allocate(&drops, &sizes, ratio).unwrap();
            let corrections: usize = (0..drops.len())
                .map(|l| ((allocation.ratios[l] * size as f64).round() as usize).abs_diff(allocation.ones[l]))
                .sum();
            prop_assert!(corrections <= size, "{corrections} corrections");
        }
    }

    #[test]
    fn extreme_ratios_and_shapes_work() {
        assert_eq!(allocate(&[0.3], &[1], 0.0).unwrap().ones, [0]);
        assert_eq!(allocate(&[0.3], &[1], 1.0).unwrap().ones, [1]);
        assert_eq!(allocate(&[0.3, 0.1], &[1, 1], 0.5).unwrap().ones, [0, 1]);
        assert_eq!(
            allocate(&[0.0; 4], &[3; 4], 0.75)
                .unwrap()
                .ones
                .iter()
                .sum::<usize>(),
            9
        );
        assert!(allocate(&[], &[], 0.5).is_err());
        assert!(allocate(&[f64::NAN], &[1], 0.5).is_err());
        assert!(allocate(&[0.0], &[0], 0.5).is_err());
        assert!(allocate(&[0.0], &[1], 1.5).is_err());
    }
}
