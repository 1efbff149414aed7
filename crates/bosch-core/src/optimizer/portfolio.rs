//! [`Portfolio`]: the solver for expensive objectives, several ways to propose under one model.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::blocks::Blocks;
use crate::error::InvalidInput;
use crate::mask::Mask;
use crate::optimizer::{Optimizer, Roulette};
use crate::rng::Rng;
use crate::space::Space;
use crate::surrogate::Surrogate;
use crate::trial::Trial;

mod proposals;
mod screening;

use screening::{Screening, standard};

/// A surrogate that learns from every evaluation, a trust region around the best mask, and an adaptive
/// choice among proposals: the best mask that the model believes in, that of a draw from the model, a
/// random swap among promising ones, and a random step that asks no model at all.
///
/// It starts with a screening (groups of variables set alone, whose masks break the number of ones but
/// keep the fixed variables) and random masks; both are small shares of the budget. Without a budget to
/// plan for there is no screening; with a free number of ones, the masks of zeros and of ones take its
/// place.
///
/// ```
/// use bosch_core::{Blocks, Evaluator, Mask, Portfolio, Space, from_fn, maximize};
///
/// // Which 8 of 24 features carry the most, given that neighbours repeat each other?
/// let objective = from_fn(24, |mask: &Mask| {
///     let value: f64 = mask.iter_ones().map(|i| (i * 11 % 24) as f64).sum();
///     let repeats = (1..24).filter(|&i| mask.get(i) && mask.get(i - 1)).count();
///     value - 9.0 * repeats as f64
/// });
/// let space = Space::exactly(24, 8)?;
/// let mut solver = Portfolio::new(space.clone(), &Blocks::uniform(6, 4)?, 200, 1)?;
/// let best = maximize(&mut Evaluator::new(objective), &mut solver, &space, 200)?;
/// assert_eq!(best.mask.count_ones(), 8);
/// assert!(best.score >= 140.0);
/// # Ok::<(), bosch_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Portfolio {
    space: Space,
    blocks: Blocks,
    seed: u64,
    rng: Rng,
    surrogate: Surrogate,
    screening: Screening,
    /// Masks of the screening, the last one next.
    queue: Vec<Mask>,
    /// How much each variable is expected to help, in standard units; empty if nothing is known.
    expected: Vec<f64>,
    /// Random masks still to propose.
    random: usize,
    /// Random masks wait until so many proposals in a row have not improved.
    patience: usize,
    /// Proposals since the last improvement.
    stalled: usize,
    incumbent: Option<(Mask, f64)>,
    /// Whether the incumbent is newer than what the model has learned.
    improved: bool,
    known: HashSet<Mask>,
    /// The scores of the masks of zeros and of ones.
    extremes: (Option<f64>, Option<f64>),
    roulette: Roulette,
    /// The arm of each proposal that was not told yet.
    pending: HashMap<Mask, usize>,
    /// The most swaps, or flips, away from the incumbent.
    radius: f64,
}

/// The ways to propose: a temperature for the model's draw, and whether to go all the way up.
const ARMS: [Arm; 5] = [
    Arm::Ascend(0.0),
    Arm::Ascend(0.3),
    Arm::Ascend(1.0),
    Arm::Kick,
    Arm::Walk,
];

#[derive(Debug, Clone, Copy)]
enum Arm {
    /// The local optimum of a draw at this temperature, inside the trust region.
    Ascend(f64),
    /// One or two swaps that the model likes, with noise.
    Kick,
    /// Random steps.
    Walk,
}

impl Portfolio {
    /// A solver for masks of the space with the model's structure from `blocks`, planning for `budget`
    /// evaluations.
    ///
    /// # Errors
    ///
    /// If space and blocks differ in their number of variables.
    pub fn new(
        space: Space,
        blocks: &Blocks,
        budget: usize,
        seed: u64,
    ) -> Result<Self, InvalidInput> {
        if space.dim() != blocks.dim() {
            return Err(InvalidInput::new(
                "variables in the blocks",
                space.dim(),
                blocks.dim(),
            ));
        }
        let (screening, mut queue) = match space.is_counted() {
            true => {
                let screening = Screening::new(blocks, &space, budget);
                let masks = screening.masks();
                (screening, masks)
            }
            false => (
                Screening::none(),
                [false, true].map(|all| space.filled(all)).to_vec(),
            ),
        };
        queue.reverse();
        Ok(Self {
            surrogate: Surrogate::new(blocks, space.share()),
            blocks: blocks.clone(),
            seed,
            rng: Rng::stream(seed, "portfolio"),
            screening,
            queue,
            expected: Vec::new(),
            random: (budget / 10).clamp(8, (space.dim() / 2).max(8)),
            patience: 0,
            stalled: 0,
            incumbent: None,
            improved: false,
            known: HashSet::new(),
            extremes: (None, None),
            roulette: Roulette::new(ARMS.len()),
            pending: HashMap::new(),
            radius: first_radius(&space),
            space,
        })
    }

