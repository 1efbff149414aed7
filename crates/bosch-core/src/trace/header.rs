//! [`Header`]: what a trace says of its run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format that this crate writes and reads.
const VERSION: u32 = 1;

/// What two runs must share for one to continue the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    bosch_trace: u32,
    pub(super) dim: usize,
    seed: u64,
    settings: Value,
}

impl Header {
    pub(crate) fn new(dim: usize, seed: u64, settings: Value) -> Self {
        Self {
            bosch_trace: VERSION,
            dim,
            seed,
            settings,
        }
    }

    /// The first difference to another header: its path, and the two values there.
    pub(super) fn difference(&self, found: &Value) -> Option<(String, String, String)> {
        let expected = serde_json::to_value(self).unwrap_or(Value::Null);
        difference("", &expected, found)
    }
}

/// The first difference between two JSON values: its path, and the two values there.
fn difference(at: &str, expected: &Value, found: &Value) -> Option<(String, String, String)> {
    let join = |key: &str| {
        if at.is_empty() {
            key.to_owned()
        } else {
            format!("{at}.{key}")
        }
    };
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.dedup();
            keys.into_iter()
                .find_map(|key| match (a.get(key), b.get(key)) {
                    (Some(x), Some(y)) => difference(&join(key), x, y),
                    (x, y) => {
                        let text =
                            |v: Option<&Value>| v.map_or("nothing".to_owned(), Value::to_string);
                        Some((join(key), text(x), text(y)))
                    }
                })
        }
        _ if expected == found => None,
        _ => {
            let what = if at.is_empty() { "header" } else { at };
            Some((what.to_owned(), expected.to_string(), found.to_string()))
        }
    }
}
