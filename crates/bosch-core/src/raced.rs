//! [`Raced`]: weak candidates dropped on a part of their work.

use crate::error::InvalidInput;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::recent::Recent;
use crate::trial::Trial;

/// An objective with [partial scores](Objective::score_partial) whose weak candidates are dropped early.
///
/// A candidate climbs rungs, fractions of the work. On each it is compared with its rival, the best
/// mask so far, on the same fraction. Once it is behind by more than a margin, the rest of its work
/// is left out, and its score is the rival's plus the difference seen. The margin is in standard
/// errors of that difference, which the differences between the rungs tell. So it assumes that a
/// partial score is a mean over the first samples, the same ones for every mask or independent ones.
///
/// Only masks that are asked for one at a time have a rival: race with batches of one.
///
/// ```
/// use bosch_core::{Evaluator, LocalSearch, Mask, Raced, Repeated, Rng, Space, from_fn, maximize};
///
/// let (mut rng, mut calls) = (Rng::stream(1, "noise"), 0);
/// let noisy = from_fn(30, |mask: &Mask| {
///     calls += 1;
///     mask.iter_ones().sum::<usize>() as f64 + 3.0 * rng.normal()
/// });
/// let space = Space::exactly(30, 10)?;
/// let mut evaluator = Evaluator::new(Raced::new(Repeated::new(noisy, 32)));
/// let best = maximize(&mut evaluator, &mut LocalSearch::new(space.clone(), 1), &space, 500)?;
/// drop(evaluator);
/// assert!(best.mask.iter_ones().sum::<usize>() > 230); // of 245 at most
/// assert!(calls < 500 * 32 / 2);
/// # Ok::<(), bosch_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Raced<O> {
    objective: O,
    rungs: Vec<f64>,
    margin: f64,
    /// The partial scores, one for each rung climbed.
    partials: Recent,
}

impl<O: Objective> Raced<O> {
    /// Rungs at 1/16, 1/8, 1/4 and 1/2 of the work, and a margin of two standard errors.
    pub fn new(objective: O) -> Self {
        Self {
            objective,
            rungs: vec![0.0625, 0.125, 0.25, 0.5],
            margin: 2.0,
            partials: Recent::default(),
        }
    }

    /// Other rungs: at least two fractions, ascending, above 0 and below 1. Nothing is dropped on the
    /// first one, which shows no spread yet.
    ///
    /// # Errors
    ///
    /// If they are not that.
    pub fn rungs(mut self, fractions: &[f64]) -> Result<Self, InvalidInput> {
        let inside = fractions.iter().all(|&f| f > 0.0 && f < 1.0);
        if fractions.len() < 2 || !inside || !fractions.windows(2).all(|pair| pair[0] < pair[1]) {
            let expected = "at least two fractions, ascending, above 0 and below 1";
            let found = format!("{fractions:?}");
            return Err(InvalidInput::new("rungs", expected, found));
        }
        self.rungs = fractions.to_vec();
        Ok(self)
    }

    /// Another margin, at least 0: a greater one drops fewer of the candidates that are better.
    ///
    /// # Errors
    ///
    /// If it is below 0 or NaN.
    pub fn margin(mut self, standard_errors: f64) -> Result<Self, InvalidInput> {
        if standard_errors.is_nan() || standard_errors < 0.0 {
            let expected = "a number of standard errors, at least 0";
            return Err(InvalidInput::new("margin", expected, standard_errors));
        }
        self.margin = standard_errors;
        Ok(self)
    }

    fn partial(&mut self, mask: &Mask, rung: usize) -> Result<f64, O::Error> {
        let partials = self.partials.of(mask);
        while partials.len() <= rung {
            let fraction = self.rungs[partials.len()];
            partials.push(self.objective.score_partial(mask, fraction)?);
        }
        Ok(partials[rung])
    }
}

impl<O: Objective> Objective for Raced<O> {
    type Error = O::Error;

    fn dim(&self) -> usize {
        self.objective.dim()
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, O::Error> {
        self.objective.score(mask)
    }

    fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), O::Error> {
        self.objective.score_batch(masks, scores)
    }

    fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, O::Error> {
        let mut differences = Vec::with_capacity(self.rungs.len());
        for rung in 0..self.rungs.len() {
            let difference = self.partial(mask, rung)? - self.partial(&rival.mask, rung)?;
            if !difference.is_finite() {
                return Ok(difference);
            }
            differences.push(difference);
            let error = standard_error(&self.rungs[..=rung], &differences);
            if difference + self.margin * error < 0.0 {
                // A difference that is lost in rounding must not make it the rival's equal.
                return Ok((rival.score + difference).min(rival.score.next_down()));
            }
        }
        self.objective.score(mask)
    }

