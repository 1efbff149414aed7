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
    Blocks, Evaluator, InvalidInput, Mask, Objective, Portfolio, Space, Trial, from_fn, maximize,
    try_from_fn,
};
use clap::Parser;
use serde_json::{Value, json};

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
            let instance = Instance::read(path)?;
            let blocks = Blocks::uniform(instance.layers, instance.heads)?;
            let space = Space::exactly(blocks.dim(), instance.ones)?;
            let objective = from_fn(blocks.dim(), |mask: &Mask| instance.score(mask));
            let (best, evaluations) = search(objective, &blocks, space, budget, seed)?;
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

/// A layered-heads instance: converting heads does damage, by weights, by pairs inside a layer up to
/// the layer's cap, and by pairs of different layers.
struct Instance {
    layers: usize,
    heads: usize,
    ones: usize,
    weights: Vec<i64>,
    caps: Vec<i64>,
    inside: Vec<[i64; 3]>,
    across: Vec<[i64; 3]>,
    half: i64,
    all: i64,
    levels: i64,
}

impl Instance {
    fn read(path: &str) -> Result<Self, Fault> {
        let value: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        if value["format"] != "layered-heads/1" {
            let found = &value["format"];
            return Err(InvalidInput::new("format", "layered-heads/1", found).into());
        }
        let pairs = |key: &str| serde_json::from_value::<Vec<[i64; 3]>>(value[key].clone());
        let numbers = |key: &str| serde_json::from_value::<Vec<i64>>(value[key].clone());
        let number = |key: &str| serde_json::from_value::<i64>(value[key].clone());
        let count = |key: &str| serde_json::from_value::<usize>(value[key].clone());
        Ok(Self {
            layers: count("layers")?,
            heads: count("heads")?,
            ones: count("target_ones")?,
            weights: numbers("w")?,
            caps: numbers("cap")?,
            inside: pairs("intra")?,
            across: [pairs("inter")?, pairs("redundant")?].concat(),
            half: number("K")?,
            all: number("d_all")?,
            levels: number("levels")?,
        })
    }

    fn damage(&self, mask: &Mask) -> i64 {
        let both = |pair: &&[i64; 3]| mask.get(pair[0] as usize) && mask.get(pair[1] as usize);
        let mut layers = vec![0; self.layers];
        mask.iter_ones()
            .for_each(|i| layers[i / self.heads] += self.weights[i]);
        for pair in self.inside.iter().filter(both) {
            layers[pair[0] as usize / self.heads] += pair[2];
        }
        let capped = layers
            .iter()
            .zip(&self.caps)
            .map(|(damage, &cap)| (*damage).clamp(0, cap));
        let across = self.across.iter().filter(both).map(|pair| pair[2]);
        (capped.sum::<i64>() + across.sum::<i64>()).max(0)
    }

    /// Two products and a division in this order, as the format demands, then the levels.
    fn score(&self, mask: &Mask) -> f64 {
        let damage = self.damage(mask);
        let square = |x: i64| (x * x) as f64;
        let (half, all, damage) = (square(self.half), square(self.all), square(damage));
        let score = (half * (all - damage)) / (all * (half + damage));
        match self.levels {
            0 => score,
            levels => (score * levels as f64).floor() / levels as f64,
        }
    }
}
