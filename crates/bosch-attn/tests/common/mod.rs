//! The fixture models with their reference logits.
#![allow(dead_code)] // each test file uses a part

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use bosch_attn::tch::{Kind, Tensor};
use bosch_attn::{Decoder, HeadMask, LoadOptions, ModelConfig, SafetensorsFolder, Window};

pub const MODELS: [&str; 7] = [
    "llama-tied",
    "llama3-rope",
    "qwen2",
    "qwen3",
    "qwen3-yarn",
    "qwen3-moe",
    "mistral-sliding",
];

pub fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/models")
        .join(name)
}

pub struct Case {
    pub mask: HeadMask,
    pub window: Window,
    pub logits: Tensor,
}

pub struct Fixture {
    pub name: &'static str,
    pub decoder: Decoder,
    pub ids: Tensor,
    /// The plain model first, as the mask of zeros; then the hybrid cases.
    pub cases: Vec<Case>,
}

impl Fixture {
    pub fn load(name: &'static str) -> Self {
        // Tests run side by side: threads of libtorch inside each would wait for each other.
        bosch_attn::tch::set_num_threads(1);
        let mut config = ModelConfig::from_file(folder(name).join("config.json")).unwrap();
        if name == "mistral-sliding" {
            // The fixture's maker left the model's own window of 13 out of the reference: transformers hands it to the
            // attention function as an argument, and the maker looked for it on the module. `own_windows.rs` tests it.
            config.own_windows.fill(None);
        }
        let decoder = Decoder::load(
            config,
            &SafetensorsFolder::open(folder(name)).unwrap(),
            LoadOptions::new(),
        )
        .unwrap();
        let reference =
            Tensor::read_safetensors(folder(name).join("reference.safetensors")).unwrap();
        let mut tensors: HashMap<String, Tensor> = reference.into_iter().collect();
        let json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(folder(name).join("reference.json")).unwrap())
                .unwrap();
        let (layers, groups) = (decoder.config().layers, decoder.config().groups);
        let mut cases = vec![Case {
            mask: HeadMask::zeros(layers, groups),
            window: Window::new(1, 0).unwrap(),
            logits: tensors.remove("logits").unwrap(),
        }];
        for (index, case) in json["cases"].as_array().unwrap().iter().enumerate() {
            let size = |key: &str| case[key].as_u64().unwrap() as usize;
            let bits: Vec<bool> = case["mask"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|row| row.as_array().unwrap())
                .map(|bit| bit == 1)
                .collect();
            cases.push(Case {
                mask: HeadMask::from_bits(layers, groups, &bits).unwrap(),
                window: Window::new(size("window"), size("sinks")).unwrap(),
                logits: tensors.remove(&format!("logits_hybrid_{index}")).unwrap(),
            });
        }
        Self {
            name,
            decoder,
            ids: tensors.remove("input_ids").unwrap(),
            cases,
        }
    }

    /// The texts of the fixture as lists.
    pub fn texts(&self) -> Vec<Vec<u32>> {
        Vec::<Vec<i64>>::try_from(&self.ids)
            .unwrap()
            .into_iter()
            .map(|row| row.into_iter().map(|id| id as u32).collect())
            .collect()
    }
}

/// The largest difference of two tensors; NaN counts as infinite.
pub fn difference(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.size(), b.size());
    (a.to_kind(Kind::Double) - b.to_kind(Kind::Double))
        .abs()
        .nan_to_num(f64::INFINITY, f64::INFINITY, f64::INFINITY)
        .max()
        .double_value(&[])
}
