//! The answer in a generated text, and whether it is right.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{constant_regex, python_strip};

/// How the answer is found in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gsm8kFilter {
    /// The number after the first `#### `.
    Strict,
    /// The last number.
    Flexible,
    /// The number after the first `The answer is `, with one more character behind it: what the
    /// chain-of-thought variant `gsm8k_cot` calls strict.
    CotStrict,
}

/// The answer that a filter finds, as it stands in the text; None if there is none.
///
/// ```
/// use bosch_eval::gsm8k::{Gsm8kFilter, extract};
///
/// let text = "3 * 4 = 12\n#### 1,012.";
/// assert_eq!(extract(Gsm8kFilter::Strict, text), Some("1,012."));
/// assert_eq!(extract(Gsm8kFilter::Strict, "1,012"), None);
/// assert_eq!(extract(Gsm8kFilter::Flexible, "It costs $1,012 today"), Some("$1,012"));
/// ```
pub fn extract(filter: Gsm8kFilter, text: &str) -> Option<&str> {
    static STRICT: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"#### (-?[0-9.,]+)"));
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"-?[$0-9.,]{2,}|-?[0-9]+"));
    static COT: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"The answer is (-?[0-9.,]+)."));
    let first = |pattern: &Regex| Some(pattern.captures(text)?.get(1)?.as_str());
    let found = match filter {
        Gsm8kFilter::Strict => first(&STRICT),
        Gsm8kFilter::Flexible => NUMBER.find_iter(text).last().map(|found| found.as_str()),
        Gsm8kFilter::CotStrict => first(&COT),
    };
    found.map(python_strip)
}

/// Whether the answer that a filter finds in the generation is that of the solution.
///
/// `solution` is the data set's whole answer text or its number alone. Thousands separators, dollar
/// signs, everything through the last `#### `, one final full stop, NUL characters at the end and
/// case are ignored; a generation without an answer is wrong.
///
/// ```
/// use bosch_eval::gsm8k::{Gsm8kFilter, gsm8k_score};
///
/// assert!(gsm8k_score(Gsm8kFilter::Strict, "so\n#### 1,012", "4 + 1008\n#### 1012"));
/// assert!(!gsm8k_score(Gsm8kFilter::Strict, "so 1,012", "4 + 1008\n#### 1012"));
/// ```
pub fn gsm8k_score(filter: Gsm8kFilter, generation: &str, solution: &str) -> bool {
    extract(filter, generation).is_some_and(|answer| comparable(answer) == comparable(solution))
}

fn comparable(answer: &str) -> String {
    let bare: String = answer.chars().filter(|c| !matches!(c, ',' | '$')).collect();
    let bare = bare.trim_end_matches('\0'); // the official code keeps texts in numpy arrays, which drop these
    let number = bare.rfind("#### ").map_or(bare, |at| &bare[at + 5..]);
    // Python's `\.$` also matches before a final line break.
    let without_stop = match (number.strip_suffix('.'), number.strip_suffix(".\n")) {
        (Some(rest), _) => rest.to_owned(),
        (None, Some(rest)) => format!("{rest}\n"),
        (None, None) => number.to_owned(),
    };
    without_stop.trim_end_matches('\0').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_characters_at_the_end_are_ignored() {
        for solution in ["23\0", "23.\0", "23\0.", "#### 2,3\0,\0"] {
            assert!(
                gsm8k_score(Gsm8kFilter::Flexible, "23", solution),
                "{solution:?}"
            );
        }
        assert!(!gsm8k_score(Gsm8kFilter::Flexible, "23", "2\0 3"));
    }
}