    /// Replaces the screening by what is known already: a number for each variable, higher where a
    /// one is expected to help more. Only their order counts.
    ///
    /// # Errors
    ///
    /// If there is not one number, not NaN, for each variable.
    pub fn expecting(mut self, scores: &[f64]) -> Result<Self, InvalidInput> {
        if scores.len() != self.space.dim() || scores.iter().any(|score| score.is_nan()) {
            let expected = format!("{} numbers, none of them NaN", self.space.dim());
            return Err(InvalidInput::new(
                "scores",
                expected,
                format!("{} scores", scores.len()),
            ));
        }
        self.queue.clear();
        self.screening = Screening::none();
        self.expect(standard(scores));
        Ok(self)
    }

    /// Leaves out the screening, and the random masks until the search has stalled for two thirds of a
    /// proposal a variable: for a search that continues from trials that it is told.
    pub fn warm(mut self) -> Self {
        self.queue.clear();
        self.patience = 2 * self.space.dim() / 3;
        self
    }

    /// Proposes these masks of the space before anything else, in order; others are left out.
    pub fn start_with(mut self, masks: &[Mask]) -> Self {
        self.queue.extend(
            masks
                .iter()
                .rev()
                .filter(|mask| self.space.contains(mask))
                .cloned(),
        );
        self
    }

    /// How much each variable is expected to help, in standard units; empty before that is known.
    pub(crate) fn expected(&self) -> &[f64] {
        &self.expected
    }

    fn expect(&mut self, expected: Vec<f64>) {
        self.surrogate.expect(&expected);
        self.expected = expected;
    }

    fn propose(&mut self) -> Option<Mask> {
        while let Some(mask) = self.queue.pop() {
            if !self.known.contains(&mask) {
                return Some(mask);
            }
        }
        let incumbent = match &self.incumbent {
            Some((incumbent, _)) if self.random == 0 || self.stalled < self.patience => {
                incumbent.clone()
            }
            _ => {
                self.random = self.random.saturating_sub(1);
                return self.fresh(Self::random);
            }
        };
        self.surrogate.learn(std::mem::take(&mut self.improved));
        let arm = self.roulette.pick(&mut self.rng);
        let mask = match ARMS[arm] {
            Arm::Ascend(temperature) => self.ascend(&incumbent, temperature),
            Arm::Kick => self.kick(&incumbent),
            Arm::Walk => None,
        };
        if let Some(mask) = mask.filter(|mask| !self.known.contains(mask)) {
            self.pending.insert(mask.clone(), arm);
            return Some(mask);
        }
        let (arm, mask) = match ARMS[arm] {
            Arm::Ascend(_) => (ARMS.len() - 2, self.kick(&incumbent)),
            _ => (ARMS.len() - 1, None),
        };
        let mask = mask.or_else(|| self.walk(&incumbent))?;
        self.pending.insert(mask.clone(), arm);
        Some(mask)
    }

    /// Learns a mask outside the space: a part of the screening, or an extreme.
    fn tell_outside(&mut self, trial: &Trial) {
        if let Some(expected) = self.screening.note(&trial.mask, trial.score) {
            self.expect(expected);
        }
        let all = |value: bool| self.space.variables().all(|i| trial.mask.get(i) == value);
        match (all(false), all(true)) {
            (true, _) => self.extremes.0 = Some(trial.score),
            (_, true) => self.extremes.1 = Some(trial.score),
            _ => return,
        }
        if let (Some(zeros), Some(ones)) = self.extremes {
            self.surrogate.bound(zeros, ones);
        }
    }
}

/// The trust region never gets smaller than this.
const LEAST_RADIUS: f64 = 1.5;

fn most_radius(space: &Space) -> f64 {
    (space.dim() as f64 / 4.0).max(LEAST_RADIUS)
}

/// Under a number of ones it starts as wide as it may get: the first masks know little, and far from them
/// is more to gain than near. Where that number is free, one flip changes more, and it starts narrow.
fn first_radius(space: &Space) -> f64 {
    match space.is_counted() {
        true => most_radius(space),
        false => (space.dim() as f64 / 16.0).max(LEAST_RADIUS),
    }
}

impl Optimizer for Portfolio {
    fn ask(&mut self, n: usize) -> Vec<Mask> {
        let mut masks = Vec::new();
        while masks.len() < n {
            let Some(mask) = self.propose() else { break };
            self.known.insert(mask.clone());
            masks.push(mask);
        }
        masks
    }

    fn tell(&mut self, trials: &[Trial]) {
        for trial in trials {
            self.known.insert(trial.mask.clone());
            if !self.space.contains(&trial.mask) {
                self.tell_outside(trial);
                continue;
            }
            self.surrogate.add(&trial.mask, trial.score);
            let before = self
                .incumbent
                .as_ref()
                .map_or(f64::NEG_INFINITY, |best| best.1);
            if let Some(arm) = self.pending.remove(&trial.mask) {
                let better = trial.score > before;
                self.stalled = if better { 0 } else { self.stalled + 1 };
                self.roulette.reward(arm, better);
                let factor = if better { 1.5 } else { 0.93 };
                self.radius = (self.radius * factor).clamp(LEAST_RADIUS, most_radius(&self.space));
            }
            self.improved |= trial.score > before && !trial.failed;
            if trial.score >= before && !trial.failed {
                self.incumbent = Some((trial.mask.clone(), trial.score));
            }
        }
    }

