//! The ways in which a [`Portfolio`] makes a mask.

use std::cmp::Ordering;

use super::Portfolio;
use crate::mask::Mask;
use crate::surrogate::Landscape;

/// Tries for a new mask before another way is taken.
const TRIES: usize = 100;

/// The steps that gain most first.
fn by_gain(a: &(f64, usize, usize), b: &(f64, usize, usize)) -> Ordering {
    b.0.total_cmp(&a.0)
}

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

    /// Best steps on what the model believes at a temperature until none gains or the trust region ends;
    /// then the best step to a mask that is not known, if that one is.
    pub(super) fn ascend(&mut self, incumbent: &Mask, temperature: f64) -> Option<Mask> {
        let belief = self.surrogate.belief(temperature, incumbent, &mut self.rng);
        let radius = 1 + self.rng.below(self.radius.ceil() as usize);
        let mut landscape = Landscape::new(&belief, incumbent);
        for _ in 0..2 * radius {
            let steps = self.steps(&landscape).into_iter();
            let best = steps.min_by(by_gain);
            let Some((_, i, j)) = best.filter(|step| step.0 > 1e-9) else {
                break;
            };
            landscape.flip(i);
            if i != j {
                landscape.flip(j);
            }
            if landscape.mask().hamming(incumbent) >= 2 * radius {
                break;
            }
        }
        let mask = landscape.mask();
        if !self.known.contains(mask) {
            return Some(mask.clone());
        }
        let mut steps = self.steps(&landscape);
        steps.sort_by(by_gain);
        steps.into_iter().find_map(|(_, i, j)| {
            let mut next = mask.with(i, !mask.get(i));
            next.set(j, !mask.get(j));
            Some(next).filter(|next| !self.known.contains(next))
        })
    }

    /// Steps with what they are believed to gain: two variables to flip, or twice the same for one alone.
    fn steps(&self, landscape: &Landscape<'_>) -> Vec<(f64, usize, usize)> {
        let gain = |(i, j)| {
            let gain = match i == j {
                true => landscape.flip_gain(i),
                false => landscape.pair_gain(i, j),
            };
            (gain, i, j)
        };
        let promising = self.space.promising(landscape.mask(), landscape.gains());
        promising.into_iter().map(gain).collect()
    }

    /// One or two steps that the model likes, with more and more noise until the mask is new.
    pub(super) fn kick(&mut self, incumbent: &Mask) -> Option<Mask> {
        let belief = self.surrogate.belief(0.0, incumbent, &mut self.rng);
        let gains = belief.gains(incumbent);
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
        for attempt in 0..TRIES {
            let noise = (0.3 + 0.05 * attempt as f64) * variance.sqrt();
            let noisy: Vec<f64> = gains
                .iter()
                .map(|g| g + noise * self.rng.normal())
                .collect();
            let steps = 1 + self.rng.below(2);
            let mut mask = incumbent.clone();
            let flips = self.space.best_steps(incumbent, &noisy, steps)?;
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
