//! [`Surrogate`]: a Gaussian process over masks that learns from every evaluation.

use std::sync::Arc;

use crate::blocks::Blocks;
use crate::mask::Mask;
use crate::rng::Rng;
use crate::surrogate::features::Features;
use crate::surrogate::kernel::Kernel;
use crate::surrogate::link::{Link, Scale};

mod cholesky;
mod dot;
mod features;
mod fit;
mod kernel;
mod landscape;
mod link;
mod quadratic;

use cholesky::Cholesky;
use dot::dot;
use fit::Sample;
pub(crate) use landscape::Landscape;
pub(crate) use quadratic::Quadratic;

/// A model of the score: linear, block and pair terms under one Gaussian prior, on a monotone
/// transform of the score. How much each kind of term counts, how much is noise, and which
/// transform fits, is decided by the marginal likelihood, again whenever the data have grown by half.
///
/// Pair terms are those inside a block, between neighbouring blocks, and (with a weight of their
/// own) between any two variables. They are implicit in the kernel, so that learning costs the square
/// of the number of trials, whatever the number of pairs; a [`Quadratic`] makes them explicit, so that
/// a search on the model costs next to nothing. To keep its share of a cheap objective's time small,
/// it learns the trials in groups that grow with their number.
#[derive(Debug, Clone)]
pub(crate) struct Surrogate {
    features: Features,
    kernel: Kernel,
    link: Link,
    scale: Scale,
    points: Vec<Mask>,
    scores: Vec<f64>,
    /// Factor of the kernel matrix with noise, of the points learned so far.
    factor: Cholesky,
    /// Mean and deviation of the linked scores when last fitted.
    centre: f64,
    spread: f64,
    /// Number of points at which the kernel is chosen again.
    next_fit: usize,
    /// What is believed since the points were last learned.
    beliefs: Vec<Belief>,
}

/// The model's belief at a temperature, for some uses.
#[derive(Debug, Clone)]
struct Belief {
    temperature: f64,
    quadratic: Arc<Quadratic>,
    uses: usize,
}

