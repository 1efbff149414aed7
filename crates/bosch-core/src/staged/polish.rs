//! The polish: a search over the whole mask under the exact total (ours, beyond the paper).

use crate::error::Error;
use crate::objective::Objective;
use crate::optimizer::{LocalSearch, Optimizer, drive};
use crate::staged::Search;

/// Uses all that is left of the budget on free exchanges around the best mask so far.
pub(super) fn polish<O: Objective>(search: &mut Search<'_, '_, O>) -> Result<(), Error<O::Error>> {
    let budget = search.evaluator.remaining();
    let start = search.begin("polish", budget);
    let mut solver = LocalSearch::new(search.space.clone(), search.seed_of("polish", 0));
    solver.tell(search.evaluator.trials());
    drive(search.evaluator, &mut solver, budget, search.settings.batch)?;
    search.end("polish", start);
    Ok(())
}
