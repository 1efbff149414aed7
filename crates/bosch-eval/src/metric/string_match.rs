//! RULER's two metrics (NVIDIA/RULER, `scripts/eval/synthetic/constants.py`).

use crate::text::python_strip;

/// The fraction of the references that occur in the prediction, in 0..=1; 0 without references.
///
/// Lower-cased substrings count, on purpose: `12` occurs in `123`.
///
/// ```
/// use bosch_eval::string_match_all;
///
/// assert_eq!(string_match_all("It is 1234567.", &["1234567", "7654321"]), 0.5);
/// ```
pub fn string_match_all<S: AsRef<str>>(prediction: &str, references: &[S]) -> f64 {
    if references.is_empty() {
        return 0.0;
    }
    let prediction = prediction.to_lowercase();
    let found = references
        .iter()
        .filter(|reference| contains(&prediction, reference));
    found.count() as f64 / references.len() as f64
}

/// 1 if any of the references occurs in the prediction, else 0; 0 without references.
///
/// ```
/// use bosch_eval::string_match_part;
///
/// assert_eq!(string_match_part("It is 1234567.", &["1234567", "7654321"]), 1.0);
/// ```
pub fn string_match_part<S: AsRef<str>>(prediction: &str, references: &[S]) -> f64 {
    let prediction = prediction.to_lowercase();
    let found = references
        .iter()
        .any(|reference| contains(&prediction, &reference));
    f64::from(u8::from(found))
}

fn contains(lower_cased: &str, reference: &impl AsRef<str>) -> bool {
    lower_cased.contains(&reference.as_ref().to_lowercase())
}

/// What RULER does to a prediction before it matches: control characters become line breaks, and
/// white space goes from both ends.
///
/// ```
/// assert_eq!(bosch_eval::ruler_postprocess("\t12\x0034 \r\n"), "12\n34");
/// ```
pub fn ruler_postprocess(prediction: &str) -> String {
    let visible: String = python_strip(prediction)
        .chars()
        .map(|c| if c < ' ' { '\n' } else { c })
        .collect();
    python_strip(&visible).to_owned()
}
