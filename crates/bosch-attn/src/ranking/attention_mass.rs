//! DCAM, attention mass by distance: the mean over queries i ≥ T/4 of the least d for which the keys i − d ≤ j ≤ i make nine
//! tenths of the attention to the keys j ≥ S.

use tch::{Kind, Tensor};

use super::Text;
use super::heads::{Heads, Rows};

/// The share of the attention that is to be found.
const SHARE: f64 = 0.9;

/// One score for each query head, `[H]`: a number of tokens.
pub(super) fn scores(heads: &Heads, text: &Text) -> Tensor {
    let sinks = text.window.sinks() as i64;
    heads.mean(heads.length() / 4, |rows| distance(rows, sinks))
}

/// d of each query, `[H, queries]`.
fn distance(rows: &Rows, sinks: i64) -> Tensor {
    let attention = rows.attention().masked_fill(&rows.j.lt(sinks), 0.0);
    // C_j: the attention to the keys from j on. It does not grow with j.
    let from = attention.flip([-1]).cumsum(-1, Kind::Float).flip([-1]);
    let enough = from.ge_tensor(&(from.narrow(-1, 0, 1) * SHARE));
    let nearest = enough.sum_dim_intlist([-1i64].as_slice(), false, Kind::Int64) - 1; // the last j with enough
    (rows.i.squeeze_dim(1) - nearest)
        .clamp_min(0)
        .to_kind(Kind::Float)
}
