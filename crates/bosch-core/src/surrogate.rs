//! [`Surrogate`]: a Gaussian process over masks that learns from every evaluation.

use crate::blocks::Blocks;
use crate::mask::Mask;
use crate::rng::Rng;
use crate::surrogate::features::Features;
use crate::surrogate::kernel::Kernel;
use crate::surrogate::link::{Link, Scale};

mod cholesky;
mod features;
mod fit;
mod kernel;
mod landscape;
mod link;

use cholesky::Cholesky;
use fit::Sample;
pub(crate) use landscape::Landscape;

/// A model of the score: linear, block and pair terms under one Gaussian prior, on a monotone
/// transform of the score. How much each kind of term counts, how much is noise, and which
/// transform fits, is decided by the marginal likelihood, again whenever the data have grown by half.
///
/// Pair terms are those inside a block, between neighbouring blocks, and (with a weight of their
/// own) between any two variables; they stay implicit in the kernel, so that a refit costs the
/// square of the number of trials, whatever the number of pairs.
#[derive(Debug, Clone)]
pub(crate) struct Surrogate {
    features: Features,
    kernel: Kernel,
    link: Link,
    scale: Scale,
    points: Vec<Mask>,
    scores: Vec<f64>,
    /// Factor of the kernel matrix with noise.
    factor: Cholesky,
    /// Mean and deviation of the linked scores when last fitted.
    centre: f64,
    spread: f64,
    /// Number of points at which the kernel is chosen again.
    next_fit: usize,
}

/// Points from which on the surrogate forgets when it fits.
const MOST: usize = 700;
/// Points that it then keeps.
const KEPT: usize = 600;

/// A function drawn from (or the mean of) the posterior, ready to be differentiated.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    /// Weight of each point's kernel function.
    weights: Vec<f64>,
    /// Explicit linear weights, of a draw; empty for the mean.
    linear: Vec<f64>,
}

