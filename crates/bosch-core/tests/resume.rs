//! No evaluation that was paid for is lost, wherever a search is cut, killed or damaged.

#![allow(clippy::unwrap_used)] // in helpers of tests

mod common;

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use bosch_core::{Evaluator, LocalSearch, Mask, Space, from_fn, from_sync_fn, maximize};
use common::{SEARCHES, run, score};
use serde_json::{Value, json};

const DIM: usize = 12;
const BUDGET: usize = 30;

/// The result of a search on the trace at `path`, and the evaluations that it paid for.
fn search(name: &str, path: &Path) -> (Vec<(Mask, f64)>, usize) {
    let calls = Cell::new(0);
    let objective = from_fn(DIM, |mask: &Mask| {
        calls.set(calls.get() + 1);
        score(mask)
    });
    let mut evaluator = Evaluator::new(objective).with_trace(path, json!({"model": "m"}));
    let result = run(name, &mut evaluator, BUDGET, 1).unwrap();
    (result, calls.get())
}

fn evaluations(trace: &[u8]) -> usize {
    let lines = trace.iter().filter(|&&byte| byte == b'\n').count();
    lines.saturating_sub(1)
}

#[test]
fn a_trace_cut_at_any_byte_leads_to_the_same_result() {
    for name in SEARCHES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let (expected, paid) = search(name, &path);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(evaluations(&whole), paid, "{name}");
        for cut in 0..=whole.len() {
            // A new file: some file systems wait for the disk where one is truncated.
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, &whole[..cut]).unwrap();
            let kept = evaluations(&whole[..cut]);
            let again = search(name, &path);
            assert_eq!(
                again,
                (expected.clone(), paid - kept),
                "{name}, cut at {cut}"
            );
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{name}, cut at {cut}");
        }
    }
}

/// What the child process of the next test runs; alone it does nothing.
#[test]
fn child() {
    let Some(path) = std::env::var_os("BOSCH_TEST_TRACE") else {
        return;
    };
    let name = std::env::var("BOSCH_TEST_SEARCH").unwrap();
    let objective = from_fn(DIM, |mask: &Mask| {
        println!("\nevaluating {mask}");
        score(mask)
    });
    let mut evaluator = Evaluator::new(objective).with_trace(path, json!({"model": "m"}));
    run(&name, &mut evaluator, BUDGET, 1).unwrap();
}

#[test]
fn a_killed_process_is_continued_to_the_same_result() {
    for name in SEARCHES {
        let dir = tempfile::tempdir().unwrap();
        let expected = search(name, &dir.path().join("whole.jsonl"));
        for last in [1, 2, 7, 20] {
            let path = dir.path().join(format!("{last}.jsonl"));
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child", "--nocapture"])
                .env("BOSCH_TEST_TRACE", &path)
                .env("BOSCH_TEST_SEARCH", name)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // It is killed (SIGKILL on Unix) at some moment after it has begun evaluation `last`.
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let evaluating = lines.filter(|line| line.as_ref().unwrap().starts_with("evaluating"));
            assert_eq!(evaluating.take(last).count(), last, "{name}");
            child.kill().unwrap();
            child.wait().unwrap();
            let kept = evaluations(&std::fs::read(&path).unwrap());
            assert!(kept + 1 >= last, "{name}: {kept} kept, {last} begun");
            let (result, paid) = search(name, &path);
            assert_eq!((result, paid + kept), expected, "{name}, killed in {last}");
        }
    }
}

#[test]
fn a_trace_of_another_run_is_refused_with_the_difference_named() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, dim: usize, budget: usize, seed: u64, context: Value| {
        let path = dir.path().join("t.jsonl");
        let mut evaluator = Evaluator::new(from_sync_fn(dim, score)).with_trace(&path, context);
        let result = run(name, &mut evaluator, budget, seed);
        result.map_err(|error| error.to_string())
    };
    let context = || json!({"model": "m"});
    refused("LocalSearch", DIM, BUDGET, 1, context()).unwrap();
    for (result, part) in [
        (
            refused("Lns", DIM, BUDGET, 1, context()),
            "settings.search.solver.name: expected \"Lns\", found \"LocalSearch\"",
        ),
        (
            refused("LocalSearch", DIM, BUDGET, 2, context()),
            "seed: expected 2, found 1",
        ),
        (
            refused("LocalSearch", DIM, 31, 1, context()),
            "settings.search.budget: expected 31, found 30",
        ),
        (
            refused("LocalSearch", 16, BUDGET, 1, context()),
            "dim: expected 16, found 12",
        ),
        (
            refused("LocalSearch", DIM, BUDGET, 1, json!({"model": "n"})),
            "settings.context.model: expected \"n\", found \"m\"",
        ),
        (
            refused("LocalSearch", DIM, BUDGET, 1, json!({})),
            "settings.context.model: expected nothing, found \"m\"",
        ),
    ] {
        let text = result.unwrap_err();
        assert!(text.contains("line 1") && text.contains(part), "{text}");
    }
    let path = dir.path().join("t.jsonl");
    let newer = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        newer.replace("\"bosch_trace\":1", "\"bosch_trace\":2"),
    )
    .unwrap();
    let text = refused("LocalSearch", DIM, BUDGET, 1, context()).unwrap_err();
    assert!(text.contains("bosch_trace: expected 1, found 2"), "{text}");
}

#[test]
fn a_trace_of_another_space_is_refused_with_the_difference_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let search = |space: Space| {
        let mut evaluator = Evaluator::new(from_sync_fn(DIM, score)).with_trace(&path, Value::Null);
        let mut solver = LocalSearch::new(space.clone(), 1);
        let best = maximize(&mut evaluator, &mut solver, &space, BUDGET);
        best.map_err(|error| error.to_string())
    };
    let space = |ones: usize| Space::exactly(DIM, ones).unwrap();
    search(space(6)).unwrap();
    let text = search(space(5)).unwrap_err();
    let part = "settings.space.ones: expected [5], found [6]";
    assert!(text.contains(part), "{text}");
    let text = search(space(6).fix(&[(1, true)]).unwrap()).unwrap_err();
    let part = "settings.space.fixed: expected \"-1----------\", found \"------------\"";
    assert!(text.contains(part), "{text}");
}
