//! [`Faults`]: what is done about a faulty evaluation.

/// What an [`Evaluator`](crate::Evaluator) does about a faulty evaluation: an error, a panic, or an
/// answer that is not a finite score for each mask.
///
/// ```
/// use bosch_core::{Error, Evaluator, Faults, LocalSearch, Mask, Space, from_fn, maximize};
///
/// // No score for masks with the first variable.
/// let score = |mask: &Mask| if mask.get(0) { f64::NAN } else { mask.iter_ones().sum::<usize>() as f64 };
/// let space = Space::exactly(6, 2)?;
/// let solver = || LocalSearch::new(space.clone(), 1);
///
/// let mut evaluator = Evaluator::new(from_fn(6, score)); // aborts
/// let result = maximize(&mut evaluator, &mut solver(), &space, 15);
/// assert!(matches!(result, Err(Error::Answer { .. })));
///
/// let mut evaluator = Evaluator::new(from_fn(6, score)).with_faults(Faults::Skip { most: 5 });
/// let best = maximize(&mut evaluator, &mut solver(), &space, 15)?;
/// assert_eq!((best.mask.to_string(), evaluator.skipped()), ("000011".to_owned(), 5));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// The run ends with the fault as its error, once the scores are recorded that are known.
    Abort,
    /// The evaluation is paid for and counts as bad as the worst one so far, but can never be the
    /// result. At most so many times; the next fault, or one before there is any score, ends the run.
    /// The masks that a faulty batch has left without a score are asked for one by one, to tell the
    /// faulty ones.
    Skip {
        /// The number of faults that are skipped.
        most: usize,
    },
}
