//! Similarity of lines of code: fuzzywuzzy's ratio with either of its two back ends.

use std::collections::HashMap;

use super::difflib::matching_characters;
use super::lcs::Matches;
use super::steps::Steps;
use crate::Result;

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
/// Cost: [`CodeSimBackend::Difflib`] is linear where each character of a line is more frequent than
/// one in a hundred. Rarer ones, and lines of less than 200 characters, make it quadratic, and cubic
/// at worst: some seconds for 14 000 characters. [`CodeSimBackend::Levenshtein`] is quadratic, 64
/// cells at a time. [`Metric::score`](crate::Metric::score) refuses what takes long.
///
/// ```
/// use bosch_eval::{CodeSimBackend, code_sim_score};
///
/// let prediction = "# add\nreturn x";
/// assert_eq!(code_sim_score(prediction, "return x", CodeSimBackend::Difflib), 1.0);
/// ```
pub fn code_sim_score(prediction: &str, ground_truth: &str, backend: CodeSimBackend) -> f64 {
    code_sim_within(prediction, ground_truth, backend, &mut Steps::unlimited()).unwrap_or_default()
}

/// [`code_sim_score`], or an error if it takes more than `steps`.
pub(crate) fn code_sim_within(
    prediction: &str,
    ground_truth: &str,
    backend: CodeSimBackend,
    steps: &mut Steps,
) -> Result<f64> {
    ratio(first_code_line(prediction), ground_truth, backend, steps)
}

/// The line of a prediction that [`code_sim_score`] compares.
fn first_code_line(prediction: &str) -> &str {
    let mut lines = prediction.trim_start_matches('\n').split('\n');
    lines
        .find(|line| !line.contains(['`', '#']) && !line.contains("//"))
        .unwrap_or("")
}

/// fuzzywuzzy's `ratio` by 100: equal texts, empty ones included, are 1, an empty one else 0.
fn ratio(a: &str, b: &str, backend: CodeSimBackend, steps: &mut Steps) -> Result<f64> {
    if a == b {
        return Ok(1.0);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let both = (a.len() + b.len()) as f64;
    // The same number in theory; in floating point each package rounds its own way.
    let ratio = match backend {
        CodeSimBackend::Difflib => 2.0 * matching_characters(&a, &b, steps)? as f64 / both,
        CodeSimBackend::Levenshtein => {
            1.0 - (both - 2.0 * common_subsequence(&a, &b, steps)? as f64) / both
        }
    };
    Ok((100.0 * ratio).round_ties_even() / 100.0)
}

fn common_subsequence(a: &[char], b: &[char], steps: &mut Steps) -> Result<usize> {
    steps.take(a.len().saturating_mul(2 * b.len().div_ceil(64)))?;
    let mut numbers = HashMap::new();
    let columns: Vec<usize> = b
        .iter()
        .map(|c| {
            let next = numbers.len();
            *numbers.entry(c).or_insert(next)
        })
        .collect();
    let matches = Matches::new(&columns, numbers.len());
    Ok(matches.length(
        a.iter()
            .map(|c| numbers.get(c).copied().unwrap_or(usize::MAX)),
    ))
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
