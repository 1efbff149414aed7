//! [`Repeated`]: the mean of several evaluations of a noisy objective.

use crate::mask::Mask;
use crate::objective::Objective;
use crate::recent::Recent;

/// A noisy objective evaluated several times for each score.
///
/// A part of the evaluations is a [partial score](Objective::score_partial), so that
/// [`Raced`](crate::Raced) around it saves most of them. The evaluations of the two masks last used
/// are remembered: more of them are added to those. A search resumed from a trace takes the recorded
/// scores, and new noise for what is not recorded.
///
/// ```
/// use bosch_core::{Mask, Objective, Repeated, Rng, from_fn};
///
/// let mut rng = Rng::stream(1, "noise");
/// let noisy = from_fn(4, move |mask: &Mask| mask.count_ones() as f64 + rng.normal());
/// let mut mean = Repeated::new(noisy, 1000);
/// let score = mean.score(&"0110".parse()?)?;
/// assert!((score - 2.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Repeated<O> {
    objective: O,
    times: usize,
    scores: Recent,
}

impl<O: Objective> Repeated<O> {
    /// The mean of `times` (at least 1) evaluations.
    pub fn new(objective: O, times: usize) -> Self {
        Self {
            objective,
            times: times.max(1),
            scores: Recent::default(),
        }
    }
}

impl<O: Objective> Objective for Repeated<O> {
    type Error = O::Error;

    fn dim(&self) -> usize {
        self.objective.dim()
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, O::Error> {
        self.score_partial(mask, 1.0)
    }

    fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, O::Error> {
        let count = ((fraction * self.times as f64).ceil() as usize).clamp(1, self.times);
        let scores = self.scores.of(mask);
        while scores.len() < count {
            scores.push(self.objective.score(mask)?);
        }
        Ok(scores[..count].iter().sum::<f64>() / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::from_fn;

    #[test]
    fn a_partial_score_is_the_mean_of_the_first_evaluations_and_none_is_paid_twice() {
        let mut calls = 0;
        let counting = from_fn(1, |_: &Mask| {
            calls += 1;
            f64::from(calls)
        });
        let mut mean = Repeated::new(counting, 4);
        let mask = Mask::zeros(1);
        assert_eq!(mean.score_partial(&mask, 0.1), Ok(1.0));
        assert_eq!(mean.score_partial(&mask, 0.5), Ok(1.5));
        assert_eq!(mean.score(&mask), Ok(2.5));
        assert_eq!(mean.score_partial(&mask, 0.25), Ok(1.0));
        drop(mean);
        assert_eq!(calls, 4);
    }
}
