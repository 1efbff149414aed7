//! From a new mask to its trial: replayed from the trace, or paid for.

use std::slice;

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

    /// Asks the objective for these masks and records the answers, the faulty ones last: the order then
    /// depends neither on threads nor on how far a batch came.
    pub(super) fn pay(&mut self, masks: &[Mask], care: Care) -> Result<(), Error<O::Error>> {
        let mut scores = vec![f64::NAN; masks.len()];
        let faults = self.ask(masks, care, &mut scores);
        for (mask, &score) in masks.iter().zip(&scores) {
            if score.is_finite() {
                self.record(Record::new(mask, score), false)?;
            }
        }
        for (mask, fault) in faults {
            self.skip(mask, fault)?;
        }
        Ok(())
    }

    /// Has the objective write the scores of these masks; the faults of those that are left without one.
    fn ask<'m>(
        &mut self,
        masks: &'m [Mask],
        care: Care,
        scores: &mut [f64],
    ) -> Vec<(&'m Mask, Fault<O::Error>)> {
        let rival = match masks {
            [mask] if self.is_admissible(mask) => self.best().cloned(),
            _ => None,
        };
        let request = match (care, &rival) {
            (Care::Estimate, _) => Request::Estimates,
            (Care::Score, Some(rival)) => Request::Against(rival),
            (Care::Score, None) => Request::Scores,
        };
        let answer = call(&mut self.objective, masks, request, scores);
        let is_sound = answer.is_ok();
        // Of a batch that ends the run it does not matter which mask is to blame.
        if (masks.len() == 1 || self.faults == Faults::Abort)
            && let (Err(fault), Some(mask)) = (answer, masks.first())
        {
            return vec![(mask, fault)];
        }
        let mut faults = Vec::new();
        for (mask, score) in masks.iter().zip(scores) {
            if score.is_finite() {
                continue;
            }
            let answer = match is_sound {
                true => Ok(()),
                false => {
                    let mask = slice::from_ref(mask);
                    call(&mut self.objective, mask, request, slice::from_mut(score))
                }
            };
            let fault = answer.err().or_else(|| not_finite(*score));
            faults.extend(fault.map(|fault| (mask, fault)));
        }
        faults
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

fn not_finite<E>(score: f64) -> Option<Fault<E>> {
    let fault = || Fault::Answer("a finite score".to_owned(), score.to_string());
    (!score.is_finite()).then(fault)
}
