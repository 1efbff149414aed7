//! The optimiser's own time for each evaluation, on an objective that costs next to nothing.
//!
//! ```text
//! cargo run -p bosch-examples --example search_overhead
//! ```

use std::time::{Duration, Instant};

use bosch::core::{Blocks, Error, Evaluator, Mask, Portfolio, Space, from_fn, maximize};

const BUDGET: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "own time for each of {BUDGET} evaluations, in microseconds, half of the variables set"
    );
    println!("variables   median     mean   95 %");
    for (layers, groups) in [(30, 3), (28, 8), (40, 25)] {
        let mut gaps = gaps(&Blocks::uniform(layers, groups)?)?;
        gaps.sort();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let mean = micros(gaps.iter().sum::<Duration>()) / gaps.len() as f64;
        let at = |share: f64| micros(gaps[(share * (gaps.len() - 1) as f64) as usize]);
        let (median, most) = (at(0.5), at(0.95));
        println!("{:9} {median:8.0} {mean:8.0} {most:6.0}", layers * groups);
    }
    Ok(())
}

/// The time from the end of each evaluation to the start of the next.
fn gaps(blocks: &Blocks) -> Result<Vec<Duration>, Error<std::convert::Infallible>> {
    let dim = blocks.dim();
    let space = Space::exactly(dim, dim / 2)?;
    let mut solver = Portfolio::new(space.clone(), blocks, BUDGET, 1)?;
    let mut gaps = Vec::with_capacity(BUDGET);
    let mut last = Instant::now();
    let objective = from_fn(dim, |mask: &Mask| {
        gaps.push(last.elapsed());
        let score = -mask.iter_ones().map(|i| (i * 37 % 101) as f64).sum::<f64>();
        last = Instant::now();
        score
    });
    maximize(&mut Evaluator::new(objective), &mut solver, &space, BUDGET)?;
    Ok(gaps)
}
