//! [`Landscape`]: a belief about the score, and how it changes from a mask that moves step by step.

use crate::mask::Mask;
use crate::surrogate::features::{Features, add, dot};
use crate::surrogate::kernel::Kernel;

/// The gradient of Σ_t w_t k(z, t) + Σ_i v_i x_i at a mask z, kept up to date while z moves.
///
/// Of the pair terms between any two variables, the change is followed only while that is cheap.
pub(crate) struct Landscape<'s> {
    features: &'s Features,
    kernel: Kernel,
    /// w, a weight for each point.
    weights: Vec<f32>,
    /// v, a weight for each feature.
    linear: Vec<f64>,
    mask: Mask,
    inner: Vec<Vec<f32>>,
    /// 2 Σ_b inner\[b\] / dim, times the weight of the kernel's part for any pairs.
    total: Vec<f32>,
    gradient: Vec<f64>,
}

/// Products for which the pair terms between any two variables are followed at each step.
const CHEAP: usize = 60_000;

impl<'s> Landscape<'s> {
    pub(super) fn new(
        features: &'s Features,
        kernel: Kernel,
        weights: &[f64],
        linear: Vec<f64>,
        mask: &Mask,
    ) -> Self {
        let inner = features.inner(mask);
        let weights: Vec<f32> = weights.iter().map(|&w| w as f32).collect();
        let own = kernel.parts[0] as f32 / mask.len() as f32;
        let along = kernel.parts[6] as f32 * dot(&weights, features.alongs());
        let along = along / (mask.len() as f32).sqrt();
        let own = |i: usize| {
            let pull = dot(&weights, features.column(i)) * own;
            f64::from(pull + along * features.direction()[i])
                + linear.get(i).copied().unwrap_or(0.0)
        };
        let linear = (0..mask.len()).map(own).collect();
        let mut landscape = Self {
            features,
            kernel,
            weights,
            linear,
            mask: mask.clone(),
            inner,
            total: Vec::new(),
            gradient: vec![0.0; mask.len()],
        };
        landscape.sum_up();
        (0..features.blocks().len()).for_each(|b| landscape.refresh(b));
        landscape
    }

    /// The mask that it is at.
    pub(crate) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The believed change of the score for each variable going from 0 to 1, to first order.
    pub(crate) fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Flips these variables.
    pub(crate) fn flip(&mut self, variables: &[usize]) {
        let blocks = self.features.blocks();
        let mut touched = vec![false; blocks.len()];
        for &i in variables {
            let b = blocks.block_of(i);
            let up = !self.mask.get(i);
            self.mask.set(i, up);
            let step = if up {
                self.features.step()
            } else {
                -self.features.step()
            };
            add(&mut self.inner[b], step, self.features.column(i));
            let last = (b + 1).min(blocks.len() - 1);
            touched[b.saturating_sub(1)..=last].fill(true);
        }
        let all = self.kernel.parts[5] > 1e-3 * self.kernel.parts[0];
        if all && self.features.len() * blocks.dim() <= CHEAP {
            self.sum_up();
            touched.fill(true);
        }
        for (b, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
            self.refresh(b);
        }
    }

    fn sum_up(&mut self) {
        let dim = self.features.blocks().dim() as f32;
        let mut total = vec![0.0; self.features.len()];
        self.inner
            .iter()
            .for_each(|inner| add(&mut total, 1.0, inner));
        total
            .iter_mut()
            .for_each(|x| *x *= 2.0 * self.kernel.parts[5] as f32 / dim);
        self.total = total;
    }

    /// The gradient of block b anew.
    fn refresh(&mut self, b: usize) {
        let blocks = self.features.blocks();
        let [_, block, intra, inter, bend, ..] = self.kernel.parts.map(|part| part as f32);
        let (dim, len) = (blocks.dim() as f32, blocks.len() as f32);
        let size = blocks.size(b) as f32;
        // κ_t = (2 intra d_b/size + inter Σ_neighbours d/√(sizes) + 2 all d/dim) / dim
        let mut kappa = self.total.clone();
        add(&mut kappa, 2.0 * intra / size, &self.inner[b]);
        for other in [b.wrapping_sub(1), b + 1] {
            if let Some(inner) = self.inner.get(other) {
                let scale = inter / (size * blocks.size(other) as f32).sqrt();
                add(&mut kappa, scale, inner);
            }
        }
        kappa
            .iter_mut()
            .zip(&self.weights)
            .for_each(|(kappa, w)| *kappa *= w / dim);
        // Σ_t w_t (block e_t + 2 bend e (e_t² − 1)) / (len √size)
        let here = self.features.sum(b, &self.mask);
        let slope: f32 = (self.weights.iter().zip(self.features.sums(b)))
            .map(|(w, e)| w * (block * e + 2.0 * bend * here * (e * e - 1.0)))
            .sum();
        let slope = f64::from(slope / (len * size.sqrt()));
        for i in blocks.range(b) {
            let pull = f64::from(dot(&kappa, self.features.column(i)));
            self.gradient[i] = (pull + slope + self.linear[i]) / self.features.deviation();
        }
    }
}
