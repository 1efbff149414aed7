//! `evaluate`: events, batches, errors of single samples, resuming.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::ops::ControlFlow;

use bosch_eval::gsm8k::{Gsm8k, Gsm8kFilter, Gsm8kQuestion};
use bosch_eval::longbench::read_predictions;
use bosch_eval::niah::{
    Depth, Essay, Generator, GridSettings, Niah, NiahConfig, NiahGrid, Subtask,
};
use bosch_eval::{
    BoxError, Error, EvaluateSettings, Event, Generation, Prompt, Question, TextModel, evaluate,
};

#[derive(Debug, thiserror::Error)]
#[error("out of memory")]
struct OutOfMemory;

/// Finds needles that it can see, but fails on prompts with a certain text and counts its calls.
struct Reader {
    fails_on: &'static str,
    batches: Vec<usize>,
}

impl TextModel for Reader {
    type Error = OutOfMemory;

    fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, OutOfMemory> {
        self.batches.push(prompts.len());
        let answer = |prompt: &Prompt| {
            let text = prompt.to_text();
            if text.contains(self.fails_on) {
                return Err(OutOfMemory);
            }
            let key = text
                .rsplit(" for ")
                .next()
                .and_then(|rest| rest.split(' ').next());
            let needle = format!(" for {} is: ", key.unwrap_or_default());
            let found = text
                .split(&needle)
                .nth(1)
                .and_then(|rest| rest.split('.').next());
            Ok(format!(": {}", found.unwrap_or("I see none")))
        };
        prompts.iter().map(answer).collect()
    }

    fn answer_log_probabilities(
        &mut self,
        questions: &[Question],
    ) -> Result<Vec<f64>, OutOfMemory> {
        Ok(vec![0.0; questions.len()])
    }
}

const NOTHING: &str = "\u{10ffff}";

fn reader(fails_on: &'static str) -> Reader {
    Reader {
        fails_on,
        batches: Vec::new(),
    }
}

fn words(prompt: &Prompt) -> Result<usize, BoxError> {
    Ok(prompt.to_text().split_whitespace().count())
}

fn niah(count: usize) -> Niah {
    let generator = Generator::new(NiahConfig::new(Subtask::MultiKey1, 400), Essay::built_in());
    Niah::new(
        "niah_multikey_1",
        generator.unwrap().samples(&words, count, 1).unwrap(),
        16,
    )
}

fn gsm8k(questions: &[&str]) -> Gsm8k {
    let question = |text: &&str| Gsm8kQuestion {
        question: (*text).into(),
        answer: "#### 1".into(),
    };
    Gsm8k::new(
        questions.iter().map(question).collect(),
        &[],
        Gsm8kFilter::Flexible,
    )
}