/// Points from which on the surrogate forgets when it fits.
const MOST: usize = 700;
/// Points that it then keeps.
const KEPT: usize = 600;
/// With n points, n²/LAZINESS may wait until they are learned, and a draw is used as often again.
const LAZINESS: usize = 20_000;

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
            beliefs: Vec::new(),
        }
    }

    /// Tells the scores of the two extreme masks, which bound the transforms.
    pub(crate) fn bound(&mut self, zeros: f64, ones: f64) {
        self.scale = Scale::fixed(zeros.min(ones), zeros.max(ones));
        self.next_fit = self.next_fit.min(self.points.len() + 1);
    }

    /// Tells for each variable how much it is expected to help, in standard units.
    pub(crate) fn expect(&mut self, direction: &[f64]) {
        self.features.set_direction(direction, &self.points);
        self.factor = Cholesky::default();
        self.beliefs.clear();
    }

    /// Takes note of one evaluation.
    pub(crate) fn add(&mut self, mask: &Mask, score: f64) {
        self.features.push(mask);
        self.points.push(mask.clone());
        self.scores.push(score);
    }

    /// Learns the evaluations that wait, if there are enough of them or if it is to be `now`.
    pub(crate) fn learn(&mut self, now: bool) {
        let points = self.points.len();
        let waiting = points - self.factor.len();
        if points >= self.next_fit {
            self.next_fit = points + (points / 2).max(4);
            self.fit();
        } else if waiting <= self.patience() && !now {
            return;
        }
        for at in self.factor.len()..self.points.len() {
            let point = &self.points[at];
            let mut row = self.kernel.row(&self.features, point, at + 1);
            row[at] += self.kernel.noise;
            self.factor.append(row);
        }
        if waiting > 0 {
            self.beliefs.clear();
        }
    }

    /// Chooses kernel and link anew.
    fn fit(&mut self) {
        if self.points.len() > MOST {
            self.forget();
        }
        self.scale.widen(&self.scores);
        let sample = Sample::new(&self.features, &self.points, &self.scores, self.scale);
        (self.kernel, self.link) = sample.fit(self.kernel);
        let linked: Vec<f64> = self
            .scores
            .iter()
            .map(|&score| self.linked(score))
            .collect();
        let n = linked.len() as f64;
        self.centre = linked.iter().sum::<f64>() / n;
        let square = |y: &f64| (y - self.centre).powi(2);
        self.spread = (linked.iter().map(square).sum::<f64>() / n)
            .sqrt()
            .max(1e-12);
        self.factor = Cholesky::default();
        self.beliefs.clear();
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
        self.features = self.features.of(&self.points.iter().collect::<Vec<_>>());
        self.next_fit = KEPT + KEPT / 3;
    }

    fn linked(&self, score: f64) -> f64 {
        self.link.apply(self.scale.unit(score))
    }

    /// The standardised targets of the points learned.
    fn targets(&self) -> Vec<f64> {
        let target = |&score: &f64| (self.linked(score) - self.centre) / self.spread;
        self.scores[..self.factor.len()]
            .iter()
            .map(target)
            .collect()
    }

    /// What is believed: the posterior's mean at temperature 0, else a draw whose randomness the
    /// temperature scales. Far pairs are taken to first order at a mask.
    pub(crate) fn belief(&mut self, temperature: f64, at: &Mask, rng: &mut Rng) -> Arc<Quadratic> {
        self.beliefs.retain(|belief| belief.uses > 0);
        let mut known = self.beliefs.iter_mut();
        if let Some(belief) = known.find(|belief| belief.temperature == temperature) {
            belief.uses -= usize::from(temperature > 0.0);
            return Arc::clone(&belief.quadratic);
        }
        let (alpha, linear) = self.draw(temperature, rng);
        let quadratic = Quadratic::new(&self.features, &self.kernel, &alpha, &linear, at);
        let quadratic = Arc::new(quadratic);
        let uses = self.patience() + usize::from(temperature <= 0.0);
        self.beliefs.push(Belief {
            temperature,
            quadratic: Arc::clone(&quadratic),
            uses,
        });
        quadratic
    }

    /// The number of points that may wait.
    fn patience(&self) -> usize {
        self.points.len() * self.points.len() / LAZINESS
    }

    /// The weights of the points and of the features: the linear and block terms from their
    /// posterior (Matheron's rule: a draw of the prior, corrected by what the data say against it),
    /// the pair terms at their mean.
    fn draw(&self, temperature: f64, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
        let mut targets = self.targets();
        if temperature <= 0.0 {
            return (self.factor.solve(targets), Vec::new());
        }
        let prior = self.kernel.draw_linear(&self.features, temperature, rng);
        let noise = temperature * self.kernel.noise.sqrt();
        let values = self.features.linear(&prior, targets.len());
        for (target, value) in targets.iter_mut().zip(values) {
            *target -= f64::from(value) + noise * rng.normal();
        }
        (self.factor.solve(targets), prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;

    /// A surrogate that knows `points` random masks of `blocks`.
    fn taught(
        blocks: &Blocks,
        points: usize,
        score: impl Fn(&Mask) -> f64,
    ) -> (Surrogate, Space, Rng) {
        let space = Space::exactly(blocks.dim(), blocks.dim() / 2).unwrap();
        let mut rng = Rng::stream(3, "surrogate");
        let mut surrogate = Surrogate::new(blocks, 0.5);
        for _ in 0..points {
            let mask = space.random(&mut rng);
            surrogate.add(&mask, score(&mask));
            surrogate.learn(true);
        }
        (surrogate, space, rng)
    }

    /// The mean of the posterior, from its definition.
    fn mean(surrogate: &Surrogate, mask: &Mask) -> f64 {
        let points = surrogate.factor.len();
        let row = surrogate.kernel.row(&surrogate.features, mask, points);
        let alpha = surrogate.factor.solve(surrogate.targets());
        row.iter().zip(&alpha).map(|(k, a)| k * a).sum()
    }

    fn pairs(mask: &Mask) -> f64 {
        let single: f64 = mask.iter_ones().map(|i| (i * 5 % 12) as f64).sum();
        let ones: Vec<usize> = mask.iter_ones().collect();
        let pairs = ones
            .windows(2)
            .filter(|pair| pair[1] == pair[0] + 1)
            .count();
        single - 4.0 * pairs as f64
    }

    #[test]
    fn it_orders_unseen_masks_of_a_function_with_pair_terms() {
        let (surrogate, space, mut rng) = taught(&Blocks::uniform(4, 3).unwrap(), 120, pairs);
        let mut right = 0;
        for _ in 0..500 {
            let (a, b) = (space.random(&mut rng), space.random(&mut rng));
            let believed = mean(&surrogate, &a) > mean(&surrogate, &b);
            right += usize::from(believed == (pairs(&a) > pairs(&b)));
        }
        assert!(right > 450, "{right} of 500");
    }

    #[test]
    fn the_quadratic_is_the_mean_in_every_kind_of_term_also_after_flips() {
        for blocks in [
            Blocks::uniform(4, 3).unwrap(),
            Blocks::from_sizes(&[1, 5, 2, 4]).unwrap(),
        ] {
            let (mut surrogate, space, mut rng) = taught(&blocks, 40, pairs);
            surrogate.kernel.parts = [0.5, 0.3, 0.2, 0.15, 0.1, 0.25, 0.4];
            surrogate.expect(&(0..12).map(|i| f64::from(i % 5) - 2.0).collect::<Vec<_>>());
            surrogate.learn(true);
            let mask = space.random(&mut rng);
            let belief = surrogate.belief(0.0, &mask, &mut rng);
            let mut landscape = Landscape::new(&belief, &mask);
            let start = mean(&surrogate, &mask);
            let mut climbed = 0.0;
            for i in [0, 7, 11, 3] {
                climbed += landscape.flip_gain(i);
                landscape.flip(i);
            }
            let here = mean(&surrogate, landscape.mask());
            assert!((here - start - climbed).abs() < 1e-3, "climbed");
            for i in 0..12 {
                let value = |flipped: &[usize]| {
                    let mut mask = landscape.mask().clone();
                    flipped.iter().for_each(|&i| mask.set(i, !mask.get(i)));
                    mean(&surrogate, &mask) - here
                };
                assert!((value(&[i]) - landscape.flip_gain(i)).abs() < 1e-3, "{i}");
                for j in (0..12).filter(|&j| j != i) {
                    let error = value(&[i, j]) - landscape.pair_gain(i, j);
                    assert!(error.abs() < 1e-3, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn far_pairs_of_many_variables_are_right_to_first_order() {
        let blocks = Blocks::uniform(60, 5).unwrap();
        let (mut surrogate, space, mut rng) = taught(&blocks, 30, pairs);
        surrogate.kernel.parts[5] = 1.0;
        surrogate.expect(&vec![0.0; 300]);
        surrogate.learn(true);
        let mask = space.random(&mut rng);
        let belief = surrogate.belief(0.0, &mask, &mut rng);
        let landscape = Landscape::new(&belief, &mask);
        let here = mean(&surrogate, &mask);
        for i in (0..300).step_by(7) {
            let change = mean(&surrogate, &mask.with(i, !mask.get(i))) - here;
            // The diagonal of the far terms, of second order, is what is left out.
            assert!((change - landscape.flip_gain(i)).abs() < 0.01, "{i}");
        }
    }

    #[test]
    fn beliefs_stay_until_more_is_learned_and_draws_differ() {
        let (mut surrogate, space, mut rng) = taught(&Blocks::uniform(4, 3).unwrap(), 30, pairs);
        let mask = space.random(&mut rng);
        let mean = surrogate.belief(0.0, &mask, &mut rng);
        let draw = surrogate.belief(1.0, &mask, &mut rng);
        assert_ne!(mean.gains(&mask), draw.gains(&mask));
        assert!(Arc::ptr_eq(&mean, &surrogate.belief(0.0, &mask, &mut rng)));
        // With so few points, each draw is used once.
        assert!(!Arc::ptr_eq(&draw, &surrogate.belief(1.0, &mask, &mut rng)));
        surrogate.add(&mask, pairs(&mask));
        surrogate.learn(true);
        assert!(!Arc::ptr_eq(&mean, &surrogate.belief(0.0, &mask, &mut rng)));
    }
}
