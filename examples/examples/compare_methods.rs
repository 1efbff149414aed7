//! Every method at every ratio on one model: masks from calibration samples, scores on others.
//!
//! Killed and started again with the same arguments, it goes on where it was: the searches from their traces, the table
//! from its finished cells.
//!
//! ```text
//! cargo run -p bosch-examples --features torch --example compare_methods -- --model .models/SmolLM2-135M-Instruct.Q4_1.gguf
//! ```

#[path = "compare_methods/cells.rs"]
mod cells;
#[path = "compare_methods/methods.rs"]
mod methods;
#[path = "compare_methods/page.rs"]
mod page;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use bosch::attn::Window;
use bosch::eval::niah::{Essay, Generator, NiahConfig, NiahSample, Subtask};
use bosch::{CompareSettings, DecoderModel, HybridModel, compare_masks};
use clap::Parser;
use serde_json::json;

use cells::{Cell, Cells};
use methods::Candidate;

type Fault = Box<dyn std::error::Error>;

/// Compare all methods of choosing windows on a model.
#[derive(Parser, Debug)]
struct Arguments {
    /// A GGUF file or a Hugging Face folder.
    #[arg(long)]
    model: PathBuf,
    /// Folder for traces, rankings, cells, results.json, table.md and report.html.
    #[arg(long, default_value = "compare-output")]
    output: PathBuf,
    /// Fractions of the KV groups that become windows.
    #[arg(long, value_delimiter = ',', default_value = "0.25,0.5,0.75,0.875")]
    ratios: Vec<f64>,
    /// Tokens of a sample, its answer included.
    #[arg(long, default_value_t = 256)]
    tokens: usize,
    /// Sliding window in tokens.
    #[arg(long, default_value_t = 16)]
    window: usize,
    /// First positions that stay visible.
    #[arg(long, default_value_t = 4)]
    sinks: usize,
    /// Masks that each search may evaluate.
    #[arg(long, default_value_t = 260)]
    budget: usize,
    /// Samples that masks are chosen on.
    #[arg(long, default_value_t = 24)]
    calibration: usize,
    /// Samples that they are compared on.
    #[arg(long, default_value_t = 128)]
    test: usize,
    /// Seeds of what is random.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Tokens that a sample's generation may take.
    #[arg(long, default_value_t = 16)]
    new_tokens: usize,
    /// NIAH subtasks, in turn; the paper's six at first.
    #[arg(long, value_delimiter = ',')]
    subtasks: Vec<String>,
    /// Memory for stored layer inputs, in MiB.
    #[arg(long, default_value_t = 4096)]
    reuse_mib: usize,
}

fn main() -> Result<(), Fault> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.output)?;
    let window = Window::new(arguments.window, arguments.sinks)?;
    let mut model = DecoderModel::load(&arguments.model, window)?;
    model.set_reuse_limit(arguments.reuse_mib << 20);
    let calibration = samples(&arguments, &model, arguments.calibration, 2)?;
    let test = samples(&arguments, &model, arguments.test, 3)?;
    let settings = json!({
        "model": arguments.model.file_name().unwrap_or_default().to_string_lossy(),
        "grid": model.grid(),
        "tokens": arguments.tokens,
        "calibration": calibration.len(),
        "test": test.len(),
        "subtasks": subtasks(&arguments)?.map_names(),
        "new_tokens": arguments.new_tokens,
        "budget": arguments.budget,
    });
    let mut cells = Cells::open(&arguments.output.join("cells.jsonl"), &settings)?;
    let names = methods::names(arguments.seeds);
    let total = names.len() * arguments.ratios.len();
    let started = Instant::now();
    for (at, &ratio) in arguments.ratios.iter().enumerate() {
        for (index, name) in names.iter().enumerate() {
            if cells.get(ratio, name).is_none() {
                let candidate =
                    methods::candidate(name, ratio, &mut model, &calibration, &arguments)?;
                cells.push(cell(
                    &candidate, ratio, name, &mut model, &test, &arguments,
                )?)?;
            }
            if let Some(cell) = cells.get(ratio, name) {
                println!(
                    "[{}/{total}, {:.0} s] ρ = {ratio}: {name:<24} score {:.3}, exact match {:.2}",
                    at * names.len() + index + 1,
                    started.elapsed().as_secs_f64(),
                    cell.score(),
                    cell.exact_match(),
                );
            }
        }
    }
    page::write(
        &arguments.output,
        &settings,
        &model.grid(),
        &cells,
        (&arguments.ratios, &names),
    )?;
    println!(
        "Written to {}: results.json, table.md, report.html",
        arguments.output.display()
    );
    Ok(())
}

/// Evaluates a candidate on the test samples.
fn cell(
    candidate: &Candidate,
    ratio: f64,
    name: &str,
    model: &mut DecoderModel,
    test: &[NiahSample],
    arguments: &Arguments,
) -> Result<Cell, Fault> {
    let settings = CompareSettings {
        max_new_tokens: arguments.new_tokens,
        head_dim: model.config().head_dim,
        tokens: arguments.tokens,
        element_bytes: 4,
    };
    let methods = [(name.to_owned(), candidate.mask.clone())];
    let rows = compare_masks(model, &methods, test, &settings, |_| ())?;
    let row = rows.into_iter().next().ok_or("no row for a mask")?;
    Ok(Cell {
        ratio,
        method: name.to_owned(),
        mask: row.mask,
        log_probabilities: row.log_probabilities,
        matches: row.matches,
        kv_bytes: row.kv_bytes,
        evaluations: candidate.evaluations,
        layer_evaluations: candidate.layer_evaluations,
        seconds: candidate.seconds,
    })
}

/// The subtasks that the arguments name.
struct Subtasks(Vec<Subtask>);

impl Subtasks {
    fn map_names(&self) -> Vec<&'static str> {
        self.0.iter().map(|subtask| subtask.name()).collect()
    }
}

fn subtasks(arguments: &Arguments) -> Result<Subtasks, Fault> {
    if arguments.subtasks.is_empty() {
        return Ok(Subtasks(Subtask::PAPER.to_vec()));
    }
    let named = |name: &String| {
        let all = Subtask::ALL.map(Subtask::name).join(", ");
        Subtask::from_name(name)
            .ok_or_else(|| format!("subtask {name}: expected one of {all}").into())
    };
    Ok(Subtasks(
        arguments
            .subtasks
            .iter()
            .map(named)
            .collect::<Result<_, Fault>>()?,
    ))
}

/// `count` samples, the subtasks in turn.
fn samples(
    arguments: &Arguments,
    model: &DecoderModel,
    count: usize,
    seed: u64,
) -> Result<Vec<NiahSample>, Fault> {
    let Subtasks(subtasks) = subtasks(arguments)?;
    let mut streams = Vec::new();
    for (index, &subtask) in subtasks.iter().enumerate() {
        let config = NiahConfig::new(subtask, arguments.tokens).new_tokens(arguments.new_tokens);
        let share = (count + subtasks.len() - 1 - index) / subtasks.len();
        let samples = Generator::new(config, Essay::built_in())?.samples(model, share, seed)?;
        streams.push(samples.into_iter());
    }
    Ok((0..count)
        .filter_map(|i| streams[i % subtasks.len()].next())
        .collect())
}
