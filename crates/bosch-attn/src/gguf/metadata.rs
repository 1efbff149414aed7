//! The key-value pairs of a GGUF header.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::Error;

/// One value; integers of all sizes are one kind, and so are both sizes of floats.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
    /// An array of another kind, which nothing here reads.
    Other(&'static str),
}

impl Value {
    /// The value for a message, cut where it is long.
    fn shown(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Text(value) => format!("{:?}", value.chars().take(80).collect::<String>()),
            Self::Integers(values) => format!("a list of {} integers", values.len()),
            Self::Floats(values) => format!("a list of {} floats", values.len()),
            Self::Texts(values) => format!("a list of {} strings", values.len()),
            Self::Other(kind) => (*kind).to_string(),
        }
    }
}

/// All key-value pairs, with typed access whose errors name file and key.
#[derive(Debug, Clone)]
pub(crate) struct Metadata {
    path: PathBuf,
    values: HashMap<String, Value>,
}

impl Metadata {
    pub(super) fn new(path: PathBuf, values: HashMap<String, Value>) -> Self {
        Self { path, values }
    }

    /// An [`Error::Config`] for `key`.
    pub(crate) fn error(&self, key: &str, expected: impl ToString, found: impl ToString) -> Error {
        Error::config(self.path.display(), key, expected, found)
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.values.get(key) else {
            return Ok(None);
        };
        match convert(value) {
            Some(converted) => Ok(Some(converted)),
            None => Err(self.error(key, expected, value.shown())),
        }
    }

    /// A whole number of 0 or more, or `None` where the key is absent.
    pub(crate) fn size(&self, key: &str) -> Result<Option<usize>, Error> {
        self.typed(key, "a whole number of 0 or more", |value| match value {
            Value::Integer(value) => usize::try_from(*value).ok(),
            _ => None,
        })
    }

    pub(crate) fn token(&self, key: &str) -> Result<Option<u32>, Error> {
        self.typed(key, "a token id", |value| match value {
            Value::Integer(value) => u32::try_from(*value).ok(),
            _ => None,
        })
    }

    /// A finite number; one stored in 32 bits is the shortest decimal that rounds to it, as it was before it was stored.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        self.typed(key, "a number", |value| match value {
            Value::Float(value) if value.is_finite() => Some(*value),
            Value::Integer(value) => Some(*value as f64),
            _ => None,
        })
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.typed(key, "true or false", |value| match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        })
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&str>, Error> {
        self.typed(key, "a string", |value| match value {
            Value::Text(value) => Some(value.as_str()),
            _ => None,
        })
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Option<&[String]>, Error> {
        self.typed(key, "a list of strings", |value| match value {
            Value::Texts(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    pub(crate) fn integers(&self, key: &str) -> Result<Option<&[i64]>, Error> {
        self.typed(key, "a list of integers", |value| match value {
            Value::Integers(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// Turns the absence of a value into an error.
    pub(crate) fn required<T>(
        &self,
        key: &str,
        expected: &str,
        value: Option<T>,
    ) -> Result<T, Error> {
        value.ok_or_else(|| self.error(key, expected, "nothing"))
    }
}
