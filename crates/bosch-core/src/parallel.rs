//! Objectives that score a batch on several threads. The order of the scores never depends on it.

use std::convert::Infallible;

use rayon::prelude::*;

use crate::error::InvalidInput;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::trial::Trial;

/// A thread-safe function as an [`Objective`]; made by [`from_sync_fn`].
#[derive(Debug, Clone)]
pub struct FromSyncFn<F> {
    dim: usize,
    score: F,
}

/// An objective of `dim` variables from a function that may be called from several threads at once: a
/// batch is scored on rayon's current pool.
///
/// ```
/// use bosch_core::{Mask, Objective, from_sync_fn};
///
/// let mut ones = from_sync_fn(5, |mask: &Mask| mask.count_ones() as f64);
/// let mut scores = [0.0; 2];
/// ones.score_batch(&[Mask::zeros(5), Mask::filled(5, true)], &mut scores)?;
/// assert_eq!(scores, [0.0, 5.0]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn from_sync_fn<F: Fn(&Mask) -> f64 + Sync>(dim: usize, score: F) -> FromSyncFn<F> {
    FromSyncFn { dim, score }
}

impl<F: Fn(&Mask) -> f64 + Sync> Objective for FromSyncFn<F> {
    type Error = Infallible;

    fn dim(&self) -> usize {
        self.dim
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, Infallible> {
        Ok((self.score)(mask))
    }

    fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), Infallible> {
        let places = masks.par_iter().zip(scores);
        places.for_each(|(mask, score)| *score = (self.score)(mask));
        Ok(())
    }

    fn estimate_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), Infallible> {
        self.score_batch(masks, scores)
    }
}

/// Several equal objectives that share a batch, each on a thread of its own.
///
/// For objectives that need `&mut self`, such as a model with a cache. They must agree on every score.
///
/// ```
/// use bosch_core::{Mask, Objective, Pool, from_fn};
///
/// let worker = || from_fn(5, |mask: &Mask| mask.count_ones() as f64);
/// let mut pool = Pool::new(vec![worker(), worker()])?;
/// let masks = [Mask::zeros(5), Mask::filled(5, true), Mask::zeros(5).with(1, true)];
/// let mut scores = [0.0; 3];
/// pool.score_batch(&masks, &mut scores)?;
/// assert_eq!(scores, [0.0, 5.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pool<W> {
    workers: Vec<W>,
}

impl<W: Objective + Send> Pool<W> {
    /// At least one worker, all of the same dimension.
    ///
    /// # Errors
    ///
    /// If there is none, or their dimensions differ.
    pub fn new(workers: Vec<W>) -> Result<Self, InvalidInput> {
        let dims: Vec<usize> = workers.iter().map(Objective::dim).collect();
        if dims.is_empty() || dims.iter().any(|dim| *dim != dims[0]) {
            let found = format!("dimensions {dims:?}");
            return Err(InvalidInput::new(
                "workers",
                "at least one, of one dimension",
                found,
            ));
        }
        Ok(Self { workers })
    }

    /// Neighbouring masks go to one worker.
    fn share(
        &mut self,
        masks: &[Mask],
        scores: &mut [f64],
        score: impl Fn(&mut W, &[Mask], &mut [f64]) -> Result<(), W::Error> + Sync,
    ) -> Result<(), W::Error> {
        let share = masks.len().div_ceil(self.workers.len()).max(1);
        let places = masks.par_chunks(share).zip(scores.par_chunks_mut(share));
        let results: Vec<Result<(), W::Error>> = self
            .workers
            .par_iter_mut()
            .zip(places)
            .map(|(worker, (masks, scores))| score(worker, masks, scores))
            .collect();
        // Of several errors the first worker's, whichever ends first.
        results.into_iter().collect()
    }
}

impl<W: Objective + Send> Objective for Pool<W> {
    type Error = W::Error;

    fn dim(&self) -> usize {
        self.workers[0].dim()
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, W::Error> {
        self.workers[0].score(mask)
    }

    fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), W::Error> {
        self.share(masks, scores, W::score_batch)
    }

    fn score_against(&mut self, mask: &Mask, rival: &Trial) -> Result<f64, W::Error> {
        self.workers[0].score_against(mask, rival)
    }

    fn estimate(&mut self, mask: &Mask) -> Result<f64, W::Error> {
        self.workers[0].estimate(mask)
    }

    fn estimate_batch(&mut self, masks: &[Mask], estimates: &mut [f64]) -> Result<(), W::Error> {
        self.share(masks, estimates, W::estimate_batch)
    }

    fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, W::Error> {
        self.workers[0].score_partial(mask, fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::try_from_fn;

    #[test]
    fn of_several_errors_the_first_workers_comes_back() {
        let masks: Vec<Mask> = (0..8).map(|i| Mask::zeros(8).with(i, true)).collect();
        let worker = |turns: usize| {
            try_from_fn(8, move |mask: &Mask| {
                (0..turns).for_each(|_| std::thread::yield_now());
                Err::<f64, _>(InvalidInput::new("mask", "none", mask))
            })
        };
        let mut pool = Pool::new([5000, 500, 50, 0].map(worker).into()).unwrap();
        for _ in 0..20 {
            let error = pool.score_batch(&masks, &mut [0.0; 8]).unwrap_err();
            assert_eq!(error.found, "10000000");
        }
    }
}
