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
