//! GGUF files: one file with a model's settings, tokenizer, chat template and quantised weights.
//!
//! [`GgufFile::open`] reads the header and checks it against the size of the file; tensors are read one at a time, when
//! they are asked for. Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. The header is read here
//! rather than by candle, whose reader divides by an alignment of zero and does not say which tensor is at fault;
//! candle turns the quantised blocks into numbers.

mod element;
mod header;
mod metadata;
mod reader;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tch::Tensor;

pub(crate) use self::element::ElementType;
pub(crate) use self::metadata::Metadata;
use crate::error::Error;

/// Name, type, shape and place of a tensor.
#[derive(Debug, Clone)]
pub(crate) struct TensorInfo {
    pub(crate) element: ElementType,
    /// Sizes in Hugging Face order (the file has them reversed); 1 to 4 of them, none 0, their product below 2⁴⁸.
    pub(crate) shape: Vec<usize>,
    /// First byte, counted from the start of the file.
    start: u64,
}

/// An open GGUF file: the header in memory, the weights on disk.
///
/// It is a [`WeightSource`](crate::WeightSource) for the models that [`ModelConfig::from_gguf`](crate::ModelConfig::from_gguf)
/// supports.
///
/// ```no_run
/// use bosch_attn::{GgufFile, ModelConfig, Tokenizer};
///
/// let file = GgufFile::open("SmolLM2-135M-Instruct.Q4_1.gguf")?;
/// let config = ModelConfig::from_gguf(&file)?;
/// let tokenizer = Tokenizer::from_gguf(&file)?;
/// bosch_attn::check(&file, &config.tensors())?;
/// assert_eq!(tokenizer.encode("Hello, world!")?, [19556, 28, 905, 17]);
/// # Ok::<(), bosch_attn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GgufFile {
    path: PathBuf,
    metadata: Metadata,
    tensors: HashMap<String, TensorInfo>,
}

impl GgufFile {
    /// Reads the header of the file at `path`.
    ///
    /// Versions 2 and 3, little-endian. Every count and size is checked against the size of the file before memory is
    /// set aside for it, and every tensor must lie inside the file, so that a file that was cut short is found here.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where the file cannot be read; [`Error::Format`] where it is not GGUF, was cut short, or has a
    /// tensor of a type other than F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 and Q2_K to Q6_K.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let (metadata, tensors) = header::read(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            metadata,
            tensors,
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The entry of the tensor that the file calls `name`.
    pub(crate) fn tensor_info(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// Reads the rows `part` of `parts` equal parts of the tensor's first dimension, in the type `Float` or as stored.
    ///
    /// The caller has checked that `parts` divides the first dimension and that `part` is below it.
    pub(crate) fn read_part(
        &self,
        info: &TensorInfo,
        part: usize,
        parts: usize,
    ) -> Result<Tensor, Error> {
        let mut shape = info.shape.clone();
        shape[0] /= parts;
        // The whole tensor was found to lie inside the file, so neither product overflows.
        let length = info.element.bytes(shape.iter().product());
        let start = info.start + (part * length) as u64;
        let mut bytes = vec![0; length];
        let mut file = File::open(&self.path).map_err(|source| Error::io(&self.path, source))?;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|source| Error::io(&self.path, source))?;
        info.element.decode(&bytes, &shape, &self.path)
    }
}
