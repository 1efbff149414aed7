//! The ways in which a [`Portfolio`] makes a mask.

use super::Portfolio;
use crate::mask::Mask;

/// Tries for a new mask before another way is taken.
const TRIES: usize = 100;
/// Products that one ascent may cost.
const WORK: usize = 3_000_000;

impl Portfolio {
    /// A mask of `make` that is not known, within some tries.
    pub(super) fn fresh(&mut self, make: impl Fn(&mut Self) -> Mask) -> Option<Mask> {
        (0..TRIES).find_map(|_| Some(make(self)).filter(|mask| !self.known.contains(mask)))
    }

    /// A random mask: blocks differ in their density, and what is expected counts more or less. The
    /// first one follows what is expected alone.
    pub(super) fn random(&mut self) -> Mask {
        let spread = 2.0 * self.rng.unit();
        let sharpness = match self.incumbent {
            None => 1000.0,
            Some(_) => 4.0 * (-2.0 * (1.0 - self.rng.unit()).ln()).sqrt(),
        };
        let mut keys = Vec::with_capacity(self.space.dim());
        for b in 0..self.blocks.len() {
            let common = spread * self.rng.normal();
            for i in self.blocks.range(b) {
                let expected = self.expected.get(i).copied().unwrap_or(0.0);
                keys.push(common + self.rng.normal() + sharpness * expected);
            }
        }
        self.space
            .best_by(&keys)
            .unwrap_or_else(|_| self.space.random(&mut self.rng))
    }

    /// Best steps on a draw of the model until none gains or the trust region ends.
    pub(super) fn ascend(&mut self, incumbent: &Mask, temperature: f64) -> Option<Mask> {
        let belief = self.surrogate.draw(temperature, &mut self.rng);
        let radius = 1 + self.rng.below(self.radius.ceil() as usize);
        let block = self.space.dim().div_ceil(self.blocks.len());
        let most = (WORK / (self.surrogate.len() * 6 * block).max(1)).clamp(4, 100);
        let at_once = radius.div_ceil(most);
        let mut landscape = self.surrogate.landscape(&belief, incumbent);
        for _ in 0..2 * most {
            let (mask, gains) = (landscape.mask(), landscape.gradient());
            let flips = self.space.best_steps(mask, gains, at_once);
            let Some(flips) = flips.filter(|_| mask.hamming(incumbent) < 2 * radius) else {
                break;
            };
            landscape.flip(&flips);
        }
        Some(landscape.mask().clone())
    }

    /// One or two steps that the model likes, with more and more noise until the mask is new.
    pub(super) fn kick(&mut self, incumbent: &Mask) -> Option<Mask> {
        let belief = self.surrogate.mean();
        let landscape = self.surrogate.landscape(&belief, incumbent);
        let gradient = landscape.gradient();
        let n = gradient.len() as f64;
        let mean = gradient.iter().sum::<f64>() / n;
        let variance = gradient.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
        for attempt in 0..TRIES {
            let noise = (0.3 + 0.05 * attempt as f64) * variance.sqrt();
            let noisy: Vec<f64> = gradient
                .iter()
                .map(|g| g + noise * self.rng.normal())
                .collect();
            let steps = 1 + self.rng.below(2);
            let mut mask = incumbent.clone();
            let flips = self.space.forced_steps(incumbent, &noisy, steps)?;
            flips.iter().for_each(|&i| mask.set(i, !mask.get(i)));
            if !self.known.contains(&mask) {
                return Some(mask);
            }
        }
        None
    }

    /// Random steps away from the incumbent until the mask is new, starting over now and then.
    pub(super) fn walk(&mut self, incumbent: &Mask) -> Option<Mask> {
        let mut mask = incumbent.clone();
        for attempt in 0..4 * TRIES {
            mask = self.space.step(&mask, &mut self.rng)?;
            if !self.known.contains(&mask) {
                return Some(mask);
            }
            if self.rng.chance(0.7 - attempt as f64 / 500.0) {
                mask = incumbent.clone();
            }
        }
        None
    }
}