    fn settings(&self) -> Value {
        json!({ "name": "Portfolio", "seed": self.seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(portfolio: &mut Portfolio, score: impl Fn(&Mask) -> f64, n: usize) -> Vec<Mask> {
        let mut asked = Vec::new();
        while asked.len() < n {
            let masks = portfolio.ask(3);
            if masks.is_empty() {
                break;
            }
            let trial = |(at, mask): (usize, &Mask)| {
                Trial::new(mask.clone(), score(mask), asked.len() + at + 1)
            };
            // Out of order.
            let mut trials: Vec<Trial> = masks.iter().enumerate().map(trial).collect();
            trials.reverse();
            portfolio.tell(&trials);
            asked.extend(masks);
        }
        asked
    }

    fn line(mask: &Mask) -> f64 {
        mask.iter_ones().map(|i| (i * 7 % 20) as f64).sum()
    }

    #[test]
    fn proposals_are_new_keep_what_is_fixed_and_after_the_screening_are_of_the_space() {
        let space = Space::exactly(20, 7)
            .unwrap()
            .fix(&[(3, true), (4, false)])
            .unwrap();
        let blocks = Blocks::uniform(5, 4).unwrap();
        let mut portfolio = Portfolio::new(space.clone(), &blocks, 100, 2).unwrap();
        let screening = portfolio.queue.len();
        let asked = told(&mut portfolio, line, 100);
        assert!(screening > 0 && asked[screening..].iter().all(|mask| space.contains(mask)));
        assert!(asked.iter().all(|mask| mask.get(3) && !mask.get(4)));
        assert_eq!(asked.iter().collect::<HashSet<_>>().len(), asked.len());
    }

    #[test]
    fn a_free_number_of_ones_is_first_tried_at_none_and_at_all() {
        let space = Space::any(8).fix(&[(2, true), (5, false)]).unwrap();
        let blocks = Blocks::uniform(4, 2).unwrap();
        let mut portfolio = Portfolio::new(space, &blocks, 40, 1).unwrap();
        let text: Vec<String> = portfolio.ask(2).iter().map(Mask::to_string).collect();
        assert_eq!(text, ["00100000", "11111011"]);
    }

    #[test]
    fn a_sum_is_solved_within_four_evaluations_a_variable() {
        let blocks = Blocks::uniform(5, 4).unwrap();
        for space in [Space::exactly(20, 7).unwrap(), Space::any(20)] {
            let shifted = |mask: &Mask| line(mask) - 8.5 * mask.count_ones() as f64;
            let mut portfolio = Portfolio::new(space.clone(), &blocks, 80, 1).unwrap();
            told(&mut portfolio, shifted, 80);
            let keys: Vec<f64> = (0..20).map(|i| (i * 7 % 20) as f64 - 8.5).collect();
            let best = shifted(&space.best_by(&keys).unwrap());
            assert_eq!(portfolio.incumbent.unwrap().1, best);
        }
    }

    #[test]
    fn a_small_space_is_exhausted_and_then_it_says_so() {
        let blocks = Blocks::uniform(1, 6).unwrap();
        let space = Space::exactly(6, 2).unwrap();
        let mut portfolio = Portfolio::new(space, &blocks, 5, 1).unwrap();
        // All of the space, and the two extreme masks of the screening.
        assert_eq!(told(&mut portfolio, line, 50).len(), 15 + 2);
    }

    #[test]
    fn constant_and_extreme_scores_do_no_harm() {
        let blocks = Blocks::uniform(4, 3).unwrap();
        let space = Space::exactly(12, 6).unwrap();
        for score in [0.0, 1e300, -1e300, 1e-300] {
            let mut portfolio = Portfolio::new(space.clone(), &blocks, 60, 1).unwrap();
            let alternate = |mask: &Mask| if mask.get(0) { score } else { -score };
            assert!(told(&mut portfolio, alternate, 60).len() >= 60);
        }
    }

    #[test]
    fn value_stability() {
        let blocks = Blocks::uniform(5, 4).unwrap();
        let space = Space::exactly(20, 7).unwrap();
        let mut portfolio = Portfolio::new(space, &blocks, 60, 3).unwrap();
        let asked = told(&mut portfolio, line, 60);
        let text: Vec<String> = asked[40..44].iter().map(Mask::to_string).collect();
        assert_eq!(
            text,
            [
                "00100101100100100100",
                "00100100100100110100",
                "00100100100110100100",
                "00101100100100100001"
            ]
        );
    }
}
