//! [`Optimizer`]: the ask/tell interface of every solver, and the loop on top of it.

use serde_json::{Value, json};

use crate::error::{Error, InvalidInput};
use crate::evaluator::{Evaluator, Plan};
use crate::mask::Mask;
use crate::objective::Objective;
use crate::space::Space;
use crate::trial::Trial;

mod local_search;
mod portfolio;
mod roulette;

pub use local_search::LocalSearch;
pub use portfolio::Portfolio;
pub use roulette::Roulette;

/// A solver that proposes masks and learns from their scores; object-safe.
///
/// It may be asked any number of times before it is told, and told trials in any order, also of
/// masks that it never proposed (a warm start). The solvers of this crate learn nothing from a score
/// that is not finite, or from a mask of another number of variables.
///
/// ```
/// use bosch_core::{LocalSearch, Mask, Optimizer, Space, Trial};
///
/// let mut solver = LocalSearch::new(Space::exactly(10, 3)?, 1);
/// let mut number = 0;
/// for _ in 0..40 {
///     let masks = solver.ask(4);
///     let trials: Vec<Trial> = masks
///         .into_iter()
///         .map(|mask| {
///             number += 1;
///             let score = mask.iter_ones().sum::<usize>() as f64; // wherever you like
///             Trial::new(mask, score, number)
///         })
///         .collect();
///     solver.tell(&trials);
/// }
/// assert_eq!(solver.incumbent().map(|(_, score)| score), Some(24.0)); // 7 + 8 + 9
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
pub trait Optimizer {
    /// Up to `n` masks to evaluate next. None at all means that it has nothing left to propose.
    fn ask(&mut self, n: usize) -> Vec<Mask>;

    /// Learns from evaluated masks.
    fn tell(&mut self, trials: &[Trial]);

    /// What a trace records of the solver, so that another one does not continue it: its name, and
    /// its seed and settings where it gives them.
    fn settings(&self) -> Value {
        let path = std::any::type_name::<Self>();
        json!({ "name": path.rsplit("::").next() })
    }
}

/// How often in a row an optimiser may propose only known masks before [`drive`] gives up.
const PATIENCE: usize = 1000;

/// Runs an optimiser until `budget` evaluations are used, it has nothing left to propose, or the
/// observer stops the run; returns the best mask of the space.
///
/// ```
/// use bosch_core::{Evaluator, LocalSearch, Mask, Space, from_fn, maximize};
///
/// let objective = from_fn(12, |mask: &Mask| mask.iter_ones().sum::<usize>() as f64);
/// let space = Space::exactly(12, 3)?;
/// let mut optimizer = LocalSearch::new(space.clone(), 1);
/// let best = maximize(&mut Evaluator::new(objective), &mut optimizer, &space, 150)?;
/// assert_eq!(best.mask, Mask::from_ones(12, &[9, 10, 11])?);
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// # Errors
///
/// The evaluator's; [`Error::Stopped`] if no mask of the space was evaluated.
pub fn maximize<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    optimizer: &mut dyn Optimizer,
    space: &Space,
    budget: usize,
) -> Result<Trial, Error<O::Error>> {
    if budget == 0 {
        return Err(InvalidInput::new("budget", "at least 1 evaluation", 0).into());
    }
    let solver = optimizer.settings();
    evaluator.start(Plan {
        budget,
        seed: solver["seed"].as_u64().unwrap_or(0),
        settings: json!({ "budget": budget, "solver": solver }),
        admissible: space.clone(),
    })?;
    drive(evaluator, optimizer, budget, 1)?;
    evaluator.finish();
    let evaluations = evaluator.evaluations();
    evaluator
        .best()
        .cloned()
        .ok_or(Error::Stopped { evaluations })
}

/// The loop inside a run that has started: asks for `batch` masks at a time until `budget` further
/// evaluations are used, or nothing new comes.
///
/// ```
/// use bosch_core::{Evaluator, LocalSearch, Mask, Plan, Space, drive, from_sync_fn};
///
/// // A batch of eight masks on all cores.
/// let score = |mask: &Mask| mask.iter_ones().sum::<usize>() as f64;
/// let mut evaluator = Evaluator::new(from_sync_fn(20, score));
/// let space = Space::exactly(20, 2)?;
/// let settings = serde_json::json!({ "batch": 8 });
/// evaluator.start(Plan { budget: 190, seed: 1, settings, admissible: space.clone() })?;
/// drive(&mut evaluator, &mut LocalSearch::new(space, 1), 190, 8)?;
/// evaluator.finish();
/// assert_eq!(evaluator.best().map(|trial| trial.score), Some(37.0)); // 18 + 19
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// # Errors
///
/// The evaluator's.
pub fn drive<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    optimizer: &mut dyn Optimizer,
    budget: usize,
    batch: usize,
) -> Result<(), Error<O::Error>> {
    let end = evaluator
        .evaluations()
        .saturating_add(budget.min(evaluator.remaining()));
    let mut idle = 0;
    while evaluator.evaluations() < end && !evaluator.is_stopped() && idle < PATIENCE {
        let before = evaluator.evaluations();
        let masks = optimizer.ask(batch.clamp(1, end - before));
        if masks.is_empty() {
            break;
        }
        optimizer.tell(&evaluator.evaluate(&masks)?);
        idle = if evaluator.evaluations() == before {
            idle + 1
        } else {
            0
        };
    }
    Ok(())
}
