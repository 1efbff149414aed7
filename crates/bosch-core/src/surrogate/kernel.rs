//! The covariance of the scores of two masks, in seven parts.

use crate::mask::Mask;
use crate::rng::Rng;
use crate::surrogate::features::Features;

/// The prior variance of each kind of term, relative to the total of the linked scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kernel {
    /// Weights: linear, block, pairs in a block, pairs of neighbouring blocks, bend, any pairs,
    /// what was expected.
    pub(super) parts: [f64; PARTS],
    pub(super) noise: f64,
}

/// How many kinds of terms there are.
pub(super) const PARTS: usize = 7;

impl Default for Kernel {
    fn default() -> Self {
        Self {
            parts: [0.5, 0.3, 0.1, 0.1, 0.05, 0.05, 0.5],
            noise: 0.02,
        }
    }
}

impl Kernel {
    /// The covariance of a mask with the first `points` points.
    pub(super) fn row(&self, features: &Features, mask: &Mask, points: usize) -> Vec<f64> {
        let parts = parts(features, mask, points);
        let mut row = vec![0.0; points];
        for (part, weight) in parts.iter().zip(self.parts) {
            for (value, x) in row.iter_mut().zip(part) {
                *value += weight * f64::from(*x);
            }
        }
        row
    }

    /// A draw of the linear and block terms of the prior, as a weight for each feature.
    pub(super) fn draw_linear(&self, features: &Features, scale: f64, rng: &mut Rng) -> Vec<f64> {
        let blocks = features.blocks();
        let mut weights = Vec::with_capacity(blocks.dim());
        let single = (self.parts[0] / blocks.dim() as f64).sqrt();
        let block = (self.parts[1] / blocks.len() as f64).sqrt();
        for b in 0..blocks.len() {
            let common = block * rng.normal() / (blocks.size(b) as f64).sqrt();
            weights.extend(
                blocks
                    .range(b)
                    .map(|_| scale * (common + single * rng.normal())),
            );
        }
        weights
    }
}

/// The seven kinds of terms of a mask with the first `points` points, each about 1 for a typical mask
/// with itself.
pub(super) fn parts(features: &Features, mask: &Mask, points: usize) -> [Vec<f32>; PARTS] {
    let blocks = features.blocks();
    let inner = features.inner(mask, points);
    let mut parts: [Vec<f32>; PARTS] = std::array::from_fn(|_| vec![0.0; points]);
    let (dim, len) = (blocks.dim() as f32, blocks.len() as f32);
    for (b, here) in inner.iter().enumerate() {
        let size = blocks.size(b) as f32;
        let e = features.sum(b, mask);
        let bend = (e * e - 1.0) / len;
        for (t, (&d, &f)) in here.iter().zip(features.sums(b)).enumerate() {
            parts[0][t] += d / dim;
            parts[1][t] += e * f / len;
            parts[2][t] += d * d / (size * dim);
            parts[4][t] += bend * (f * f - 1.0);
        }
        if let Some(next) = inner.get(b + 1) {
            let scale = 1.0 / ((size * blocks.size(b + 1) as f32).sqrt() * dim);
            for (t, (x, y)) in here.iter().zip(next).enumerate() {
                parts[3][t] += x * y * scale;
            }
        }
    }
    parts[5] = parts[0].iter().map(|share| share * share).collect();
    let along = features.along(mask);
    parts[6] = features.alongs()[..points]
        .iter()
        .map(|other| along * other)
        .collect();
    parts
}
