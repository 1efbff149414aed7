//! [`Quadratic`]: a belief about the score as explicit weights of single variables and pairs.

use std::ops::Range;

use crate::blocks::Blocks;
use crate::mask::Mask;
use crate::surrogate::dot;
use crate::surrogate::features::Features;
use crate::surrogate::kernel::Kernel;

/// l·z + Σ_{i<j} W_ij z_i z_j, up to a constant: what Σ_t α_t k(z, t) + Σ_i v_i x_i is as a function of
/// the bits z.
///
/// Of a problem of many variables only the pairs of near blocks are kept; the weak terms of the other
/// pairs are then taken to first order at a mask.
#[derive(Debug, Clone)]
pub(crate) struct Quadratic {
    linear: Vec<f64>,
    /// The pairs of each variable with the consecutive variables of `near`, one row after another.
    pairs: Vec<f32>,
    near: Vec<Near>,
}

/// The row of one variable: pairs with the variables `start..end`, found from `offset` on.
#[derive(Debug, Clone, Copy)]
struct Near {
    start: usize,
    end: usize,
    offset: usize,
}

impl Near {
    /// Where the row lies among all pairs.
    fn row(self) -> Range<usize> {
        self.offset..self.offset + self.end - self.start
    }
}

/// Variables up to which all pairs are kept.
const ALL_PAIRS: usize = 256;

impl Quadratic {
    /// From α, a weight of each of the first points; v, a weight of each feature (or none at all); and
    /// the mask at which far pairs are taken to first order.
    pub(super) fn new(
        features: &Features,
        kernel: &Kernel,
        alpha: &[f64],
        features_weights: &[f64],
        at: &Mask,
    ) -> Self {
        let alpha: Vec<f32> = alpha.iter().map(|&a| a as f32).collect();
        let mut build = Build::new(features, kernel, &alpha);
        build.singles(features_weights);
        build.near_pairs();
        build.far_pairs(at);
        build.finish()
    }

    /// The weight of a pair of different variables; 0 where it is not kept.
    pub(crate) fn pair(&self, i: usize, j: usize) -> f64 {
        let near = self.near[i];
        if (near.start..near.end).contains(&j) {
            f64::from(self.pairs[near.offset + j - near.start])
        } else {
            0.0
        }
    }

    /// What each variable adds to the value when it goes from 0 to 1 at a mask.
    pub(crate) fn gains(&self, mask: &Mask) -> Vec<f64> {
        let mut gains = self.linear.clone();
        mask.iter_ones()
            .for_each(|i| self.add_row(&mut gains, i, 1.0));
        gains
    }

    /// gains += sign · row i
    pub(super) fn add_row(&self, gains: &mut [f64], i: usize, sign: f64) {
        let near = self.near[i];
        let row = &self.pairs[near.row()];
        for (gain, &weight) in gains[near.start..near.end].iter_mut().zip(row) {
            *gain += sign * f64::from(weight);
        }
    }
}

/// A quadratic form in the features x = (z − ρ)/σ, on its way to one in the bits z.
struct Build<'f> {
    features: &'f Features,
    blocks: &'f Blocks,
    kernel: &'f Kernel,
    alpha: &'f [f32],
    /// a, the weights of single features.
    singles: Vec<f64>,
    /// Q, the weights of pairs of features, with 2 Q_ii x_i²/2 on the diagonal.
    pairs: Vec<f32>,
    near: Vec<Near>,
}

impl<'f> Build<'f> {
    fn new(features: &'f Features, kernel: &'f Kernel, alpha: &'f [f32]) -> Self {
        let blocks = features.blocks();
        let mut near = Vec::with_capacity(blocks.dim());
        let mut offset = 0;
        for b in 0..blocks.len() {
            let range = near_range(blocks, b);
            for _ in blocks.range(b) {
                let (start, end) = (range.start, range.end);
                near.push(Near { start, end, offset });
                offset += range.len();
            }
        }
        Self {
            singles: vec![0.0; blocks.dim()],
            pairs: vec![0.0; offset],
            features,
            blocks,
            kernel,
            alpha,
            near,
        }
    }

