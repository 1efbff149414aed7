//! An objective of your own: which 6 of 24 features does a linear model need? No libtorch.
//!
//! The black box trains the model (least squares by coordinate descent) on the chosen features and
//! returns minus its error on held-out rows. The right answer is planted, so the result can be seen.

use std::convert::Infallible;

use bosch::core::{Blocks, Evaluator, Event, Mask, Objective, Rng, StagedSettings, staged};

const FEATURES: usize = 24;
const PLANTED: [usize; 6] = [1, 5, 8, 13, 17, 22];

struct FeatureSelection {
    /// Rows of features and their target; the first half is for training.
    rows: Vec<(Vec<f64>, f64)>,
}

impl FeatureSelection {
    fn new(rows: usize, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "example/rows");
        let rows = (0..rows).map(|_| {
            let features: Vec<f64> = (0..FEATURES).map(|_| rng.normal()).collect();
            let signal: f64 = PLANTED.iter().map(|i| features[*i]).sum();
            (features, signal + 0.3 * rng.normal())
        });
        Self {
            rows: rows.collect(),
        }
    }
}

impl Objective for FeatureSelection {
    type Error = Infallible;

    fn dim(&self) -> usize {
        FEATURES
    }

    fn score(&mut self, mask: &Mask) -> Result<f64, Infallible> {
        let (train, held_out) = self.rows.split_at(self.rows.len() / 2);
        let mut weights = [0.0; FEATURES];
        let residual = |weights: &[f64], (features, target): &(Vec<f64>, f64)| {
            target
                - weights
                    .iter()
                    .zip(features)
                    .map(|(w, x)| w * x)
                    .sum::<f64>()
        };
        for _ in 0..20 {
            for i in mask.iter_ones() {
                let pull: f64 = train
                    .iter()
                    .map(|row| residual(&weights, row) * row.0[i])
                    .sum();
                let norm: f64 = train.iter().map(|row| row.0[i] * row.0[i]).sum();
                weights[i] += pull / norm;
            }
        }
        let squares: f64 = held_out
            .iter()
            .map(|row| residual(&weights, row).powi(2))
            .sum();
        Ok(-squares / held_out.len() as f64)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut objective = FeatureSelection::new(200, 1);
    let mut evaluator = Evaluator::new(&mut objective).with_observer(|event| {
        if let Event::Improved { number, score, .. } = event {
            println!("evaluation {number:>3}: error {:.4}", -score);
        }
        std::ops::ControlFlow::Continue(())
    });
    // No layers here: one block holds all variables.
    let blocks = Blocks::uniform(1, FEATURES)?;
    let outcome = staged::search(
        &mut evaluator,
        &blocks,
        &StagedSettings::new(0.25, 150).seed(1),
    )?;
    let chosen: Vec<usize> = outcome.mask.iter_ones().collect();
    println!(
        "chosen {chosen:?} after {} evaluations; planted {PLANTED:?}",
        outcome.evaluations
    );
    assert_eq!(chosen, PLANTED);
    Ok(())
}
