//! The highest ratio that keeps a share of the score, found by bisection.

use serde::{Deserialize, Serialize};
use serde_json::to_value;

use super::{Front, best, finish, least, solver, start};
use crate::blocks::Blocks;
use crate::error::{Error, InvalidInput};
use crate::evaluator::{Evaluator, Plan};
use crate::objective::Objective;
use crate::optimizer::drive;
use crate::space::Space;
use crate::trial::Trial;

/// What the search for the highest ratio is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HighestSettings {
    keep: f64,
    budget: usize,
    seed: u64,
}

impl HighestSettings {
    /// The share of the way from the score of all ones to that of none that a mask has to keep, above 0
    /// and at most 1, such as 0.95; and the budget of evaluations, at least five.
    pub fn new(keep: f64, budget: usize) -> Self {
        Self {
            keep,
            budget,
            seed: 0,
        }
    }

    /// The seed of all randomness; 0 at first.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn check(&self) -> Result<(), InvalidInput> {
        if !(self.keep > 0.0 && self.keep <= 1.0) {
            let expected = "a share above 0 and at most 1";
            return Err(InvalidInput::new("share to keep", expected, self.keep));
        }
        match self.budget {
            0..5 => Err(InvalidInput::new("budget", "at least 5", self.budget)),
            _ => Ok(()),
        }
    }
}

/// Finds a mask with as many ones as it can that keeps a share of the score.
///
/// It bisects the number of ones. A number is done with once a mask of it keeps the share, or when its
/// part of the budget is used; the second is no proof that there is none. The answer's masks are the best
/// ones of every number that was tried; [`Front::most_that_keeps`] picks the result.
///
/// ```
/// use bosch_core::pareto::{self, HighestSettings};
/// use bosch_core::{Blocks, Evaluator, Mask, from_fn};
///
/// // Every head costs its number: of 210 in all, 5 % are 10.5.
/// let objective = from_fn(21, |mask: &Mask| {
///     -mask.iter_ones().map(|i| (i * 8 % 21) as f64).sum::<f64>()
/// });
/// let blocks = Blocks::uniform(7, 3)?;
/// let settings = HighestSettings::new(0.95, 300);
/// let front = pareto::highest(&mut Evaluator::new(objective), &blocks, &settings)?;
/// let best = front.most_that_keeps(0.95).unwrap();
/// assert_eq!((best.mask.count_ones(), best.score), (5, -10.0)); // 0 + 1 + 2 + 3 + 4
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`pareto::search`](super::search).
pub fn highest<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    blocks: &Blocks,
    settings: &HighestSettings,
) -> Result<Front, Error<O::Error>> {
    settings.check()?;
    let dim = blocks.dim();
    let anchors = start(
        evaluator,
        Plan {
            budget: settings.budget,
            seed: settings.seed,
            settings: to_value(settings).unwrap_or_default(),
            admissible: Space::any(dim),
        },
    )?;
    let least = least(anchors, settings.keep);
    let mut trials: Vec<Trial> = Vec::new();
    // `keeps` ones are known to be possible, `fails` ones are not.
    let (mut keeps, mut fails) = (0, dim);
    while fails - keeps > 1 && evaluator.remaining() > 0 {
        let steps = (fails - keeps).next_power_of_two().ilog2() as usize;
        let budget = evaluator.remaining().div_ceil(steps);
        let ones = keeps.midpoint(fails);
        let near = trials
            .iter()
            .min_by_key(|trial| trial.mask.count_ones().abs_diff(ones));
        let near = near.map(|trial| trial.mask.clone());
        let (mut solver, space) = solver(
            evaluator,
            blocks,
            ones,
            (budget, settings.seed),
            near.as_ref(),
        )?;
        let end = evaluator.evaluations() + budget;
        let kept = |trial: Option<&Trial>| trial.is_some_and(|trial| trial.score >= least);
        while evaluator.evaluations() < end && !kept(best(evaluator.trials(), &space)) {
            let before = evaluator.evaluations();
            drive(evaluator, &mut solver, 1, 1)?;
            if evaluator.evaluations() == before {
                break;
            }
        }
        let found = best(evaluator.trials(), &space);
        match kept(found) {
            true => keeps = ones,
            false => fails = ones,
        }
        trials.extend(found.cloned());
    }
    trials.sort_by_key(|trial| trial.mask.count_ones());
    finish(evaluator, anchors, trials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;
    use crate::objective::from_fn;

    fn score(mask: &Mask) -> f64 {
        -(mask.iter_ones().map(|i| i * i).sum::<usize>() as f64)
    }

    fn most(keep: f64, budget: usize) -> Option<usize> {
        let blocks = Blocks::uniform(4, 3).unwrap();
        let mut evaluator = Evaluator::new(from_fn(12, score));
        let front = highest(&mut evaluator, &blocks, &HighestSettings::new(keep, budget)).unwrap();
        assert!(front.evaluations <= budget);
        assert!(
            front
                .trials
                .is_sorted_by_key(|trial| trial.mask.count_ones())
        );
        let best = front.most_that_keeps(keep)?;
        assert!(best.score >= score(&Mask::filled(12, true)) * (1.0 - keep));
        Some(best.mask.count_ones())
    }

    #[test]
    fn it_finds_the_most_ones_that_keep_any_share() {
        // Of 506 = 0² + … + 11², the n least squares are what n ones cost at least.
        for (keep, ones) in [(0.95, 4), (0.8, 7), (0.5, 9), (1e-9, 11), (1.0, 1)] {
            assert_eq!(most(keep, 400), Some(ones), "{keep}");
        }
    }

    #[test]
    fn the_least_budget_is_enough_to_answer_and_bad_settings_are_refused() {
        most(0.5, 5);
        let blocks = Blocks::uniform(4, 3).unwrap();
        for (keep, budget) in [(0.0, 50), (1.1, 50), (f64::NAN, 50), (0.9, 4)] {
            let mut evaluator = Evaluator::new(from_fn(12, |_: &Mask| unreachable!()));
            let settings = HighestSettings::new(keep, budget);
            let result = highest(&mut evaluator, &blocks, &settings);
            assert!(matches!(result, Err(Error::Input(_))), "{keep} {budget}");
        }
    }
}
