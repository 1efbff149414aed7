//! What every solver promises, alone and inside a search.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests

mod common;

use std::collections::HashSet;
use std::time::Duration;

use bosch_core::lns::{Lns, Settings};
use bosch_core::{
    Anchors, Blocks, Error, Evaluator, LocalSearch, Mask, Optimizer, RatioPenalty, Rng, Space,
    StopWhen, Trial, from_fn, maximize,
};
use common::{SEARCHES, SOLVERS, run, score, solver};

const DIM: usize = 12;

/// Spaces by name: free, a quota in total, quotas per block, and each of them with fixed variables.
fn spaces() -> Vec<(&'static str, Space)> {
    let blocks = Blocks::uniform(3, 4).unwrap();
    let total = Space::exactly(DIM, 5).unwrap();
    let per_block = Space::quotas(&blocks, &[1, 3, 2]).unwrap();
    let fixed = [(1, true), (6, false), (11, true)];
    let fix = |space: &Space| space.clone().fix(&fixed).unwrap();
    vec![
        ("free, fixed variables", fix(&Space::any(DIM))),
        ("total, fixed variables", fix(&total)),
        ("per block, fixed variables", fix(&per_block)),
        ("free", Space::any(DIM)),
        ("total", total),
        ("per block", per_block),
    ]
}

fn optimum(space: &Space, score: impl Fn(&Mask) -> f64) -> f64 {
    space.enumerate().iter().map(score).fold(f64::MIN, f64::max)
}

/// More ones are better, up to a point, so that free spaces have an optimum inside.
fn value(mask: &Mask) -> f64 {
    score(mask) + 2.4 * mask.count_ones() as f64
}

/// Asks and tells with batches of random sizes, the trials in random order and some of them late;
/// the masks in the order of their proposal.
fn ask_and_tell(solver: &mut dyn Optimizer, seed: u64, budget: usize) -> Vec<Mask> {
    let mut rng = Rng::stream(seed, "ask-and-tell");
    let (mut asked, mut untold) = (Vec::new(), Vec::new());
    for _ in 0..budget {
        let masks = solver.ask(rng.below(8).min(budget - asked.len()));
        let numbered = masks.iter().zip(asked.len() + 1..);
        untold.extend(numbered.map(|(mask, number)| Trial::new(mask.clone(), value(mask), number)));
        asked.extend(masks);
        rng.shuffle(&mut untold);
        let late = rng.below(untold.len() + 1);
        solver.tell(&untold.split_off(late));
    }
    asked
}

#[test]
fn batches_of_any_size_told_in_any_order_lead_to_the_optimum() {
    for name in SOLVERS {
        for (kind, space) in spaces() {
            let budget = 160.min(space.size() as usize + DIM + 2);
            let mut solver = solver(name, &space, budget, 1);
            let asked = ask_and_tell(solver.as_mut(), 2, budget);
            let unique: HashSet<&Mask> = asked.iter().collect();
            assert_eq!(unique.len(), asked.len(), "{name}, {kind}: a mask twice");
            let inside: Vec<&Mask> = asked.iter().filter(|mask| space.contains(mask)).collect();
            let best = inside
                .iter()
                .map(|mask| value(mask))
                .fold(f64::MIN, f64::max);
            assert_eq!(best, optimum(&space, value), "{name}, {kind}");
            // Only the portfolio's screening leaves the space.
            let outside = asked.len() - inside.len();
            assert!(
                outside == 0 || (name == "Portfolio" && outside <= DIM + 2),
                "{name}, {kind}"
            );
        }
    }
}

#[test]
fn a_warm_start_is_learned_from_and_not_proposed_again() {
    for name in SOLVERS {
        for (kind, space) in spaces() {
            let mut told = space.enumerate();
            told.sort_by(|a, b| value(a).total_cmp(&value(b)));
            let best = told.pop().unwrap();
            // All but the best one, which is a few steps from what is told last.
            told.drain(..told.len().saturating_sub(40));
            let trials: Vec<Trial> = (1..)
                .zip(&told)
                .map(|(number, mask)| Trial::new(mask.clone(), value(mask), number))
                .collect();
            let mut solver = solver(name, &space, 100, 1);
            solver.tell(&trials);
            let asked = ask_and_tell(solver.as_mut(), 3, 100);
            assert!(
                asked.iter().all(|mask| !told.contains(mask)),
                "{name}, {kind}"
            );
            assert!(asked.contains(&best), "{name}, {kind}");
        }
    }
}

