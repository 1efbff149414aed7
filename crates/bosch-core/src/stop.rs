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
            improved_at: 0,
        }
    }

    /// Stop once an admissible mask scores at least `score`.
    pub fn reached(mut self, score: f64) -> Self {
        self.target = Some(score);
        self
    }

    /// Stop after so many evaluations without an improvement.
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
                (self.start, self.improved_at) = (Instant::now(), 0);
                false
            }
            Event::Improved { number, score, .. } => {
                self.improved_at = *number;
                self.target.is_some_and(|target| *score >= target)
            }
            Event::Evaluated { number, .. } => {
                self.stall
                    .is_some_and(|stall| *number >= self.improved_at.saturating_add(stall))
                    || self
                        .limit
                        .is_some_and(|limit| self.start.elapsed() >= limit)
            }
            _ => false,
        };
        if stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;

    fn evaluated(number: usize) -> Event {
        let mask = Mask::zeros(1);
        Event::Evaluated {
            number,
            budget: 9,
            mask,
            score: 0.0,
            best: None,
            replayed: false,
        }
    }

    #[test]
    fn each_reason_stops_alone() {
        let improved = |number, score| Event::Improved {
            number,
            mask: Mask::zeros(1),
            score,
        };
        let mut target = StopWhen::never().reached(2.0);
        assert!(target.check(&improved(1, 1.9)).is_continue());
        assert!(target.check(&improved(2, 2.0)).is_break());
        let mut stall = StopWhen::never().stalled(3);
        assert!(stall.check(&improved(4, 0.0)).is_continue());
        assert!(stall.check(&evaluated(6)).is_continue());
        assert!(stall.check(&evaluated(7)).is_break());
        assert!(
            StopWhen::never()
                .lasted(Duration::ZERO)
                .check(&evaluated(1))
                .is_break()
        );
        assert!(StopWhen::never().check(&evaluated(1)).is_continue());
    }
}
