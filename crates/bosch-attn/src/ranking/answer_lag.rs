//! APL, answer peak lag: the mean over the positions i that predict answer tokens of i − argmax A_ij over the keys j ≥ S.

use tch::{Kind, Tensor};

use super::Text;
use super::heads::Heads;

/// One score for each query head, `[H]`: a number of tokens.
pub(super) fn scores(heads: &Heads, text: &Text) -> Tensor {
    let sinks = text.window.sinks() as i64;
    heads.mean(text.answer as i64, |rows| {
        let logits = rows
            .logits
            .masked_fill(&rows.j.lt(sinks), f64::NEG_INFINITY);
        let lag = rows.i.squeeze_dim(1) - logits.argmax(-1, false);
        // A query among the sinks looks at no key that counts.
        let counts = rows.i.squeeze_dim(1).ge(sinks);
        (lag * counts).to_kind(Kind::Float)
    })
}
