//! The calls of libtorch that compute attention, and the merge of partial results.

use tch::{Device, Tensor};

/// A partial result over some of the keys: output `[B, H, T, d]` and log-sum-exp of the scores `[B, H, T]`.
pub(super) type Partial = (Tensor, Tensor);

/// Attention over all given keys, with an additive mask `[T, keys]` or causal from the top left.
pub(super) fn scaled_dot_product(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: Option<&Tensor>,
    causal: bool,
) -> Tensor {
    if q.device() == Device::Cpu {
        return Tensor::internal_scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, causal, mask, None,
        )
        .0;
    }
    let grouped = q.size()[1] != k.size()[1];
    Tensor::scaled_dot_product_attention(q, k, v, mask, 0.0, causal, None, grouped)
}

/// As [`scaled_dot_product`] on the CPU, with the log-sum-exp that [`merge`] needs.
pub(super) fn flash(q: &Tensor, k: &Tensor, v: &Tensor, causal: bool) -> Partial {
    Tensor::internal_scaled_dot_product_flash_attention_for_cpu(
        q,
        k,
        v,
        0.0,
        causal,
        None::<&Tensor>,
        None,
    )
}

/// Joins partial results over disjoint sets of keys: Σₚ exp(lseₚ) outₚ / Σₚ exp(lseₚ).
pub(super) fn merge(parts: &[Partial]) -> Tensor {
    let lse = Tensor::stack(&parts.iter().map(|part| &part.1).collect::<Vec<_>>(), 0); // [parts, B, H, T]
    let weights = lse.softmax(0, None).unsqueeze(-1); // [parts, B, H, T, 1]
    let kind = parts[0].0.kind();
    let mut out = parts[0].0.to_kind(tch::Kind::Float) * weights.get(0);
    for (index, (partial, _)) in parts.iter().enumerate().skip(1) {
        out = out.addcmul(
            &partial.to_kind(tch::Kind::Float),
            &weights.get(index as i64),
        );
    }
    out.to_kind(kind)
}
