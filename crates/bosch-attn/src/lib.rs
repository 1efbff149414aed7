//! Hybrid full and sliding-window attention, on libtorch.
pub use tch;

/// Which libtorch answers: a tensor of zeros of length `n` summed.
pub fn probe(n: i64) -> f64 {
    tch::Tensor::ones([n], (tch::Kind::Float, tch::Device::Cpu)).sum(tch::Kind::Float).double_value(&[])
}
