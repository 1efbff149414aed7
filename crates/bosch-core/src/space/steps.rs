//! Smallest steps inside a [`Space`]: swaps under a quota, flips where the number of ones is free.

use super::{Rule, Space};
use crate::mask::Mask;
use crate::rng::Rng;

impl Space {
    /// One random smallest step away from a mask of the space: two unequal variables of one rule
    /// exchanged, or one variable flipped where the number of ones is free. None if nothing can move.
    pub fn step(&self, mask: &Mask, rng: &mut Rng) -> Option<Mask> {
        let total: usize = self.rules.iter().map(Rule::freedom).sum();
        let mut at = rng.below(total);
        let rule = self.rules.iter().find(|rule| {
            let here = at < rule.freedom();
            at = at.saturating_sub(rule.freedom());
            here
        })?;
        let mut next = mask.clone();
        if rule.ones.is_none() {
            let i = *rng.choose(&rule.variables)?;
            next.set(i, !mask.get(i));
        } else {
            let (ones, zeros): (Vec<_>, Vec<_>) =
                rule.variables.iter().partition(|&&i| mask.get(i));
            next.set(*rng.choose(&ones)?, false);
            next.set(*rng.choose(&zeros)?, true);
        }
        Some(next)
    }

    /// The variables to flip for the `count` best steps by `gains` (the change for a variable that
    /// goes to 1), as far as they gain; none if no step gains.
    pub(crate) fn best_steps(
        &self,
        mask: &Mask,
        gains: &[f64],
        count: usize,
    ) -> Option<Vec<usize>> {
        let mut steps = self.steps(mask, gains, count);
        steps.retain(|step| step.0 > 1e-9);
        pick(steps, count)
    }

    /// The same, gain or not.
    pub(crate) fn forced_steps(
        &self,
        mask: &Mask,
        gains: &[f64],
        count: usize,
    ) -> Option<Vec<usize>> {
        pick(self.steps(mask, gains, count), count)
    }

    /// Disjoint steps: (gain, variable, other variable or the same).
    fn steps(&self, mask: &Mask, gains: &[f64], count: usize) -> Vec<(f64, usize, usize)> {
        let mut steps = Vec::new();
        for rule in &self.rules {
            if rule.ones.is_none() {
                let gain = |i: usize| if mask.get(i) { -gains[i] } else { gains[i] };
                steps.extend(rule.variables.iter().map(|&i| (gain(i), i, i)));
                continue;
            }
            let (mut ones, mut zeros): (Vec<usize>, Vec<usize>) =
                rule.variables.iter().partition(|&&i| mask.get(i));
            if count == 1 {
                let out = ones
                    .iter()
                    .min_by(|&&a, &&b| gains[a].total_cmp(&gains[b]).then(a.cmp(&b)));
                let into = zeros
                    .iter()
                    .max_by(|&&a, &&b| gains[a].total_cmp(&gains[b]).then(b.cmp(&a)));
                if let (Some(&i), Some(&j)) = (out, into) {
                    steps.push((gains[j] - gains[i], i, j));
                }
                continue;
            }
            ones.sort_by(|&a, &b| gains[a].total_cmp(&gains[b]).then(a.cmp(&b)));
            zeros.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
            steps.extend(
                ones.iter()
                    .zip(&zeros)
                    .map(|(&i, &j)| (gains[j] - gains[i], i, j)),
            );
        }
        steps
    }
}

/// The variables of the `count` steps with the greatest gains.
fn pick(mut steps: Vec<(f64, usize, usize)>, count: usize) -> Option<Vec<usize>> {
    steps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    steps.truncate(count);
    let both = |(_, i, j): &(f64, usize, usize)| if i == j { vec![*i] } else { vec![*i, *j] };
    (!steps.is_empty()).then(|| steps.iter().flat_map(both).collect())
}