impl Surrogate {
    /// Without data. `ratio` is the expected share of ones, which centres the features.
    pub(crate) fn new(blocks: &Blocks, ratio: f64) -> Self {
        Self {
            features: Features::new(blocks, ratio),
            kernel: Kernel::default(),
            link: Link::Identity,
            scale: Scale::default(),
            points: Vec::new(),
            scores: Vec::new(),
            factor: Cholesky::default(),
            centre: 0.0,
            spread: 1.0,
            next_fit: 8,
        }
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Tells the scores of the two extreme masks, which bound the transforms.
    pub(crate) fn bound(&mut self, zeros: f64, ones: f64) {
        self.scale = Scale::fixed(zeros.min(ones), zeros.max(ones));
        self.next_fit = self.next_fit.min(self.points.len() + 1);
    }

    /// Tells for each variable how much it is expected to help, in standard units.
    pub(crate) fn expect(&mut self, direction: &[f64]) {
        self.features.set_direction(direction, &self.points);
        if !self.points.is_empty() {
            self.refactor();
        }
    }

    /// Learns one evaluation.
    pub(crate) fn add(&mut self, mask: &Mask, score: f64) {
        self.features.push(mask);
        self.points.push(mask.clone());
        self.scores.push(score);
        if self.points.len() >= self.next_fit {
            self.next_fit = self.points.len() + (self.points.len() / 2).max(4);
            self.fit();
        } else {
            self.append(self.points.len() - 1);
        }
    }

    /// Chooses kernel and link anew and factorises all.
    fn fit(&mut self) {
        if self.points.len() > MOST {
            self.forget();
        }
        self.scale.widen(&self.scores);
        let sample = Sample::new(&self.features, &self.points, &self.scores, self.scale);
        (self.kernel, self.link) = sample.fit(self.kernel);
        let linked = self.linked();
        let n = linked.len() as f64;
        self.centre = linked.iter().sum::<f64>() / n;
        let variance = linked
            .iter()
            .map(|y| (y - self.centre).powi(2))
            .sum::<f64>()
            / n;
        self.spread = variance.sqrt().max(1e-12);
        self.refactor();
    }

    fn refactor(&mut self) {
        self.factor = Cholesky::default();
        (0..self.points.len()).for_each(|at| self.append(at));
    }

    /// Keeps the best and the latest points, so that cost and memory stay bounded.
    fn forget(&mut self) {
        let latest = self.points.len() - KEPT / 2;
        let mut kept: Vec<usize> = (0..latest).collect();
        kept.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]).then(a.cmp(&b)));
        kept.truncate(KEPT / 2);
        kept.sort_unstable();
        kept.extend(latest..self.points.len());
        self.points = kept.iter().map(|&at| self.points[at].clone()).collect();
        self.scores = kept.iter().map(|&at| self.scores[at]).collect();
        self.features.clear();
        self.points
            .iter()
            .for_each(|point| self.features.push(point));
        self.next_fit = KEPT + KEPT / 3;
    }

    fn append(&mut self, at: usize) {
        let mut row = self.kernel.row(&self.features, &self.points[at]);
        row.truncate(at + 1);
        row[at] += self.kernel.noise;
        self.factor.append(row);
    }

    fn linked(&self) -> Vec<f64> {
        self.scores
            .iter()
            .map(|&score| self.link.apply(self.scale.unit(score)))
            .collect()
    }

    /// The standardised targets.
    fn targets(&self) -> Vec<f64> {
        self.linked()
            .iter()
            .map(|y| (y - self.centre) / self.spread)
            .collect()
    }

    /// The posterior's mean.
    pub(crate) fn mean(&self) -> Belief {
        Belief {
            weights: self.factor.solve(self.targets()),
            linear: Vec::new(),
        }
    }

    /// A draw: the linear and block terms from their posterior (Matheron's rule: a draw of the
    /// prior, corrected by what the data say against it), the pair terms at their mean.
    /// `temperature` scales the randomness; 0 gives the mean.
    pub(crate) fn draw(&self, temperature: f64, rng: &mut Rng) -> Belief {
        if temperature <= 0.0 {
            return self.mean();
        }
        let prior = self.kernel.draw_linear(&self.features, temperature, rng);
        let noise = temperature * self.kernel.noise.sqrt();
        let values = self.features.linear(&prior);
        let targets = self.targets();
        let residual = targets.iter().zip(&values);
        let residual = residual.map(|(y, value)| y - f64::from(*value) - noise * rng.normal());
        Belief {
            weights: self.factor.solve(residual.collect()),
            linear: prior,
        }
    }

    /// The belief seen from a mask.
    pub(crate) fn landscape(&self, belief: &Belief, mask: &Mask) -> Landscape<'_> {
        let linear = belief.linear.clone();
        Landscape::new(&self.features, self.kernel, &belief.weights, linear, mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;

    /// A surrogate that knows `points` random masks of 4 blocks of 3.
    fn taught(points: usize, score: impl Fn(&Mask) -> f64) -> (Surrogate, Space, Rng) {
        let blocks = Blocks::uniform(4, 3).unwrap();
        let space = Space::exactly(12, 6).unwrap();
        let mut rng = Rng::stream(3, "surrogate");
        let mut surrogate = Surrogate::new(&blocks, 0.5);
        for _ in 0..points {
            let mask = space.random(&mut rng);
            surrogate.add(&mask, score(&mask));
        }
        (surrogate, space, rng)
    }

    fn value(surrogate: &Surrogate, belief: &Belief, mask: &Mask) -> f64 {
        let row = surrogate.kernel.row(&surrogate.features, mask);
        row.iter().zip(&belief.weights).map(|(k, w)| k * w).sum()
    }

    fn pairs(mask: &Mask) -> f64 {
        let single: f64 = mask.iter_ones().map(|i| (i * 5 % 12) as f64).sum();
        let pairs = (0..11).filter(|&i| mask.get(i) && mask.get(i + 1)).count();
        single - 4.0 * pairs as f64
    }

    #[test]
    fn it_orders_unseen_masks_of_a_function_with_pair_terms() {
        let (surrogate, space, mut rng) = taught(120, pairs);
        let belief = surrogate.mean();
        let mut right = 0;
        for _ in 0..500 {
            let (a, b) = (space.random(&mut rng), space.random(&mut rng));
            let believed = value(&surrogate, &belief, &a) > value(&surrogate, &belief, &b);
            right += usize::from(believed == (pairs(&a) > pairs(&b)));
        }
        assert!(right > 450, "{right} of 500");
    }

    #[test]
    fn the_gradient_is_that_of_the_mean_also_after_flips() {
        let (surrogate, space, mut rng) = taught(40, pairs);
        let belief = surrogate.mean();
        let mask = space.random(&mut rng);
        let mut landscape = surrogate.landscape(&belief, &mask);
        landscape.flip(&[0, 7, 11]);
        let mask = landscape.mask().clone();
        // The mean is quadratic in the features but for the bend: centred differences are exact
        // where the bend is 0, and near otherwise.
        for i in 0..12 {
            let up = value(&surrogate, &belief, &mask.with(i, true));
            let down = value(&surrogate, &belief, &mask.with(i, false));
            let gradient = landscape.gradient()[i];
            let fresh = surrogate.landscape(&belief, &mask).gradient()[i];
            assert!(
                (gradient - fresh).abs() < 1e-3 * (1.0 + fresh.abs()),
                "{gradient} {fresh}"
            );
            assert!(
                (up - down - gradient).abs() < 0.5 + 0.5 * gradient.abs(),
                "{i}"
            );
        }
    }

    #[test]
    fn a_draw_at_temperature_zero_is_the_mean_and_others_differ() {
        let (surrogate, _, mut rng) = taught(30, pairs);
        assert_eq!(
            surrogate.draw(0.0, &mut rng).weights,
            surrogate.mean().weights
        );
        assert_ne!(
            surrogate.draw(1.0, &mut rng).weights,
            surrogate.mean().weights
        );
    }
}
