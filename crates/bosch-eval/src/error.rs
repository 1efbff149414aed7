//! What can go wrong, with the values a caller needs to act on it.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Error of a user's runtime or tokenizer, kept as it came.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why prompts, scores or results could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting or an argument is out of its range.
    #[error("{what}: expected {expected}, found {found}")]
    Input {
        /// Which value it was.
        what: String,
        /// What would have been accepted.
        expected: String,
        /// What came.
        found: String,
    },

    /// The token budget cannot hold even the shortest possible prompt.
    #[error(
        "{what}: {budget} tokens are too few, the shortest possible prompts and the new tokens need {needed}"
    )]
    Budget {
        /// For what the budget was: a subtask or data set.
        what: String,
        /// The budget that was asked for, in tokens.
        budget: usize,
        /// The smallest budget that works for the same samples, in tokens.
        needed: usize,
    },

    /// The user's tokenizer refused a text.
    #[error("the tokenizer failed")]
    Tokenizer(#[source] BoxError),

    /// The user's model failed or answered in a shape that was not asked for.
    #[error("the model failed")]
    Model(#[source] BoxError),

    /// A file could not be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },

    /// A file has not the format that is expected of it.
    #[error("{}, line {line}: {problem}", path.display())]
    Format {
        /// The file, or the member of a zip file.
        path: PathBuf,
        /// The line, from 1; 0 for the file as a whole.
        line: usize,
        /// What was expected and what came.
        problem: String,
    },
}

impl Error {
    /// An [`Error::Input`] of three displayable parts.
    pub(crate) fn input(what: impl Display, expected: impl Display, found: impl Display) -> Self {
        Self::Input {
            what: what.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// Puts the path to a system error, for `map_err`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// An [`Error::Format`] at a line counted from 1.
    pub(crate) fn format(path: &Path, line: usize, problem: impl Display) -> Self {
        Self::Format {
            path: path.to_owned(),
            line,
            problem: problem.to_string(),
        }
    }
}
