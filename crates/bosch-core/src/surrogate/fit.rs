//! The choice of kernel and link by marginal likelihood.

use crate::mask::Mask;
use crate::surrogate::cholesky::Cholesky;
use crate::surrogate::features::Features;
use crate::surrogate::kernel::{Kernel, PARTS, parts};
use crate::surrogate::link::{Link, Scale};

/// The most points that a fit looks at.
const MOST: usize = 120;

/// The data that a fit looks at.
pub(super) struct Sample {
    /// The kernel's parts for each pair of points, row by row.
    table: Vec<Vec<[f32; PARTS]>>,
    units: Vec<f64>,
}

impl Sample {
    /// The better half and the latest half of at most [`MOST`] points.
    pub(super) fn new(features: &Features, points: &[Mask], scores: &[f64], scale: Scale) -> Self {
        let chosen = choose(scores);
        let points: Vec<&Mask> = chosen.iter().map(|&at| &points[at]).collect();
        let features = features.of(&points);
        let row = |(at, point): (usize, &&Mask)| {
            let parts = parts(&features, point, at + 1);
            (0..=at)
                .map(|other| std::array::from_fn(|p| parts[p][other]))
                .collect()
        };
        Self {
            table: points.iter().enumerate().map(row).collect(),
            units: chosen.iter().map(|&at| scale.unit(scores[at])).collect(),
        }
    }

    /// One round of coordinate search from a kernel.
    pub(super) fn fit(&self, kernel: Kernel) -> (Kernel, Link) {
        let (mut best, mut link) = (kernel, Link::Identity);
        let factor = self.factor(&kernel);
        let mut most = f64::NEG_INFINITY;
        for candidate in Link::ALL {
            let value = self.likelihood(&factor, candidate);
            if value > most {
                (most, link) = (value, candidate);
            }
        }
        for part in 0..=PARTS {
            for by in [0.25, 4.0] {
                let mut changed = best;
                match changed.parts.get_mut(part) {
                    Some(weight) => *weight = (*weight * by).clamp(1e-4, 10.0),
                    None => changed.noise = (changed.noise * by).clamp(1e-4, 1.0),
                }
                let value = self.likelihood(&self.factor(&changed), link);
                if value > most {
                    (most, best) = (value, changed);
                }
            }
        }
        (best, link)
    }

    fn factor(&self, kernel: &Kernel) -> Cholesky {
        let mut factor = Cholesky::default();
        let weights = kernel.parts.map(|part| part as f32);
        for row in &self.table {
            let value = |values: &[f32; PARTS]| {
                f64::from(
                    weights
                        .iter()
                        .zip(values)
                        .map(|(weight, x)| weight * x)
                        .sum::<f32>(),
                )
            };
            let mut row: Vec<f64> = row.iter().map(value).collect();
            if let Some(diagonal) = row.last_mut() {
                *diagonal += kernel.noise;
            }
            factor.append(row);
        }
        factor
    }

    /// The logarithm of the marginal likelihood, the scale of the prior profiled out, up to a constant.
    fn likelihood(&self, factor: &Cholesky, link: Link) -> f64 {
        let linked: Vec<f64> = self.units.iter().map(|&t| link.apply(t)).collect();
        let n = linked.len() as f64;
        let mean = linked.iter().sum::<f64>() / n;
        let (square, log_det) = factor.likelihood(linked.iter().map(|y| y - mean).collect());
        let slopes: f64 = self.units.iter().map(|&t| link.log_slope(t)).sum();
        -0.5 * n * (square / n).max(1e-300).ln() - 0.5 * log_det + slopes
    }
}

fn choose(scores: &[f64]) -> Vec<usize> {
    let n = scores.len();
    if n <= MOST {
        return (0..n).collect();
    }
    let mut order: Vec<usize> = (0..n - MOST / 2).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order.truncate(MOST / 2);
    order.extend(n - MOST / 2..n);
    order
}
