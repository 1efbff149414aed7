//! What the evaluator promises: no mask paid for twice, nothing paid for lost, faults typed.

#![allow(clippy::unwrap_used)] // in helpers of tests

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;

use bosch_core::{
    Error, Evaluator, Event, Faults, Mask, Objective, Plan, Pool, Space, from_fn, from_sync_fn,
    try_from_fn,
};
use serde_json::json;

#[derive(Debug, PartialEq)]
struct NoPower(usize);

impl fmt::Display for NoPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no power at call {}", self.0)
    }
}

impl std::error::Error for NoPower {}

fn plan(dim: usize, budget: usize) -> Plan {
    let settings = json!({"kind": "test"});
    Plan {
        budget,
        seed: 1,
        settings,
        admissible: Space::exactly(dim, 1).unwrap(),
    }
}

fn masks(dim: usize) -> Vec<Mask> {
    (0..dim).map(|i| Mask::zeros(dim).with(i, true)).collect()
}

fn value(mask: &Mask) -> f64 {
    mask.iter_ones().sum::<usize>() as f64 / 3.0
}

#[test]
fn no_mask_is_paid_for_twice_and_the_budget_holds() {
    let calls = Cell::new(0);
    let mut evaluator = Evaluator::new(from_fn(6, |mask: &Mask| {
        calls.set(calls.get() + 1);
        value(mask)
    }));
    evaluator.start(plan(6, 4)).unwrap();
    let all = masks(6);
    let asked = [all[2].clone(), all[2].clone(), all[1].clone()];
    let trials = evaluator.evaluate(&asked).unwrap();
    assert_eq!(
        trials.iter().map(|t| t.number).collect::<Vec<_>>(),
        [1, 1, 2]
    );
    let trials = evaluator.evaluate(&all).unwrap();
    assert_eq!(
        trials.iter().map(|t| t.mask.clone()).collect::<Vec<_>>(),
        all[..4]
    );
    assert_eq!(
        (calls.get(), evaluator.evaluations(), evaluator.remaining()),
        (4, 4, 0)
    );
    assert_eq!(evaluator.best().unwrap().mask, all[3]);
}

#[test]
fn only_admissible_masks_can_be_the_best() {
    let mut evaluator = Evaluator::new(from_fn(3, value));
    evaluator.start(plan(3, 9)).unwrap();
    evaluator
        .evaluate(&[Mask::filled(3, true), Mask::zeros(3)])
        .unwrap();
    assert_eq!(evaluator.best(), None);
    evaluator.evaluate(&masks(3)[..1]).unwrap();
    assert_eq!(evaluator.best().unwrap().score, 0.0);
    assert_eq!(evaluator.curve()[1].best, None);
    assert_eq!(evaluator.curve()[2].best, Some(0.0));
}

