//! Averages as the boards print them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::table::{Category, Dataset};
use crate::{Error, Result};

/// Scores of data sets, 0..=100, and their averages.
///
/// ```
/// use bosch_eval::longbench::{Category, Report};
///
/// let mut report = Report::default();
/// report.insert("hotpotqa", 40.0)?;
/// report.insert("musique", 20.0)?;
/// report.insert("lcc", 50.0)?;
/// assert_eq!(report.category(Category::MultiDocQa), Some(30.0));
/// assert_eq!(report.overall(), Some(40.0));
/// assert_eq!(report.with_gsm8k(10.0), None); // a category is missing
/// # Ok::<(), bosch_eval::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Report {
    scores: BTreeMap<String, f64>,
}

impl Report {
    /// Adds or replaces the score of a data set.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a name that is not in the table, or a score outside 0..=100.
    pub fn insert(&mut self, dataset: &str, score: f64) -> Result<()> {
        let Some(known) = Dataset::from_name(dataset) else {
            return Err(Error::input(
                "data set",
                "one of the 21 of LongBench",
                dataset,
            ));
        };
        if !(0.0..=100.0).contains(&score) {
            return Err(Error::input(
                format!("score of {dataset}"),
                "0 to 100",
                score,
            ));
        }
        self.scores.insert(known.name.to_owned(), score);
        Ok(())
    }

    /// The scores so far, by name.
    pub fn scores(&self) -> impl Iterator<Item = (&str, f64)> {
        self.scores
            .iter()
            .map(|(name, &score)| (name.as_str(), score))
    }

    /// Mean over a category's data sets so far; None without any.
    pub fn category(&self, category: Category) -> Option<f64> {
        let of_category =
            |name: &str| Dataset::from_name(name).map(|d| d.category) == Some(category);
        mean(
            self.scores()
                .filter(|(name, _)| of_category(name))
                .map(|(_, score)| score),
        )
    }

    /// Mean of the category means so far; None without any.
    pub fn overall(&self) -> Option<f64> {
        mean(
            Category::ALL
                .into_iter()
                .filter_map(|category| self.category(category)),
        )
    }

    /// Unweighted mean of the six categories and GSM8K as a seventh: what the paper reports. None
    /// unless every category has a score.
    pub fn with_gsm8k(&self, gsm8k: f64) -> Option<f64> {
        let categories: Option<Vec<f64>> = Category::ALL
            .into_iter()
            .map(|category| self.category(category))
            .collect();
        mean(categories?.into_iter().chain([gsm8k]))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_seven_weighs_categories_and_not_data_sets() {
        let mut report = Report::default();
        for dataset in &Dataset::ALL {
            report
                .insert(
                    dataset.name,
                    if dataset.category == Category::Code {
                        90.0
                    } else {
                        20.0
                    },
                )
                .unwrap();
        }
        assert_eq!(report.overall(), Some((5.0 * 20.0 + 90.0) / 6.0));
        assert_eq!(
            report.with_gsm8k(90.0),
            Some((5.0 * 20.0 + 90.0 + 90.0) / 7.0)
        );
    }

    #[test]
    fn scores_of_another_scale_are_refused() {
        let mut report = Report::default();
        assert!(report.insert("lcc", 100.5).is_err());
        assert!(report.insert("lcc", f64::NAN).is_err());
        assert!(report.insert("squad", 1.0).is_err());
        assert_eq!(report.overall(), None);
    }
}
