//! One guarded call of an objective.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::mask::Mask;
use crate::objective::Objective;
use crate::trial::Trial;

/// Why a call of the objective gave no scores.
pub(super) enum Fault<E> {
    Error(E),
    Panic(String),
    Answer(String, String),
}

/// What is asked of an objective.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request<'t> {
    /// Scores.
    Scores,
    /// The score of one mask that only matters if it beats this one.
    Against(&'t Trial),
    /// Estimates.
    Estimates,
}

/// Has the objective write the score of each mask to its place in `scores`. Those that it does not
/// reach stay as they are.
pub(super) fn call<O: Objective>(
    objective: &mut O,
    masks: &[Mask],
    request: Request<'_>,
    scores: &mut [f64],
) -> Result<(), Fault<O::Error>> {
    let answer = catch_unwind(AssertUnwindSafe(|| match (request, masks, &mut *scores) {
        (Request::Estimates, [mask], [score]) => put(score, objective.estimate(mask)),
        (Request::Estimates, _, scores) => objective.estimate_batch(masks, scores),
        (Request::Against(rival), [mask], [score]) => {
            put(score, objective.score_against(mask, rival))
        }
        (_, [mask], [score]) => put(score, objective.score(mask)),
        (_, _, scores) => objective.score_batch(masks, scores),
    }));
    match answer {
        Ok(answer) => answer.map_err(Fault::Error),
        Err(payload) => Err(Fault::Panic(message(payload.as_ref()))),
    }
}

fn put<E>(place: &mut f64, score: Result<f64, E>) -> Result<(), E> {
    *place = score?;
    Ok(())
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
