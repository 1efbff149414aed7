//! Static rankings on a model made by hand, whose right ranking is known.
//!
//! Two layers of two KV groups. Group (0, 0) looks at the previous token and notes it; group (1, 0) finds the token whose
//! predecessor was the current one, an induction head. Groups (0, 1) and (1, 1) look at their own position. So only (1, 0)
//! has to look far.

#![allow(clippy::unwrap_used)] // in helpers of tests

use std::collections::HashMap;
use std::path::Path;

use bosch_attn::tch::Tensor;
use bosch_attn::{Decoder, Gate, HeadMask, Method, Sample, Window};
use serde_json::json;

const VOCAB: usize = 16;
/// Channels of the hidden state: the token, the token before it, a constant, the prediction.
const HIDDEN: usize = 64;
const TOKEN: usize = 0;
const BEFORE: usize = 16;
const ONE: usize = 32;
const NEXT: usize = 33;
/// Components i and i + HALF of a head turn together.
const HEAD: usize = 64;
const HALF: usize = HEAD / 2;
/// Pairs that turn fast enough to tell neighbours apart, and those that hardly turn in 256 tokens.
const FAST: std::ops::Range<usize> = 0..12;
const SLOW: std::ops::Range<usize> = 24..32;

/// A weight matrix, by entries.
struct Matrix {
    columns: usize,
    entries: Vec<f32>,
}

impl Matrix {
    fn zeros(rows: usize, columns: usize) -> Self {
        let entries = vec![0.0; rows * columns];
        Self { columns, entries }
    }

    fn set(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.columns + column] = value as f32;
    }

    fn tensor(&self) -> Tensor {
        Tensor::from_slice(&self.entries).reshape([-1, self.columns as i64])
    }
}

/// Where a head's slow components hold a token.
fn component(token: usize) -> usize {
    SLOW.start + token % SLOW.len() + HALF * (token / SLOW.len())
}

/// Queries and keys of head `head` that meet where the key is `back` places behind.
fn positional(q: &mut Matrix, k: &mut Matrix, head: usize, back: f64) {
    for pair in FAST {
        let frequency = 10_000f64.powf(-2.0 * pair as f64 / HEAD as f64);
        let (row, strength) = (head * HEAD + pair, 0.8);
        q.set(row, ONE, strength * (frequency * back).cos());
        q.set(row + HALF, ONE, -strength * (frequency * back).sin());
        k.set(row, ONE, strength);
    }
}

fn planted(dir: &Path) -> Decoder {
    let mut tensors = HashMap::new();
    let mut embedding = Matrix::zeros(VOCAB, HIDDEN);
    let mut head = Matrix::zeros(VOCAB, HIDDEN);
    for token in 0..VOCAB {
        embedding.set(token, TOKEN + token, 1.0);
        embedding.set(token, ONE, 1.0);
        head.set(token, NEXT + token, 3.0);
    }
    tensors.insert("model.embed_tokens.weight".to_owned(), embedding.tensor());
    tensors.insert("lm_head.weight".to_owned(), head.tensor());
    for layer in 0..2 {
        let [mut q, mut k, mut v] = [(); 3].map(|()| Matrix::zeros(2 * HEAD, HIDDEN));
        let mut output = Matrix::zeros(HIDDEN, 2 * HEAD);
        positional(&mut q, &mut k, 1, 0.0);
        for token in 0..VOCAB {
            let at = component(token);
            // The second group adds a little of its own token.
            v.set(HEAD + at, TOKEN + token, 0.02);
            output.set(TOKEN + token, HEAD + at, 1.0);
            v.set(at, TOKEN + token, 0.2);
            let to = if layer == 0 { BEFORE } else { NEXT };
            output.set(to + token, at, 1.0);
            if layer == 1 {
                q.set(at, TOKEN + token, 3.0);
                k.set(at, BEFORE + token, 3.0);
            }
        }
        if layer == 0 {
            positional(&mut q, &mut k, 0, 1.0);
        }
        let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
        for (part, matrix) in [
            ("q_proj", q),
            ("k_proj", k),
            ("v_proj", v),
            ("o_proj", output),
        ] {
            tensors.insert(name(&format!("self_attn.{part}")), matrix.tensor());
        }
        for (part, shape) in [
            ("gate_proj", (4, HIDDEN)),
            ("up_proj", (4, HIDDEN)),
            ("down_proj", (HIDDEN, 4)),
        ] {
            tensors.insert(
                name(&format!("mlp.{part}")),
                Matrix::zeros(shape.0, shape.1).tensor(),
            );
        }
        for part in ["input_layernorm", "post_attention_layernorm"] {
            tensors.insert(name(part), Tensor::from_slice(&[1f32; HIDDEN]));
        }
    }
    tensors.insert(
        "model.norm.weight".to_owned(),
        Tensor::from_slice(&[1f32; HIDDEN]),
    );
    let tensors: Vec<(&str, &Tensor)> =
        tensors.iter().map(|(name, t)| (name.as_str(), t)).collect();
    Tensor::write_safetensors(&tensors, dir.join("model.safetensors")).unwrap();
    let config = json!({
        "model_type": "llama", "vocab_size": VOCAB, "hidden_size": HIDDEN, "intermediate_size": 4,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": HEAD,
        "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "max_position_embeddings": 512, "hidden_act": "silu",
        "tie_word_embeddings": false,
    });
    std::fs::write(dir.join("config.json"), config.to_string()).unwrap();
    Decoder::from_folder(dir).unwrap()
}

