//! YaRN given to a plain model is the YaRN of the configuration.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::{Decoder, LoadOptions, ModelConfig, RopeScaling, SafetensorsFolder};
use common::{Fixture, difference, folder};

#[test]
fn a_plain_model_with_yarn_agrees_with_the_fixture() {
    let fixture = Fixture::load("qwen3-yarn");
    let mut config = ModelConfig::from_file(folder("qwen3-yarn").join("config.json")).unwrap();
    config.rope.scaling = RopeScaling::None;
    config.max_positions = 32;
    let config = config.with_yarn(3.0).unwrap();
    assert_eq!(config.max_positions, 96);
    let source = SafetensorsFolder::open(folder("qwen3-yarn")).unwrap();
    let decoder = Decoder::load(config, &source, LoadOptions::new()).unwrap();
    for case in &fixture.cases {
        let logits = decoder
            .logits(&fixture.ids, &case.mask, case.window)
            .unwrap();
        assert!(difference(&logits, &case.logits) < 2e-4);
    }
}

#[test]
fn factors_below_one_are_refused() {
    let config = ModelConfig::from_file(folder("llama-tied").join("config.json")).unwrap();
    for factor in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(config.clone().with_yarn(factor).is_err(), "{factor}");
    }
}

/// Whatever scaling a model has, YaRN takes its place and counts from the positions before that scaling.
#[test]
fn yarn_takes_the_place_of_any_other_scaling() {
    let mut config = ModelConfig::from_file(folder("llama-tied").join("config.json")).unwrap();
    config.max_positions = 256;
    let plain = config.clone().with_yarn(2.0).unwrap();
    assert_eq!(plain.max_positions, 512);
    let half = config.head_dim / 2;
    for (scaling, original) in [
        (RopeScaling::Linear { factor: 4.0 }, 256),
        (
            RopeScaling::Dynamic {
                factor: 4.0,
                original: 256,
            },
            256,
        ),
        (
            RopeScaling::Llama3 {
                factor: 8.0,
                low: 1.0,
                high: 4.0,
                original: 64,
            },
            64,
        ),
        (
            RopeScaling::LongRope {
                short: vec![1.0; half],
                long: vec![2.0; half],
                original: 64,
                attention_factor: 1.2,
            },
            64,
        ),
        (plain.rope.scaling.clone(), 256),
    ] {
        let mut scaled = config.clone();
        scaled.rope.scaling = scaling;
        let scaled = scaled.with_yarn(2.0).unwrap();
        assert_eq!(scaled.max_positions, 2 * original);
        if original == 256 {
            assert_eq!(scaled, plain);
        }
    }
}
