//! [`Objective`]: what a user implements, and adaptors for closures.

use std::convert::Infallible;

use crate::mask::Mask;
use crate::trial::Trial;

/// An expensive black box that scores masks; higher is better.
///
/// Only an [`Evaluator`](crate::Evaluator) calls it: never again for a mask whose score it has got,
/// always with masks of [`dim`](Self::dim) bits, from one thread.
///
/// ```
/// use bosch_core::{Mask, Objective};
/// use std::convert::Infallible;
///
/// struct CountEven(usize);
///
/// impl Objective for CountEven {
///     type Error = Infallible;
///     fn dim(&self) -> usize {
///         self.0
///     }
///     fn score(&mut self, mask: &Mask) -> Result<f64, Infallible> {
///         Ok(mask.iter_ones().filter(|i| i % 2 == 0).count() as f64)
///     }
/// }
/// assert_eq!(CountEven(4).score(&Mask::filled(4, true)), Ok(2.0));
/// ```
pub trait Objective {
    /// Why an evaluation can fail. A search hands it back unchanged.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The number of binary variables. Constant.
    fn dim(&self) -> usize;

    /// The score of one mask: finite, higher is better.
    ///
    /// # Errors
    ///
    /// The objective's own. A search stops then, and keeps what it has paid for.
    fn score(&mut self, mask: &Mask) -> Result<f64, Self::Error>;

    /// Writes the score of each mask to its place in `scores`, which is as long. Override it where
    /// several masks together cost less than one after the other:
    ///
    /// ```
    /// # use bosch_core::{Mask, Objective};
    /// # use std::convert::Infallible;
    /// # struct Model;
    /// # impl Model {
    /// #     fn score_all(&self, masks: &[Mask]) -> Result<Vec<f64>, Infallible> {
    /// #         Ok(masks.iter().map(|mask| mask.count_ones() as f64).collect())
    /// #     }
    /// # }
    /// # impl Objective for Model {
    /// # type Error = Infallible;
    /// # fn dim(&self) -> usize { 2 }
    /// # fn score(&mut self, _: &Mask) -> Result<f64, Infallible> { unreachable!() }
    /// fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), Self::Error> {
    ///     scores.copy_from_slice(&self.score_all(masks)?);
    ///     Ok(())
    /// }
    /// # }
    /// # let mut scores = [0.0; 2];
    /// # Model.score_batch(&[Mask::zeros(2), Mask::filled(2, true)], &mut scores)?;
    /// # assert_eq!(scores, [0.0, 2.0]);
    /// # Ok::<(), Infallible>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The objective's own. The finite scores written before an error, or a panic, count: no mask
    /// that has one is asked for again. [`Faults`](crate::Faults) says what becomes of the others.
    fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), Self::Error> {
        for (mask, score) in masks.iter().zip(scores) {
            *score = self.score(mask)?;
        }
        Ok(())
    }

    /// The score of a mask that only matters if it beats `rival`, the best one so far.
    ///
    /// Override it where a part of the work (some of the samples) shows that a mask is worse: answer
    /// then with an estimate below the rival's score, and leave the rest of the work out. It has to
    /// depend on mask and rival alone, else a resumed search goes another way.
    ///
    /// # Errors
    ///
    /// As [`score`](Self::score).
    fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, Self::Error> {
        let _ = rival;
        self.score(mask)
    }

    /// A cheaper estimate of the score, on the same scale, for masks that teach but cannot be the
    /// result, such as those of an ablation.
    ///
    /// # Errors
    ///
    /// As [`score`](Self::score).
    fn estimate(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
        self.score(mask)
    }

    /// Writes the estimate of each mask to its place in `estimates`. Override it with
    /// [`score_batch`](Self::score_batch).
    ///
    /// # Errors
    ///
    /// As [`score_batch`](Self::score_batch).
    fn estimate_batch(&mut self, masks: &[Mask], estimates: &mut [f64]) -> Result<(), Self::Error> {
        for (mask, estimate) in masks.iter().zip(estimates) {
            *estimate = self.estimate(mask)?;
        }
        Ok(())
    }

    /// The score from the first `fraction` of the work, such as of the samples, above 0 and at most
    /// 1, on the same scale; the score itself for 1. [`Raced`](crate::Raced) calls it.
    ///
    /// Override it where a part costs less than the whole. A mask is asked for with growing
    /// fractions, its rival's between them: who remembers these two pays for the difference only.
    ///
    /// # Errors
    ///
    /// As [`score`](Self::score).
    fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, Self::Error> {
        let _ = fraction;
        self.score(mask)
    }
}

/// Passes every method on, so that an override is never lost behind a pointer.
macro_rules! forward {
    ($pointer:ty) => {
        impl<O: Objective + ?Sized> Objective for $pointer {
            type Error = O::Error;

            fn dim(&self) -> usize {
                (**self).dim()
            }

            fn score(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
                (**self).score(mask)
            }

            fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), O::Error> {
                (**self).score_batch(masks, scores)
            }

            fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, Self::Error> {
                (**self).score_against(mask, rival)
            }

            fn estimate(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
                (**self).estimate(mask)
            }

            fn estimate_batch(
                &mut self,
                masks: &[Mask],
                estimates: &mut [f64],
            ) -> Result<(), O::Error> {
                (**self).estimate_batch(masks, estimates)
            }

            fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, Self::Error> {
                (**self).score_partial(mask, fraction)
            }
        }
    };
}

forward!(&mut O);
forward!(Box<O>);

/// A closure as an [`Objective`]; made by [`from_fn`].
#[derive(Debug, Clone)]
pub struct FromFn<F> {
    dim: usize,
    score: F,
}

/// An objective of `dim` variables from a function that cannot fail.
///
/// ```
/// use bosch_core::{Mask, Objective, from_fn};
///
/// let mut ones = from_fn(5, |mask: &Mask| mask.count_ones() as f64);
/// assert_eq!(ones.score(&Mask::filled(5, true)), Ok(5.0));
/// ```
pub fn from_fn<F: FnMut(&Mask) -> f64>(dim: usize, score: F) -> FromFn<F> {
    FromFn { dim, score }
}

impl<F: FnMut(&Mask) -> f64> Objective for FromFn<F> {
    type Error = Infallible;

    fn dim(&self) -> usize {
        self.dim
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, Infallible> {
        Ok((self.score)(mask))
    }
}

/// A fallible closure as an [`Objective`]; made by [`try_from_fn`].
#[derive(Debug, Clone)]
pub struct TryFromFn<F> {
    dim: usize,
    score: F,
}

/// An objective of `dim` variables from a function that may fail.
///
/// ```
/// use bosch_core::{Mask, Objective, try_from_fn};
///
/// let mut read = try_from_fn(3, |mask: &Mask| mask.to_string().parse::<f64>());
/// assert_eq!(read.score(&Mask::filled(3, true)), Ok(111.0));
/// ```
pub fn try_from_fn<F, E>(dim: usize, score: F) -> TryFromFn<F>
where
    F: FnMut(&Mask) -> Result<f64, E>,
    E: std::error::Error + Send + Sync + 'static,
{
    TryFromFn { dim, score }
}

impl<F, E> Objective for TryFromFn<F>
where
    F: FnMut(&Mask) -> Result<f64, E>,
    E: std::error::Error + Send + Sync + 'static,
{
    type Error = E;

    fn dim(&self) -> usize {
        self.dim
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, E> {
        (self.score)(mask)
    }
}
