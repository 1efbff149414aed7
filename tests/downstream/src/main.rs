//! What a user's crate does first: link libtorch through `bosch` and compute something with it.

use bosch::attn::tch::{Device, Kind, Tensor};

fn main() {
    let sum = Tensor::ones([3], (Kind::Float, Device::Cpu)).sum(Kind::Float).double_value(&[]);
    assert_eq!(sum, 3.0);
    println!("downstream: libtorch answers");
}
