//! The calls of libtorch that compute attention, and the merge of partial results.

use tch::{Device, Kind, Tensor};

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
pub(super) fn flash(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: Option<&Tensor>,
    causal: bool,
) -> Partial {
    Tensor::internal_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, mask, None)
}

/// Joins partial results over disjoint sets of keys: (exp(lse₁) out₁ + exp(lse₂) out₂) / (exp(lse₁) + exp(lse₂)).
pub(super) fn merge(first: &Partial, second: &Partial) -> Tensor {
    let weight = (&first.1 - &second.1).sigmoid().unsqueeze(-1); // of the first, [B, H, T, 1]
    let wide = |out: &Tensor| out.to_kind(Kind::Float);
    wide(&second.0)
        .lerp_tensor(&wide(&first.0), &weight.to_kind(Kind::Float))
        .to_kind(first.0.kind())
}
