//! The main job on a real model: choose the KV groups that become sliding-window attention, then
//! compare the choice with the baselines on samples that the search has not seen.
//!
//! `scripts/demo` sets everything up and runs this. Killed and started again with the same arguments,
//! it goes on from the trace in the output folder.

#[path = "select_heads/progress.rs"]
mod progress;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bosch::attn::Window;
use bosch::core::{Mask, StagedSettings};
use bosch::eval::niah::{Essay, Generator, NiahConfig, NiahSample, Subtask};
use bosch::plots::{Curve, convergence_svg, masks_svg};
use bosch::{
    CompareSettings, DecoderModel, Grid, HybridModel, LayerBaseline, Provenance, Row,
    SelectSettings, Selected, Selection, compare_masks, markdown_table, select_heads,
};
use clap::Parser;

use progress::Progress;

/// Choose the attention heads of a model that become sliding-window attention.
#[derive(Parser, Debug)]
struct Arguments {
    /// A GGUF file or a Hugging Face folder.
    #[arg(long)]
    model: PathBuf,
    /// Folder for the trace, the selection, the table and the pictures.
    #[arg(long, default_value = "demo-output")]
    output: PathBuf,
    /// Fraction of the KV groups that become windows.
    #[arg(long, default_value_t = 0.75)]
    ratio: f64,
    /// Tokens of a sample, its answer included.
    #[arg(long, default_value_t = 256)]
    tokens: usize,
    /// Sliding window in tokens.
    #[arg(long, default_value_t = 16)]
    window: usize,
    /// First positions that stay visible.
    #[arg(long, default_value_t = 4)]
    sinks: usize,
    /// Masks that the search may evaluate.
    #[arg(long, default_value_t = 260)]
    budget: usize,
    /// Samples that the search scores masks on.
    #[arg(long, default_value_t = 24)]
    calibration: usize,
    /// Samples of the final table; other seeds than the calibration's.
    #[arg(long, default_value_t = 48)]
    test: usize,
    /// Tokens that a sample's generation may take.
    #[arg(long, default_value_t = 16)]
    new_tokens: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Memory for stored layer inputs, in MiB.
    #[arg(long, default_value_t = 4096)]
    reuse_mib: usize,
    /// A text file or a folder of text files as the essay haystack, in place of the shipped text.
    #[arg(long)]
    haystack: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.output)?;
    let window = Window::new(arguments.window, arguments.sinks)?;
    let mut model = DecoderModel::load(&arguments.model, window)?;
    model.set_reuse_limit(arguments.reuse_mib << 20);
    let grid = model.grid();
    println!(
        "{}: {} layers of {} KV groups, W = {}, S = {}",
        arguments.model.display(),
        grid.layers,
        grid.groups,
        grid.window,
        grid.sinks
    );

    let calibration = samples(
        &arguments,
        &model,
        arguments.calibration,
        2 * arguments.seed,
    )?;
    let test = samples(&arguments, &model, arguments.test, 2 * arguments.seed + 1)?;
    let mut progress = Progress::new(grid);
    let started = Instant::now();
    let selected = search(&arguments, &mut model, &calibration, &mut progress)?;
    report_search(&selected, &model, started);
    let selection = &selected.selection;
    selection.save(&arguments.output.join("selection.json"))?;
    selection.save_duo_attention(&arguments.output.join("duo_attention"))?;

    let methods = methods(&arguments, grid, &selected, &progress)?;
    println!(
        "\n{} test samples of {} tokens, other seeds than calibration:",
        test.len(),
        arguments.tokens
    );
    let settings = CompareSettings {
        max_new_tokens: arguments.new_tokens,
        head_dim: model.config().head_dim,
        tokens: arguments.tokens,
        element_bytes: 4,
    };
    let rows = compare_masks(&mut model, &methods, &test, &settings, |row| {
        println!(
            "  {:<24} score {:.3}  exact match {:.2}",
            row.method,
            row.score(),
            row.exact_match()
        );
    })?;
    write_results(&arguments.output, &selected, &rows, &progress)?;
    println!(
        "\n{}\nWritten to {}: selection.json, duo_attention/, table.md, masks.svg, convergence.svg",
        markdown_table(&rows),
        arguments.output.display()
    );
    Ok(())
}

