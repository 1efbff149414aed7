//! What can go wrong, with the values a caller needs to act on it.

use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;

/// A value that a constructor or a setting does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, found {found}")]
pub struct InvalidInput {
    /// Which value it was.
    pub what: String,
    /// What would have been accepted.
    pub expected: String,
    /// What came.
    pub found: String,
}

impl InvalidInput {
    /// Puts the three parts together. For adaptors outside this crate that check their own input.
    pub fn new(what: impl Display, expected: impl Display, found: impl Display) -> Self {
        Self {
            what: what.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

/// Why a search ended without a result. `E` is the error type of the objective, kept as it is.
///
/// Whatever the variant, all evaluations that were paid for before it are in the trace, when
/// there is one.
///
/// ```
/// use bosch_core::{Error, Evaluator, LocalSearch, Mask, Space, maximize, try_from_fn};
///
/// // The objective's own error comes back as it was.
/// let objective = try_from_fn(4, |_: &Mask| "many".parse::<f64>());
/// let space = Space::any(4);
/// let mut solver = LocalSearch::new(space.clone(), 1);
/// match maximize(&mut Evaluator::new(objective), &mut solver, &space, 9) {
///     Err(Error::Objective { evaluation, source }) => {
///         assert_eq!((evaluation, source), (1, "many".parse::<f64>().unwrap_err()));
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: std::error::Error + 'static = Infallible> {
    /// A setting or an argument is out of its range.
    #[error(transparent)]
    Input(#[from] InvalidInput),

    /// The scores of the all-zeros and the all-ones mask do not span a scale: their distance is
    /// below 1e-9 or not finite. Conversion to windows then changes nothing that the objective sees.
    #[error(
        "the anchors do not span a scale: all zeros scores {full}, all ones scores {all}; \
         expected two finite scores at a finite distance of at least 1e-9"
    )]
    Anchors {
        /// Score of the mask without ones.
        full: f64,
        /// Score of the mask of ones.
        all: f64,
    },

    /// The objective returned its own error.
    #[error("evaluation {evaluation} failed")]
    Objective {
        /// The number that the evaluation would have had, from 1.
        evaluation: usize,
        /// The objective's error.
        source: E,
    },

    /// The objective panicked.
    #[error("evaluation {evaluation} panicked: {message}")]
    Panicked {
        /// The number that the evaluation would have had, from 1.
        evaluation: usize,
        /// The panic's message.
        message: String,
    },

    /// The objective answered with something that is not a finite score for each mask.
    #[error("evaluation {evaluation}: expected {expected}, found {found}")]
    Answer {
        /// The number that the evaluation would have had, from 1.
        evaluation: usize,
        /// What an objective has to answer.
        expected: String,
        /// What it answered.
        found: String,
    },

    /// The trace file belongs to another run, or is damaged before its last line.
    #[error("trace {path:?}, line {line}: {what}: expected {expected}, found {found}")]
    Trace {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The part that differs, such as `settings.search.alpha`.
        what: String,
        /// What this run needs there.
        expected: String,
        /// What the file has there.
        found: String,
    },

    /// The trace file cannot be read or written.
    #[error("trace {path:?}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// The observer, or the budget, ended the run before there was any mask to return.
    #[error("stopped after {evaluations} evaluations, before any admissible mask was evaluated")]
    Stopped {
        /// Evaluations until then.
        evaluations: usize,
    },
}

impl Error<Infallible> {
    /// The same error as one of a search over an objective with the error type `E`.
    pub fn widen<E: std::error::Error + 'static>(self) -> Error<E> {
        match self {
            Self::Input(input) => Error::Input(input),
            Self::Anchors { full, all } => Error::Anchors { full, all },
            Self::Objective { source, .. } => match source {},
            Self::Panicked {
                evaluation,
                message,
            } => Error::Panicked {
                evaluation,
                message,
            },
            Self::Answer {
                evaluation,
                expected,
                found,
            } => Error::Answer {
                evaluation,
                expected,
                found,
            },
            Self::Trace {
                path,
                line,
                what,
                expected,
                found,
            } => Error::Trace {
                path,
                line,
                what,
                expected,
                found,
            },
            Self::Io { path, source } => Error::Io { path, source },
            Self::Stopped { evaluations } => Error::Stopped { evaluations },
        }
    }
}
