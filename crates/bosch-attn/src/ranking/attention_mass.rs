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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_that_of_the_nearest_nine_tenths_without_the_sinks() {
        // Query 5 over keys 0..6: half on the sink; of the other half, 8 % lie on key 1 and 92 % on keys 3 to 5.
        let attention = [0.5f32, 0.04, 0.0, 0.02, 0.24, 0.2];
        let rows = Rows {
            i: Tensor::from_slice(&[5i64]).unsqueeze(1),
            j: Tensor::arange(6, (Kind::Int64, tch::Device::Cpu)),
            logits: Tensor::from_slice(&attention).log().reshape([1, 1, 6]),
        };
        assert_eq!(distance(&rows, 1).double_value(&[0, 0]), 2.0);
        // With the sink, nine tenths lie no nearer than on the sink itself.
        assert_eq!(distance(&rows, 0).double_value(&[0, 0]), 5.0);
    }
}
