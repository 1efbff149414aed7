//! The whole trade-off between ratio and score in one run, compared with a run for each ratio that gets
//! an equal part of the same evaluations; then the highest ratio that keeps 95 % of the score.
//!
//! ```text
//! cargo run -p bosch-examples --example trade_off -- --model n064 --budget 1200
//! ```

use std::path::Path;

use bosch::core::pareto::{self, HighestSettings, ParetoSettings};
use bosch::core::{Evaluator, Mask, Portfolio, Space, Trial, from_fn, maximize};
use bosch_examples::LayeredHeads;
use clap::Parser;

type Fault = Box<dyn std::error::Error>;

/// Compares one run for all ratios with one for each.
#[derive(Parser)]
struct Arguments {
    /// A model of the layered-heads benchmark: n032, n064, n090, n224 or n768.
    #[arg(long, default_value = "n064")]
    model: String,
    /// Evaluations, for all ratios together.
    #[arg(long, default_value_t = 1200)]
    budget: usize,
    /// Seeds, from 1 on; the figures are medians over them.
    #[arg(long, default_value_t = 10)]
    seeds: u64,
}

const RATIOS: [f64; 4] = [0.25, 0.5, 0.75, 0.875];

fn main() -> Result<(), Fault> {
    let arguments = Arguments::parse();
    // The instances of a model differ in their number of ones alone.
    let instances = RATIOS
        .iter()
        .map(|ratio| read(&arguments.model, *ratio))
        .collect::<Result<Vec<_>, _>>()?;
    let budget = arguments.budget;
    let (mut shared, mut apart) = (
        vec![Vec::new(); RATIOS.len()],
        vec![Vec::new(); RATIOS.len()],
    );
    let mut highest = Vec::new();
    for seed in 1..=arguments.seeds {
        let (instance, blocks) = (&instances[0], instances[0].blocks());
        let objective = || from_fn(blocks.dim(), |mask: &Mask| instance.score(mask));
        let settings = ParetoSettings::new(&RATIOS, budget).seed(seed);
        let front = pareto::search(&mut Evaluator::new(objective()), blocks, &settings)?;
        for (at, (instance, trial)) in instances.iter().zip(&front.trials).enumerate() {
            shared[at].push(instance.regret(trial.score));
            let alone = search(instance, budget / RATIOS.len(), seed)?;
            apart[at].push(instance.regret(alone.score));
        }
        let settings = HighestSettings::new(0.95, budget).seed(seed);
        let front = pareto::highest(&mut Evaluator::new(objective()), blocks, &settings)?;
        let kept = front.most_that_keeps(0.95);
        highest.push(kept.map_or(0.0, |trial| {
            trial.mask.count_ones() as f64 / trial.mask.len() as f64
        }));
    }
    println!(
        "{}: median regret in % over {} seeds",
        arguments.model, arguments.seeds
    );
    println!(
        "ratio   one run of {budget}   four runs of {}",
        budget / RATIOS.len()
    );
    for (at, ratio) in RATIOS.iter().enumerate() {
        let (shared, apart) = (median(&mut shared[at]), median(&mut apart[at]));
        println!("{ratio:<5} {shared:14.1} {apart:17.1}");
    }
    let highest = median(&mut highest);
    println!("highest ratio found in a run of {budget} that keeps 95 % of the score: {highest:.3}");
    Ok(())
}

fn read(model: &str, ratio: f64) -> Result<LayeredHeads, Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark/open");
    let path = folder.join(format!("lh-{model}-r{:.0}.json", 1000.0 * ratio));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    LayeredHeads::parse(&text)
}

fn search(instance: &LayeredHeads, budget: usize, seed: u64) -> Result<Trial, Fault> {
    let (blocks, dim) = (instance.blocks(), instance.blocks().dim());
    let space = Space::exactly(dim, instance.ones())?;
    let mut solver = Portfolio::new(space.clone(), blocks, budget, seed)?;
    let mut evaluator = Evaluator::new(from_fn(dim, |mask: &Mask| instance.score(mask)));
    Ok(maximize(&mut evaluator, &mut solver, &space, budget)?)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) / 2.0
}
