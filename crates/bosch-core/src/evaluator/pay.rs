//! From a new mask to its trial: replayed from the trace, or paid for.

use crate::error::Error;
use crate::event::Event;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::trace::Record;
use crate::trial::Trial;

use super::call::{Fault, Request, call};
use super::{Care, Evaluator, Faults};

impl<O: Objective> Evaluator<'_, O> {
    /// Takes from the trace what it holds of these new masks, and returns the others.
    pub(super) fn replay(&mut self, masks: Vec<&Mask>) -> Result<Vec<Mask>, Error<O::Error>> {
        let (mut found, mut rest) = (Vec::new(), Vec::new());
        for mask in masks {
            let record = self.run.as_mut().and_then(|run| run.recorded.remove(mask));
            match record {
                Some(record) => found.push(record),
                None => rest.push(mask.clone()),
            }
        }
        // Faulty masks of a batch were written after the others.
        found.sort_by_key(|record| record.n);
        for record in found {
            self.record(record, true)?;
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
    pub(super) fn pay(&mut self, masks: &[Mask], care: Care) -> Result<(), Error<O::Error>> {
        let rival = match masks {
            [mask] if self.is_admissible(mask) => self.best().cloned(),
            _ => None,
        };
        let request = match (care, &rival) {
            (Care::Estimate, _) => Request::Estimates,
            (Care::Score, Some(rival)) => Request::Against(rival),
            (Care::Score, None) => Request::Scores,
        };
        match call(&mut self.objective, masks, request) {
            Ok(scores) => {
                let mut bad = Vec::new();
                for (mask, &score) in masks.iter().zip(&scores) {
                    match score.is_finite() {
                        true => self.record(Record::new(mask, score), false)?,
                        false => bad.push((mask, score)),
                    }
                }
                bad.into_iter().try_for_each(|(mask, score)| {
                    let expected = "a finite score".to_owned();
                    self.skip(mask, Fault::Answer(expected, score.to_string()))
                })
            }
            Err(fault) => match masks {
                [mask] => self.skip(mask, fault),
                // The batch says nothing of its single masks: ask for them one by one, so that
                // those before the faulty one are kept.
                _ => {
                    for mask in masks.chunks(1) {
                        if !self.stopped {
                            self.pay(mask, care)?;
                        }
                    }
                    match self.faults {
                        Faults::Abort => Err(self.error(fault)),
                        Faults::Skip { .. } => Ok(()),
                    }
                }
            },
        }
    }

    /// Records a faulty evaluation if the policy allows it, or returns its error.
    fn skip(&mut self, mask: &Mask, fault: Fault<O::Error>) -> Result<(), Error<O::Error>> {
        let scores = self.trials.iter().map(|trial| trial.score);
        let worst = scores.min_by(f64::total_cmp);
        match (self.faults, worst) {
            (Faults::Skip { most }, Some(worst)) if self.skipped < most => {
                let fault = Some(self.error(fault).to_string());
                self.record(
                    Record {
                        fault,
                        ..Record::new(mask, worst)
                    },
                    false,
                )
            }
            _ => Err(self.error(fault)),
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
    fn record(&mut self, record: Record, replayed: bool) -> Result<(), Error<O::Error>> {
        let number = self.trials.len() + 1;
        let Record {
            mask, score, fault, ..
        } = &record;
        let failed = fault.is_some();
        let trial = Trial {
            mask: mask.clone(),
            score: *score,
            number,
            failed,
        };
        self.memo.insert(mask.clone(), number - 1);
        self.trials.push(trial.clone());
        self.replayed += usize::from(replayed);
        self.skipped += usize::from(failed);
        let mut improved = false;
        if let Some(run) = &mut self.run {
            improved = run.consider(&self.trials, number - 1, &trial);
            if let Some(trace) = run.trace.as_mut().filter(|_| !replayed) {
                trace
                    .append(&Record {
                        n: number,
                        ..record
                    })
                    .map_err(Error::widen)?;
            }
        }
        self.tell_observer(trial, improved, replayed);
        Ok(())
    }

    fn tell_observer(&mut self, trial: Trial, improved: bool, replayed: bool) {
        if self.observer.is_none() {
            return;
        }
        let best = self.best().map(|trial| trial.score);
        let budget = self.run.as_ref().map_or(0, |run| run.budget);
        let (number, score, mask) = (self.evaluations(), trial.score, trial.mask);
        let again = mask.clone();
        self.emit(&Event::Evaluated {
            number,
            budget,
            mask,
            score,
            best,
            replayed,
        });
        if improved {
            self.emit(&Event::Improved {
                number,
                mask: again,
                score,
            });
        }
    }
}
