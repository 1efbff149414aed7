//! What can go wrong in the facade.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the facade. Errors of a search are [`bosch_core::Error`], with the model's own error
/// inside; errors of loading a model are `bosch_attn::Error`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file was read and is not what it should be.
    #[error("{path}: expected {expected}, got {got}", path = path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What it should hold.
        expected: String,
        /// What it holds.
        got: String,
    },
    /// Sizes that do not fit together.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What was being put together.
        what: &'static str,
        /// Its right size.
        expected: String,
        /// The size that came.
        got: String,
    },
    /// The drawing library failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
}

impl Error {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}
