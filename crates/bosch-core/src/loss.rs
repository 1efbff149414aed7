//! The penalised loss of the paper, and the number of ones that a ratio stands for.

use serde::{Deserialize, Serialize};

use crate::error::{Error, InvalidInput};
use crate::mask::Mask;

/// The number of ones that the ratio stands for among `n` variables: ρ n, halves rounded up.
///
/// ```
/// assert_eq!(bosch_core::ones_for_ratio(0.75, 90)?, 68);
/// assert!(bosch_core::ones_for_ratio(1.5, 90).is_err());
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
///
/// # Errors
///
/// If the ratio is outside [0, 1] or NaN.
pub fn ones_for_ratio(ratio: f64, n: usize) -> Result<usize, InvalidInput> {
    if !(0.0..=1.0).contains(&ratio) {
        return Err(InvalidInput::new("ratio", "a number in [0, 1]", ratio));
    }
    Ok((ratio * n as f64 + 0.5).floor() as usize)
}

/// Scores of the two extreme masks, which fix the scale of all others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anchors {
    /// Score of the mask without ones (nothing converted).
    pub full: f64,
    /// Score of the mask of ones (everything converted).
    pub all: f64,
}

/// The paper's loss, lower is better: L(z) = −Ŝ(z) + α (ρ(z) − ρ*)² with
/// Ŝ(z) = (S(z) − S_all) / (S_full − S_all).
///
/// ```
/// use bosch_core::{Anchors, Mask, RatioPenalty};
///
/// let penalty = RatioPenalty::new(Anchors { full: 0.0, all: -4.0 }, 10.0, 0.5)?;
/// assert_eq!(penalty.normalised(-1.0), 0.75);
/// let half: Mask = "0101".parse()?;
/// assert_eq!(penalty.loss(&half, -1.0), -0.75);
/// assert_eq!(penalty.loss(&half.with(0, true), -1.0), -0.75 + 10.0 * 0.0625);
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// A search may leave the number of ones to the penalty alone, with a score of minus the loss in a
/// free space:
///
/// ```
/// use bosch_core::{
///     Anchors, Evaluator, LocalSearch, Mask, RatioPenalty, Space, from_fn, maximize,
/// };
///
/// let score = |mask: &Mask| -mask.iter_ones().map(|i| i as f64).sum::<f64>();
/// let penalty = RatioPenalty::new(Anchors { full: 0.0, all: -66.0 }, 100.0, 0.5)?;
/// let objective = from_fn(12, |mask: &Mask| -penalty.loss(mask, score(mask)));
/// let space = Space::any(12);
/// let mut solver = LocalSearch::new(space.clone(), 1);
/// let best = maximize(&mut Evaluator::new(objective), &mut solver, &space, 300)?;
/// assert_eq!(best.mask.to_string(), "111111000000");
/// # Ok::<(), bosch_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioPenalty {
    anchors: Anchors,
    alpha: f64,
    target: f64,
}

impl RatioPenalty {
    /// The loss for these anchors, the weight `alpha` > 0 and the target ratio ρ* in [0, 1].
    ///
    /// # Errors
    ///
    /// [`Error::Anchors`] if their distance is not finite or below 1e-9; [`Error::Input`] if
    /// `alpha` or `target` is out of its range.
    pub fn new(anchors: Anchors, alpha: f64, target: f64) -> Result<Self, Error> {
        let Anchors { full, all } = anchors;
        let span = (full - all).abs();
        if !(span.is_finite() && span >= 1e-9) {
            return Err(Error::Anchors { full, all });
        }
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(InvalidInput::new("alpha", "a finite number above 0", alpha).into());
        }
        ones_for_ratio(target, 0)?;
        Ok(Self {
            anchors,
            alpha,
            target,
        })
    }

    /// Ŝ: 1 at the score of the mask without ones, 0 at that of the mask of ones.
    pub fn normalised(&self, score: f64) -> f64 {
        (score - self.anchors.all) / (self.anchors.full - self.anchors.all)
    }

    /// L of a mask with this score.
    pub fn loss(&self, mask: &Mask, score: f64) -> f64 {
        let ratio = mask.count_ones() as f64 / mask.len().max(1) as f64;
        -self.normalised(score) + self.alpha * (ratio - self.target).powi(2)
    }

    /// The anchors it was made with.
    pub fn anchors(&self) -> Anchors {
        self.anchors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_up_and_bad_ratios_are_refused() {
        assert_eq!(ones_for_ratio(0.5, 5), Ok(3));
        assert_eq!(ones_for_ratio(0.0, 5), Ok(0));
        assert_eq!(ones_for_ratio(1.0, 5), Ok(5));
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(ones_for_ratio(bad, 5).is_err(), "{bad}");
        }
    }

    #[test]
    fn anchors_without_a_scale_are_refused_with_their_values() {
        for (full, all) in [
            (1.0, 1.0),
            (1.0, 1.0 + 1e-10),
            (f64::NAN, 0.0),
            (0.0, f64::INFINITY),
            (f64::MAX, f64::MIN),
        ] {
            let error = RatioPenalty::new(Anchors { full, all }, 1.0, 0.5);
            assert!(matches!(error, Err(Error::Anchors { .. })), "{full} {all}");
        }
        let anchors = Anchors {
            full: 1.0,
            all: 0.0,
        };
        for (alpha, target) in [(0.0, 0.5), (f64::NAN, 0.5), (1.0, -0.1), (1.0, f64::NAN)] {
            let error = RatioPenalty::new(anchors, alpha, target);
            assert!(matches!(error, Err(Error::Input(_))), "{alpha} {target}");
        }
    }
}
