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

    /// The tensor `name`, in its Hugging Face shape and row order, as elements of `kind` on `device`.
    ///
    /// # Errors
    ///
    /// [`Error::Tensors`] where there is no such tensor or its type is not read; [`Error::Format`] or [`Error::Io`]
    /// where the file fails.
    fn read(&self, name: &str, kind: Kind, device: Device) -> Result<Tensor, Error>;
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