/// Filler of eight tokens with a key and its value at some depth, and the key again at the end.
fn samples() -> Vec<Sample> {
    let sample = |(depth, key, value): (usize, u32, u32)| {
        let mut prompt: Vec<u32> = (0..200).map(|i: u32| i * i * 7 % 61 % 8).collect();
        prompt[depth] = key;
        prompt[depth + 1] = value;
        prompt.push(key);
        Sample {
            prompt,
            answer: vec![value],
        }
    };
    [(20, 8, 12), (90, 9, 15), (150, 11, 13)]
        .map(sample)
        .to_vec()
}

fn window() -> Window {
    Window::new(16, 4).unwrap()
}

fn mean_log_probability(decoder: &Decoder, mask: &HeadMask) -> f64 {
    let of = |sample: &Sample| {
        decoder
            .answer_log_probabilities(sample, mask, window())
            .unwrap()[0]
    };
    samples().iter().map(of).sum::<f64>() / 3.0
}

#[test]
fn the_model_made_by_hand_retrieves_and_only_its_induction_head_looks_far() {
    let dir = tempfile::tempdir().unwrap();
    let decoder = planted(dir.path());
    let full = mean_log_probability(&decoder, &HeadMask::zeros(2, 2));
    assert!(full > -0.1, "{full}");
    for (at, harmless) in [(0, true), (1, true), (2, false), (3, true)] {
        let mut mask = HeadMask::zeros(2, 2);
        mask.set(at / 2, at % 2, true).unwrap();
        let score = mean_log_probability(&decoder, &mask);
        assert_eq!(score > full - 0.01, harmless, "group {at}: {score}");
    }
}

#[test]
fn every_method_puts_the_induction_head_first() {
    let dir = tempfile::tempdir().unwrap();
    let decoder = planted(dir.path());
    for method in [
        Method::AttentionMass,
        Method::AnswerLag,
        Method::Pooled,
        Method::Gaussian,
        Method::Repeats { seed: 1 },
        Method::Fisher(Gate::Mix),
    ] {
        let ranking = decoder.rank(method, &samples(), window()).unwrap();
        println!("{method:?} {:?}", ranking.scores());
        assert_eq!(
            ranking.mask(3).unwrap().bits(),
            [true, true, false, true],
            "{method:?}"
        );
    }
}

#[test]
fn an_output_gate_matters_for_both_groups_of_the_circuit() {
    let dir = tempfile::tempdir().unwrap();
    let decoder = planted(dir.path());
    let ranking = decoder
        .rank(Method::Fisher(Gate::Output), &samples(), window())
        .unwrap();
    assert_eq!(
        ranking.mask(2).unwrap().bits(),
        [false, true, false, true],
        "{ranking:?}"
    );
}
