//! The polish: a search over the whole mask under the exact total (ours, beyond the paper).

use crate::error::Error;
use crate::objective::Objective;
use crate::optimizer::{Optimizer, Portfolio, drive};
use crate::staged::Search;

/// Uses all that is left of the budget on free exchanges, with a model of what all evaluations so
/// far have shown.
pub(super) fn polish<O: Objective>(search: &mut Search<'_, '_, O>) -> Result<(), Error<O::Error>> {
    let budget = search.evaluator.remaining();
    let start = search.begin("polish", budget);
    let seed = search.seed_of("polish", 0);
    let mut solver = Portfolio::new(search.space.clone(), search.blocks, budget, seed)?;
    if let Some(scores) = &search.harmless {
        solver = solver.expecting(scores)?;
    }
    solver.tell(search.evaluator.trials());
    drive(search.evaluator, &mut solver, budget, search.settings.batch)?;
    search.end("polish", start);
    Ok(())
}
