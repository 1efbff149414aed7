//! Any bytes as a trace, alone and behind a sound header: an error, or a run that goes on and can be read again.
#![no_main]

use std::fs;
use std::path::Path;

use bosch_core::{Error, Evaluator, Mask, Plan, Space, from_fn};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

type Failure = Error<std::convert::Infallible>;

/// Replays what the trace at `path` holds and evaluates up to `budget` masks of two bits.
fn run(path: &Path, budget: usize) -> Result<(), Failure> {
    let space = Space::any(2);
    let objective = from_fn(2, |mask: &Mask| mask.count_ones() as f64);
    let mut evaluator = Evaluator::new(objective).with_trace(path, Value::Null);
    evaluator.start(Plan {
        budget,
        seed: 0,
        settings: Value::Null,
        admissible: space.clone(),
    })?;
    for mask in space.enumerate() {
        evaluator.evaluate(&[mask])?;
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("trace.jsonl");
    run(&path, 0).expect("a new trace is written");
    let header = fs::read(&path).expect("the new trace is read");
    for start in [&[], header.as_slice()] {
        fs::write(&path, [start, bytes].concat()).expect("a temporary file is written");
        if run(&path, 4).is_ok() {
            run(&path, 4).expect("a trace that was continued is read again");
        }
    }
});
