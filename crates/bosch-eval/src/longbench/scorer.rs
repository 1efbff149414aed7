//! Scores of whole prediction files as `eval.py` prints them, 0..=100 with two decimals.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::read::Prediction;
use super::table::Dataset;
use super::task::score_sample;
use crate::text::python_round;
use crate::{Error, Result};

/// Scores by the length of the samples, 0..=100 with two decimals; None for an empty bucket, where
/// the official code prints NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buckets {
    /// Shorter than 4000.
    #[serde(rename = "0-4k")]
    pub short: Option<f64>,
    /// From 4000 to below 8000.
    #[serde(rename = "4-8k")]
    pub medium: Option<f64>,
    /// 8000 and longer.
    #[serde(rename = "8k+")]
    pub long: Option<f64>,
}

/// The score of a data set, 0..=100 with two decimals.
///
/// ```
/// use bosch_eval::longbench::{Dataset, Prediction, scorer};
///
/// let dataset = Dataset::from_name("hotpotqa").ok_or("no such data set")?;
/// let line = r#"{"pred": "Paris", "answers": ["Paris", "Lutetia"], "all_classes": null}"#;
/// let prediction: Prediction = serde_json::from_str(line)?;
/// assert_eq!(scorer(dataset, &[prediction])?, 100.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::Input`] without predictions; with the number of the prediction, from 1, as
/// [`Metric::score`](crate::Metric::score) and for a classification without classes.
pub fn scorer(dataset: &Dataset, predictions: &[Prediction]) -> Result<f64> {
    if predictions.is_empty() {
        return Err(Error::input("predictions", "at least one", "none"));
    }
    let total: f64 = scores(dataset, predictions)?.iter().sum();
    Ok(python_round(100.0 * total / predictions.len() as f64))
}

/// The scores of a data set of LongBench-E by length.
///
/// # Errors
///
/// As [`scorer`], but buckets may be empty.
pub fn scorer_e(dataset: &Dataset, predictions: &[Prediction]) -> Result<Buckets> {
    let mut buckets = [const { Vec::new() }; 3];
    for (prediction, score) in predictions.iter().zip(scores(dataset, predictions)?) {
        let bucket = match prediction.length {
            0..4000 => 0,
            4000..8000 => 1,
            _ => 2,
        };
        buckets[bucket].push(score);
    }
    let [short, medium, long] = buckets.map(|scores| numpy_rounded_mean(&scores));
    Ok(Buckets {
        short,
        medium,
        long,
    })
}

/// One score in 0..=1 a prediction, in their order; several at a time.
fn scores(dataset: &Dataset, predictions: &[Prediction]) -> Result<Vec<f64>> {
    let score = |(i, p): (usize, &Prediction)| {
        let score = score_sample(dataset, &p.pred, &p.answers, &p.all_classes);
        score.map_err(|error| match error {
            Error::Input {
                what,
                expected,
                found,
            } => Error::input(format!("prediction {}: {what}", i + 1), expected, found),
            other => other,
        })
    };
    predictions.par_iter().enumerate().map(score).collect()
}

/// `round(100 * numpy.mean(scores), 2)`: numpy sums in pairs and rounds hundredfold values.
fn numpy_rounded_mean(scores: &[f64]) -> Option<f64> {
    if scores.is_empty() {
        return None;
    }
    let mean = pairwise_sum(scores) / scores.len() as f64;
    Some((100.0 * mean * 100.0).round_ties_even() / 100.0)
}

/// numpy's order of summation (`pairwise_sum` in `loops_utils.h.src`).
fn pairwise_sum(values: &[f64]) -> f64 {
    match values.len() {
        0..8 => values.iter().sum(),
        8..=128 => {
            let (blocks, rest) = values.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for block in blocks {
                sums.iter_mut()
                    .zip(block)
                    .for_each(|(sum, value)| *sum += value);
            }
            let [a, b, c, d, e, f, g, h] = sums;
            let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
            rest.iter().fold(sum, |sum, value| sum + value)
        }
        length => {
            let half = length / 2;
            let (left, right) = values.split_at(half - half % 8);
            pairwise_sum(left) + pairwise_sum(right)
        }
    }
}
