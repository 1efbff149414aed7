//! SmolLM2-135M-Instruct from its GGUF file agrees with the reference (transformers on the same
//! dequantised weights): token ids, chat texts, answer log-probabilities, greedy continuation.
//!
//! Needs the file that `scripts/get-model` fetches; says so and passes where it is missing.
#![allow(clippy::unwrap_used)] // in helpers of tests a panic is the message
#![cfg(feature = "torch")]

use std::path::PathBuf;

use bosch::attn::{
    ChatEnd, Decoder, Generation, GgufFile, HeadMask, LoadOptions, Message, ModelConfig,
    PrefixScorer, Sample, Tokenizer, Window,
};
use serde_json::Value;

fn model_file() -> Option<GgufFile> {
    let path = std::env::var_os("BOSCH_SMOLLM2").map_or_else(
        || {
            let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../.models");
            PathBuf::from(models).join("SmolLM2-135M-Instruct.Q4_1.gguf")
        },
        PathBuf::from,
    );
    if !path.exists() {
        eprintln!(
            "SKIPPED: {} is missing; scripts/get-model fetches it",
            path.display()
        );
        return None;
    }
    Some(GgufFile::open(path).unwrap())
}

fn decoder(file: &GgufFile) -> Decoder {
    Decoder::load(
        ModelConfig::from_gguf(file).unwrap(),
        file,
        LoadOptions::new(),
    )
    .unwrap()
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../data/smollm2-reference.json")).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn token_ids_are_those_of_the_reference() {
    let Some(file) = model_file() else { return };
    let tokenizer = Tokenizer::from_gguf(&file).unwrap();
    for case in reference()["tokenize"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        assert_eq!(
            tokenizer.encode(text).unwrap(),
            ids(&case["ids"]),
            "{text:?}"
        );
    }
}

#[test]
fn chat_texts_are_those_of_the_reference() {
    let Some(file) = model_file() else { return };
    let template = Tokenizer::from_gguf(&file)
        .unwrap()
        .chat_template()
        .unwrap();
    for case in reference()["chat"].as_array().unwrap() {
        let messages: Vec<Message> = serde_json::from_value(case["messages"].clone()).unwrap();
        let text = template.render(&messages, ChatEnd::OpenAnswer).unwrap();
        assert_eq!(text, case["text"].as_str().unwrap());
    }
}

#[test]
fn answer_log_probabilities_agree_within_two_hundredths() {
    let Some(file) = model_file() else { return };
    let decoder = decoder(&file);
    for case in reference()["forward"].as_array().unwrap() {
        let size = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        let window = Window::new(size("window"), size("sinks")).unwrap();
        let rows: Vec<Vec<u8>> = serde_json::from_value(case["mask"].clone()).unwrap();
        let rows: Vec<Vec<bool>> = rows
            .iter()
            .map(|row| row.iter().map(|bit| *bit == 1).collect())
            .collect();
        let mask = HeadMask::from_rows(&rows).unwrap();
        let sample = Sample {
            prompt: ids(&case["ids"]),
            answer: ids(&case["answer_ids"]),
        };
        let found = decoder
            .answer_log_probabilities(&sample, &mask, window)
            .unwrap();
        let expected: Vec<f64> = serde_json::from_value(case["answer_logprobs"].clone()).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 0.02,
                "{}: {found} against {expected}",
                case["name"]
            );
        }
    }
}

#[test]
fn the_greedy_continuation_is_that_of_the_reference() {
    let Some(file) = model_file() else { return };
    let decoder = decoder(&file);
    let greedy = &reference()["greedy"];
    let (prompt, expected) = (ids(&greedy["ids"]), ids(&greedy["new_ids"]));
    let mask = HeadMask::zeros(decoder.config().layers, decoder.config().groups);
    // Nothing stops it, so that the stop token itself is compared too.
    let settings = Generation {
        max_new_tokens: expected.len(),
        stop: Vec::new(),
    };
    let window = Window::new(16, 4).unwrap();
    let found = decoder
        .generate(&[&prompt], &mask, window, &settings)
        .unwrap();
    assert_eq!(found, [expected]);
}

#[test]
fn scores_with_reuse_are_those_from_scratch_to_the_last_bit() {
    let Some(file) = model_file() else { return };
    let decoder = decoder(&file);
    let reference = reference();
    let case = &reference["forward"][0];
    let samples = [Sample {
        prompt: ids(&case["ids"]),
        answer: ids(&case["answer_ids"]),
    }];
    let window = Window::new(16, 4).unwrap();
    let (layers, groups) = (decoder.config().layers, decoder.config().groups);
    let mut reusing = PrefixScorer::new(&decoder, window, &samples, 1 << 30).unwrap();
    let mut mask = HeadMask::zeros(layers, groups);
    for step in 0..12 {
        // Late, early and middle layers in turn, so that prefixes of many lengths are met again.
        let layer = [29, 3, 17, 25, 11, 20][step % 6];
        let group = step % groups;
        mask.set(layer, group, !mask.get(layer, group).unwrap())
            .unwrap();
        let mut fresh = PrefixScorer::new(&decoder, window, &samples, 0).unwrap();
        let (with, without) = (reusing.score(&mask).unwrap(), fresh.score(&mask).unwrap());
        assert_eq!(with[0].to_bits(), without[0].to_bits(), "step {step}");
    }
    assert!(reusing.layer_evaluations().saved > 0.0);
}
