//! Where a decoder's tensors come from: one seam for all file formats.
//!
//! A [`WeightSource`] hands out tensors by their Hugging Face name, whatever the file calls them. [`check`] compares a
//! source with the tensors that a [`ModelConfig`](crate::ModelConfig) asks for and lists all problems at once.

#[cfg(feature = "gguf")]
mod gguf;
mod mmap;
mod safetensors;

use tch::{Device, Kind, Tensor};

use crate::error::{Error, TensorProblem};

pub use self::safetensors::SafetensorsFolder;

/// The name and shape of a tensor that a model needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Hugging Face name, such as `model.layers.3.self_attn.q_proj.weight`.
    pub name: String,
    /// Shape in Hugging Face order: a linear layer's weight is `[out, in]`.
    pub shape: Vec<i64>,
}

/// A model file, or several, from which tensors are taken by their Hugging Face name.
///
/// A source knows the names and shapes of its tensors without reading them. The decoder asks for each tensor once.
pub trait WeightSource {
    /// The file or folder, for messages.
    fn origin(&self) -> String;

    /// The shape of the tensor `name` in Hugging Face order, or `None` where there is no such tensor.
    fn shape(&self, name: &str) -> Option<Vec<i64>>;

    /// Copies the tensor `name`, in its Hugging Face shape and row order, into the contiguous `target` of that shape, whose
    /// element type and device may be others. The decoder's weights are the targets, so that nothing is held twice.
    ///
    /// # Errors
    ///
    /// [`Error::Tensors`] where there is no such tensor or its type is not read; [`Error::Format`] or [`Error::Io`]
    /// where the file fails; [`Error::Torch`] for a target that does not fit.
    fn read_into(&self, name: &str, target: &Tensor) -> Result<(), Error>;

    /// The tensor `name` as elements of `kind` on `device`.
    ///
    /// # Errors
    ///
    /// As [`WeightSource::read_into`].
    fn read(&self, name: &str, kind: Kind, device: Device) -> Result<Tensor, Error> {
        let shape = self.shape(name).ok_or_else(|| Error::Tensors {
            origin: self.origin(),
            problems: vec![TensorProblem::Missing {
                name: name.into(),
                expected: Vec::new(),
            }],
        })?;
        let tensor = Tensor::f_empty(&shape, (kind, device))
            .map_err(Error::torch("the allocation of weights"))?;
        self.read_into(name, &tensor)?;
        Ok(tensor)
    }
}

/// Checks that `source` has every tensor of `specs` in the right shape.
///
/// # Errors
///
/// [`Error::Tensors`] with every tensor that is missing or of another shape.
pub fn check(source: &dyn WeightSource, specs: &[TensorSpec]) -> Result<(), Error> {
    let problems: Vec<_> = specs
        .iter()
        .filter_map(|spec| problem(source, spec))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Tensors {
            origin: source.origin(),
            problems,
        })
    }
}

/// Searches every tensor of `specs` for NaN and infinite values, one tensor in memory at a time.
///
/// Loading does not do so: it would read all weights twice.
///
/// # Errors
///
/// [`Error::Tensors`] with every tensor that holds such values; else as [`WeightSource::read`].
pub fn check_finite(source: &dyn WeightSource, specs: &[TensorSpec]) -> Result<(), Error> {
    let mut problems = Vec::new();
    for TensorSpec { name, .. } in specs {
        let tensor = source.read(name, Kind::Float, Device::Cpu)?;
        let finite = tensor.isfinite().sum(Kind::Int64).int64_value(&[]);
        let count = tensor.numel() as i64 - finite;
        if count > 0 {
            problems.push(TensorProblem::NotFinite {
                name: name.clone(),
                count,
            });
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::Tensors {
        origin: source.origin(),
        problems,
    })
}

fn problem(source: &dyn WeightSource, spec: &TensorSpec) -> Option<TensorProblem> {
    let TensorSpec {
        name,
        shape: expected,
    } = spec.clone();
    match source.shape(&name) {
        None => Some(TensorProblem::Missing { name, expected }),
        Some(found) if found != expected => Some(TensorProblem::Shape {
            name,
            expected,
            found,
        }),
        Some(_) => None,
    }
}
