//! Baselines that convert whole layers (paper, "layer-level" rows of its tables): RAND, INTR, BME.
//!
//! Each converts `round(ratio · layers)` layers, all KV groups of them.

use bosch_core::{Mask, Rng, ones_for_ratio};

use crate::Grid;

/// How the layers that become sliding-window attention are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayerBaseline {
    /// RAND: uniformly at random, by this seed.
    Random(u64),
    /// INTR: full layers evenly interleaved.
    Interleaved,
    /// BME, begin-middle-end: the full layers are split over the first, the middle and the last.
    BeginMiddleEnd,
}

impl LayerBaseline {
    /// The mask of this baseline at `ratio`, the fraction of layers that is converted.
    ///
    /// # Errors
    ///
    /// When `ratio` is outside [0, 1] or NaN.
    pub fn mask(self, grid: &Grid, ratio: f64) -> Result<Mask, bosch_core::Error> {
        let full = grid.layers - ones_for_ratio(ratio, grid.layers)?;
        let mut is_full = vec![false; grid.layers];
        for layer in self.full_layers(grid.layers, full) {
            is_full[layer] = true;
        }
        let mut mask = Mask::zeros(grid.dim());
        for (layer, _) in is_full.iter().enumerate().filter(|(_, full)| !**full) {
            for group in 0..grid.groups {
                mask.set(layer * grid.groups + group, true);
            }
        }
        Ok(mask)
    }

    /// The `full` of `layers` layers that keep full attention.
    fn full_layers(self, layers: usize, full: usize) -> Vec<usize> {
        match self {
            Self::Random(seed) => {
                let mut order: Vec<usize> = (0..layers).collect();
                Rng::stream(seed, "baseline/random-layers").shuffle(&mut order);
                order.truncate(full);
                order
            }
            // The middle of each of `full` equal stretches.
            Self::Interleaved => (0..full)
                .map(|i| (2 * i + 1) * layers / (2 * full))
                .collect(),
            Self::BeginMiddleEnd => {
                let begin = full.div_ceil(3);
                let end = (full - begin).div_ceil(2);
                let middle = full - begin - end;
                // Centred between the two others, so that it never touches them when there is room.
                let first_middle = begin + (layers - begin - end - middle) / 2;
                (0..begin)
                    .chain(first_middle..first_middle + middle)
                    .chain(layers - end..layers)
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(layers: usize) -> Grid {
        Grid {
            layers,
            groups: 3,
            query_heads: 9,
            window: 16,
            sinks: 4,
        }
    }

    fn full_layers(baseline: LayerBaseline, layers: usize, ratio: f64) -> Vec<usize> {
        let grid = grid(layers);
        let rows = grid.rows(&baseline.mask(&grid, ratio).unwrap());
        assert!(
            rows.iter().all(|row| row.iter().all(|bit| *bit == row[0])),
            "whole layers only"
        );
        (0..layers).filter(|layer| !rows[*layer][0]).collect()
    }

    #[test]
    fn every_baseline_converts_the_rounded_number_of_layers() {
        for layers in 1..40 {
            for ratio in [0.0, 0.25, 0.5, 0.75, 0.875, 1.0] {
                let converted = ones_for_ratio(ratio, layers).unwrap();
                for baseline in [
                    LayerBaseline::Random(7),
                    LayerBaseline::Interleaved,
                    LayerBaseline::BeginMiddleEnd,
                ] {
                    assert_eq!(
                        full_layers(baseline, layers, ratio).len(),
                        layers - converted
                    );
                }
            }
        }
    }

    #[test]
    fn interleaved_layers_are_evenly_spaced() {
        assert_eq!(
            full_layers(LayerBaseline::Interleaved, 12, 0.75),
            [2, 6, 10]
        );
        assert_eq!(
            full_layers(LayerBaseline::Interleaved, 8, 0.5),
            [1, 3, 5, 7]
        );
    }

    #[test]
    fn begin_middle_end_keeps_three_runs() {
        assert_eq!(
            full_layers(LayerBaseline::BeginMiddleEnd, 12, 0.5),
            [0, 1, 5, 6, 10, 11]
        );
        assert_eq!(
            full_layers(LayerBaseline::BeginMiddleEnd, 30, 0.75),
            [0, 1, 2, 14, 15, 28, 29]
        );
    }

    #[test]
    fn random_layers_are_stable_for_a_seed() {
        let first = full_layers(LayerBaseline::Random(1), 30, 0.75);
        assert_eq!(first, full_layers(LayerBaseline::Random(1), 30, 0.75));
        assert_ne!(first, full_layers(LayerBaseline::Random(2), 30, 0.75));
    }

    #[test]
    fn a_ratio_outside_the_range_is_an_error() {
        assert!(LayerBaseline::Interleaved.mask(&grid(4), 1.5).is_err());
        assert!(LayerBaseline::Interleaved.mask(&grid(4), f64::NAN).is_err());
    }
}
