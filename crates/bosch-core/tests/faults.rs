//! Every fault, wherever the objective commits it, under both policies.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests

mod common;

use std::fmt;

use bosch_core::{
    Error, Evaluator, Faults, Mask, Objective, Plan, Pool, Raced, Space, Trial, from_sync_fn,
};
use common::{SEARCHES, run, score};
use serde_json::json;

const DIM: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Error,
    Panic,
    Score(f64),
    /// Its place in a batch is left as it was.
    Unwritten,
}

const FAULTS: [Fault; 6] = [
    Fault::Error,
    Fault::Panic,
    Fault::Score(f64::NAN),
    Fault::Score(f64::INFINITY),
    Fault::Score(f64::NEG_INFINITY),
    Fault::Unwritten,
];

#[derive(Debug, PartialEq)]
struct NoPower;

impl fmt::Display for NoPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no power")
    }
}

impl std::error::Error for NoPower {}

/// The last bit set, except in the mask of ones, without which a search has no scale.
fn is_faulty(mask: &Mask) -> bool {
    mask.get(DIM - 1) && mask.count_ones() < DIM
}

/// Fails on the faulty masks, in these methods only.
struct Faulty {
    fault: Fault,
    methods: &'static [&'static str],
}

impl Faulty {
    fn write(&self, masks: &[Mask], scores: &mut [f64], method: &str) -> Result<(), NoPower> {
        for (mask, place) in masks.iter().zip(scores) {
            let is_faulty = is_faulty(mask) && self.methods.contains(&method);
            match self.fault {
                Fault::Error if is_faulty => return Err(NoPower),
                Fault::Panic if is_faulty => panic!("overheated"),
                Fault::Score(score) if is_faulty => *place = score,
                Fault::Unwritten if is_faulty && method.ends_with("batch") => {}
                _ => *place = score(mask),
            }
        }
        Ok(())
    }

    fn one(&self, mask: &Mask, method: &str) -> Result<f64, NoPower> {
        let mut score = [0.0];
        self.write(std::slice::from_ref(mask), &mut score, method)?;
        Ok(score[0])
    }
}

impl Objective for Faulty {
    type Error = NoPower;

    fn dim(&self) -> usize {
        DIM
    }
    fn score(&mut self, mask: &Mask) -> Result<f64, NoPower> {
        self.one(mask, "score")
    }
    fn score_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), NoPower> {
        self.write(masks, scores, "score_batch")
    }
    fn score_against(&mut self, mask: &Mask, _: &Trial) -> Result<f64, NoPower> {
        self.one(mask, "score_against")
    }
    fn estimate(&mut self, mask: &Mask) -> Result<f64, NoPower> {
        self.one(mask, "estimate")
    }
    fn estimate_batch(&mut self, masks: &[Mask], scores: &mut [f64]) -> Result<(), NoPower> {
        self.write(masks, scores, "estimate_batch")
    }
    fn score_partial(&mut self, mask: &Mask, _: f64) -> Result<f64, NoPower> {
        self.one(mask, "score_partial")
    }
}

type Wrap = fn(Faulty) -> Box<dyn Objective<Error = NoPower>>;

/// A way to commit a fault.
struct Case {
    name: &'static str,
    /// Where the objective fails.
    methods: &'static [&'static str],
    wrap: Wrap,
    /// Whether the masks can be the result; if not, estimates are asked for.
    admissible: bool,
    /// Masks at once.
    batch: usize,
}

fn plain(faulty: Faulty) -> Box<dyn Objective<Error = NoPower>> {
    Box::new(faulty)
}

fn raced(faulty: Faulty) -> Box<dyn Objective<Error = NoPower>> {
    Box::new(Raced::new(faulty))
}

fn pool(faulty: Faulty) -> Box<dyn Objective<Error = NoPower>> {
    let worker = |_| Faulty { ..faulty };
    Box::new(Pool::new((0..2).map(worker).collect()).unwrap())
}

const ALL: &[&str] = &[
    "score",
    "score_against",
    "score_batch",
    "estimate",
    "estimate_batch",
];

#[rustfmt::skip]
const CASES: [Case; 8] = [
    Case { name: "score", methods: &["score"], wrap: plain, admissible: false, batch: 1 },
    Case { name: "score_against", methods: &["score_against"], wrap: plain, admissible: true, batch: 1 },
    Case { name: "score_batch", methods: ALL, wrap: plain, admissible: true, batch: 4 },
    Case { name: "estimate", methods: &["estimate"], wrap: plain, admissible: false, batch: 1 },
    Case { name: "estimate_batch", methods: ALL, wrap: plain, admissible: false, batch: 4 },
    Case { name: "score_partial", methods: &["score_partial"], wrap: raced, admissible: true, batch: 1 },
    Case { name: "pool", methods: ALL, wrap: pool, admissible: true, batch: 4 },
    Case { name: "pool's estimates", methods: ALL, wrap: pool, admissible: false, batch: 4 },
];

