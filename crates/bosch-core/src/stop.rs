//! [`StopWhen`]: reasons to end a run early.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::event::Event;

/// Ends a run at a target, after a stall, or at a time; for use in an observer.
///
/// ```
/// use bosch_core::{Evaluator, LocalSearch, Mask, Space, StopWhen, from_fn, maximize};
///
/// let space = Space::any(10);
/// let mut stop = StopWhen::never().reached(10.0).stalled(300);
/// let mut evaluator = Evaluator::new(from_fn(10, |mask: &Mask| mask.count_ones() as f64))
///     .with_observer(move |event| stop.check(event));
/// let best = maximize(&mut evaluator, &mut LocalSearch::new(space.clone(), 1), &space, 1000)?;
/// assert_eq!(best.score, 10.0);
/// assert!(evaluator.evaluations() < 1000);
/// # Ok::<(), bosch_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StopWhen {
    target: Option<f64>,
    stall: Option<usize>,
    limit: Option<Duration>,
    start: Instant,
    /// The best score so far, and the number of the evaluation that brought it.
    best: Option<f64>,
    improved_at: usize,
}

impl StopWhen {
    /// No reason yet. The clock starts here, and again at each [`Event::Started`].
    pub fn never() -> Self {
        Self {
            target: None,
            stall: None,
            limit: None,
            start: Instant::now(),
            best: None,
            improved_at: 0,
        }
    }

    /// Stop once an admissible mask scores at least `score`.
    pub fn reached(mut self, score: f64) -> Self {
        self.target = Some(score);
        self
    }

    /// Stop after so many evaluations without an improvement, those before the first admissible mask
    /// left out: a screening or an ablation does not end a run.
    pub fn stalled(mut self, evaluations: usize) -> Self {
        self.stall = Some(evaluations);
        self
    }

    /// Stop at the first evaluation that ends after this time. The results then depend on the
    /// machine's speed.
    pub fn lasted(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// What an observer answers to an event.
    pub fn check(&mut self, event: &Event) -> ControlFlow<()> {
        let stop = match event {
            Event::Started { .. } => {
                (self.start, self.best, self.improved_at) = (Instant::now(), None, 0);
                false
            }
            // Not `Improved`, which comes after: it would be too late to save a run from its stall.
            Event::Evaluated { number, best, .. } => {
                if *best != self.best || best.is_none() {
                    (self.best, self.improved_at) = (*best, *number);
                }
                self.is_reached() || self.is_stalled(*number) || self.is_late()
            }
            _ => false,
        };
        if stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_reached(&self) -> bool {
        matches!((self.target, self.best), (Some(target), Some(best)) if best >= target)
    }

    fn is_stalled(&self, number: usize) -> bool {
        let since = number.saturating_sub(self.improved_at);
        self.best.is_some() && self.stall.is_some_and(|stall| since >= stall)
    }

    fn is_late(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.start.elapsed() >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;

    fn evaluated(number: usize, best: Option<f64>) -> Event {
        Event::Evaluated {
            number,
            budget: 9,
            mask: Mask::zeros(1),
            score: 0.0,
            best,
            replayed: false,
        }
    }

    #[test]
    fn each_reason_stops_alone() {
        let mut target = StopWhen::never().reached(2.0);
        assert!(target.check(&evaluated(1, Some(1.9))).is_continue());
        assert!(target.check(&evaluated(2, Some(2.0))).is_break());
        let mut stall = StopWhen::never().stalled(3);
        assert!(stall.check(&evaluated(4, Some(0.0))).is_continue());
        assert!(stall.check(&evaluated(6, Some(0.0))).is_continue());
        assert!(stall.check(&evaluated(7, Some(0.0))).is_break());
        let mut late = StopWhen::never().lasted(Duration::ZERO);
        assert!(late.check(&evaluated(1, None)).is_break());
        assert!(StopWhen::never().check(&evaluated(1, None)).is_continue());
    }

    #[test]
    fn an_improvement_at_the_last_moment_ends_a_stall() {
        let mut stall = StopWhen::never().stalled(2);
        for (number, best) in [(1, 0.0), (2, 0.0), (3, 1.0), (4, 1.0)] {
            assert!(stall.check(&evaluated(number, Some(best))).is_continue());
        }
        assert!(stall.check(&evaluated(5, Some(1.0))).is_break());
    }

    #[test]
    fn what_comes_before_the_first_admissible_mask_is_no_stall() {
        let mut stall = StopWhen::never().stalled(2);
        assert!((1..9).all(|number| stall.check(&evaluated(number, None)).is_continue()));
        assert!(stall.check(&evaluated(9, Some(0.0))).is_continue());
    }
}
