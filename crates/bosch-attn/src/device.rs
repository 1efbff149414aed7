//! The choice of device.

use tch::{Cuda, Device};

/// The first CUDA device where there is one that libtorch can use, else the CPU.
///
/// A CPU build of libtorch, or a CUDA build without a driver, gives the CPU. A program that is linked against a CUDA build
/// must name `torch_cuda` to the linker (`docs/libtorch.md`), or libtorch reports no device.
///
/// ```
/// use bosch_attn::tch::{Device, Kind};
/// use bosch_attn::{LoadOptions, best_device};
///
/// let device = best_device();
/// let kind = if device == Device::Cpu { Kind::Float } else { Kind::BFloat16 };
/// let options = LoadOptions::new().device(device).kind(kind);
/// assert_eq!(options.device, device);
/// ```
pub fn best_device() -> Device {
    if Cuda::is_available() {
        Device::Cuda(0)
    } else {
        Device::Cpu
    }
}
