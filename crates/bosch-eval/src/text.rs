//! Text as Python's `str` methods see it, so that scores agree to the last digit.

use std::sync::LazyLock;

use regex::Regex;

/// Whether Python's `str.split()` splits at `c`: Unicode white space and four old separators.
pub(crate) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Python's `text.split()`.
pub(crate) fn python_split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_python_space).filter(|word| !word.is_empty())
}

/// Python's `text.strip()`.
pub(crate) fn python_strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

/// The first line, leading newlines aside: what LongBench cuts from few-shot predictions.
///
/// ```
/// assert_eq!(bosch_eval::first_line("\n\nCity\nQuestion: who"), "City");
/// ```
pub fn first_line(text: &str) -> &str {
    let text = text.trim_start_matches('\n');
    text.split('\n').next().unwrap_or(text)
}

/// Python's `re.findall(r"\d+", text)`: runs of decimal digits of any script.
pub(crate) fn digit_runs(text: &str) -> impl Iterator<Item = &str> {
    static DIGITS: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"\d+"));
    DIGITS.find_iter(text).map(|found| found.as_str())
}

/// A pattern that is part of this crate's source.
#[allow(clippy::expect_used)]
pub(crate) fn constant_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the constant pattern is compiled by a test")
}

/// Python's `round(x, 2)`: the decimal nearest to the exact binary value, ties to even.
pub(crate) fn python_round(x: f64) -> f64 {
    format!("{x:.2}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_agree_with_longbench() {
        for_helpers("first_line", |input| first_line(input).to_owned());
    }

    #[test]
    fn digits_of_all_scripts_are_digits_and_superscripts_are_not() {
        let runs: Vec<&str> = digit_runs("3² ½ ٣٤ ７x07").collect();
        assert_eq!(runs, ["3", "٣٤", "７", "07"]);
    }

    #[test]
    fn rounding_is_that_of_python() {
        // 2.675 is a little less than it looks, 0.125 is a tie.
        assert_eq!(
            [2.675, 0.125, 0.375, 35.0].map(python_round),
            [2.67, 0.12, 0.38, 35.0]
        );
    }

    #[test]
    fn the_old_separators_are_spaces() {
        assert_eq!(
            python_split("a\x1cb\u{a0}c").collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
    }

    fn for_helpers(name: &str, function: impl Fn(&str) -> String) {
        let cases = include_str!("../tests/data/helpers.jsonl").lines();
        let mut count = 0;
        for case in cases.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            if case["fn"] == name {
                let input = case["input"].as_str().unwrap();
                assert_eq!(
                    function(input),
                    case["output"].as_str().unwrap(),
                    "{input:?}"
                );
                count += 1;
            }
        }
        assert!(count > 0);
    }
}
