//! The rotary position embedding: frequencies by the scaling rules, and their application.
//!
//! Rules: transformers, `modeling_rope_utils.py`. Halves are rotated, as in Hugging Face checkpoints: components i and
//! i + d/2 turn together.

use std::f64::consts::TAU;

use tch::{Device, Kind, Tensor};

use crate::config::{RopeConfig, RopeScaling};
use crate::plan::Stretch;

/// Cosines and signed sines for some tokens, each `[N, 1, d]`.
#[derive(Debug)]
pub(crate) struct Rotation {
    cos: Tensor,
    sin: Tensor,
}

impl Rotation {
    /// For the tokens of some texts, one text after the other.
    pub(crate) fn new(
        rope: &RopeConfig,
        head_dim: usize,
        texts: &[Stretch],
        kind: Kind,
        device: Device,
    ) -> Self {
        let tokens: usize = texts.iter().map(|text| text.count).sum();
        let (mut cos, mut sin) = (
            Vec::with_capacity(tokens * head_dim),
            Vec::with_capacity(tokens * head_dim),
        );
        for text in texts {
            let (frequencies, scale) = frequencies(rope, head_dim, text.length);
            for position in text.start..text.start + text.count {
                let angles = frequencies
                    .iter()
                    .map(|frequency| frequency * position as f64);
                let (sines, cosines): (Vec<f32>, Vec<f32>) = angles
                    .map(|angle| ((angle.sin() * scale) as f32, (angle.cos() * scale) as f32))
                    .unzip();
                cos.extend(cosines.iter().chain(&cosines));
                sin.extend(sines.iter().map(|sine| -sine).chain(sines.iter().copied()));
            }
        }
        let tensor = |values: &[f32]| {
            let table = Tensor::from_slice(values).reshape([tokens as i64, 1, head_dim as i64]);
            table.to_device(device).to_kind(kind)
        };
        Self {
            cos: tensor(&cos),
            sin: tensor(&sin),
        }
    }

    /// Turns the heads of `x` `[N, heads, d]`: (x₁, x₂) becomes (x₁ cos − x₂ sin, x₂ cos + x₁ sin).
    pub(crate) fn apply(&self, x: &Tensor) -> Tensor {
        let swapped = x.roll([x.size()[2] / 2].as_slice(), [-1i64].as_slice());
        (x * &self.cos).addcmul_(&swapped, &self.sin)
    }

    /// The rotation of the last `count` tokens.
    pub(crate) fn tail(&self, count: i64) -> Self {
        let last = |table: &Tensor| table.narrow(0, table.size()[0] - count, count);
        Self {
            cos: last(&self.cos),
            sin: last(&self.sin),
        }
    }
}

/// The d/2 frequencies in radians a position, and the factor on cos and sin, for a text of `length` tokens.
pub(crate) fn frequencies(rope: &RopeConfig, head_dim: usize, length: usize) -> (Vec<f64>, f64) {
    let d = head_dim as f64;
    let plain = |theta: f64| (0..head_dim / 2).map(move |i| theta.powf(-2.0 * i as f64 / d));
    let divided = |divisors: &[f64]| {
        plain(rope.theta)
            .zip(divisors)
            .map(|(frequency, divisor)| frequency / divisor)
            .collect()
    };
    match &rope.scaling {
        RopeScaling::None => (plain(rope.theta).collect(), 1.0),
        RopeScaling::Linear { factor } => (
            plain(rope.theta)
                .map(|frequency| frequency / factor)
                .collect(),
            1.0,
        ),
        RopeScaling::Dynamic { factor, original } => {
            let stretch = length.max(*original) as f64 / *original as f64;
            let exponent = if head_dim > 2 { d / (d - 2.0) } else { 1.0 };
            (
                plain(rope.theta * (factor * stretch - (factor - 1.0)).powf(exponent)).collect(),
                1.0,
            )
        }
        RopeScaling::Yarn {
            factor,
            original,
            beta_fast,
            beta_slow,
            attention_factor,
            truncate,
        } => {
            let ramp = yarn_ramp(
                rope.theta,
                d,
                *original as f64,
                (*beta_fast, *beta_slow),
                *truncate,
            );
            let mixed = plain(rope.theta).enumerate().map(|(i, frequency)| {
                let interpolated = ramp(i as f64);
                frequency / factor * interpolated + frequency * (1.0 - interpolated)
            });
            (mixed.collect(), *attention_factor)
        }
        RopeScaling::Llama3 {
            factor,
            low,
            high,
            original,
        } => {
            let scaled = plain(rope.theta).map(|frequency| {
                let turns = *original as f64 * frequency / TAU;
                let kept = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - kept) * frequency / factor + kept * frequency
            });
            (scaled.collect(), 1.0)
        }
        RopeScaling::LongRope {
            short,
            long,
            original,
            attention_factor,
        } => (
            divided(if length > *original { long } else { short }),
            *attention_factor,
        ),
        RopeScaling::Divisors(divisors) => (divided(divisors), 1.0),
    }
}

/// How far frequency i is interpolated, from 0 (kept) to 1: a ramp between the frequencies that make `beta.0` and
/// `beta.1` turns within the original length.
fn yarn_ramp(
    theta: f64,
    d: f64,
    original: f64,
    beta: (f64, f64),
    truncate: bool,
) -> impl Fn(f64) -> f64 {
    let index_of = |turns: f64| d * (original / (turns * TAU)).ln() / (2.0 * theta.ln());
    let (low, high) = (index_of(beta.0), index_of(beta.1));
    let (low, high) = if truncate {
        (low.floor(), high.ceil())
    } else {
        (low, high)
    };
    let (low, high) = (low.max(0.0), high.min(d - 1.0));
    let width = if high == low { 0.001 } else { high - low };
    move |i| ((i - low) / width).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModelConfig;

    /// `tests/data/make_rope.py` makes the file.
    #[test]
    fn frequencies_are_those_of_transformers() {
        let cases: serde_json::Value =
            serde_json::from_str(include_str!("../tests/data/rope.json")).unwrap();
        for case in cases.as_array().unwrap() {
            let config = serde_json::json!({
                "model_type": "llama", "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 1,
                "num_attention_heads": 4, "head_dim": 12, "vocab_size": 10, "max_position_embeddings": 64,
                "rope_parameters": case["rope_parameters"],
            });
            let config = ModelConfig::from_json(&config.to_string(), "config.json").unwrap();
            let length = case["length"].as_u64().unwrap() as usize;
            let (found, scale) = frequencies(&config.rope, 12, length);
            let expected = case["frequencies"].as_array().unwrap();
            assert_eq!(found.len(), expected.len());
            let expected = expected.iter().chain([&case["attention_factor"]]);
            for (found, expected) in found.iter().chain([&scale]).zip(expected) {
                let expected = expected.as_f64().unwrap();
                assert!(
                    (found / expected - 1.0).abs() < 1e-5,
                    "{case}: {found}, {expected}"
                );
            }
        }
    }
}
