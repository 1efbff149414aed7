//! What a `config.json` means where its keys are absent, old or contradictory (transformers' rules), and what is refused.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use std::fs;

use bosch_attn::{Activation, Error, ModelConfig, RopeScaling};
use common::folder;
use serde_json::{Value, json};

/// A configuration of `model_type` with other keys added or replaced.
fn config(model_type: &str, keys: Value) -> ModelConfig {
    let mut all = json!({"model_type": model_type, "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 4,
        "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 96});
    let given = keys.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(given);
    ModelConfig::from_json(&all.to_string(), "config.json").unwrap()
}

/// An explicit `head_dim` wins over hidden / H (TensorRT-LLM #5912); only qwen3 has a default of its own.
#[test]
fn tensorrt_llm_5912_an_explicit_head_dim_wins() {
    for model in ["llama", "qwen2", "qwen3", "qwen3_moe", "mistral"] {
        assert_eq!(config(model, json!({"head_dim": 32})).head_dim, 32);
        let default = if model == "qwen3" { 128 } else { 8 };
        assert_eq!(config(model, json!({})).head_dim, default, "{model}");
    }
}

#[test]
fn a_missing_number_of_groups_is_the_number_of_heads() {
    let keys = json!({"num_key_value_heads": null});
    assert_eq!(config("llama", keys).groups, 6);
}

/// `max_window_layers` counts the full layers at the beginning, and `layer_types` wins over it (transformers #35896, #40126);
/// `use_sliding_window` must be set (lorax PR 532).
#[test]
fn transformers_35896_and_40126_windows_begin_at_max_window_layers() {
    let windows = |model: &str, keys: Value| config(model, keys).own_windows;
    let keys =
        |on: bool| json!({"use_sliding_window": on, "sliding_window": 7, "max_window_layers": 3});
    for model in ["qwen2", "qwen3"] {
        assert_eq!(windows(model, keys(true)), [None, None, None, Some(7)]);
        assert_eq!(windows(model, keys(false)), [None; 4]);
        let mut typed = keys(true);
        let types = ["sliding_attention", "full_attention"].repeat(2);
        typed["layer_types"] = json!(types);
        assert_eq!(windows(model, typed), [Some(7), None, Some(7), None]);
    }
    assert_eq!(windows("qwen3_moe", keys(true)), [Some(7); 4]);
    assert_eq!(windows("mistral", json!({})), [Some(4096); 4]);
    assert_eq!(
        windows("mistral", json!({"sliding_window": null})),
        [None; 4]
    );
    assert_eq!(windows("llama", json!({"sliding_window": 7})), [None; 4]);
}

#[test]
fn both_forms_of_the_rotary_keys_mean_the_same() {
    let scaling = json!({"rope_type": "linear", "factor": 2.0});
    let old = json!({"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2.0}});
    let mut parameters = scaling.clone();
    parameters["rope_theta"] = json!(5e5);
    let new = json!({"rope_parameters": parameters});
    let both = json!({"rope_theta": 5e5, "rope_scaling": scaling, "rope_parameters": {"rope_type": "default"}});
    let rope = |keys: Value| config("llama", keys).rope;
    assert_eq!(rope(old.clone()), rope(new));
    assert_eq!(rope(old), rope(both));
    let plain = rope(json!({"rope_parameters": {"rope_theta": 5e5}}));
    assert_eq!((plain.theta, plain.scaling), (5e5, RopeScaling::None));
}

/// Phi's form puts the original length beside `rope_scaling`; it is then the one that counts.
#[test]
fn the_original_length_may_stand_at_the_top() {
    let factors = [1.0, 1.0, 1.0, 1.0];
    let rope = config(
        "llama",
        json!({"max_position_embeddings": 128, "original_max_position_embeddings": 32, "rope_scaling": {
            "type": "longrope", "short_factor": factors, "long_factor": factors, "original_max_position_embeddings": 64}}),
    );
    let RopeScaling::LongRope {
        original,
        attention_factor,
        ..
    } = rope.rope.scaling
    else {
        panic!("not longrope");
    };
    let expected = (1.0 + 4f64.ln() / 32f64.ln()).sqrt();
    assert!(original == 32 && (attention_factor - expected).abs() < 1e-12);
}

/// A scaling of a kind that is not computed is an error, never plain rotation (candle-vllm #277).
#[test]
fn candle_vllm_277_an_unknown_rope_scaling_is_refused() {
    for scaling in [
        json!({"type": "ntk", "factor": 2.0}),
        json!({"factor": 2.0}),
    ] {
        let keys = json!({"model_type": "llama", "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 1,
            "num_attention_heads": 6, "vocab_size": 96, "rope_scaling": scaling});
        let error = ModelConfig::from_json(&keys.to_string(), "config.json").unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("rope_type") && text.contains("longrope"),
            "{text}"
        );
    }
}

#[test]
fn activations_have_transformers_names() {
    let of = |name: &str| config("llama", json!({"hidden_act": name})).activation;
    assert_eq!(["silu", "swish"].map(of), [Activation::Silu; 2]);
    assert_eq!(
        ["gelu_new", "gelu_pytorch_tanh"].map(of),
        [Activation::GeluTanh; 2]
    );
    assert_eq!(
        (of("gelu"), of("relu")),
        (Activation::Gelu, Activation::Relu)
    );
}

#[test]
fn experts_stand_where_the_step_and_the_list_say() {
    let sparse = |keys: Value| {
        let config = config("qwen3_moe", keys);
        (0..4)
            .map(|layer| config.is_sparse(layer))
            .collect::<Vec<_>>()
    };
    let all = |step: usize, dense: &[usize]| {
        sparse(
            json!({"num_experts": 4, "num_experts_per_tok": 2, "decoder_sparse_step": step, "mlp_only_layers": dense}),
        )
    };
    assert_eq!(all(1, &[]), [true; 4]);
    assert_eq!(all(2, &[]), [false, true, false, true]);
    assert_eq!(all(1, &[0, 2]), [false, true, false, true]);
    assert_eq!(all(2, &[1]), [false, false, false, true]);
    assert_eq!(sparse(json!({"num_experts": 0})), [false; 4]);
    let local = config(
        "qwen3_moe",
        json!({"num_local_experts": 4, "num_experts_per_tok": 2}),
    );
    assert_eq!(local.moe.unwrap().experts, 4);
}

fn config_error(changes: &[(&str, &str)]) -> String {
    let mut config: serde_json::Value = serde_json::from_str(
        &fs::read_to_string(folder("llama-tied").join("config.json")).unwrap(),
    )
    .unwrap();
    for (key, value) in changes {
        config[key] = serde_json::from_str(value).unwrap();
    }
    let error = ModelConfig::from_json(&config.to_string(), "config.json").unwrap_err();
    assert!(matches!(error, Error::Config { .. }), "{error}");
    error.to_string()
}

#[test]
fn configurations_outside_the_supported_are_refused_by_key_and_value() {
    for (changes, parts) in [
        (
            &[("model_type", "\"gpt2\"")][..],
            &["model_type", "gpt2", "llama, qwen2"][..],
        ),
        (
            &[("hidden_act", "\"mish\"")],
            &["hidden_act", "mish", "silu"],
        ),
        (
            &[("rope_parameters", "{\"rope_type\": \"su\", \"factor\": 4}")],
            &["rope_type", "su", "yarn"],
        ),
        (
            &[
                ("rope_parameters", "null"),
                ("rope_scaling", "{\"type\": \"mrope\"}"),
            ],
            &["rope_type", "mrope"],
        ),
        (
            &[
                ("rope_parameters", "null"),
                ("rope_scaling", "{\"factor\": 2}"),
            ],
            &["rope_type", "nothing"],
        ),
        (
            &[(
                "rope_parameters",
                "{\"rope_type\": \"yarn\", \"factor\": 0.5}",
            )],
            &["factor", "0.5"],
        ),
        (
            &[(
                "rope_parameters",
                "{\"rope_type\": \"longrope\", \"short_factor\": [1], \"long_factor\": [1]}",
            )],
            &["short_factor", "4 positive numbers"],
        ),
        (
            &[("num_key_value_heads", "4")],
            &["num_key_value_heads", "divisor", "6"],
        ),
        (&[("num_hidden_layers", "0")], &["num_hidden_layers", "0"]),
        (
            &[("num_hidden_layers", "1e300")],
            &["num_hidden_layers", "whole number"],
        ),
        (
            &[("num_hidden_layers", "99999999999")],
            &["num_hidden_layers", "99999999999"],
        ),
        (&[("hidden_size", "-48")], &["hidden_size", "-48"]),
        (&[("hidden_size", "null")], &["hidden_size", "nothing"]),
        (&[("head_dim", "7")], &["head_dim", "even"]),
        (&[("rms_norm_eps", "0")], &["rms_norm_eps"]),
        (&[("vocab_size", "\"many\"")], &["vocab_size", "many"]),
        (
            &[("partial_rotary_factor", "0.5")],
            &["partial_rotary_factor", "0.5"],
        ),
        (
            &[
                ("model_type", "\"qwen3_moe\""),
                ("num_experts_per_tok", "200"),
            ],
            &["num_experts_per_tok", "200"],
        ),
    ] {
        let text = config_error(changes);
        for part in parts {
            assert!(text.contains(part), "{changes:?}: {text}");
        }
    }
    assert!(matches!(
        ModelConfig::from_json("[1]", "c"),
        Err(Error::Format { .. })
    ));
    assert!(matches!(
        ModelConfig::from_json("{\"model", "c"),
        Err(Error::Format { .. })
    ));
}
