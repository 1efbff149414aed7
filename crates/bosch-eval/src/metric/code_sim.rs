//! Similarity of lines of code: fuzzywuzzy's ratio with either of its two back ends.

use std::collections::HashMap;

use super::difflib::{self, matching_characters};
use super::lcs::Matches;
use crate::{Error, Result};

/// What fuzzywuzzy's `ratio` is computed with; its scores depend on what happens to be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeSimBackend {
    /// Python's difflib with its automatic junk: what LongBench's `requirements.txt` installs.
    Difflib,
    /// python-Levenshtein (also rapidfuzz).
    Levenshtein,
}

/// Similarity of the first line of code of a prediction with the expected line, in 0..=1, in
/// hundredths.
///
/// The first line without a backtick, `#` or `//` counts, leading newlines aside.
///
/// Cost: [`CodeSimBackend::Difflib`] is quadratic in the length of a line whose characters are
/// each rarer than one in a hundred, or of less than 200 characters; linear otherwise.
/// [`CodeSimBackend::Levenshtein`] is quadratic, 64 cells at a time.
///
/// ```
/// use bosch_eval::{CodeSimBackend, code_sim_score};
///
/// let prediction = "# add\nreturn x";
/// assert_eq!(code_sim_score(prediction, "return x", CodeSimBackend::Difflib), 1.0);
/// ```
pub fn code_sim_score(prediction: &str, ground_truth: &str, backend: CodeSimBackend) -> f64 {
    ratio(first_code_line(prediction), ground_truth, backend)
}

/// The line of a prediction that [`code_sim_score`] compares.
pub(crate) fn first_code_line(prediction: &str) -> &str {
    let mut lines = prediction.trim_start_matches('\n').split('\n');
    lines
        .find(|line| !line.contains(['`', '#']) && !line.contains("//"))
        .unwrap_or("")
}

/// fuzzywuzzy's `ratio` by 100: equal texts, empty ones included, are 1, an empty one else 0.
fn ratio(a: &str, b: &str, backend: CodeSimBackend) -> f64 {
    if a == b {
        return 1.0;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let both = (a.len() + b.len()) as f64;
    // The same number in theory; in floating point each package rounds its own way.
    let ratio = match backend {
        CodeSimBackend::Difflib => 2.0 * matching_characters(&a, &b) as f64 / both,
        CodeSimBackend::Levenshtein => {
            1.0 - (both - 2.0 * common_subsequence(&a, &b) as f64) / both
        }
    };
    (100.0 * ratio).round_ties_even() / 100.0
}

fn common_subsequence(a: &[char], b: &[char]) -> usize {
    let mut numbers = HashMap::new();
    let columns: Vec<usize> = b
        .iter()
        .map(|c| {
            let next = numbers.len();
            *numbers.entry(c).or_insert(next)
        })
        .collect();
    let matches = Matches::new(&columns, numbers.len());
    matches.length(
        a.iter()
            .map(|c| numbers.get(c).copied().unwrap_or(usize::MAX)),
    )
}

/// Refuses lines whose score would take more than some ten seconds.
pub(crate) fn check_cost(prediction: &str, truth: &str, backend: CodeSimBackend) -> Result<()> {
    const MOST: usize = 200_000_000;
    let (a, b) = (first_code_line(prediction), truth);
    if a.len().saturating_mul(b.len()) <= MOST {
        return Ok(());
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let cost = match backend {
        CodeSimBackend::Difflib => difflib::cost(&a, &b),
        CodeSimBackend::Levenshtein => a.len().saturating_mul(b.len()) / 64,
    };
    match cost {
        0..=MOST => Ok(()),
        _ => Err(Error::input(
            "cost of comparing two lines",
            format!("at most {MOST} steps"),
            cost,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_as_by_each_package() {
        // 3 of 40 characters in common: 7.5 hundredths, or with python-Levenshtein a little less.
        let (a, b) = ("abc".to_owned() + &"x".repeat(71), "abc123");
        let ratio = |backend| code_sim_score(&a, b, backend);
        assert_eq!(ratio(CodeSimBackend::Difflib), 0.08);
        assert_eq!(ratio(CodeSimBackend::Levenshtein), 0.07);
    }
}
