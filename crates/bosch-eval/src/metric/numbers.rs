//! Numbers in a prediction: counting and paragraph retrieval (LongBench, `metrics.py`).

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{constant_regex, digit_runs};

/// The fraction of the numbers in the prediction that equal the ground truth, digit by digit; 0
/// without numbers.
///
/// ```
/// assert_eq!(bosch_eval::count_score("3, or perhaps 4", "3"), 0.5);
/// ```
pub fn count_score(prediction: &str, ground_truth: &str) -> f64 {
    let (mut right, mut all) = (0, 0);
    for number in digit_runs(prediction) {
        all += 1;
        right += u32::from(number == ground_truth);
    }
    if all == 0 {
        0.0
    } else {
        f64::from(right) / f64::from(all)
    }
}

/// [`count_score`] for the number after "Paragraph " in the ground truth; None if there is none.
///
/// ```
/// assert_eq!(bosch_eval::retrieval_score("It is paragraph 12.", "Paragraph 12"), Some(1.0));
/// assert_eq!(bosch_eval::retrieval_score("12", "12"), None);
/// ```
pub fn retrieval_score(prediction: &str, ground_truth: &str) -> Option<f64> {
    static PARAGRAPH: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"Paragraph (\d+)"));
    named_number(&PARAGRAPH, prediction, ground_truth)
}

/// [`count_score`] for the number after "段落" in the ground truth; None if there is none.
///
/// ```
/// assert_eq!(bosch_eval::retrieval_zh_score("第7段", "段落7"), Some(1.0));
/// ```
pub fn retrieval_zh_score(prediction: &str, ground_truth: &str) -> Option<f64> {
    static PARAGRAPH: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"段落(\d+)"));
    named_number(&PARAGRAPH, prediction, ground_truth)
}

fn named_number(pattern: &Regex, prediction: &str, ground_truth: &str) -> Option<f64> {
    let number = pattern.captures(ground_truth)?.get(1)?;
    Some(count_score(prediction, number.as_str()))
}