/// `count` samples, the subtasks in turn.
fn samples(
    arguments: &Arguments,
    model: &DecoderModel,
    count: usize,
    seed: u64,
) -> Result<Vec<NiahSample>, Box<dyn Error>> {
    let subtasks = [Subtask::Single1, Subtask::Single2, Subtask::MultiKey1];
    let essay = match &arguments.haystack {
        Some(path) => Essay::from_path(path)?,
        None => Essay::built_in(),
    };
    let mut streams = Vec::new();
    for (index, subtask) in subtasks.into_iter().enumerate() {
        let config = NiahConfig::new(subtask, arguments.tokens).new_tokens(arguments.new_tokens);
        let share = (count + subtasks.len() - 1 - index) / subtasks.len();
        let samples = Generator::new(config, essay.clone())?.samples(model, share, seed)?;
        streams.push(samples.into_iter());
    }
    Ok((0..count)
        .filter_map(|i| streams[i % subtasks.len()].next())
        .collect())
}

fn search(
    arguments: &Arguments,
    model: &mut DecoderModel,
    calibration: &[NiahSample],
    progress: &mut Progress,
) -> Result<Selected, Box<dyn Error>> {
    let settings = SelectSettings {
        trace: Some(arguments.output.join("trace.jsonl")),
        ..SelectSettings::new(
            arguments
                .model
                .file_name()
                .unwrap_or_default()
                .to_string_lossy(),
            StagedSettings::new(arguments.ratio, arguments.budget).seed(arguments.seed),
        )
    };
    Ok(select_heads(model, calibration, &settings, |event| {
        progress.hear(event)
    })?)
}

fn report_search(selected: &Selected, model: &DecoderModel, started: Instant) {
    let outcome = &selected.outcome;
    println!(
        "search: {} evaluations ({} from the trace) in {:.0} s, score {:.4} (full {:.4}, all windows {:.4})",
        outcome.evaluations,
        outcome.replayed,
        started.elapsed().as_secs_f64(),
        outcome.score,
        outcome.anchors.full,
        outcome.anchors.all
    );
    let work = model.layer_evaluations();
    println!(
        "layer evaluations: {:.0} computed, {:.0} saved by exact reuse ({:.2} times fewer)",
        work.done,
        work.saved,
        (work.done + work.saved) / work.done.max(1.0)
    );
}

/// Every mask of the table, by name.
fn methods(
    arguments: &Arguments,
    grid: Grid,
    selected: &Selected,
    progress: &Progress,
) -> Result<Vec<(String, Mask)>, Box<dyn Error>> {
    let layers = |baseline: LayerBaseline| baseline.mask(&grid, arguments.ratio);
    let mut methods = vec![
        ("full attention".to_string(), Mask::zeros(grid.dim())),
        ("all windows".into(), Mask::filled(grid.dim(), true)),
        (
            "RAND layers, seed 1".into(),
            layers(LayerBaseline::Random(1))?,
        ),
        (
            "RAND layers, seed 2".into(),
            layers(LayerBaseline::Random(2))?,
        ),
        ("INTR layers".into(), layers(LayerBaseline::Interleaved)?),
        ("BME layers".into(), layers(LayerBaseline::BeginMiddleEnd)?),
    ];
    if let Some(mask) = progress.ablation(selected.selection.mask().count_ones())? {
        methods.push(("single-group ablation".into(), mask));
    }
    methods.push(("bosch".into(), selected.selection.mask().clone()));
    Ok(methods)
}

fn write_results(
    output: &Path,
    selected: &Selected,
    rows: &[Row],
    progress: &Progress,
) -> Result<(), Box<dyn Error>> {
    fs::write(output.join("table.md"), markdown_table(rows))?;
    let grid = *selected.selection.grid();
    let selections = rows
        .iter()
        .skip(2) // full attention and all windows have nothing to see
        .map(|row| {
            let provenance = Provenance {
                method: row.method.clone(),
                ..Default::default()
            };
            Ok((
                row.method.as_str(),
                Selection::new(grid, row.mask.clone(), provenance)?,
            ))
        })
        .collect::<Result<Vec<_>, bosch::Error>>()?;
    let named: Vec<_> = selections
        .iter()
        .map(|(name, selection)| (*name, selection))
        .collect();
    fs::write(output.join("masks.svg"), masks_svg(&named)?)?;
    let curve = Curve {
        trials: progress.trials(),
        best: progress.best(),
        references: &[("full attention", selected.outcome.anchors.full)],
    };
    fs::write(
        output.join("convergence.svg"),
        convergence_svg("Search on the calibration samples", &curve)?,
    )?;
    Ok(())
}