fn go_on(_: &Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_model_that_reads_finds_every_needle_in_batches() {
    let mut model = reader(NOTHING);
    let mut seen = Vec::new();
    let settings = EvaluateSettings::default().batch(4);
    let evaluation = evaluate(&mut model, &niah(10), &settings, |event| {
        if let Event::Sample { done, total, .. } = event {
            seen.push((*done, *total));
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(
        (evaluation.score(), evaluation.failed(), evaluation.missing),
        (Some(100.0), 0, 0)
    );
    assert_eq!(model.batches, [4, 4, 2]);
    assert_eq!(seen, (1..=10).map(|i| (i, 10)).collect::<Vec<_>>());
}

#[test]
fn the_error_of_a_sample_is_recorded_counted_and_not_a_zero() {
    let task = gsm8k(&["one?", "two?", "bad!", "four?"]);
    let settings = EvaluateSettings::default().batch(4);
    let evaluation = evaluate(&mut reader("bad!"), &task, &settings, go_on).unwrap();
    assert_eq!(evaluation.failed(), 1);
    let record = &evaluation.records[2];
    assert_eq!(
        (record.score, record.error.as_deref()),
        (None, Some("out of memory"))
    );
    assert_eq!(
        evaluation
            .records
            .iter()
            .filter(|record| record.score.is_some())
            .count(),
        3
    );
    let all_bad = evaluate(&mut reader("?"), &gsm8k(&["a?"]), &settings, go_on).unwrap();
    assert_eq!(all_bad.score(), None);
}

#[test]
fn a_stopped_or_killed_evaluation_goes_on_where_it_was() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    let stop_after_3 = |event: &Event<'_>| match event {
        Event::Sample { done: 3, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let first = evaluate(&mut reader(NOTHING), &niah(8), &settings, stop_after_3).unwrap();
    assert_eq!((first.records.len(), first.missing), (3, 5));

    // Half a line, as a killed process leaves it.
    let mut text = std::fs::read_to_string(file.path()).unwrap();
    text.push_str("{\"task\":\"niah_mul");
    std::fs::write(file.path(), text).unwrap();
    let mut model = reader(NOTHING);
    let resumed = evaluate(&mut model, &niah(8), &settings, go_on).unwrap();
    assert_eq!(model.batches.len(), 5);
    let whole = evaluate(
        &mut reader(NOTHING),
        &niah(8),
        &EvaluateSettings::default(),
        go_on,
    )
    .unwrap();
    assert_eq!(resumed, whole);
    assert_eq!(read_predictions(file.path()).unwrap().len(), 8);
}

#[test]
fn a_results_file_cut_at_any_byte_keeps_its_whole_lines_and_is_completed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    let task = gsm8k(&["one?", "two 二?", "three?"]);
    let whole = evaluate(&mut reader(NOTHING), &task, &settings, go_on).unwrap();
    let bytes = std::fs::read(file.path()).unwrap();
    for cut in 0..=bytes.len() {
        std::fs::write(file.path(), &bytes[..cut]).unwrap();
        let mut model = reader(NOTHING);
        let resumed = evaluate(&mut model, &task, &settings, go_on).unwrap();
        let kept = bytes[..cut].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(model.batches.len(), 3 - kept, "cut at {cut}");
        assert_eq!(resumed, whole, "cut at {cut}");
        assert_eq!(std::fs::read(file.path()).unwrap(), bytes, "cut at {cut}");
    }
}

#[test]
fn a_file_that_is_no_results_file_is_refused_and_left_alone() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    let task = gsm8k(&["one?"]);
    evaluate(&mut reader(NOTHING), &task, &settings, go_on).unwrap();
    let whole = std::fs::read_to_string(file.path()).unwrap();
    let foreign = [
        "my notes",
        "my notes\n",
        "\n",
        "[1, 2]",
        "{\"task\":\"gsm8k\",\"idx",
        "{\"task\":\"niah\",\"ind",
        "\0\0\0",
    ];
    let after_records = foreign.map(|text| format!("{whole}{text}"));
    for text in foreign.map(str::to_owned).into_iter().chain(after_records) {
        std::fs::write(file.path(), &text).unwrap();
        let error = evaluate(&mut reader(NOTHING), &task, &settings, go_on).unwrap_err();
        let Error::Format { line, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(line, if text.starts_with(&whole) { 2 } else { 1 }, "{text}");
        assert!(error.to_string().contains("gsm8k"), "{error}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
    }
}

#[test]
fn a_results_file_in_use_or_no_regular_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    let task = gsm8k(&["one?"]);
    evaluate(&mut reader(NOTHING), &task, &settings, |_| {
        let again = evaluate(&mut reader(NOTHING), &task, &settings, go_on);
        assert!(matches!(again, Err(Error::Io { .. })));
        ControlFlow::Continue(())
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = EvaluateSettings::default().results(folder.path());
    let error = evaluate(&mut reader(NOTHING), &task, &settings, go_on).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn failed_samples_are_asked_again() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    let task = gsm8k(&["one?", "bad!"]);
    evaluate(&mut reader("bad!"), &task, &settings, go_on).unwrap();
    let mut model = reader(NOTHING);
    let evaluation = evaluate(&mut model, &task, &settings, go_on).unwrap();
    assert_eq!((evaluation.failed(), model.batches.len()), (0, 1));
}

#[test]
fn results_of_other_tasks_and_prompts_are_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = EvaluateSettings::default().results(file.path());
    evaluate(&mut reader(NOTHING), &gsm8k(&["one?"]), &settings, go_on).unwrap();
    for error in [
        evaluate(&mut reader(NOTHING), &gsm8k(&["two?"]), &settings, go_on).unwrap_err(),
        evaluate(&mut reader(NOTHING), &niah(1), &settings, go_on).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Format { .. }), "{error}");
    }
    let zero = EvaluateSettings::default().batch(0);
    assert!(evaluate(&mut reader(NOTHING), &niah(1), &zero, go_on).is_err());
}

/// Sees only the last so many words.
struct Short(usize);

impl TextModel for Short {
    type Error = OutOfMemory;

    fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, OutOfMemory> {
        let tail = |prompt: &Prompt| {
            let text = prompt.to_text();
            let words: Vec<&str> = text.split_whitespace().collect();
            words[words.len().saturating_sub(self.0)..].join(" ")
        };
        Ok(prompts.iter().map(tail).collect())
    }

    fn answer_log_probabilities(
        &mut self,
        questions: &[Question],
    ) -> Result<Vec<f64>, OutOfMemory> {
        Ok(vec![0.0; questions.len()])
    }
}

#[test]
fn the_grid_shows_how_far_a_model_sees() {
    let settings = GridSettings {
        lengths: vec![400, 1200],
        depths: vec![0.0, 50.0, 100.0],
        samples: 2,
        seed: 0,
    };
    let base = NiahConfig::new(Subtask::Single2, 1)
        .new_tokens(16)
        .depth(Depth::Random);
    let mut cells = 0;
    let essay = Essay::built_in();
    let grid = NiahGrid::measure(
        &mut Short(250),
        (&base, &essay),
        &words,
        &settings,
        |_, _, _| cells += 1,
    );
    let grid = grid.unwrap();
    assert_eq!(grid.scores, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
    assert_eq!(cells, 6);
}
