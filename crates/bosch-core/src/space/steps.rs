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

    /// The steps that are worth a closer look by `gains` (the change for a variable that goes to 1):
    /// pairs of variables to flip, or twice the same for one alone. Under a quota, exchanges of the ones
    /// that are missed least with the zeros that gain most; else flips of those that gain most, one or two
    /// at once.
    pub(crate) fn promising(&self, mask: &Mask, gains: &[f64]) -> Vec<(usize, usize)> {
        let width = (SHORTLIST / self.rules.len()).clamp(3, SHORTLIST);
        let gain = flip_gain(mask, gains);
        let mut steps = Vec::with_capacity(SHORTLIST * SHORTLIST);
        for rule in &self.rules {
            if rule.ones.is_none() {
                let best = highest(rule.variables.clone(), width, gain);
                for (at, &i) in best.iter().enumerate() {
                    steps.extend(best[at..].iter().map(|&j| (i, j)));
                }
                continue;
            }
            let (ones, zeros) = rule.variables.iter().partition(|&&i| mask.get(i));
            let zeros = highest(zeros, width, gain);
            for i in highest(ones, width, gain) {
                steps.extend(zeros.iter().map(|&j| (i, j)));
            }
        }
        steps
    }

    /// The variables to flip for the `count` best disjoint steps by `gains`, whether they gain or not.
    pub(crate) fn best_steps(
        &self,
        mask: &Mask,
        gains: &[f64],
        count: usize,
    ) -> Option<Vec<usize>> {
        let gain = flip_gain(mask, gains);
        let mut steps = Vec::new();
        for rule in &self.rules {
            if rule.ones.is_none() {
                let best = highest(rule.variables.clone(), count, gain);
                steps.extend(best.iter().map(|i| (gain(i), *i, *i)));
                continue;
            }
            let (ones, zeros) = rule.variables.iter().partition(|&&i| mask.get(i));
            let (ones, zeros) = (highest(ones, count, gain), highest(zeros, count, gain));
            let both = ones.iter().zip(&zeros);
            steps.extend(both.map(|(i, j)| (gain(i) + gain(j), *i, *j)));
        }
        steps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        steps.truncate(count);
        let both = |(_, i, j): &(f64, usize, usize)| if i == j { vec![*i] } else { vec![*i, *j] };
        (!steps.is_empty()).then(|| steps.iter().flat_map(both).collect())
    }
}

/// Variables of each kind that are combined.
const SHORTLIST: usize = 12;

/// The change when a variable is flipped, from the change for one that goes to 1.
fn flip_gain(mask: &Mask, gains: &[f64]) -> impl Fn(&usize) -> f64 + Copy {
    |&i| if mask.get(i) { -gains[i] } else { gains[i] }
}

/// The `count` variables with the highest gains, in descending order; ties go to the lower variable.
fn highest(mut variables: Vec<usize>, count: usize, gain: impl Fn(&usize) -> f64) -> Vec<usize> {
    let order = |i: &usize, j: &usize| gain(j).total_cmp(&gain(i)).then(i.cmp(j));
    if variables.len() > count {
        variables.select_nth_unstable_by(count, order);
        variables.truncate(count);
    }
    variables.sort_unstable_by(order);
    variables
}
