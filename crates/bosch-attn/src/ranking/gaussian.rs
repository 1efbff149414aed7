//! QADA (arXiv 2502.09647): the keys outside the local part, the window and 16 sinks, are taken as a Gaussian of mean μ and
//! covariance Σ, so that their unnormalised attention is about T_bulk · exp(q·μ/√d + qᵀΣq/(2d)). A query is local if the local
//! part makes nine tenths of the sum; the score is the share of queries that are not.
//!
//! q·μ/√d and qᵀΣq/d are the mean and the variance of the logits of the keys outside.

use tch::{Kind, Tensor};

use super::Text;
use super::heads::{Heads, Rows};

/// The first keys, which count as local.
const SINKS: i64 = 16;
/// The share of the attention from which on a query is local.
const SHARE: f64 = 0.9;

/// One score for each query head, `[H]`, in [0, 1].
pub(super) fn scores(heads: &Heads, text: &Text) -> Tensor {
    let window = text.window.window() as i64;
    heads.mean(0, |rows| is_far(rows, window))
}

/// 1 for each query that is not local, else 0, `[H, queries]`.
fn is_far(rows: &Rows, window: i64) -> Tensor {
    let far = (&rows.i - &rows.j)
        .ge(window)
        .logical_and(&rows.j.ge(SINKS)); // [queries, keys]
    // A key that the model itself does not see is in neither part.
    let far = far.logical_and(&rows.logits.isfinite()); // [H, queries, keys]
    let sum = |x: Tensor| x.sum_dim_intlist([-1i64].as_slice(), false, Kind::Float);
    let count = sum(far.to_kind(Kind::Float));
    let inside = rows.logits.masked_fill(&far.logical_not(), 0.0);
    let some = count.clamp_min(1.0);
    let mean = sum(inside.shallow_clone()) / &some;
    let deviation = (inside - mean.unsqueeze(-1)).masked_fill(&far.logical_not(), 0.0);
    let variance = sum(deviation.square()) / &some;
    let bulk = count.log() + mean + variance / 2.0; // −∞ without a key outside
    let local = rows
        .logits
        .masked_fill(&far, f64::NEG_INFINITY)
        .logsumexp([-1i64].as_slice(), false);
    // local / (local + bulk) ≥ SHARE
    (bulk - local)
        .gt((1.0 / SHARE - 1.0f64).ln())
        .to_kind(Kind::Float)
}