    fn estimate(&mut self, mask: &Mask) -> Result<f64, O::Error> {
        self.objective.estimate(mask)
    }

    fn estimate_batch(&mut self, masks: &[Mask], estimates: &mut [f64]) -> Result<(), O::Error> {
        self.objective.estimate_batch(masks, estimates)
    }

    fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, O::Error> {
        self.objective.score_partial(mask, fraction)
    }
}

/// How far the last of these means over growing fractions may be from the mean over all, as one
/// standard error; infinite for a single one, which shows no spread.
fn standard_error(fractions: &[f64], means: &[f64]) -> f64 {
    let (Some(&end), Some(&mean)) = (fractions.last(), means.last()) else {
        return f64::INFINITY;
    };
    // Between two rungs lies a portion of size w whose mean has the variance σ² / w.
    let (mut start, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (&fraction, &mean_so_far) in fractions.iter().zip(means) {
        let size = fraction - start;
        let portion = (fraction * mean_so_far - sum) / size;
        squares += size * (portion - mean).powi(2);
        (start, sum) = (fraction, fraction * mean_so_far);
    }
    match means.len() {
        1 => f64::INFINITY,
        n => (squares / (n - 1) as f64 * (1.0 - end) / end).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::from_fn;

    /// A score that is a mean over samples, and how many of them were computed.
    struct Samples {
        scores: fn(&Mask, usize) -> f64,
        computed: usize,
    }

    impl Objective for Samples {
        type Error = std::convert::Infallible;
        fn dim(&self) -> usize {
            4
        }
        fn score(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
            self.score_partial(mask, 1.0)
        }
        fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, Self::Error> {
            let count = (fraction * 16.0) as usize;
            self.computed += count;
            Ok((0..count).map(|i| (self.scores)(mask, i)).sum::<f64>() / count as f64)
        }
    }

    fn race(scores: fn(&Mask, usize) -> f64) -> (f64, usize) {
        let mut raced = Raced::new(Samples {
            scores,
            computed: 0,
        });
        let rival = Mask::zeros(4);
        let rival = Trial::new(rival.clone(), raced.score(&rival).unwrap(), 1);
        raced.objective.computed = 0;
        let score = raced.score_against(&Mask::filled(4, true), &rival).unwrap();
        (score, raced.objective.computed)
    }

    #[test]
    fn a_clearly_worse_candidate_is_dropped_on_the_second_rung() {
        let noisy = |mask: &Mask, i: usize| i as f64 - mask.count_ones() as f64;
        let both = 2 * (1 + 2);
        assert_eq!(race(noisy), (7.5 - 4.0, both));
    }

    #[test]
    fn a_better_candidate_gets_its_full_score() {
        let better = |mask: &Mask, i: usize| i as f64 + mask.count_ones() as f64;
        assert_eq!(race(better).0, 7.5 + 4.0);
    }

    #[test]
    fn one_standard_error_is_the_spread_between_portions() {
        assert_eq!(standard_error(&[0.5], &[1.0]), f64::INFINITY);
        // Two quarters with the means 1 and 3: σ² / w = 2, of which half is left out at f = 1/2.
        assert_eq!(standard_error(&[0.25, 0.5], &[1.0, 2.0]), 0.5f64.sqrt());
    }

    #[test]
    fn the_rivals_partial_scores_are_paid_for_once() {
        let mut raced = Raced::new(Samples {
            scores: |mask, _| -(mask.count_ones() as f64),
            computed: 0,
        });
        let rival = Trial::new(Mask::zeros(4), 0.0, 1);
        for i in 0..3 {
            let mask = Mask::zeros(4).with(i, true);
            assert_eq!(raced.score_against(&mask, &rival), Ok(-1.0));
        }
        assert_eq!(raced.objective.computed, 4 * (1 + 2));
    }

    #[test]
    fn a_dropped_candidate_is_below_its_rival_however_small_the_difference() {
        let scores = |mask: &Mask, i: usize| 1e-3 * (i % 2) as f64 - mask.count_ones() as f64;
        let mut raced = Raced::new(Samples {
            scores,
            computed: 0,
        });
        let rival = Trial::new(Mask::zeros(4), 1e300, 1);
        let score = raced.score_against(&Mask::filled(4, true), &rival).unwrap();
        assert!(score < rival.score);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let raced = || Raced::new(from_fn(1, |_: &Mask| 0.0));
        for bad in [
            &[][..],
            &[0.5],
            &[0.0, 0.5],
            &[0.5, 1.0],
            &[0.5, 0.5],
            &[f64::NAN, 0.5],
        ] {
            assert!(raced().rungs(bad).is_err(), "{bad:?}");
        }
        assert!(raced().margin(-1.0).is_err() && raced().margin(f64::NAN).is_err());
    }
}
