//! The element types of tensors, and how their bytes become numbers.

use std::borrow::Cow;
use std::path::Path;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device as CandleDevice, Error as CandleError};
use tch::{Kind, Tensor};

use crate::error::Error;

/// A type whose elements this crate can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementType(GgmlDType);

impl ElementType {
    /// All that are read, for messages.
    pub(super) const NAMES: &str =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K or Q6_K";

    /// The type of ggml's number `code` (`ggml.h`, `enum ggml_type`).
    pub(super) fn from_code(code: u32) -> Option<Self> {
        let dtype = match code {
            0 => GgmlDType::F32,
            1 => GgmlDType::F16,
            2 => GgmlDType::Q4_0,
            3 => GgmlDType::Q4_1,
            6 => GgmlDType::Q5_0,
            7 => GgmlDType::Q5_1,
            8 => GgmlDType::Q8_0,
            10 => GgmlDType::Q2K,
            11 => GgmlDType::Q3K,
            12 => GgmlDType::Q4K,
            13 => GgmlDType::Q5K,
            14 => GgmlDType::Q6K,
            30 => GgmlDType::BF16,
            _ => return None,
        };
        Some(Self(dtype))
    }

    /// ggml's number with its name, for the types that are not read.
    pub(super) fn describe(code: u32) -> String {
        let name = match code {
            9 => "Q8_1",
            15 => "Q8_K",
            16 => "IQ2_XXS",
            17 => "IQ2_XS",
            18 => "IQ3_XXS",
            19 => "IQ1_S",
            20 => "IQ4_NL",
            21 => "IQ3_S",
            22 => "IQ2_S",
            23 => "IQ4_XS",
            24..=27 => "an integer type",
            28 => "F64",
            29 => "IQ1_M",
            34 => "TQ1_0",
            35 => "TQ2_0",
            39 => "MXFP4",
            _ => "unknown",
        };
        format!("type {code} ({name})")
    }

    /// Elements that are stored together.
    pub(super) fn block_size(self) -> usize {
        self.0.block_size()
    }

    /// Bytes of `elements` elements, a multiple of the block size.
    pub(super) fn bytes(self, elements: usize) -> usize {
        elements / self.0.block_size() * self.0.type_size()
    }

    /// The numbers that `bytes` stand for; `bytes` has the length that `shape` asks for. Floats keep their type,
    /// quantised blocks become 32-bit floats.
    pub(super) fn decode(
        self,
        bytes: &[u8],
        shape: &[usize],
        path: &Path,
    ) -> Result<Tensor, Error> {
        let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let kind = match self.0 {
            GgmlDType::F32 => Kind::Float,
            GgmlDType::F16 => Kind::Half,
            GgmlDType::BF16 => Kind::BFloat16,
            quantised => {
                let numbers = dequantise(quantised, bytes, shape).map_err(|error| {
                    Error::format(path, format!("blocks of the type {quantised:?}"), error)
                })?;
                return Tensor::f_from_slice(&numbers)
                    .and_then(|tensor| tensor.f_reshape(&sizes))
                    .map_err(Error::torch("reading a quantised tensor"));
            }
        };
        Tensor::f_from_data_size(bytes, &sizes, kind).map_err(Error::torch("reading a tensor"))
    }
}

fn dequantise(dtype: GgmlDType, bytes: &[u8], shape: &[usize]) -> Result<Vec<f32>, CandleError> {
    let storage = QStorage::from_data(Cow::Borrowed(bytes), &CandleDevice::Cpu, dtype)?;
    QTensor::new(storage, shape)?
        .dequantize(&CandleDevice::Cpu)?
        .flatten_all()?
        .to_vec1()
}
