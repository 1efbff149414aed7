//! The gated MLP, and the mixture of several.

use tch::{Kind, Tensor};

use crate::config::Activation;
use crate::linear::Linear;

/// down(activation(gate(x)) · up(x)).
#[derive(Debug)]
pub(crate) struct Mlp {
    pub(crate) gate: Linear,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) activation: Activation,
}

impl Mlp {
    /// The same layers over the same memory.
    fn share(&self) -> Self {
        Self {
            gate: self.gate.share(),
            up: self.up.share(),
            down: self.down.share(),
            activation: self.activation,
        }
    }

    /// `[N, D]` to `[N, D]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        // Gate and up stay apart: one product of twice the width was measured to be slower on the CPU.
        let inner = activate(self.activation, &self.gate.forward(x)) * self.up.forward(x); // [N, I]
        self.down.forward(&inner)
    }
}

fn activate(activation: Activation, x: &Tensor) -> Tensor {
    match activation {
        Activation::Silu => x.silu(),
        Activation::Gelu => x.gelu("none"),
        Activation::GeluTanh => x.gelu("tanh"),
        Activation::Relu => x.relu(),
    }
}

/// A mixture of experts (Qwen3-MoE): softmax over all experts in float32, then the best k, then their sum to 1 if asked.
#[derive(Debug)]
pub(crate) struct Moe {
    pub(crate) router: Linear,
    pub(crate) experts: Vec<Mlp>,
    pub(crate) per_token: i64,
    pub(crate) normalise: bool,
}

impl Moe {
    /// `[N, D]` to `[N, D]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        let probabilities = self.router.forward(x).softmax(-1, Kind::Float); // [N, E]
        let (mut weights, chosen) = probabilities.topk(self.per_token, -1, true, true); // [N, k]
        if self.normalise {
            weights = &weights / weights.sum_dim_intlist([-1i64].as_slice(), true, Kind::Float);
        }
        let weights = weights.to_kind(x.kind()).flatten(0, 1);
        // Slot s of token t is entry t·k + s of the flat lists; each expert takes its entries in that order.
        let chosen = chosen.flatten(0, 1);
        let mut out = x.zeros_like();
        for (index, expert) in self.experts.iter().enumerate() {
            let entries = chosen.eq(index as i64).nonzero().squeeze_dim(1);
            if entries.size()[0] == 0 {
                continue;
            }
            let tokens = entries.divide_scalar_mode(self.per_token, "floor");
            let result = expert.forward(&x.index_select(0, &tokens))
                * weights.index_select(0, &entries).unsqueeze(1);
            let _ = out.index_add_(0, &tokens, &result);
        }
        out
    }
}

/// What follows the attention in a layer.
#[derive(Debug)]
pub(crate) enum FeedForward {
    Dense(Mlp),
    Sparse(Moe),
}

impl FeedForward {
    /// The same layers over the same memory.
    pub(crate) fn share(&self) -> Self {
        match self {
            Self::Dense(mlp) => Self::Dense(mlp.share()),
            Self::Sparse(moe) => Self::Sparse(Moe {
                router: moe.router.share(),
                experts: moe.experts.iter().map(Mlp::share).collect(),
                per_token: moe.per_token,
                normalise: moe.normalise,
            }),
        }
    }

    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        match self {
            Self::Dense(mlp) => mlp.forward(x),
            Self::Sparse(moe) => moe.forward(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    #[test]
    fn activations_have_the_known_values() {
        for (activation, at_one, at_minus_one) in [
            (Activation::Silu, 0.731_059, -0.268_941),
            (Activation::Gelu, 0.841_345, -0.158_655),
            (Activation::GeluTanh, 0.841_192, -0.158_808),
            (Activation::Relu, 1.0, 0.0),
        ] {
            let found = activate(activation, &Tensor::from_slice(&[1.0, -1.0]));
            let error = (found - Tensor::from_slice(&[at_one, at_minus_one])).abs();
            assert!(error.max().double_value(&[]) < 1e-6, "{activation:?}");
        }
    }

    /// The softmax is over all experts, before the best are taken (sglang PR 35160): without normalising, the weights of the
    /// chosen sum to less than 1.
    #[test]
    fn sglang_35160_the_router_softmax_is_over_all_experts() {
        let random = |shape: &[i64]| Tensor::randn(shape, (Kind::Float, Device::Cpu));
        let linear = |shape: &[i64]| Linear {
            weight: random(shape),
            bias: None,
        };
        let expert = || Mlp {
            gate: linear(&[6, 4]),
            up: linear(&[6, 4]),
            down: linear(&[4, 6]),
            activation: Activation::Silu,
        };
        for normalise in [false, true] {
            let moe = Moe {
                router: linear(&[5, 4]),
                experts: (0..5).map(|_| expert()).collect(),
                per_token: 2,
                normalise,
            };
            let x = random(&[1, 4]);
            let exps = moe.router.forward(&x).exp().flatten(0, 1);
            let exps = Vec::<f32>::try_from(exps).unwrap();
            let mut order: Vec<usize> = (0..5).collect();
            order.sort_by(|a, b| exps[*b].total_cmp(&exps[*a]));
            let among = if normalise { &order[..2] } else { &order[..] };
            let total: f32 = among.iter().map(|&index| exps[index]).sum();
            let mut expected = x.zeros_like();
            for &index in &order[..2] {
                expected += moe.experts[index].forward(&x) * f64::from(exps[index] / total);
            }
            let error = (moe.forward(&x) - expected).abs().max().double_value(&[]);
            assert!(error < 1e-5, "normalise {normalise}: {error}");
        }
    }
}
