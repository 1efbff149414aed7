//! Scores predictions that some other program made.
//!
//!     cargo run -p bosch-examples --example score_predictions -- cases.jsonl
//!     cargo run -p bosch-examples --example score_predictions -- --task hotpotqa pred.jsonl
//!
//! Lines with `metric`, `prediction`, `ground_truths` and `all_classes` come back with `score`: 0..1
//! and not rounded, except that `string_match_all` and `string_match_part` are given as RULER prints
//! them for a data set of this one sample, 0..100 with two decimals. A line that has no score comes
//! back with `score` null and `error`.
//!
//! With `--task`, or where lines have `pred` and the file is named after a task as LongBench does,
//! the whole file is one data set and its score and its scores by length are printed, 0..100.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bosch::eval::longbench::{Dataset, Prediction, scorer, scorer_e};
use bosch::eval::{Case, Metric, parse_json_line, score_all};
use clap::Parser;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

#[derive(Parser)]
#[command(about = "Scores predictions with the metrics of LongBench, RULER and GSM8K")]
struct Arguments {
    /// File of JSON lines; "-" is standard input.
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Take the file for LongBench predictions of this task.
    #[arg(long)]
    task: Option<String>,
    /// Say on standard error how long the scoring took.
    #[arg(long)]
    time: bool,
}

type Failure = Box<dyn std::error::Error>;

/// The fields of a line, each as it stands there.
type Fields = BTreeMap<String, Box<RawValue>>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("score_predictions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = read(&arguments.file)?;
    let started = Instant::now();
    let output = match dataset(arguments, &text)? {
        Some(dataset) => score_file(dataset, &text)?,
        None => score_lines(&text)?,
    };
    if arguments.time {
        eprintln!("scored in {:.3} s", started.elapsed().as_secs_f64());
    }
    std::io::stdout().write_all(output.as_bytes())?;
    Ok(())
}

fn read(file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The data set that the whole file is about, if it is about one.
fn dataset(arguments: &Arguments, text: &str) -> Result<Option<&'static Dataset>, Failure> {
    if let Some(name) = &arguments.task {
        let unknown = || format!("--task: expected one of LongBench's 21 data sets, found {name}");
        return Ok(Some(Dataset::from_name(name).ok_or_else(unknown)?));
    }
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let fields: Fields = parse_json_line(first).unwrap_or_default();
    let stem = arguments
        .file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    match (fields.contains_key("pred"), Dataset::from_name(stem)) {
        (false, _) => Ok(None),
        (true, Some(dataset)) => Ok(Some(dataset)),
        (true, None) => Err("lines with \"pred\" need --task or a file named after a task".into()),
    }
}

fn score_file(dataset: &Dataset, text: &str) -> Result<String, Failure> {
    let mut predictions: Vec<Prediction> = Vec::new();
    for (i, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        predictions
            .push(parse_json_line(line).map_err(|error| format!("line {}: {error}", i + 1))?);
    }
    let result = json!({
        "task": dataset.name,
        "metric": dataset.metric,
        "samples": predictions.len(),
        "score": scorer(dataset, &predictions)?,
        "score_e": scorer_e(dataset, &predictions)?,
    });
    Ok(format!("{result}\n"))
}

fn score_lines(text: &str) -> Result<String, Failure> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    // An object first: serde would also take a list of the fields' values.
    let parse = |line: &&str| parse_json_line::<Fields>(line).and_then(|_| parse_json_line(line));
    let parsed: Vec<Result<Case, serde_json::Error>> = lines.iter().map(parse).collect();
    let cases: Vec<Case> = parsed.iter().flatten().cloned().collect();
    let mut scores = score_all(&cases).into_iter();
    let mut output = String::new();
    for (line, case) in lines.into_iter().zip(parsed) {
        let mut fields: Fields = parse_json_line(line).unwrap_or_default();
        let score = case.map_err(|error| error.to_string()).and_then(|case| {
            let score = scores
                .next()
                .ok_or("no score")?
                .map_err(|error| error.to_string())?;
            Ok(as_printed(case.metric, score))
        });
        fields.insert("score".to_owned(), to_raw_value(&score.as_ref().ok())?);
        fields.remove("error"); // of an earlier run
        if let Err(error) = score {
            fields.insert("error".to_owned(), to_raw_value(&error)?);
        }
        output.push_str(&serde_json::to_string(&fields)?);
        output.push('\n');
    }
    Ok(output)
}

/// RULER knows its metrics only as scores of data sets, in percent.
fn as_printed(metric: Metric, score: f64) -> f64 {
    match metric {
        Metric::StringMatchAll | Metric::StringMatchPart => {
            format!("{:.2}", 100.0 * score).parse().unwrap_or(score)
        }
        _ => score,
    }
}
