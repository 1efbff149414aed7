//! What racing saves on a noisy objective, and that it can be resumed.

#![allow(clippy::unwrap_used)] // in helpers of tests

use std::convert::Infallible;

use bosch_core::{
    Evaluator, LocalSearch, Mask, Objective, Raced, Repeated, Rng, Space, from_fn, maximize,
};

const DIM: usize = 40;
const ONES: usize = 20;
const REPEATS: usize = 32;
const SEEDS: u64 = 20;

/// Weights, and a loss for neighbours.
fn true_score(mask: &Mask) -> f64 {
    let weights: f64 = mask.iter_ones().map(|i| (i * 17 % DIM) as f64).sum();
    let pairs = (1..DIM).filter(|&i| mask.get(i) && mask.get(i - 1)).count();
    weights - 8.0 * pairs as f64
}

/// The true score of the mask found, and the evaluations of single samples that it cost.
fn search(noise: f64, seed: u64, race: bool) -> (f64, usize) {
    let (mut rng, mut samples) = (Rng::stream(seed, "noise"), 0);
    let noisy = from_fn(DIM, |mask: &Mask| {
        samples += 1;
        true_score(mask) + noise * rng.normal()
    });
    let full = Repeated::new(noisy, REPEATS);
    let objective: Box<dyn Objective<Error = _> + '_> = match race {
        true => Box::new(Raced::new(full)),
        false => Box::new(full),
    };
    let space = Space::exactly(DIM, ONES).unwrap();
    let mut solver = LocalSearch::new(space.clone(), seed);
    let best = maximize(&mut Evaluator::new(objective), &mut solver, &space, 600).unwrap();
    (true_score(&best.mask), samples)
}

#[test]
fn racing_halves_the_samples_at_the_same_final_quality() {
    for noise in [5.0, 20.0, 60.0] {
        let mut quality = [0.0; 2];
        let mut samples = [0; 2];
        for seed in 0..SEEDS {
            for race in [false, true] {
                let (score, cost) = search(noise, seed, race);
                quality[usize::from(race)] += score / SEEDS as f64;
                samples[usize::from(race)] += cost;
            }
        }
        println!("noise {noise}: quality {quality:?}, samples {samples:?}");
        assert!(2 * samples[1] <= samples[0], "samples {samples:?}");
        // Within 1 % of the full evaluations' quality.
        assert!(quality[1] >= 0.99 * quality[0], "quality {quality:?}");
    }
}

/// Samples with noise that belongs to mask and sample.
struct Samples;

impl Objective for Samples {
    type Error = Infallible;

    fn dim(&self) -> usize {
        DIM
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, Infallible> {
        self.score_partial(mask, 1.0)
    }

    fn score_partial(&mut self, mask: &Mask, fraction: f64) -> Result<f64, Infallible> {
        let count = (fraction * REPEATS as f64) as usize;
        let mut rng = Rng::stream(1, &mask.to_string());
        let noise: f64 = (0..count).map(|_| 20.0 * rng.normal()).sum();
        Ok(true_score(mask) + noise / count as f64)
    }
}

#[test]
fn a_race_resumed_after_any_evaluation_ends_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let search = || {
        let objective = Raced::new(Samples);
        let mut evaluator = Evaluator::new(objective).with_trace(&path, serde_json::json!(0));
        let space = Space::exactly(DIM, ONES).unwrap();
        let mut solver = LocalSearch::new(space.clone(), 1);
        maximize(&mut evaluator, &mut solver, &space, 100).unwrap();
        evaluator.trials().to_vec()
    };
    let expected = search();
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for kept in 0..lines.len() {
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, lines[..kept].concat()).unwrap();
        assert_eq!(search(), expected, "{kept} lines kept");
    }
}
