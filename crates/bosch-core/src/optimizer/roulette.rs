//! [`Roulette`]: adaptive choice among a few ways to go on.

use crate::rng::Rng;

/// Chooses among `n` arms at random, each with a chance in proportion to its recent rate of success.
///
/// ```
/// use bosch_core::{Rng, Roulette};
///
/// let mut rng = Rng::stream(1, "example");
/// let mut roulette = Roulette::new(2);
/// for _ in 0..100 {
///     let arm = roulette.pick(&mut rng);
///     roulette.reward(arm, arm == 1);
/// }
/// assert!(roulette.rate(1) > roulette.rate(0));
/// ```
#[derive(Debug, Clone)]
pub struct Roulette {
    /// Discounted successes and trials of each arm.
    arms: Vec<(f64, f64)>,
}

/// How much of the past counts after one trial.
const MEMORY: f64 = 0.98;
/// Successes that an arm is credited with at first, and always.
const CREDIT: f64 = 1.0;
/// Trials of that credit.
const TRIALS: f64 = 5.0;

impl Roulette {
    /// `n` arms (at least 1) with the same chance.
    pub fn new(n: usize) -> Self {
        Self {
            arms: vec![(0.0, 0.0); n.max(1)],
        }
    }

    /// An arm.
    pub fn pick(&self, rng: &mut Rng) -> usize {
        let total: f64 = (0..self.arms.len()).map(|arm| self.rate(arm)).sum();
        let mut at = rng.unit() * total;
        for arm in 0..self.arms.len() - 1 {
            at -= self.rate(arm);
            if at < 0.0 {
                return arm;
            }
        }
        self.arms.len() - 1
    }

    /// Tells whether an arm succeeded. An arm that does not exist is ignored.
    pub fn reward(&mut self, arm: usize, success: bool) {
        if arm < self.arms.len() {
            for (successes, trials) in &mut self.arms {
                *successes *= MEMORY;
                *trials *= MEMORY;
            }
            self.arms[arm].0 += f64::from(success);
            self.arms[arm].1 += 1.0;
        }
    }

    /// The smoothed rate of success of an arm, above 0; 0 for one that does not exist.
    pub fn rate(&self, arm: usize) -> f64 {
        self.arms.get(arm).map_or(0.0, |(successes, trials)| {
            (successes + CREDIT) / (trials + TRIALS)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_keeps_a_chance_and_the_better_one_gets_more() {
        let mut rng = Rng::stream(5, "roulette");
        let mut roulette = Roulette::new(3);
        let mut counts = [0; 3];
        for _ in 0..3000 {
            let arm = roulette.pick(&mut rng);
            counts[arm] += 1;
            roulette.reward(arm, arm == 2 && rng.chance(0.5));
        }
        assert!(
            counts[2] > 2 * counts[0] && counts[2] > 2 * counts[1],
            "{counts:?}"
        );
        assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
    }
}
