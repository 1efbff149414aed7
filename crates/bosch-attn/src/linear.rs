//! A linear layer.

use tch::Tensor;

/// x Wᵀ + b, W `[out, in]`.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Tensor,
    pub(crate) bias: Option<Tensor>,
}

impl Linear {
    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        x.linear(&self.weight, self.bias.as_ref())
    }

    /// The same layer over the same memory.
    pub(crate) fn share(&self) -> Self {
        Self {
            weight: self.weight.shallow_clone(),
            bias: self.bias.as_ref().map(Tensor::shallow_clone),
        }
    }

    /// The layer that computes outputs `first..first + count` only; shares the weights.
    pub(crate) fn rows(&self, first: i64, count: i64) -> Self {
        Self {
            weight: self.weight.narrow(0, first, count),
            bias: self.bias.as_ref().map(|bias| bias.narrow(0, first, count)),
        }
    }
}
