//! Text that nobody would write: no metric panics or leaves 0..=1, and what would take long is refused
//! by the number of steps it needs.
#![allow(clippy::unwrap_used, clippy::panic)]

use bosch_eval::{Case, Metric, parse_json_line, segment};
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
            if let Ok(score) = metric.score(&prediction, &["Paragraph 7 段落7"], &["7"]) {
                assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
            }
        }
    }
}

/// What needs too many steps is refused, by their number and not by the clock.
fn assert_refused(metric: Metric, prediction: &str, truth: &str) {
    let error = metric.score(prediction, &[truth], &[]).unwrap_err();
    let expected = "at most 5000000000 steps to score it";
    assert!(error.to_string().contains(expected), "{metric}: {error}");
}

#[test]
fn two_different_lines_of_a_megabyte_are_refused() {
    // 300 symbols, each rarer than one in a hundred: quadratic for difflib.
    let line = |step: u32| -> String {
        let symbol = |i: u32| char::from_u32(0x4e00 + i.wrapping_mul(step) / 7 % 300);
        (0..500_000).filter_map(symbol).collect()
    };
    for metric in [Metric::CodeSim, Metric::CodeSimLevenshtein] {
        assert_refused(metric, &line(2_654_435_761), &line(40_503));
    }
}

#[test]
fn lines_that_share_every_second_character_are_refused() {
    // Each block is one character long, and the next pass goes over all the rest: cubic for difflib.
    let line = |other: u32| -> String {
        let symbol = |i: u32| match i % 2 {
            0 => char::from_u32(0x4e00 + i / 2 % 51),
            _ => char::from_u32(other + i % 200),
        };
        (0..30_000).filter_map(symbol).collect()
    };
    assert_refused(Metric::CodeSim, &line(0x5e00), &line(0x6e00));
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
        // Half of the work that is not refused yet.
        let score = Metric::Rouge
            .score(&text(7, sentence), &[text(11, sentence)], &[])
            .unwrap();
        assert!((0.0..=1.0).contains(&score));
    }
}

#[test]
fn rouge_takes_100_000_words_of_which_none_comes_twice_or_one_comes_always() {
    let distinct = |word: fn(usize) -> usize| -> String {
        let words = (0..100_000).map(|i| format!("w{} ", word(i)));
        words.collect()
    };
    let score = |prediction: &str, truth: &str| Metric::Rouge.score(prediction, &[truth], &[]);
    let (up, down) = (distinct(|i| i), distinct(|i| 99_999 - i));
    assert!((score(&up, &down).unwrap() - 1e-5).abs() < 1e-7);
    let (words, sentences) = ("x ".repeat(100_000), "x. ".repeat(100_000));
    // The pieces of white space after the dots are the word "".
    assert!(score(&words, &sentences).unwrap() > 0.6);
    assert!(score(&sentences, &words).unwrap() > 0.6);
}

#[test]
fn rouge_refuses_what_would_take_minutes() {
    let text = "a ".repeat(400_000);
    assert_refused(Metric::Rouge, &text, &text);
    // No pair of these sentences finds x.
    let sentences = |start: &str| -> String {
        let sentence = |i: u32| format!("{start}{i}. ");
        (0..10_000).map(sentence).collect()
    };
    assert_refused(Metric::Rouge, &sentences("x y t"), &sentences("y x p"));
    assert_refused(Metric::RougeZh, &sentences("我 们 "), &sentences("们 我 a"));
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
