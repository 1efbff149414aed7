//! PROXY (after ProxyAttn, arXiv 2509.24745): queries and keys are pooled in blocks of 64; the share of a query block's causal
//! blocks that make nine tenths of its pooled attention, averaged over the query blocks.

use tch::{Kind, Tensor};

use super::Text;
use super::heads::Heads;

/// Tokens in a block; the last block may have fewer.
const BLOCK: i64 = 64;
/// The share of the attention that is to be found.
const SHARE: f64 = 0.9;

/// One score for each query head, `[H]`, in (0, 1].
pub(super) fn scores(heads: &Heads, _: &Text) -> Tensor {
    let (q, k) = (pooled(&heads.q), pooled(&heads.k)); // [H, blocks, d]
    let blocks = q.size()[1];
    let logits = q.matmul(&k.transpose(1, 2)) / heads.scale();
    let later = Tensor::ones([blocks, blocks], (Kind::Bool, q.device())).triu(1);
    let attention = logits
        .masked_fill(&later, f64::NEG_INFINITY)
        .softmax(-1, Kind::Float);
    // The greatest blocks that do not reach the share yet, and the one that does.
    let (sorted, _) = attention.sort(-1, true);
    let missing = sorted.cumsum(-1, Kind::Float).lt(SHARE);
    let needed = missing.sum_dim_intlist([-1i64].as_slice(), false, Kind::Int64) + 1; // [H, blocks]
    let causal = Tensor::arange_start(1, blocks + 1, (Kind::Int64, q.device()));
    (needed / &causal)
        .clamp_max(1.0)
        .mean_dim([-1i64].as_slice(), false, Kind::Double)
}

/// The means of blocks of tokens, `[H, blocks, d]` from `[H, T, d]`.
fn pooled(x: &Tensor) -> Tensor {
    let blocks: Vec<Tensor> = x
        .split(BLOCK, 1)
        .iter()
        .map(|block| block.mean_dim([1i64].as_slice(), true, Kind::Float))
        .collect();
    Tensor::cat(&blocks, 1)
}
