//! Text that nobody would write: no metric panics, hangs or leaves 0..=1.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};

use bosch_eval::{Case, Metric, parse_json_line, rouge_score, segment};
use proptest::prelude::*;

fn hostile() -> Vec<String> {
    vec![
        String::new(),
        " ".into(),
        ".".into(),
        "....".into(),
        "\n\n\n".into(),
        "\0\0a\0".into(),
        "\u{1c}\u{85}\u{2028}\u{feff}".into(),
        "مرحبا بالعالم \u{202e}dlrow olleh".into(),
        "e\u{301}\u{301}\u{301} क्षि ก็".into(),
        "٣٤٥ ७ ３ Ⅴ ½ ²".into(),
        "#### #### The answer is -$,.,.".into(),
        "Paragraph 段落".into(),
        "👩‍👩‍👧‍👦🏴\u{e0067}".into(),
        "{}{{}}%s\\n\\u0000".into(),
    ]
}

/// Lines of a megabyte.
fn long() -> Vec<String> {
    let printable = |i: u32| char::from(b' ' + (i.wrapping_mul(2_654_435_761) >> 25) as u8 % 95);
    vec![
        "7".repeat(1_000_000),
        "的".repeat(333_333),
        "a b".repeat(333_333),
        (0..1_000_000).map(printable).collect(),
    ]
}

#[test]
fn every_metric_takes_every_text() {
    let texts = hostile();
    for metric in Metric::ALL {
        for prediction in &texts {
            for truth in ["", "7", "Paragraph 7", "段落7", "x = 1", "a. b", prediction] {
                if let Ok(score) = metric.score(prediction, &[truth], &["a", "", truth]) {
                    assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
                }
            }
        }
    }
}

#[test]
fn every_metric_takes_a_line_of_a_megabyte() {
    for metric in Metric::ALL {
        for prediction in long() {
            let started = Instant::now();
            if let Ok(score) = metric.score(&prediction, &["Paragraph 7 段落7"], &["7"]) {
                assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
            }
            // About a second on a free core; tests share theirs.
            assert!(started.elapsed() < Duration::from_secs(30), "{metric}");
        }
    }
}

#[test]
fn two_different_lines_of_a_megabyte_are_scored_or_refused() {
    // 300 symbols, each rarer than one in a hundred: quadratic for difflib.
    let line = |step: u32| -> String {
        let symbol = |i: u32| char::from_u32(0x4e00 + i.wrapping_mul(step) / 7 % 300);
        (0..400_000).filter_map(symbol).collect()
    };
    for metric in [Metric::CodeSim, Metric::CodeSimLevenshtein] {
        let error = metric
            .score(&line(2_654_435_761), &[line(40_503)], &[])
            .unwrap_err();
        assert!(
            error.to_string().contains("cost of comparing two lines"),
            "{error}"
        );
    }
}

#[test]
fn rouge_takes_100_000_words() {
    let text = |step: usize, sentence: usize| -> String {
        let word = |i: usize| {
            format!(
                "w{}{}",
                i * step % 5003,
                if i.is_multiple_of(sentence) { "." } else { "" }
            )
        };
        (1..=100_000).map(word).collect::<Vec<_>>().join(" ")
    };
    for sentence in [10, 1000, 200_000] {
        let started = Instant::now();
        let score = rouge_score(&text(7, sentence), &text(11, sentence));
        assert!((0.0..=1.0).contains(&score));
        // Ten seconds on a free core; tests share theirs.
        assert!(
            started.elapsed() < Duration::from_secs(40),
            "{:?}",
            started.elapsed()
        );
    }
}

#[test]
fn rouge_refuses_what_would_take_minutes() {
    let text = "a ".repeat(200_000);
    let error = Metric::Rouge
        .score(&text, &[text.as_str()], &[])
        .unwrap_err();
    assert!(
        error.to_string().contains("at most 20000000000 for ROUGE"),
        "{error}"
    );
}

#[test]
fn lone_surrogates_and_nul_in_json_are_read() {
    // As in Python, a half equals itself and no other half.
    for (half, expected) in [(r"\ud83d", 1.0), (r"\udc00", 0.5)] {
        let line = format!(
            r#"{{"metric": "qa_f1_score", "prediction": "\ud83d Paris\u0000", "ground_truths": "{half} paris\u0000"}}"#
        );
        let case: Case = parse_json_line(&line).unwrap();
        assert_eq!(case.score().unwrap(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_stay_in_range_and_equal_texts_never_panic(
        prediction in ".{0,80}", truth in "\\PC{0,80}", class in ".{0,5}",
    ) {
        for metric in Metric::ALL {
            for truth in [&truth, &prediction] {
                if let Ok(score) = metric.score(&prediction, &[truth], &[&class, truth]) {
                    prop_assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
                }
            }
        }
    }

    #[test]
    fn segmentation_loses_nothing(text in "[\\PC\u{4e00}-\u{4fff}a-z0-9.%+#_ -]{0,60}") {
        prop_assert_eq!(segment(&text).concat(), text);
    }
}