#[test]
fn a_space_of_one_mask_or_of_none_to_choose_is_no_trap() {
    let all_fixed: Vec<(usize, bool)> = (0..DIM).map(|i| (i, i < 3)).collect();
    for name in SOLVERS {
        for space in [
            Space::exactly(DIM, 0).unwrap(),
            Space::exactly(DIM, DIM).unwrap(),
            Space::any(DIM).fix(&all_fixed).unwrap(),
        ] {
            let mut evaluator = Evaluator::new(from_fn(DIM, value));
            let mut solver = solver(name, &space, 50, 1);
            let best = maximize(&mut evaluator, solver.as_mut(), &space, 50).unwrap();
            assert!(space.contains(&best.mask), "{name}");
        }
    }
}

#[test]
fn a_small_space_is_searched_through_and_then_the_solver_says_so() {
    let space = Space::exactly(8, 4).unwrap();
    for name in SOLVERS {
        let mut evaluator = Evaluator::new(from_fn(8, score));
        let mut solver = solver(name, &space, 500, 1);
        maximize(&mut evaluator, solver.as_mut(), &space, 500).unwrap();
        let trials = evaluator.trials().iter();
        let inside = trials.filter(|trial| space.contains(&trial.mask)).count();
        assert!(inside >= 65, "{name}: {inside} of 70");
    }
}

#[test]
fn the_penalty_alone_holds_a_ratio_in_a_free_space() {
    let anchors = Anchors {
        full: score(&Mask::zeros(DIM)),
        all: score(&Mask::filled(DIM, true)),
    };
    let penalty = RatioPenalty::new(anchors, 100.0, 0.5).unwrap();
    let penalised = |mask: &Mask| -penalty.loss(mask, score(mask));
    let space = Space::any(DIM);
    for name in SOLVERS {
        let mut evaluator = Evaluator::new(from_fn(DIM, penalised));
        let mut solver = solver(name, &space, 300, 1);
        let best = maximize(&mut evaluator, solver.as_mut(), &space, 300).unwrap();
        assert!(best.score >= optimum(&space, penalised) - 0.02, "{name}");
        assert_eq!(best.mask.count_ones(), DIM / 2, "{name}");
    }
}

#[test]
fn a_search_never_goes_on_from_a_failed_trial() {
    let space = Space::exactly(DIM, 6).unwrap();
    let mask = space.random(&mut Rng::stream(1, "failed"));
    let failed = Trial {
        failed: true,
        ..Trial::new(mask, 0.0, 1)
    };
    let mut local = LocalSearch::new(space.clone(), 1);
    local.tell(std::slice::from_ref(&failed));
    assert_eq!(local.incumbent(), None);
    let blocks = Blocks::uniform(3, 4).unwrap();
    let mut lns = Lns::new(space, Settings::standard(&blocks), 1);
    lns.tell(&[failed]);
    assert_eq!(lns.current(), None);
}

/// The evaluations of a search that ends early for a reason.
fn evaluations(name: &str, stop: StopWhen) -> usize {
    let mut stop = stop;
    let observer = move |event: &bosch_core::Event| stop.check(event);
    let mut evaluator = Evaluator::new(from_fn(DIM, score)).with_observer(observer);
    match run(name, &mut evaluator, 120, 1) {
        Ok(_) | Err(Error::Stopped { .. }) => evaluator.evaluations(),
        Err(error) => panic!("{name}: {error}"),
    }
}

#[test]
fn every_search_ends_at_its_target_after_a_stall_or_at_its_time() {
    for name in SEARCHES {
        let whole = evaluations(name, StopWhen::never());
        let target = evaluations(name, StopWhen::never().reached(-12.0));
        assert!(target < whole, "{name}: {target} of {whole}");
        let stall = evaluations(name, StopWhen::never().stalled(20));
        assert!(stall < whole, "{name}: {stall} of {whole}");
        let time = evaluations(name, StopWhen::never().lasted(Duration::ZERO));
        assert!(time <= 4, "{name}: a batch is at most 4, here {time}");
    }
}