impl Case {
    /// Sound masks and faulty ones.
    fn masks(&self) -> Vec<Mask> {
        let texts = match self.admissible {
            true => &["10000000", "01000000", "00000001", "00100000"][..],
            false => &["10010000", "01010000", "00010001", "00101000", "00001001"],
        };
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn evaluate(
        &self,
        evaluator: &mut Evaluator<'_, Box<dyn Objective<Error = NoPower>>>,
    ) -> Result<Vec<Trial>, Error<NoPower>> {
        evaluator.start(Plan {
            budget: 20,
            seed: 1,
            settings: json!(self.name),
            admissible: Space::exactly(DIM, 1).unwrap(),
        })?;
        let mut trials = Vec::new();
        for masks in self.masks().chunks(self.batch) {
            trials.extend(match self.admissible || self.name == "score" {
                true => evaluator.evaluate(masks)?,
                false => evaluator.screen(masks)?,
            });
        }
        Ok(trials)
    }

    fn objective(&self, fault: Fault) -> Box<dyn Objective<Error = NoPower>> {
        let methods = self.methods;
        (self.wrap)(Faulty { fault, methods })
    }

    /// A single score has no place.
    fn applies(&self, fault: Fault) -> bool {
        fault != Fault::Unwritten || self.batch > 1
    }
}

fn is_typed(error: &Error<NoPower>, fault: Fault) -> bool {
    match (error, fault) {
        (Error::Objective { source, .. }, Fault::Error) => *source == NoPower,
        (Error::Panicked { message, .. }, Fault::Panic) => message == "overheated",
        (Error::Answer { found, .. }, Fault::Score(score)) => *found == score.to_string(),
        (Error::Answer { found, .. }, Fault::Unwritten) => found == "NaN",
        _ => false,
    }
}

#[test]
fn abort_gives_a_typed_error_and_keeps_what_was_paid_for() {
    for case in CASES {
        for fault in FAULTS.into_iter().filter(|&fault| case.applies(fault)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("t.jsonl");
            let mut evaluator = Evaluator::new(case.objective(fault)).with_trace(&path, json!(0));
            let error = case.evaluate(&mut evaluator).unwrap_err();
            assert!(
                is_typed(&error, fault),
                "{}, {fault:?}: {error:?}",
                case.name
            );
            let paid: Vec<Trial> = evaluator.trials().to_vec();
            assert!(paid.len() >= 2, "{}, {fault:?}", case.name);
            drop(evaluator);
            // A sound objective goes on from the trace.
            let (wrap, methods) = (case.wrap, &[]);
            let mut evaluator =
                Evaluator::new(wrap(Faulty { fault, methods })).with_trace(&path, json!(0));
            case.evaluate(&mut evaluator).unwrap();
            assert_eq!(evaluator.replayed(), paid.len(), "{}, {fault:?}", case.name);
            assert_eq!(evaluator.trials()[..paid.len()], paid);
        }
    }
}

#[test]
fn skip_counts_a_fault_as_the_worst_a_bounded_number_of_times() {
    for case in CASES {
        for fault in FAULTS.into_iter().filter(|&fault| case.applies(fault)) {
            let batches = case.masks();
            let batches = batches.chunks(case.batch);
            // A faulty mask that is alone in its batch has a place of its own.
            let counts = |masks: &[Mask]| fault != Fault::Unwritten || masks.len() > 1;
            let faulty = batches.filter(|masks| counts(masks));
            let faulty = faulty.flatten().filter(|mask| is_faulty(mask)).count();
            let most = faulty - 1;
            let mut evaluator =
                Evaluator::new(case.objective(fault)).with_faults(Faults::Skip { most });
            let error = case.evaluate(&mut evaluator).unwrap_err();
            assert!(
                is_typed(&error, fault),
                "{}, {fault:?}: {error:?}",
                case.name
            );
            let mut evaluator =
                Evaluator::new(case.objective(fault)).with_faults(Faults::Skip { most: faulty });
            let trials = case.evaluate(&mut evaluator).unwrap();
            assert_eq!(trials.len(), case.masks().len(), "{}, {fault:?}", case.name);
            assert_eq!(evaluator.skipped(), faulty, "{}, {fault:?}", case.name);
            let worst = trials
                .iter()
                .map(|trial| trial.score)
                .fold(f64::MAX, f64::min);
            for trial in trials {
                assert!(!trial.failed || is_faulty(&trial.mask));
                assert!(!trial.failed || trial.score >= worst);
            }
            assert!(evaluator.best().is_none_or(|best| !best.failed));
        }
    }
}

#[test]
fn a_panic_on_another_thread_is_typed() {
    let overheats = |mask: &Mask| {
        assert!(!mask.get(2), "overheated");
        score(mask)
    };
    let mut evaluator = Evaluator::new(from_sync_fn(DIM, overheats));
    let admissible = Space::exactly(DIM, 1).unwrap();
    let (budget, seed, settings) = (20, 1, json!(null));
    evaluator
        .start(Plan {
            budget,
            seed,
            settings,
            admissible,
        })
        .unwrap();
    let masks: Vec<Mask> = (0..DIM).map(|i| Mask::zeros(DIM).with(i, true)).collect();
    match evaluator.evaluate(&masks) {
        Err(Error::Panicked { message, .. }) => assert_eq!(message, "overheated"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_search_survives_skipped_faults_and_resumes_over_them() {
    for name in SEARCHES {
        for fault in FAULTS {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("t.jsonl");
            let search = || {
                let methods = &["score_against", "score_batch"];
                let mut evaluator = Evaluator::new(Faulty { fault, methods })
                    .with_faults(Faults::Skip { most: 100 })
                    .with_trace(&path, json!(0));
                let result = run(name, &mut evaluator, 40, 1).unwrap();
                (result, evaluator.trials().to_vec(), evaluator.skipped())
            };
            let first = search();
            assert_eq!(search(), first, "{name}, {fault:?}");
        }
    }
}
