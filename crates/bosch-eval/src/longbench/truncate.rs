//! Truncation that keeps both ends and drops the middle.

use crate::{BoxError, Error, Result};

/// Text to token ids and back, for truncation.
pub trait Tokenizer {
    /// The ids of a text, with the special tokens that begin every text.
    ///
    /// # Errors
    ///
    /// The tokenizer's own.
    fn encode(&self, text: &str) -> std::result::Result<Vec<u32>, BoxError>;

    /// The text of ids, without special tokens.
    ///
    /// # Errors
    ///
    /// The tokenizer's own.
    fn decode(&self, ids: &[u32]) -> std::result::Result<String, BoxError>;
}

/// The first and the last ⌊`max_length` / 2⌋ of more than `max_length` items, else all of them.
///
/// ```
/// use bosch_eval::longbench::keep_ends;
///
/// let (start, end) = keep_ends(&[0, 1, 2, 3, 4, 5], 5)?;
/// assert_eq!((start, end), ([0, 1].as_slice(), [4, 5].as_slice()));
/// # Ok::<(), bosch_eval::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Input`] for a `max_length` of 0 or 1, with which the official code keeps everything.
pub fn keep_ends<T>(items: &[T], max_length: usize) -> Result<(&[T], &[T])> {
    if max_length < 2 {
        return Err(Error::input("max_length", "at least 2 tokens", max_length));
    }
    if items.len() <= max_length {
        return Ok((items, &[]));
    }
    let half = max_length / 2;
    Ok((&items[..half], &items[items.len() - half..]))
}

/// A prompt of at most `max_length` tokens: the text itself, or both its ends.
///
/// # Errors
///
/// [`Error::Tokenizer`], or as [`keep_ends`].
pub fn truncate_middle(text: &str, max_length: usize, tokenizer: &dyn Tokenizer) -> Result<String> {
    let ids = tokenizer.encode(text).map_err(Error::Tokenizer)?;
    let (start, end) = keep_ends(&ids, max_length)?;
    if end.is_empty() {
        return Ok(text.to_owned());
    }
    let decode = |ids| tokenizer.decode(ids).map_err(Error::Tokenizer);
    Ok(decode(start)? + &decode(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_tokens_that_longbench_keeps() {
        let cases = include_str!("../../tests/data/helpers.jsonl").lines();
        let mut count = 0;
        for case in cases.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            if case["fn"] != "middle_truncate" {
                continue;
            }
            let number = |key: &str| case["input"][key].as_u64().unwrap();
            let ids: Vec<u64> = (0..number("n_tokens")).collect();
            let max_length = number("max_length") as usize;
            match keep_ends(&ids, max_length) {
                Ok((start, end)) => {
                    let kept = [start, end].concat();
                    assert_eq!(serde_json::json!(kept), case["output"], "{case}");
                }
                Err(error) => assert!(max_length < 2, "{error}"),
            }
            count += 1;
        }
        assert_eq!(count, 28);
    }
}
