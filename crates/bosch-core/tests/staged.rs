//! What the staged search promises, on objectives small enough to know.

#![allow(clippy::unwrap_used)] // in helpers of tests

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use bosch_core::{
    Ablation, Blocks, Error, Evaluator, Event, LayerDrop, Mask, Outcome, Rest, StagedSettings,
    from_fn, staged,
};
use proptest::prelude::*;
use serde_json::json;

/// Damage that saturates, with terms for neighbours: no ablation sees all of it.
fn score(mask: &Mask) -> f64 {
    let weight = |i: usize| 1.0 + (i * 37 % 23) as f64;
    let single: f64 = mask.iter_ones().map(weight).sum();
    let n = mask.len();
    let pairs = (0..n)
        .filter(|&i| mask.get(i) && mask.get((i + 3) % n))
        .count() as f64;
    let damage = single + 6.0 * pairs;
    1.0 / (1.0 + damage / 50.0)
}

fn run(blocks: &Blocks, settings: &StagedSettings) -> Outcome {
    staged::search(
        &mut Evaluator::new(from_fn(blocks.dim(), score)),
        blocks,
        settings,
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_result_has_the_exact_ones_and_the_budget_holds(
        layers in 1usize..8, size in 1usize..6, ratio in 0.0f64..1.0, budget in 3usize..150,
        drop in 0usize..2, rest in 0usize..2, batch in 1usize..5, seed in 0u64..9,
    ) {
        let blocks = Blocks::uniform(layers, size).unwrap();
        let ones = bosch_core::ones_for_ratio(ratio, blocks.dim()).unwrap();
        prop_assume!(ones > 0 && ones < blocks.dim());
        let settings = StagedSettings::new(ratio, budget)
            .seed(seed)
            .batch(batch)
            .drop([LayerDrop::Marginal, LayerDrop::Cumulative][drop])
            .rest([Rest::Full, Rest::Cascade][rest]);
        let calls = RefCell::new(Vec::new());
        let objective = from_fn(blocks.dim(), |mask: &Mask| {
            calls.borrow_mut().push(mask.clone());
            score(mask)
        });
        let mut evaluator = Evaluator::new(objective);
        let outcome = staged::search(&mut evaluator, &blocks, &settings).unwrap();
        std::mem::drop(evaluator);
        let mut calls = calls.into_inner();
        prop_assert_eq!(outcome.mask.count_ones(), ones);
        prop_assert_eq!(outcome.score, score(&outcome.mask));
        prop_assert!(outcome.evaluations <= budget);
        prop_assert_eq!(calls.len(), outcome.evaluations);
        let best = calls.iter().filter(|m| m.count_ones() == ones).map(score).fold(f64::MIN, f64::max);
        prop_assert_eq!(outcome.score, best, "every candidate competes");
        calls.sort();
        calls.dedup();
        prop_assert_eq!(calls.len(), outcome.evaluations, "no mask twice");
        prop_assert_eq!(run(&blocks, &settings), outcome, "deterministic");
    }
}

#[test]
fn never_worse_than_the_ablation_and_near_the_optimum_when_small() {
    let blocks = Blocks::uniform(5, 3).unwrap();
    let outcome = run(&blocks, &StagedSettings::new(0.5, 300));
    let alone: Vec<f64> = (0..15)
        .map(|i| score(&Mask::zeros(15).with(i, true)))
        .collect();
    let space = bosch_core::Space::exactly(15, 8).unwrap();
    assert!(outcome.score >= score(&space.best_by(&alone).unwrap()));
    let optimum = space.enumerate().iter().map(score).fold(f64::MIN, f64::max);
    assert_eq!(outcome.score, optimum);
    let names: Vec<&str> = outcome
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(names, ["anchors", "ablation", "probe", "groups", "polish"]);
    assert!(
        (outcome.loss
            - -(outcome.score - score(&Mask::filled(15, true)))
                / (1.0 - score(&Mask::filled(15, true)))
            - 10.0 * (8.0f64 / 15.0 - 0.5).powi(2))
        .abs()
            < 1e-12
    );
}

#[test]
fn another_context_or_setting_is_refused_by_name() {
    let blocks = Blocks::uniform(4, 3).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let search = |settings: StagedSettings, model: &str| {
        let mut evaluator =
            Evaluator::new(from_fn(12, score)).with_trace(&path, json!({"model": model}));
        staged::search(&mut evaluator, &blocks, &settings)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    search(StagedSettings::new(0.5, 20), "a").unwrap();
    let text = search(StagedSettings::new(0.5, 21), "a").unwrap_err();
    assert!(
        text.contains("settings.search.budget: expected 21, found 20"),
        "{text}"
    );
    let text = search(StagedSettings::new(0.5, 20), "b").unwrap_err();
    assert!(
        text.contains("settings.context.model: expected \"b\", found \"a\""),
        "{text}"
    );
}

#[test]
fn bad_input_is_refused_before_anything_is_paid_for() {
    let blocks = Blocks::uniform(4, 3).unwrap();
    let refused = |settings: StagedSettings| {
        let objective = from_fn(12, |_: &Mask| unreachable!());
        let error = staged::search(&mut Evaluator::new(objective), &blocks, &settings).unwrap_err();
        assert!(matches!(error, Error::Input(_)), "{error}");
    };
    for ratio in [0.0, 0.01, 0.99, 1.0, -0.5, 1.5, f64::NAN] {
        refused(StagedSettings::new(ratio, 50));
    }
    refused(StagedSettings::new(0.5, 2));
    refused(StagedSettings::new(0.5, 14).ablation(Ablation::Always));
    refused(StagedSettings::new(0.5, 50).shares(0.7, 0.7));
    refused(StagedSettings::new(0.5, 50).shares(f64::NAN, 0.1));
    refused(StagedSettings::new(0.5, 50).batch(0));
    let wrong = Blocks::uniform(4, 4).unwrap();
    let error = staged::search(
        &mut Evaluator::new(from_fn(12, score)),
        &wrong,
        &StagedSettings::new(0.5, 50),
    );
    assert!(matches!(error, Err(Error::Input(_))));
}

#[test]
fn alpha_out_of_range_and_equal_anchors_are_refused() {
    let blocks = Blocks::uniform(4, 3).unwrap();
    let flat = staged::search(
        &mut Evaluator::new(from_fn(12, |_: &Mask| 0.25)),
        &blocks,
        &StagedSettings::new(0.5, 50),
    );
    assert!(matches!(
        flat,
        Err(Error::Anchors {
            full: 0.25,
            all: 0.25
        })
    ));
    let alpha = staged::search(
        &mut Evaluator::new(from_fn(12, score)),
        &blocks,
        &StagedSettings::new(0.5, 50).alpha(0.0),
    );
    assert!(matches!(alpha, Err(Error::Input(_))));
}

#[test]
fn a_stop_returns_the_best_so_far_or_says_there_is_none() {
    let blocks = Blocks::uniform(4, 3).unwrap();
    let stop_at = |last: usize| {
        let mut evaluator =
            Evaluator::new(from_fn(12, score)).with_observer(move |event| match event {
                Event::Evaluated { number, .. } if *number >= last => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
        staged::search(&mut evaluator, &blocks, &StagedSettings::new(0.5, 60))
    };
    for last in [1, 2, 5] {
        assert!(
            matches!(stop_at(last), Err(Error::Stopped { evaluations }) if evaluations == last)
        );
    }
    let outcome = stop_at(30).unwrap();
    assert!(outcome.stopped && outcome.evaluations == 30 && outcome.mask.count_ones() == 6);
}

#[test]
fn a_fault_in_the_middle_is_typed_whatever_the_stage() {
    let blocks = Blocks::uniform(4, 3).unwrap();
    for at in 1..60 {
        let calls = Cell::new(0);
        let objective = from_fn(12, |mask: &Mask| {
            calls.set(calls.get() + 1);
            if calls.get() == at {
                f64::NAN
            } else {
                score(mask)
            }
        });
        let settings = StagedSettings::new(0.5, 60);
        let error = staged::search(&mut Evaluator::new(objective), &blocks, &settings).unwrap_err();
        assert!(
            matches!(error, Error::Answer { evaluation, .. } if evaluation == at),
            "{error}"
        );
    }
}

#[test]
fn value_stability() {
    let blocks = Blocks::uniform(6, 4).unwrap();
    let outcome = run(&blocks, &StagedSettings::new(0.5, 120).seed(5));
    assert_eq!(outcome.mask.to_string(), "101011000110001110001011");
}
