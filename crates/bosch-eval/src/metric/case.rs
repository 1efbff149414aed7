//! [`Case`]: a prediction with all that its score depends on, as a JSON line.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Metric;
use crate::json_lines::one_or_many;
use crate::{Error, Result};

/// A prediction to be scored.
///
/// ```
/// use bosch_eval::{Case, parse_json_line, score_all};
///
/// let line = r#"{"metric": "count_score", "prediction": "3 or 4", "ground_truths": ["3"]}"#;
/// let case: Case = parse_json_line(line)?;
/// let scores: Vec<f64> = score_all(&[case]).into_iter().collect::<Result<_, _>>()?;
/// assert_eq!(scores, [0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// By which metric.
    pub metric: Metric,
    /// The generated text.
    pub prediction: String,
    /// The right answers; in JSON also a single text, which is then the only answer.
    #[serde(deserialize_with = "one_or_many")]
    pub ground_truths: Vec<String>,
    /// The classes to choose from; none, in JSON null or absent, where the metric wants none.
    #[serde(default)]
    pub all_classes: Option<Vec<String>>,
}

impl Case {
    /// The score, in 0..=1 and not rounded.
    ///
    /// # Errors
    ///
    /// As [`Metric::score`], and [`Error::Input`] for [`Metric::Classification`] without classes.
    pub fn score(&self) -> Result<f64> {
        let classes = match &self.all_classes {
            Some(classes) => classes.as_slice(),
            None if self.metric == Metric::Classification => {
                return Err(Error::input("all_classes", "a list of classes", "none"));
            }
            None => &[],
        };
        self.metric
            .score(&self.prediction, &self.ground_truths, classes)
    }
}

/// The scores of many cases, in their order, on all cores.
pub fn score_all(cases: &[Case]) -> Vec<Result<f64>> {
    cases.par_iter().map(Case::score).collect()
}
