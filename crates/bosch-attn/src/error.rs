//! What can go wrong, with the values that say why.

use std::path::PathBuf;

use tch::TchError;

/// Everything that can go wrong in this crate.
///
/// Each variant carries what was expected, what came instead and where, so that a caller can act on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A file is there, but is not what its place asks for: cut short, damaged, or of another format.
    #[error("{}: expected {expected}, found {found}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What its format asks for.
        expected: String,
        /// What is there instead.
        found: String,
    },
    /// A model's configuration asks for something that is missing, contradictory or not supported.
    #[error("{origin}: {key}: expected {expected}, found {found}")]
    Config {
        /// The file, or a name for values that were built in code.
        origin: String,
        /// The key, as the file spells it.
        key: String,
        /// The values that are supported.
        expected: String,
        /// The value that is there.
        found: String,
    },
    /// Tensors that the model needs are missing or of the wrong shape; all of them are listed.
    #[error("{origin}: {} of the model's tensors cannot be used:{}", problems.len(), listed(problems))]
    Tensors {
        /// The file or folder.
        origin: String,
        /// One entry for each tensor, in the order in which the model asks for them.
        problems: Vec<TensorProblem>,
    },
    /// An argument is outside what the function accepts.
    #[error("{what}: expected {expected}, found {found}")]
    Input {
        /// The argument.
        what: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// libtorch refused an operation.
    #[error("libtorch failed in {operation}: {source}")]
    Torch {
        /// What was being computed.
        operation: &'static str,
        /// libtorch's message.
        source: TchError,
    },
}

impl Error {
    /// An [`Error::Io`] for `path`.
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// An [`Error::Format`] for `path`.
    pub(crate) fn format(
        path: impl Into<PathBuf>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Self {
        Self::Format {
            path: path.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// An [`Error::Config`].
    pub(crate) fn config(
        origin: impl ToString,
        key: impl ToString,
        expected: impl ToString,
        found: impl ToString,
    ) -> Self {
        Self::Config {
            origin: origin.to_string(),
            key: key.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// An [`Error::Input`].
    pub(crate) fn input(what: &'static str, expected: impl ToString, found: impl ToString) -> Self {
        Self::Input {
            what,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// Makes an [`Error::Torch`] of libtorch's message; for `map_err`.
    pub(crate) fn torch(operation: &'static str) -> impl FnOnce(TchError) -> Self {
        move |source| Self::Torch { operation, source }
    }
}

/// Why one tensor cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorProblem {
    /// There is no tensor of this name.
    #[error("{name} {expected:?} is missing")]
    Missing {
        /// Hugging Face name.
        name: String,
        /// The shape that the configuration asks for.
        expected: Vec<i64>,
    },
    /// The tensor has another shape.
    #[error("{name} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Hugging Face name.
        name: String,
        /// The shape that the configuration asks for.
        expected: Vec<i64>,
        /// The shape in the file.
        found: Vec<i64>,
    },
    /// The tensor's elements are of a type that is not read.
    #[error("{name} has elements of type {found}, expected F64, F32, F16 or BF16")]
    Type {
        /// Hugging Face name.
        name: String,
        /// The element type, as the file names it.
        found: String,
    },
    /// The tensor holds NaN or infinite values.
    #[error("{name} holds {count} values that are NaN or infinite")]
    NotFinite {
        /// Hugging Face name.
        name: String,
        /// How many.
        count: i64,
    },
}

fn listed(problems: &[TensorProblem]) -> String {
    problems
        .iter()
        .map(|problem| format!("\n  {problem}"))
        .collect()
}