#[test]
fn events_come_in_order_and_break_stops() {
    let events = RefCell::new(Vec::new());
    let mut evaluator = Evaluator::new(from_fn(4, value)).with_observer(|event| {
        events.borrow_mut().push(event.clone());
        match event {
            Event::Evaluated { number: 3, .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    evaluator.start(plan(4, 9)).unwrap();
    evaluator.stage("one", 4);
    for mask in masks(4) {
        evaluator.evaluate(&[mask]).unwrap();
    }
    evaluator.finish();
    assert!(evaluator.is_stopped() && evaluator.remaining() == 0);
    let kinds: Vec<&str> = events
        .borrow()
        .iter()
        .map(|event| match event {
            Event::Started { .. } => "started",
            Event::StageStarted { .. } => "stage",
            Event::Evaluated { .. } => "evaluated",
            Event::Improved { .. } => "improved",
            Event::Finished { evaluations: 3, .. } => "finished",
            _ => "other",
        })
        .collect();
    let each = ["evaluated", "improved"];
    assert_eq!(
        kinds,
        [
            &["started", "stage"][..],
            &each,
            &each,
            &each,
            &["finished"]
        ]
        .concat()
    );
}

#[test]
fn the_objectives_error_comes_back_and_the_trace_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let calls = Cell::new(0);
    let failing = try_from_fn(5, |mask: &Mask| {
        calls.set(calls.get() + 1);
        if mask.get(3) {
            Err(NoPower(calls.get()))
        } else {
            Ok(value(mask))
        }
    });
    let mut evaluator = Evaluator::new(failing).with_trace(&path, json!(null));
    evaluator.start(plan(5, 9)).unwrap();
    // In one batch: the masks before the faulty one are kept all the same.
    match evaluator.evaluate(&masks(5)) {
        Err(Error::Objective {
            evaluation: 4,
            source,
        }) => assert_eq!(source, NoPower(4)),
        other => panic!("{other:?}"),
    }
    drop(evaluator);
    let mut evaluator = Evaluator::new(from_fn(5, |mask: &Mask| {
        assert!(mask.get(3) || mask.get(4), "paid for twice: {mask}");
        value(mask)
    }))
    .with_trace(&path, json!(null));
    evaluator.start(plan(5, 9)).unwrap();
    assert_eq!(evaluator.evaluate(&masks(5)).unwrap().len(), 5);
    assert_eq!((evaluator.evaluations(), evaluator.replayed()), (5, 3));
}

#[test]
fn panics_and_scores_that_are_not_finite_are_typed_errors() {
    let mut evaluator = Evaluator::new(from_fn(3, |mask: &Mask| {
        assert!(!mask.get(1), "overheated");
        value(mask)
    }));
    evaluator.start(plan(3, 9)).unwrap();
    match evaluator.evaluate(&masks(3)) {
        Err(Error::Panicked {
            evaluation: 2,
            message,
        }) => assert_eq!(message, "overheated"),
        other => panic!("{other:?}"),
    }
    assert_eq!(evaluator.evaluations(), 1);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let score = |mask: &Mask| if mask.get(1) { bad } else { value(mask) };
        let mut evaluator = Evaluator::new(from_fn(3, score));
        evaluator.start(plan(3, 9)).unwrap();
        let error = evaluator.evaluate(&masks(3)).unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
        assert_eq!(evaluator.evaluations(), 2, "the two finite scores are kept");
    }
}

#[test]
fn a_batch_of_the_wrong_length_is_an_error() {
    /// Answers with so many scores.
    struct Wrong(usize);
    impl Objective for Wrong {
        type Error = std::convert::Infallible;
        fn dim(&self) -> usize {
            3
        }
        fn score(&mut self, mask: &Mask) -> Result<f64, Self::Error> {
            Ok(value(mask))
        }
        fn score_batch(&mut self, _: &[Mask], scores: &mut [f64]) -> Result<(), Self::Error> {
            scores.copy_from_slice(&vec![1.0; self.0]);
            Ok(())
        }
    }
    for length in [0, 1, 4] {
        let mut evaluator = Evaluator::new(Wrong(length));
        evaluator.start(plan(3, 9)).unwrap();
        let error = evaluator.evaluate(&masks(3)).unwrap_err().to_string();
        let lengths = [3, length].map(|length| length.to_string());
        assert!(
            lengths.iter().all(|length| error.contains(length)),
            "{error}"
        );
        assert_eq!(evaluator.evaluations(), 0);
    }
}

#[test]
fn no_score_of_a_faulty_batch_is_paid_for_twice() {
    use std::sync::Mutex;

    let calls = Mutex::new(vec![0; 6]);
    let count = |mask: &Mask| calls.lock().unwrap()[mask.iter_ones().next().unwrap()] += 1;
    let panics = |mask: &Mask| {
        count(mask);
        assert!(!mask.get(3), "broken");
        value(mask)
    };
    let fails = |mask: &Mask| {
        count(mask);
        match mask.get(3) {
            true => "broken".parse::<f64>(),
            false => Ok(value(mask)),
        }
    };
    check(from_fn(6, panics), &calls);
    check(try_from_fn(6, fails), &calls);
    check(from_sync_fn(6, panics), &calls);
    check(
        Pool::new(vec![from_fn(6, panics), from_fn(6, panics)]).unwrap(),
        &calls,
    );
    check(
        Pool::new(vec![try_from_fn(6, fails), try_from_fn(6, fails)]).unwrap(),
        &calls,
    );

    fn check<O: Objective>(mut objective: O, calls: &Mutex<Vec<usize>>) {
        for faults in [Faults::Abort, Faults::Skip { most: 1 }] {
            *calls.lock().unwrap() = vec![0; 6];
            let mut evaluator = Evaluator::new(&mut objective).with_faults(faults);
            evaluator.start(plan(6, 9)).unwrap();
            evaluator.evaluate(&masks(6)[..1]).unwrap();
            let skips = evaluator.evaluate(&masks(6)).is_ok();
            assert_eq!(skips, faults != Faults::Abort);
            // The faulty one is asked for alone to tell that it is the one.
            let calls = calls.lock().unwrap().clone();
            for (i, &calls) in calls.iter().enumerate() {
                let most = if i == 3 { 2 } else { 1 };
                assert!(calls <= most, "mask {i} {calls} times under {faults:?}");
            }
            let known = evaluator.trials().iter().filter(|trial| !trial.failed);
            let paid = (0..6).filter(|&i| i != 3 && calls[i] > 0);
            assert_eq!(known.count(), paid.count(), "{faults:?}");
        }
    }
}

#[test]
fn a_trace_that_answers_other_questions_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    for (order, fits) in [([0, 1], true), ([2, 1], false)] {
        let mut evaluator = Evaluator::new(from_fn(3, value)).with_trace(&path, json!(null));
        evaluator.start(plan(3, 9)).unwrap();
        let asked = order.map(|i| masks(3)[i].clone());
        let answer = asked
            .iter()
            .try_for_each(|mask| evaluator.evaluate(std::slice::from_ref(mask)).map(|_| ()));
        assert_eq!(answer.is_ok(), fits);
        if let Err(error) = answer {
            assert!(
                error
                    .to_string()
                    .contains("line 2: mask: expected 001, found 100"),
                "{error}"
            );
        }
    }
}

#[test]
fn masks_of_another_dimension_are_refused() {
    let mut evaluator = Evaluator::new(from_fn(3, value));
    assert!(matches!(evaluator.start(plan(4, 9)), Err(Error::Input(_))));
    evaluator.start(plan(3, 9)).unwrap();
    assert!(matches!(
        evaluator.evaluate(&masks(4)),
        Err(Error::Input(_))
    ));
}

#[test]
fn faults_can_be_skipped_a_bounded_number_of_times_and_are_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let calls = Cell::new(0);
    let run = |most: usize| {
        let objective = from_fn(6, |mask: &Mask| {
            calls.set(calls.get() + 1);
            match () {
                () if mask.get(4) => f64::NAN,
                () if mask.get(5) => panic!("broken"),
                () => -value(mask),
            }
        });
        let faults = Faults::Skip { most };
        let mut evaluator = Evaluator::new(objective)
            .with_trace(&path, json!(null))
            .with_faults(faults);
        evaluator.start(plan(6, 9)).unwrap();
        let trials = evaluator
            .evaluate(&masks(6))
            .map_err(|error| error.to_string())?;
        let best = evaluator.best().unwrap().mask.clone();
        Ok::<_, String>((trials, best, evaluator.skipped(), evaluator.replayed()))
    };
    assert!(run(1).unwrap_err().contains("broken"));
    std::fs::remove_file(&path).unwrap();
    for replayed in [0, 6] {
        calls.set(0);
        let (trials, best, skipped, came_back) = run(2).unwrap();
        assert_eq!(
            (best, skipped, came_back),
            (masks(6)[0].clone(), 2, replayed)
        );
        assert_eq!((trials[4].score, trials[4].failed), (-1.0, true));
        assert_eq!((trials[5].score, trials[5].failed), (-1.0, true));
        assert_eq!(calls.get() > 0, replayed == 0);
    }
}

#[test]
fn the_curve_leaves_out_what_failed() {
    let score = |mask: &Mask| {
        if mask.count_ones() == 1 {
            f64::NAN
        } else {
            1.0
        }
    };
    let faults = Faults::Skip { most: 9 };
    let mut evaluator = Evaluator::new(from_fn(3, score)).with_faults(faults);
    evaluator.start(plan(3, 9)).unwrap();
    evaluator.evaluate(&[Mask::zeros(3)]).unwrap();
    evaluator.evaluate(&masks(3)).unwrap();
    assert_eq!(evaluator.best(), None);
    assert!(evaluator.curve().iter().all(|point| point.best.is_none()));
}