    /// Feature `i` of the points that have a weight.
    fn column(&self, i: usize) -> &'f [f32] {
        &self.features.column(i)[..self.alpha.len()]
    }

    fn singles(&mut self, weights: &[f64]) {
        let [own, block, .., along] = self.kernel.parts;
        let (dim, len) = (self.blocks.dim() as f64, self.blocks.len() as f64);
        let points = self.alpha.len();
        let along = along * f64::from(dot(self.alpha, &self.features.alongs()[..points]));
        let along = along / dim.sqrt();
        for b in 0..self.blocks.len() {
            let sum = f64::from(dot(self.alpha, &self.features.sums(b)[..points]));
            let common = block * sum / (len * (self.blocks.size(b) as f64).sqrt());
            for i in self.blocks.range(b) {
                let alone = own / dim * f64::from(dot(self.alpha, self.column(i)));
                let expected = along * f64::from(self.features.direction()[i]);
                let weight = weights.get(i).copied().unwrap_or(0.0);
                self.singles[i] = alone + common + expected + weight;
            }
        }
    }

    fn near_pairs(&mut self) {
        let [_, _, intra, inter, bend, any, _] = self.kernel.parts;
        let (dim, len) = (self.blocks.dim() as f64, self.blocks.len() as f64);
        let far = 2.0 * any / (dim * dim);
        let mut weighted = vec![0.0f32; self.alpha.len()];
        for b in 0..self.blocks.len() {
            let size = self.blocks.size(b) as f64;
            let curve: f32 = (self.alpha.iter().zip(self.features.sums(b)))
                .map(|(a, s)| a * (s * s - 1.0))
                .sum();
            let curve = 2.0 * bend * f64::from(curve) / (len * size);
            for i in self.blocks.range(b) {
                let column = self.column(i);
                for ((weighted, a), x) in weighted.iter_mut().zip(self.alpha).zip(column) {
                    *weighted = a * x;
                }
                for other in b..self.blocks.len() {
                    let range = self.blocks.range(other);
                    if range.start >= self.near[i].end {
                        break;
                    }
                    let (scale, more) = match other - b {
                        0 => (2.0 * intra / (size * dim), curve),
                        1 => {
                            let both = size * self.blocks.size(other) as f64;
                            (inter / (both.sqrt() * dim), 0.0)
                        }
                        _ => (0.0, 0.0),
                    };
                    for j in range.start.max(i)..range.end {
                        let product = f64::from(dot(&weighted, self.column(j)));
                        let weight = ((scale + far) * product + more) as f32;
                        *self.pair_mut(i, j) = weight;
                        *self.pair_mut(j, i) = weight;
                    }
                }
            }
        }
    }

    /// The terms of pairs that are not kept, to first order: for variable i of block b,
    /// 2 any/dim² Σ_t α_t x_ti Σ (inner product of the mask and t over the blocks far from b).
    fn far_pairs(&mut self, at: &Mask) {
        if self.blocks.dim() <= ALL_PAIRS {
            return;
        }
        let inner = self.features.inner(at, self.alpha.len());
        let mut total = vec![0.0f32; self.alpha.len()];
        let add = |total: &mut [f32], sign: f32, inner: &[f32]| {
            (total.iter_mut().zip(inner)).for_each(|(total, x)| *total += sign * x);
        };
        inner.iter().for_each(|inner| add(&mut total, 1.0, inner));
        let dim = self.blocks.dim() as f64;
        let scale = 2.0 * self.kernel.parts[5] / (dim * dim);
        for b in 0..self.blocks.len() {
            let mut far = total.clone();
            for near in &inner[b.saturating_sub(1)..(b + 2).min(inner.len())] {
                add(&mut far, -1.0, near);
            }
            (far.iter_mut().zip(self.alpha)).for_each(|(far, a)| *far *= a);
            for i in self.blocks.range(b) {
                self.singles[i] += scale * f64::from(dot(&far, self.column(i)));
            }
        }
    }

    fn pair_mut(&mut self, i: usize, j: usize) -> &mut f32 {
        let near = self.near[i];
        &mut self.pairs[near.offset + j - near.start]
    }

    /// x = (z − ρ)/σ put in: W = Q/σ²; l = a/σ + Q_ii (1 − 2ρ)/(2σ²) − ρ/σ² Σ_{j≠i} Q_ij.
    fn finish(mut self) -> Quadratic {
        let (ratio, deviation) = (self.features.ratio(), self.features.deviation());
        let variance = deviation * deviation;
        let mut linear = Vec::with_capacity(self.singles.len());
        for (i, single) in self.singles.iter().enumerate() {
            let near = self.near[i];
            let row = &mut self.pairs[near.row()];
            let diagonal = f64::from(std::mem::take(&mut row[i - near.start]));
            let mut sum = 0.0;
            for weight in row {
                sum += f64::from(*weight);
                *weight = (f64::from(*weight) / variance) as f32;
            }
            let bent = diagonal * (0.5 - ratio) - ratio * sum;
            linear.push(single / deviation + bent / variance);
        }
        Quadratic {
            linear,
            pairs: self.pairs,
            near: self.near,
        }
    }
}

/// The variables whose pairs with those of block b are kept.
fn near_range(blocks: &Blocks, b: usize) -> Range<usize> {
    if blocks.dim() <= ALL_PAIRS {
        return 0..blocks.dim();
    }
    let last = (b + 1).min(blocks.len() - 1);
    blocks.range(b.saturating_sub(1)).start..blocks.range(last).end
}
