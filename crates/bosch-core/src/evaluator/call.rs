//! One guarded call of an objective.

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

/// The scores of these masks, one for each of them, or why there are none.
pub(super) fn call<O: Objective>(
    objective: &mut O,
    masks: &[Mask],
    request: Request<'_>,
) -> Result<Vec<f64>, Fault<O::Error>> {
    let scores = catch_unwind(AssertUnwindSafe(|| match (request, masks) {
        (Request::Estimates, [mask]) => objective.estimate(mask).map(|score| vec![score]),
        (Request::Estimates, _) => objective.estimate_batch(masks),
        (Request::Against(rival), [mask]) => objective
            .score_against(mask, rival)
            .map(|score| vec![score]),
        (_, [mask]) => objective.score(mask).map(|score| vec![score]),
        _ => objective.score_batch(masks),
    }));
    let scores = match scores {
        Ok(answer) => answer.map_err(Fault::Error)?,
        Err(payload) => {
            let text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            return Err(Fault::Panic(
                text.unwrap_or_else(|| "no message".to_owned()),
            ));
        }
    };
    if scores.len() != masks.len() {
        let expected = format!("{} scores for as many masks", masks.len());
        return Err(Fault::Answer(expected, format!("{} scores", scores.len())));
    }
    Ok(scores)
}
