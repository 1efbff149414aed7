//! A search on several threads is the search on one.

#![allow(clippy::unwrap_used)] // in helpers of tests

mod common;

use bosch_core::{
    Blocks, Evaluator, Faults, Mask, Objective, Plan, Pool, Space, StagedSettings, Trial, drive,
    from_fn, from_sync_fn, staged,
};
use common::{SOLVERS, score, solver};
use serde_json::json;

const DIM: usize = 16;
const BUDGET: usize = 100;
const WORKERS: [usize; 3] = [1, 2, 8];

/// The score after some time that depends on mask and salt, so that each salt gives another order of
/// completion; one mask in five has none.
fn slow(salt: usize) -> impl Fn(&Mask) -> f64 + Sync + Send + Clone {
    move |mask: &Mask| {
        let sum: usize = mask.iter_ones().map(|i| i + salt).sum();
        (0..sum * 37 % 101).for_each(|_| std::thread::yield_now());
        let sum: usize = mask.iter_ones().map(|i| i * i).sum();
        if sum % 5 == 1 { f64::NAN } else { score(mask) }
    }
}

/// All trials of a search in batches of 8.
fn search<O: Objective>(name: &str, objective: O) -> Vec<Trial> {
    let faults = Faults::Skip { most: BUDGET };
    let mut evaluator = Evaluator::new(objective).with_faults(faults);
    if name == "staged" {
        let settings = StagedSettings::new(0.5, BUDGET).batch(8);
        staged::search(&mut evaluator, &Blocks::uniform(4, 4).unwrap(), &settings).unwrap();
    } else {
        let space = Space::exactly(DIM, 8).unwrap();
        let mut solver = solver(name, &space, BUDGET, 1);
        let plan = Plan {
            budget: BUDGET,
            seed: 1,
            settings: json!(null),
            admissible: space,
        };
        evaluator.start(plan).unwrap();
        // A mask with a score, so that faults can be skipped from the first batch on.
        evaluator.evaluate(&[Mask::zeros(DIM)]).unwrap();
        drive(&mut evaluator, solver.as_mut(), BUDGET, 8).unwrap();
    }
    assert!(evaluator.skipped() > 0, "{name}");
    evaluator.trials().to_vec()
}

#[test]
fn results_depend_neither_on_the_number_of_workers_nor_on_who_ends_first() {
    for name in ["staged"].into_iter().chain(SOLVERS) {
        let expected = search(name, from_fn(DIM, slow(0)));
        for workers in WORKERS {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(workers);
            let threads = threads.build().unwrap();
            for salt in 0..3 {
                let function = threads.install(|| search(name, from_sync_fn(DIM, slow(salt))));
                assert_eq!(function, expected, "{name}, {workers} threads");
                let objectives = (0..workers).map(|_| from_fn(DIM, slow(salt))).collect();
                let pool = Pool::new(objectives).unwrap();
                let pool = threads.install(|| search(name, pool));
                assert_eq!(pool, expected, "{name}, {workers} workers");
            }
        }
    }
}

#[test]
fn workers_of_different_dimensions_are_refused_and_so_are_none() {
    let worker = |dim| from_fn(dim, score as fn(&Mask) -> f64);
    assert!(Pool::new(vec![worker(3), worker(4)]).is_err());
    assert!(Pool::new(vec![worker(3)].split_off(1)).is_err());
}
