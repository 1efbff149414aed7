//! Runs the optimiser on one benchmark problem and speaks the benchmark's two protocols.
//!
//! With `--instance FILE` it reads a layered-heads instance, searches, and prints as its last line
//! `{"best": score, "evaluations": count, "z": "0101…"}`. With `--pipe` it prints one mask a line and
//! reads one score a line; `--ones -1` then leaves the number of ones free.
//!
//! ```text
//! optimize_instance --instance lh-n090-r750.json --budget 300 --seed 1
//! optimize_instance --pipe --n 90 --ones 68 --layers 30 --heads 3 --budget 300 --seed 1
//! ```

use std::io::{self, BufRead, Write};

use bosch::core::{
    Blocks, Evaluator, Mask, Objective, Portfolio, Space, Trial, from_fn, maximize, try_from_fn,
};
use bosch_examples::LayeredHeads;
use clap::Parser;
use serde_json::json;

type Fault = Box<dyn std::error::Error>;

/// One run of the optimiser on one problem.
#[derive(Parser)]
struct Arguments {
    /// A layered-heads instance.
    #[arg(long, conflicts_with = "pipe")]
    instance: Option<String>,
    /// Ask for scores on the standard output, read them from the standard input.
    #[arg(long)]
    pipe: bool,
    /// Number of variables (pipe).
    #[arg(long, default_value_t = 0)]
    n: usize,
    /// Number of ones, -1 if it is free (pipe).
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    ones: i64,
    /// Number of blocks (pipe).
    #[arg(long, default_value_t = 1)]
    layers: usize,
    /// Variables in each block (pipe).
    #[arg(long, default_value_t = 1)]
    heads: usize,
    /// Evaluations.
    #[arg(long)]
    budget: usize,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Fault> {
    let arguments = Arguments::parse();
    let (budget, seed) = (arguments.budget, arguments.seed);
    match &arguments.instance {
        Some(path) => {
            let instance = LayeredHeads::parse(&std::fs::read_to_string(path)?)?;
            let blocks = instance.blocks();
            let space = Space::exactly(blocks.dim(), instance.ones())?;
            let objective = from_fn(blocks.dim(), |mask: &Mask| instance.score(mask));
            let (best, evaluations) = search(objective, blocks, space, budget, seed)?;
            let z = best.mask.to_string();
            println!(
                "{}",
                json!({"best": best.score, "evaluations": evaluations, "z": z})
            );
        }
        None => {
            let fits = arguments.layers * arguments.heads == arguments.n;
            let blocks = match fits {
                true => Blocks::uniform(arguments.layers, arguments.heads)?,
                false => Blocks::uniform(1, arguments.n)?,
            };
            let space = match usize::try_from(arguments.ones) {
                Ok(ones) => Space::exactly(arguments.n, ones)?,
                Err(_) => Space::any(arguments.n),
            };
            let objective = try_from_fn(arguments.n, |mask: &Mask| ask(mask));
            // The other side may close the pipe at the budget: that is the end, not a failure.
            let _ = search(objective, &blocks, space, budget, seed);
        }
    }
    Ok(())
}

/// The best mask, and how many evaluations it took.
fn search<O: Objective>(
    objective: O,
    blocks: &Blocks,
    space: Space,
    budget: usize,
    seed: u64,
) -> Result<(Trial, usize), bosch::core::Error<O::Error>> {
    let mut evaluator = Evaluator::new(objective);
    let mut solver = Portfolio::new(space.clone(), blocks, budget, seed)?;
    let best = maximize(&mut evaluator, &mut solver, &space, budget)?;
    Ok((best, evaluator.evaluations()))
}

/// The score of a mask from the other side of the pipe.
fn ask(mask: &Mask) -> io::Result<f64> {
    println!("{mask}");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    line.trim()
        .parse()
        .map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))
}
