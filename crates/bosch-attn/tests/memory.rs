//! Loading holds little more than the weights themselves, whatever their type in the file and however they are sharded.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // helpers beside the test functions

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use bosch_attn::tch::Kind;
use bosch_attn::{Decoder, LoadOptions, ModelConfig, SafetensorsFolder, TensorSpec};

const LARGE: &str = r#"{"model_type": "llama", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 4,
    "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 16384, "tie_word_embeddings": false}"#;
const SMALL: &str = r#"{"model_type": "llama", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 1, "vocab_size": 8, "tie_word_embeddings": false}"#;

/// Element type in the file with its size, element type of the decoder, whether the file is sharded.
type Case = ((&'static str, usize), Kind, bool);

const CASES: [Case; 4] = [
    (("F32", 4), Kind::Float, false),
    (("BF16", 2), Kind::Float, true),
    (("F32", 4), Kind::BFloat16, true),
    (("BF16", 2), Kind::BFloat16, false),
];

fn elements(spec: &TensorSpec) -> usize {
    spec.shape.iter().product::<i64>() as usize
}

/// A file of zeros, its data a hole on the disk.
fn write(path: &Path, specs: &[TensorSpec], (name, size): (&str, usize)) {
    let mut end = 0;
    let mut header = serde_json::Map::new();
    for spec in specs {
        let start = end;
        end += elements(spec) * size;
        let info =
            serde_json::json!({"dtype": name, "shape": spec.shape, "data_offsets": [start, end]});
        header.insert(spec.name.clone(), info);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes())
        .unwrap();
    file.write_all(&header).unwrap();
    file.set_len((8 + header.len() + end) as u64).unwrap();
}

fn write_sharded(folder: &Path, specs: &[TensorSpec], dtype: (&str, usize)) {
    let mut map = serde_json::Map::new();
    for (index, part) in specs.chunks(12).enumerate() {
        let name = format!("model-{index}.safetensors");
        write(&folder.join(&name), part, dtype);
        map.extend(
            part.iter()
                .map(|spec| (spec.name.clone(), name.clone().into())),
        );
    }
    let index = serde_json::json!({ "weight_map": map }).to_string();
    fs::write(folder.join("model.safetensors.index.json"), index).unwrap();
}

/// A line of `/proc/self/status` in bytes.
fn status(key: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(key)).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}

/// Writes and loads a model; returns the bytes of its weights in the decoder and the growth of the resident memory at its
/// peak.
fn load(config: &str, (dtype, kind, sharded): Case) -> (usize, usize) {
    let config = ModelConfig::from_json(config, "config.json").unwrap();
    let specs = config.tensors();
    let folder = tempfile::tempdir().unwrap();
    if sharded {
        write_sharded(folder.path(), &specs, dtype);
    } else {
        write(&folder.path().join("model.safetensors"), &specs, dtype);
    }
    fs::write("/proc/self/clear_refs", "5").unwrap(); // the peak starts anew
    let before = status("VmRSS");
    let source = SafetensorsFolder::open(folder.path()).unwrap();
    let _decoder = Decoder::load(config, &source, LoadOptions::new().kind(kind)).unwrap();
    let total = specs.iter().map(elements).sum::<usize>() * kind.elt_size_in_bytes();
    (total, status("VmHWM") - before)
}

/// Each case in a process of its own, as an allocator keeps memory. A small model goes before, which makes the system read
/// in libtorch's code.
#[test]
fn the_peak_of_loading_is_at_most_1_3_times_the_weights() {
    const VARIABLE: &str = "BOSCH_TEST_MEMORY_CASE";
    if let Ok(index) = std::env::var(VARIABLE) {
        let case = CASES[index.parse::<usize>().unwrap()];
        load(SMALL, case);
        let (weights, peak) = load(LARGE, case);
        let ratio = peak as f64 / weights as f64;
        let ((from, _), to, sharded) = case;
        println!(
            "{from} to {to:?}, sharded {sharded}: {weights} bytes of weights, peak {ratio:.3} times these"
        );
        assert!(ratio < 1.3, "{from} to {to:?}: {ratio}");
        return;
    }
    for index in 0..CASES.len() {
        let test = "the_peak_of_loading_is_at_most_1_3_times_the_weights";
        let child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(VARIABLE, index.to_string())
            .status();
        assert!(child.unwrap().success());
    }
}
