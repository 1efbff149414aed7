//! RMSNorm.

use tch::{Kind, Tensor};

/// x / √(mean(x²) + ε) · weight over the last dimension; the mean in float32, then a cast, then the weight.
#[derive(Debug)]
pub(crate) struct RmsNorm {
    pub(crate) weight: Tensor,
    pub(crate) eps: f64,
}

impl RmsNorm {
    pub(crate) fn forward(&self, x: &Tensor) -> Tensor {
        let wide = x.to_kind(Kind::Float);
        let mean = wide
            .square()
            .mean_dim([-1i64].as_slice(), true, Kind::Float);
        (&wide * (mean + self.eps).rsqrt()).to_kind(x.kind()) * &self.weight
    }

    /// The same norm over the same memory.
    pub(crate) fn share(&self) -> Self {
        Self {
            weight: self.weight.shallow_clone(),
            eps: self.eps,
        }
    }

    /// The norm with rows `first..first + count` of a weight `[rows, d]`.
    pub(crate) fn rows(&self, first: i64, count: i64) -> Self {
        Self {
            weight: self.weight.narrow(0, first, count),
            eps: self.eps,
        }
    }
}
