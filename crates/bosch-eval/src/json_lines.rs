//! JSON lines as Python writes them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::{Error, Result};

/// A JSON value from a line, a byte order mark before it aside, also where a string has half of a surrogate pair (`"\ud83d"`), which
/// Python writes and reads without complaint: each such half becomes a private character, U+10D83D
/// here, so that equal halves stay equal and different ones different.
///
/// ```
/// let text: String = bosch_eval::parse_json_line(r#""a\ud83db""#)?;
/// assert_eq!(text, "a\u{10d83d}b");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// serde_json's, for the line as it stands.
pub fn parse_json_line<T: DeserializeOwned>(line: &str) -> serde_json::Result<T> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    serde_json::from_str(line).or_else(|error| match repaired(line) {
        Some(repaired) => serde_json::from_str(&repaired).map_err(|_| error),
        None => Err(error),
    })
}

/// The values of all lines of a text that are not blank; `path` is for the error, and so is what
/// `fault` finds in a value.
pub(crate) fn parse_lines<T: DeserializeOwned>(
    text: &str,
    path: &Path,
    fault: impl Fn(&T) -> Option<&'static str>,
) -> Result<Vec<T>> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| {
            let value = parse_json_line(line).map_err(|error| Error::format(path, i + 1, error))?;
            match fault(&value) {
                Some(problem) => Err(Error::format(path, i + 1, problem)),
                None => Ok(value),
            }
        })
        .collect()
}

/// A list of texts, or a text where a list belongs: then a list of this one.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text or a list of texts")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

/// The line with lone surrogates replaced; None if there are none.
fn repaired(line: &str) -> Option<String> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(half @ 0xd800..=0xdfff), _) => {
                text.extend(char::from_u32(0x10_0000 + half));
                rest = &rest[6..];
                changed = true;
                continue;
            }
            // A backslash and whatever character it escapes.
            _ => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
        };
        text.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    text.push_str(rest);
    changed.then_some(text)
}

/// The UTF-16 unit of an escape at the beginning of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else() {
        for (line, expected) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83dx\ude00""#, "\u{10d83d}x\u{10de00}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{10d83d}😀"),
            (r#""\\ud83d \udfff""#, "\\ud83d \u{10dfff}"),
            (r#""\n\t\"\u0000\udead""#, "\n\t\"\0\u{10dead}"),
        ] {
            assert_eq!(parse_json_line::<String>(line).unwrap(), expected);
        }
        assert!(parse_json_line::<String>(r#""\ud83d"#).is_err());
        assert!(parse_json_line::<String>(r#""é\"#).is_err());
    }

    #[test]
    fn errors_name_the_line() {
        let odd = |number: &u8| (number % 2 == 1).then_some("expected an even number");
        let error = parse_lines("2\n\n3", Path::new("a.jsonl"), odd).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.jsonl, line 3: expected an even number"
        );
        let error = parse_lines("\u{feff}2\r\n\nx", Path::new("a.jsonl"), odd).unwrap_err();
        assert!(
            error.to_string().starts_with("a.jsonl, line 3: expected"),
            "{error}"
        );
    }
}
