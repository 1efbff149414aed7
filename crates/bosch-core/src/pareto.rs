//! The trade-off between ratio and score in one run: a mask for each of several ratios, or the highest
//! ratio that keeps a share of the score.
//!
//! The ratios share one evaluator, and each search starts from what the others have evaluated and from
//! the mask of a ratio near it, completed by what is known of the variables.

use serde::{Deserialize, Serialize};
use serde_json::to_value;

use crate::blocks::Blocks;
use crate::error::{Error, InvalidInput};
use crate::evaluator::{Evaluator, Plan};
use crate::loss::{Anchors, RatioPenalty, ones_for_ratio};
use crate::mask::Mask;
use crate::objective::Objective;
use crate::optimizer::{Optimizer, Portfolio, drive};
use crate::rng::Rng;
use crate::space::Space;
use crate::trial::Trial;

mod highest;

pub use highest::{HighestSettings, highest};

/// What a trade-off search is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParetoSettings {
    ratios: Vec<f64>,
    budget: usize,
    seed: u64,
}

impl ParetoSettings {
    /// The ratios, each of which converts at least one variable and not all, and the budget of
    /// evaluations for all of them together, at least three for each ratio.
    pub fn new(ratios: &[f64], budget: usize) -> Self {
        Self {
            ratios: ratios.to_vec(),
            budget,
            seed: 0,
        }
    }

    /// The seed of all randomness; 0 at first.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The numbers of ones, ascending, each once.
    fn check(&self, dim: usize) -> Result<Vec<usize>, InvalidInput> {
        let mut counts = Vec::with_capacity(self.ratios.len());
        for &ratio in &self.ratios {
            let ones = ones_for_ratio(ratio, dim)?;
            if ones == 0 || ones >= dim {
                let expected = format!("one that converts 1 to {} of {dim}", dim.saturating_sub(1));
                return Err(InvalidInput::new("ratio", expected, ratio));
            }
            counts.push(ones);
        }
        counts.sort_unstable();
        counts.dedup();
        if counts.is_empty() {
            return Err(InvalidInput::new("ratios", "at least one", "none"));
        }
        let least = 3 * counts.len();
        if self.budget < least {
            return Err(InvalidInput::new(
                "budget",
                format!("at least {least}"),
                self.budget,
            ));
        }
        Ok(counts)
    }
}

/// A mask for each ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Front {
    /// The best trial of each number of ones, ascending.
    pub trials: Vec<Trial>,
    /// The scores of the two extreme masks.
    pub anchors: Anchors,
    /// Evaluations used, the replayed ones included.
    pub evaluations: usize,
}

impl Front {
    /// The trial with the most ones that keeps at least the share `kept` of the way from the score of
    /// all ones to that of none; none if no ratio does.
    pub fn most_that_keeps(&self, kept: f64) -> Option<&Trial> {
        let least = least(self.anchors, kept);
        self.trials.iter().rev().find(|trial| trial.score >= least)
    }
}

/// Finds a mask for each ratio.
///
/// ```
/// use bosch_core::pareto::{self, ParetoSettings};
/// use bosch_core::{Blocks, Evaluator, Mask, from_fn};
///
/// let objective = from_fn(20, |mask: &Mask| {
///     -mask.iter_ones().map(|i| (i * 7 % 20) as f64).sum::<f64>()
/// });
/// let blocks = Blocks::uniform(5, 4)?;
/// let settings = ParetoSettings::new(&[0.25, 0.5, 0.75], 240);
/// let front = pareto::search(&mut Evaluator::new(objective), &blocks, &settings)?;
/// assert_eq!(front.trials.iter().map(|t| t.mask.count_ones()).collect::<Vec<_>>(), [5, 10, 15]);
/// assert_eq!(front.trials[0].score, -10.0); // 0 + 1 + 2 + 3 + 4
/// // The highest of these ratios that keeps three quarters of the score:
/// assert_eq!(front.most_that_keeps(0.75).map(|t| t.mask.count_ones()), Some(10));
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`staged::search`](crate::staged::search), for all ratios together.
pub fn search<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    blocks: &Blocks,
    settings: &ParetoSettings,
) -> Result<Front, Error<O::Error>> {
    let dim = blocks.dim();
    let counts = settings.check(dim)?;
    let anchors = start(
        evaluator,
        Plan {
            budget: settings.budget,
            seed: settings.seed,
            settings: to_value(settings).unwrap_or_default(),
            admissible: Space::any(dim),
        },
    )?;
    let mut trials: Vec<Trial> = Vec::new();
    for (at, &ones) in counts.iter().enumerate() {
        let budget = evaluator.remaining() / (counts.len() - at);
        let near = trials.last().map(|trial| &trial.mask);
        let (mut solver, space) = solver(evaluator, blocks, ones, (budget, settings.seed), near)?;
        drive(evaluator, &mut solver, budget, 1)?;
        trials.extend(best(evaluator.trials(), &space).cloned());
    }
    finish(evaluator, anchors, trials)
}

/// The score that keeps a share of the way from the score of all ones to that of none.
fn least(Anchors { full, all }: Anchors, kept: f64) -> f64 {
    all + kept * (full - all)
}

