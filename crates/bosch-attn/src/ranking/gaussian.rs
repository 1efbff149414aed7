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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_far_by_the_formula() {
        // 30 keys: 16 sinks, 10 outside, a window of 4.
        for (outside, far) in [(-3.0, false), (-1.5, true), (f64::NEG_INFINITY, false)] {
            let logits: Vec<f32> = (0..30)
                .map(|j| {
                    if (16..26).contains(&j) {
                        (outside + f64::from(j % 2)) as f32
                    } else {
                        0.0
                    }
                })
                .collect();
            // Outside the mean is `outside` + 1/2 and the variance 1/4; the local part is 20.
            let bulk: f64 = 10.0 * (outside + 0.5 + 0.125).exp();
            assert_eq!(20.0 / (20.0 + bulk) < 0.9, far);
            let rows = Rows {
                i: Tensor::from_slice(&[29i64]).unsqueeze(1),
                j: Tensor::arange(30, (Kind::Int64, tch::Device::Cpu)),
                logits: Tensor::from_slice(&logits).reshape([1, 1, 30]),
            };
            assert_eq!(
                is_far(&rows, 4).double_value(&[0, 0]) == 1.0,
                far,
                "{outside}"
            );
        }
    }
}
