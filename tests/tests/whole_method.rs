//! The whole method on a model of which the right answer is known, without libtorch.
#![allow(clippy::unwrap_used)] // in helpers of tests a panic is the message

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};

use bosch::core::{Error, StagedSettings};
use bosch::{SelectSettings, Selected, Selection, select_heads};
use bosch_tests::{Fault, PlantedError, PlantedModel, samples};

fn settings(trace: Option<&Path>) -> SelectSettings {
    let search = StagedSettings::new(0.75, 120).seed(3);
    SelectSettings {
        trace: trace.map(Into::into),
        ..SelectSettings::new("planted", search)
    }
}

fn select(
    model: &mut PlantedModel,
    settings: &SelectSettings,
) -> Result<Selected, Error<PlantedError>> {
    select_heads(model, &samples(1).unwrap(), settings, |_| {
        ControlFlow::Continue(())
    })
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn the_planted_heads_stay_full() {
    let mask = select(&mut PlantedModel::new(), &settings(None))
        .unwrap()
        .outcome
        .mask;
    assert_eq!(mask.count_ones(), 18);
    assert!(
        PlantedModel::RETRIEVING
            .iter()
            .all(|group| !mask.get(*group)),
        "{mask}"
    );
    assert!(
        PlantedModel::EITHER.iter().any(|group| !mask.get(*group)),
        "{mask}"
    );
}

#[test]
fn a_selection_comes_back_from_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let selection = select(&mut PlantedModel::new(), &settings(None))
        .unwrap()
        .selection;
    selection
        .save(&folder.path().join("selection.json"))
        .unwrap();
    selection.save_duo_attention(folder.path()).unwrap();
    assert_eq!(
        Selection::load(&folder.path().join("selection.json")).unwrap(),
        selection
    );
    let duo = Selection::load_duo_attention(folder.path(), 8, None).unwrap();
    assert_eq!(
        (duo.mask(), duo.grid()),
        (selection.mask(), selection.grid())
    );
}

#[test]
fn a_fault_keeps_the_trace_and_the_search_goes_on_from_it() {
    let undisturbed = select(&mut PlantedModel::new(), &settings(None)).unwrap();
    for at in [1, 2, 3, 20, 60, 119] {
        for fault in [Fault::Error(at), Fault::Nan(at), Fault::Panic(at)] {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("trace.jsonl");
            let mut model = PlantedModel {
                fault: Some(fault),
                ..PlantedModel::new()
            };
            let error = select(&mut model, &settings(Some(&trace))).unwrap_err();
            let is_typed = match fault {
                Fault::Error(_) => matches!(
                    error,
                    Error::Objective {
                        source: PlantedError,
                        ..
                    }
                ),
                Fault::Nan(_) => matches!(error, Error::Answer { .. }),
                Fault::Panic(_) => matches!(error, Error::Panicked { .. }),
            };
            assert!(is_typed, "{fault:?}: {error:?}");
            assert_eq!(
                lines(&trace),
                1 + (at - 1),
                "{fault:?}: the header and what was paid for"
            );

            let mut model = PlantedModel::new();
            let resumed = select(&mut model, &settings(Some(&trace))).unwrap();
            assert_eq!(resumed.outcome.mask, undisturbed.outcome.mask);
            assert_eq!(
                model.evaluations,
                undisturbed.outcome.evaluations - (at - 1)
            );
        }
    }
}

#[test]
fn a_killed_search_goes_on_and_ends_on_the_same_mask() {
    let folder = tempfile::tempdir().unwrap();
    let search = |trace: &Path, pause: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_slow_search"));
        command.arg(trace).arg(pause).stdout(Stdio::piped());
        command
    };
    let output = search(&folder.path().join("undisturbed.jsonl"), "0")
        .output()
        .unwrap();
    let undisturbed = String::from_utf8(output.stdout).unwrap();

    let trace = folder.path().join("killed.jsonl");
    for more in [5, 31] {
        let before = lines(&trace);
        let mut child = search(&trace, "20").spawn().unwrap();
        while lines(&trace) < before + more {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it should be killed before its end"
            );
            std::thread::yield_now();
        }
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
    }
    let kept = lines(&trace);
    let output = search(&trace, "0").output().unwrap();
    let resumed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(resumed.lines().last(), undisturbed.lines().last());
    let paid: usize = resumed.split(' ').next().unwrap().parse().unwrap();
    // The last line may be a torn one.
    assert!(
        (120 - (kept - 1)..=120 - (kept - 2)).contains(&paid),
        "{paid} paid, {kept} lines kept"
    );
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_paid() {
    for ratio in [-0.1, 1.5, f64::NAN, f64::INFINITY, 0.0, 1.0, 0.01, 0.99] {
        let mut model = PlantedModel::new();
        let settings = SelectSettings::new("planted", StagedSettings::new(ratio, 120));
        let error = select(&mut model, &settings).unwrap_err();
        assert!(matches!(error, Error::Input(_)), "{ratio}: {error:?}");
        assert_eq!(model.evaluations, 0);
    }
    let error = select_heads(&mut PlantedModel::new(), &[], &settings(None), |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "samples: expected at least one, found none"
    );
}

#[test]
fn a_trace_of_other_samples_or_settings_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsonl");
    select(&mut PlantedModel::new(), &settings(Some(&trace))).unwrap();
    let before = fs::read(&trace).unwrap();

    let other = samples(2).unwrap();
    let error = select_heads(
        &mut PlantedModel::new(),
        &other,
        &settings(Some(&trace)),
        |_| ControlFlow::Continue(()),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("fingerprint"), "{error}");

    let search = StagedSettings::new(0.5, 120).seed(3);
    let settings = SelectSettings {
        search,
        ..settings(Some(&trace))
    };
    let error = select(&mut PlantedModel::new(), &settings)
        .unwrap_err()
        .to_string();
    assert!(error.contains("ratio"), "{error}");
    assert_eq!(
        fs::read(&trace).unwrap(),
        before,
        "the trace is left as it was"
    );
}