/// Starts a run of several numbers of ones with the two extreme masks.
fn start<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    plan: Plan,
) -> Result<Anchors, Error<O::Error>> {
    let dim = plan.admissible.dim();
    evaluator.start(plan)?;
    let mut extremes = Vec::new();
    for mask in [Mask::zeros(dim), Mask::filled(dim, true)] {
        // Masks only compete with those of as many ones.
        evaluator.aim(Space::exactly(dim, mask.count_ones())?);
        extremes.extend(evaluator.evaluate(&[mask])?);
    }
    let evaluations = evaluator.evaluations();
    let [full, all] = extremes.as_slice() else {
        return Err(Error::Stopped { evaluations });
    };
    let anchors = Anchors {
        full: full.score,
        all: all.score,
    };
    RatioPenalty::new(anchors, 1.0, 0.5).map_err(Error::widen)?;
    Ok(anchors)
}

/// Begins a stage for a number of ones: the solver, which knows all trials so far and starts from `near`,
/// a mask of another number of ones; and its space.
fn solver<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    blocks: &Blocks,
    ones: usize,
    (budget, seed): (usize, u64),
    near: Option<&Mask>,
) -> Result<(Portfolio, Space), Error<O::Error>> {
    let name = format!("{ones}-ones");
    evaluator.stage(&name, budget);
    let space = Space::exactly(blocks.dim(), ones)?;
    evaluator.aim(space.clone());
    let seed = Rng::stream(seed, &name).bits();
    let mut solver = Portfolio::new(space.clone(), blocks, budget, seed)?;
    solver.tell(evaluator.trials());
    if let Some(near) = near {
        let start = adapted(near, &space, solver.expected())?;
        solver = solver.start_with(&[start]);
    }
    Ok((solver, space))
}

/// Ends such a run.
fn finish<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    anchors: Anchors,
    trials: Vec<Trial>,
) -> Result<Front, Error<O::Error>> {
    evaluator.aim(Space::any(evaluator.dim()));
    evaluator.finish();
    Ok(Front {
        trials,
        anchors,
        evaluations: evaluator.evaluations(),
    })
}

/// A mask of the space that keeps the ones of `mask` as far as it can, and drops or adds those that are
/// expected to harm most or least.
fn adapted(mask: &Mask, space: &Space, expected: &[f64]) -> Result<Mask, InvalidInput> {
    let kept = |i: usize| if mask.get(i) { 1e6 } else { 0.0 };
    let key = |i: usize| kept(i) + expected.get(i).copied().unwrap_or(0.0);
    space.best_by(&(0..mask.len()).map(key).collect::<Vec<f64>>())
}

/// The best trial of a space; of equal scores the lesser mask.
fn best<'t>(trials: &'t [Trial], space: &Space) -> Option<&'t Trial> {
    let sound = trials
        .iter()
        .filter(|trial| !trial.failed && space.contains(&trial.mask));
    sound.max_by(|a, b| a.score.total_cmp(&b.score).then(b.mask.cmp(&a.mask)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::from_fn;

    #[test]
    fn bad_ratios_and_budgets_are_refused() {
        let blocks = Blocks::uniform(4, 3).unwrap();
        for (ratios, budget) in [
            (&[][..], 90),
            (&[0.0], 90),
            (&[1.0], 90),
            (&[f64::NAN], 90),
            (&[0.25, 0.5], 5),
        ] {
            let mut evaluator = Evaluator::new(from_fn(12, |_: &Mask| unreachable!()));
            let settings = ParetoSettings::new(ratios, budget);
            assert!(matches!(
                search(&mut evaluator, &blocks, &settings),
                Err(Error::Input(_))
            ));
        }
    }

    #[test]
    fn the_budget_is_shared_and_every_ratio_gets_a_mask() {
        let blocks = Blocks::uniform(4, 3).unwrap();
        let score = |mask: &Mask| -(mask.iter_ones().map(|i| i * i).sum::<usize>() as f64);
        let mut evaluator = Evaluator::new(from_fn(12, score));
        let settings = ParetoSettings::new(&[0.75, 0.25, 0.5], 100);
        let front = search(&mut evaluator, &blocks, &settings).unwrap();
        assert!(front.evaluations <= 100);
        let ones: Vec<usize> = front
            .trials
            .iter()
            .map(|trial| trial.mask.count_ones())
            .collect();
        assert_eq!(ones, [3, 6, 9]);
        assert_eq!(front.trials[1].score, -55.0);
        assert!(front.most_that_keeps(2.0).is_none());
    }

    #[test]
    fn a_mask_only_races_with_those_of_as_many_ones() {
        /// Half of the score is enough for a mask that does not beat its rival.
        struct Racing;

        fn full(mask: &Mask) -> f64 {
            -(mask.iter_ones().map(|i| i * i).sum::<usize>() as f64)
        }

        impl Objective for Racing {
            type Error = std::convert::Infallible;

            fn dim(&self) -> usize {
                12
            }

            fn score(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
                Ok(full(mask))
            }

            fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, Self::Error> {
                assert_eq!(mask.count_ones(), rival.mask.count_ones());
                let score = full(mask);
                Ok(if score > rival.score {
                    score
                } else {
                    2.0 * score
                })
            }
        }

        let blocks = Blocks::uniform(4, 3).unwrap();
        let settings = ParetoSettings::new(&[0.75, 0.25, 0.5], 100);
        let front = search(&mut Evaluator::new(Racing), &blocks, &settings).unwrap();
        assert_eq!(front.anchors.all, full(&Mask::filled(12, true)));
        for trial in &front.trials {
            assert_eq!(trial.score, full(&trial.mask));
        }
    }
}
