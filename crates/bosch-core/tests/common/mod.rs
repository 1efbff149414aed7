//! Every search there is, behind one call, for tests of what all of them promise.

#![allow(dead_code, clippy::unwrap_used)] // each test uses a part of it; helpers of tests

use bosch_core::lns::{Lns, Settings};
use bosch_core::pareto::{self, HighestSettings, ParetoSettings};
use bosch_core::{
    Blocks, Error, Evaluator, LocalSearch, Mask, Objective, Optimizer, Portfolio, Space,
    StagedSettings, maximize, staged,
};

/// Every solver, by name.
pub const SOLVERS: [&str; 3] = ["LocalSearch", "Lns", "Portfolio"];

/// A solver over a space, planning for `budget` evaluations.
pub fn solver(name: &str, space: &Space, budget: usize, seed: u64) -> Box<dyn Optimizer> {
    let blocks = Blocks::uniform(space.dim() / 4, 4).unwrap();
    match name {
        "LocalSearch" => Box::new(LocalSearch::new(space.clone(), seed)),
        "Lns" => Box::new(Lns::new(space.clone(), Settings::standard(&blocks), seed)),
        _ => Box::new(Portfolio::new(space.clone(), &blocks, budget, seed).unwrap()),
    }
}

/// The solvers and the whole methods above them.
pub const SEARCHES: [&str; 7] = [
    "LocalSearch",
    "Lns",
    "Portfolio",
    "staged",
    "staged in batches of 4",
    "pareto",
    "highest",
];

/// What a search returns that does not depend on where it was interrupted: masks and scores.
pub type Result<E> = std::result::Result<Vec<(Mask, f64)>, Error<E>>;

/// Runs a search for half of the ones; `pareto` also for a quarter of them, `highest`
/// for as many as it can.
pub fn run<O: Objective>(
    name: &str,
    evaluator: &mut Evaluator<'_, O>,
    budget: usize,
    seed: u64,
) -> Result<O::Error> {
    let dim = evaluator.dim();
    let blocks = Blocks::uniform(dim / 4, 4)?;
    if name == "pareto" {
        let settings = ParetoSettings::new(&[0.25, 0.5], budget).seed(seed);
        let front = pareto::search(evaluator, &blocks, &settings)?;
        let trials = front.trials.into_iter();
        return Ok(trials.map(|trial| (trial.mask, trial.score)).collect());
    }
    if name == "highest" {
        let settings = HighestSettings::new(0.8, budget).seed(seed);
        let front = pareto::highest(evaluator, &blocks, &settings)?;
        let trials = front.trials.into_iter();
        return Ok(trials.map(|trial| (trial.mask, trial.score)).collect());
    }
    if name.starts_with("staged") {
        let batch = if name == "staged" { 1 } else { 4 };
        let settings = StagedSettings::new(0.5, budget).seed(seed).batch(batch);
        let outcome = staged::search(evaluator, &blocks, &settings)?;
        return Ok(vec![(outcome.mask, outcome.score)]);
    }
    let space = Space::exactly(dim, dim / 2)?;
    let mut solver = solver(name, &space, budget, seed);
    let best = maximize(evaluator, solver.as_mut(), &space, budget)?;
    Ok(vec![(best.mask, best.score)])
}

/// Weights that differ, and a loss for neighbours; not a number with few digits.
pub fn score(mask: &Mask) -> f64 {
    let weights: f64 = mask.iter_ones().map(|i| 1.0 + (i * 7 % 11) as f64).sum();
    let pairs = (1..mask.len()).filter(|&i| mask.get(i) && mask.get(i - 1));
    -(weights + 3.0 * pairs.count() as f64) / 3.0
}
