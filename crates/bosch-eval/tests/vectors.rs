//! Every line of the vectors that the official code made (see `data/README.md`).
#![allow(clippy::unwrap_used, clippy::panic)]

use bosch_eval::longbench::{Buckets, Dataset, Prediction, scorer, scorer_e};
use bosch_eval::{
    Case, Metric, first_line, gsm8k, normalize_answer, normalize_zh_answer, ruler_postprocess,
    score_all, segment,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Vector {
    #[serde(flatten)]
    case: Case,
    score: Option<f64>,
    score_without_recursion_limit: Option<f64>,
    extracted: Option<String>,
    note: String,
}

fn lines<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn assert_all_agree(vectors: &[Vector], expected: impl Fn(&Vector) -> f64) {
    let cases: Vec<Case> = vectors.iter().map(|vector| vector.case.clone()).collect();
    let mut wrong = Vec::new();
    for (vector, score) in vectors.iter().zip(score_all(&cases)) {
        let (score, expected) = (score.unwrap(), expected(vector));
        if (score - expected).abs() > 1e-9 {
            wrong.push(format!(
                "{} {:?}: {score}, not {expected}",
                vector.case.metric, vector.note
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        vectors.len()
    );
}

#[test]
fn longbench_metrics() {
    let cases: Vec<Vector> = lines(include_str!("data/longbench_metrics.jsonl"));
    assert_eq!(cases.len(), 439);
    assert_all_agree(&cases, |case| case.score.unwrap());
}

#[test]
fn rouge_beyond_the_recursion_limit() {
    // rouge #19 and #67: the original gives 0 without a word.
    let cases: Vec<Vector> = lines(include_str!("data/rouge_recursion_limit.jsonl"));
    assert!(!cases.is_empty());
    assert_all_agree(&cases, |case| case.score_without_recursion_limit.unwrap());
}

#[test]
fn gsm8k_filters_and_scores() {
    let cases: Vec<Vector> = lines(include_str!("data/gsm8k.jsonl"));
    assert_eq!(cases.len(), 102);
    assert_all_agree(&cases, |case| case.score.unwrap());
    for Vector {
        case, extracted, ..
    } in cases
    {
        let filter = match case.metric {
            Metric::Gsm8kStrict => gsm8k::Gsm8kFilter::Strict,
            Metric::Gsm8kFlexible => gsm8k::Gsm8kFilter::Flexible,
            _ => gsm8k::Gsm8kFilter::CotStrict,
        };
        let found = gsm8k::extract(filter, &case.prediction).unwrap_or("[invalid]");
        assert_eq!(found, extracted.unwrap(), "{:?}", case.prediction);
    }
}

#[test]
fn ruler_matches() {
    let cases: Vec<Vector> = lines(include_str!("data/ruler_match.jsonl"));
    assert_eq!(cases.len(), 42);
    for vector in cases {
        let percent = 100.0 * vector.case.score().unwrap();
        assert!(
            (percent - vector.score.unwrap()).abs() < 0.00501,
            "{}: {percent}",
            vector.note
        );
    }
}

#[test]
fn lm_eval_variants() {
    let cases: Vec<Vector> = lines(include_str!("data/lm_eval_variants.jsonl"));
    assert_eq!(cases.len(), 26);
    assert_all_agree(&cases, |case| case.score.unwrap());
}

#[test]
fn what_the_reference_raises_on_is_an_error() {
    let cases: Vec<Vector> = lines(include_str!("data/reference_raises.jsonl"));
    assert_eq!(cases.len(), 5);
    for vector in cases {
        assert!(vector.case.score().is_err(), "{}", vector.note);
    }
}

#[test]
fn ruler_batches() {
    #[derive(Deserialize)]
    struct Batch {
        predictions: Vec<String>,
        references: Vec<Vec<String>>,
        string_match_all: f64,
        string_match_part: f64,
        nulls: String,
    }
    for batch in lines::<Batch>(include_str!("data/ruler_batches.jsonl")) {
        let predictions: Vec<String> = batch
            .predictions
            .iter()
            .map(|text| ruler_postprocess(text))
            .collect();
        let percent = |metric: Metric| {
            let pairs = predictions.iter().zip(&batch.references);
            let scores = pairs.map(|(text, truths)| metric.score(text, truths, &[]).unwrap());
            100.0 * scores.sum::<f64>() / predictions.len() as f64
        };
        assert!((percent(Metric::StringMatchAll) - batch.string_match_all).abs() < 0.00501);
        assert!((percent(Metric::StringMatchPart) - batch.string_match_part).abs() < 0.00501);
        let empty = predictions.iter().filter(|text| text.is_empty()).count();
        assert_eq!(format!("{empty}/{}", predictions.len()), batch.nulls);
    }
}

#[test]
fn longbench_scorers() {
    #[derive(Deserialize)]
    struct File {
        dataset: String,
        predictions: Vec<String>,
        answers: Vec<Vec<String>>,
        all_classes: Option<Vec<String>>,
        lengths: Vec<usize>,
        score: f64,
        score_e: Buckets,
        score_each: Vec<f64>,
    }
    let files: Vec<File> = lines(include_str!("data/longbench_scorer.jsonl"));
    assert_eq!(files.len(), 63);
    for file in files {
        let dataset = Dataset::from_name(&file.dataset).unwrap();
        let rows = file
            .predictions
            .iter()
            .zip(&file.answers)
            .zip(&file.lengths);
        let predictions: Vec<Prediction> = rows
            .map(|((pred, answers), &length)| Prediction {
                pred: pred.clone(),
                answers: answers.clone(),
                all_classes: file.all_classes.clone().unwrap_or_default(),
                length,
            })
            .collect();
        assert_eq!(
            scorer(dataset, &predictions).unwrap(),
            file.score,
            "{}",
            file.dataset
        );
        assert_eq!(
            scorer_e(dataset, &predictions).unwrap(),
            file.score_e,
            "{}",
            file.dataset
        );
        for (prediction, expected) in predictions.into_iter().zip(file.score_each) {
            assert_eq!(
                scorer(dataset, &[prediction]).unwrap(),
                expected,
                "{}",
                file.dataset
            );
        }
    }
}

#[test]
fn helpers() {
    let mut count = 0;
    for case in lines::<Value>(include_str!("data/helpers.jsonl")) {
        let Some(input) = case["input"].as_str() else {
            continue;
        };
        let output = match case["fn"].as_str().unwrap() {
            "normalize_answer" => Value::from(normalize_answer(input)),
            "normalize_zh_answer" => Value::from(normalize_zh_answer(input)),
            "jieba_cut" => Value::from(segment(input)),
            "first_line" => Value::from(first_line(input)),
            "ruler_postprocess_pred" => Value::from(ruler_postprocess(input)),
            other => panic!("{other}"),
        };
        assert_eq!(output, case["output"], "{} {input:?}", case["fn"]);
        count += 1;
    }
    assert_eq!(count, 322 - 28);
}

#[test]
fn chinese_words_where_two_cuts_are_almost_equally_likely() {
    let cases: Vec<Value> = lines(include_str!("data/jieba_close.jsonl"));
    assert_eq!(cases.len(), 40);
    for case in cases {
        let words = segment(case["input"].as_str().unwrap());
        assert_eq!(Value::from(words), case["output"]);
    }
}
