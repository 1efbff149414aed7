//! Typed access to the keys of a JSON object, with errors that name file, key and value.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::error::Error;

/// A JSON object, or one inside another; `null` counts as absent.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    origin: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn new(value: &'a Value, origin: &'a str) -> Result<Self, Error> {
        let object = value
            .as_object()
            .ok_or_else(|| Error::format(origin, "a JSON object", short(value)))?;
        Ok(Self { object, origin })
    }

    /// The object under `key`, or `None`.
    pub(super) fn inner(&self, key: &str) -> Result<Option<Fields<'a>>, Error> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(Fields {
                object,
                origin: self.origin,
            })),
            Some(value) => Err(self.error(key, "an object", short(value))),
        }
    }

    pub(super) fn error(&self, key: &str, expected: impl ToString, found: impl Display) -> Error {
        Error::config(self.origin, key, expected, found)
    }

    /// Whether there are no keys.
    pub(super) fn is_empty(&self) -> bool {
        self.object.is_empty()
    }

    /// Whether the key is there at all, `null` included.
    pub(super) fn has(&self, key: &str) -> bool {
        self.object.contains_key(key)
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn as_size(&self, key: &str, value: &Value) -> Result<usize, Error> {
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.error(key, "a whole number of 0 or more", short(value)))
    }

    fn as_number(&self, key: &str, value: &Value) -> Result<f64, Error> {
        value
            .as_f64()
            .filter(|number| number.is_finite())
            .ok_or_else(|| self.error(key, "a number", short(value)))
    }

    pub(super) fn size(&self, key: &str) -> Result<Option<usize>, Error> {
        self.get(key)
            .map(|value| self.as_size(key, value))
            .transpose()
    }

    pub(super) fn required(&self, key: &str) -> Result<usize, Error> {
        self.size(key)?
            .ok_or_else(|| self.error(key, "a whole number", "nothing"))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        self.get(key)
            .map(|value| self.as_number(key, value))
            .transpose()
    }

    pub(super) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(list) = self.list(key)? else {
            return Ok(None);
        };
        list.iter()
            .map(|value| self.as_number(key, value))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.get(key)
            .map(|value| {
                value
                    .as_bool()
                    .ok_or_else(|| self.error(key, "true or false", short(value)))
            })
            .transpose()
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, Error> {
        self.get(key)
            .map(|value| {
                value
                    .as_str()
                    .ok_or_else(|| self.error(key, "a string", short(value)))
            })
            .transpose()
    }

    pub(super) fn list(&self, key: &str) -> Result<Option<&'a [Value]>, Error> {
        let list = |value: &'a Value| {
            value
                .as_array()
                .ok_or_else(|| self.error(key, "a list", short(value)))
        };
        Ok(self.get(key).map(list).transpose()?.map(Vec::as_slice))
    }

    /// One token id, a list of them, or none.
    pub(super) fn tokens(&self, key: &str) -> Result<Vec<u32>, Error> {
        let token = |value: &Value| {
            let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
            id.ok_or_else(|| self.error(key, "a token id", short(value)))
        };
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(token).collect(),
            Some(value) => Ok(vec![token(value)?]),
        }
    }
}

/// A JSON value for a message, cut where it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
