//! From a new mask to its trial: replayed from the trace, or paid for.

use crate::error::Error;
use crate::event::Event;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::trace::Record;
use crate::trial::Trial;

use super::Evaluator;
use super::call::{Fault, call};

impl<O: Objective> Evaluator<'_, O> {
    /// Takes from the trace what it holds of these new masks, and returns the others.
    pub(super) fn replay(&mut self, masks: Vec<&Mask>) -> Result<Vec<Mask>, Error<O::Error>> {
        let mut rest = Vec::new();
        for mask in masks {
            let record = self.run.as_mut().and_then(|run| run.recorded.remove(mask));
            match record {
                Some(record) => self.record(&record.mask, record.score, true)?,
                None => rest.push(mask.clone()),
            }
        }
        // A trace ends inside the last batch of its run, so what this batch lacks must be its end.
        let run = self.run.as_ref();
        let next = run.and_then(|run| run.recorded.values().min_by_key(|record| record.n));
        match (rest.first(), next, run.and_then(|run| run.trace.as_ref())) {
            (Some(mask), Some(record), Some(trace)) => Err(Error::Trace {
                path: trace.path().to_owned(),
                line: record.n + 1,
                what: "mask".to_owned(),
                expected: mask.to_string(),
                found: record.mask.to_string(),
            }),
            _ => Ok(rest),
        }
    }

    /// Asks the objective for these masks and records the answers.
    pub(super) fn pay(&mut self, masks: &[Mask]) -> Result<(), Error<O::Error>> {
        match call(&mut self.objective, masks) {
            Ok(scores) => {
                let mut bad = None;
                for (mask, &score) in masks.iter().zip(&scores) {
                    if score.is_finite() {
                        self.record(mask, score, false)?;
                    } else {
                        bad = bad.or(Some(score));
                    }
                }
                bad.map_or(Ok(()), |score| {
                    let expected = "a finite score".to_owned();
                    Err(self.error(Fault::Answer(expected, score.to_string())))
                })
            }
            Err(fault) if masks.len() == 1 => Err(self.error(fault)),
            Err(fault) => {
                // The batch says nothing of its single masks: ask for them one by one, so that
                // those before the faulty one are kept.
                masks.chunks(1).try_for_each(|mask| self.pay(mask))?;
                Err(self.error(fault))
            }
        }
    }

    fn error(&self, fault: Fault<O::Error>) -> Error<O::Error> {
        let evaluation = self.trials.len() + 1;
        match fault {
            Fault::Error(source) => Error::Objective { evaluation, source },
            Fault::Panic(message) => Error::Panicked {
                evaluation,
                message,
            },
            Fault::Answer(expected, found) => Error::Answer {
                evaluation,
                expected,
                found,
            },
        }
    }

    /// Writes one evaluation down, everywhere.
    fn record(&mut self, mask: &Mask, score: f64, replayed: bool) -> Result<(), Error<O::Error>> {
        let number = self.trials.len() + 1;
        let mut improved = false;
        let trial = Trial {
            mask: mask.clone(),
            score,
            number,
        };
        self.memo.insert(mask.clone(), number - 1);
        self.trials.push(trial.clone());
        self.replayed += usize::from(replayed);
        let mut budget = 0;
        if let Some(run) = &mut self.run {
            budget = run.budget;
            improved = run.consider(&self.trials, number - 1, &trial);
            if let Some(trace) = run.trace.as_mut().filter(|_| !replayed) {
                let record = Record {
                    n: number,
                    mask: mask.clone(),
                    score,
                };
                trace.append(&record).map_err(Error::widen)?;
            }
        }
        if self.observer.is_some() {
            let best = self.best().map(|trial| trial.score);
            let mask = mask.clone();
            let number = self.evaluations();
            self.emit(&Event::Evaluated {
                number,
                budget,
                mask: mask.clone(),
                score,
                best,
                replayed,
            });
            if improved {
                self.emit(&Event::Improved {
                    number,
                    mask,
                    score,
                });
            }
        }
        Ok(())
    }
}
