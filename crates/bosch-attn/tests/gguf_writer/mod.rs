//! Writes GGUF files, version 3, byte by byte: independent of the code that reads them.
#![allow(dead_code)] // each test file uses a part

use std::fs;
use std::path::PathBuf;

use bosch_attn::tch::Tensor;
use bosch_attn::{SafetensorsFolder, TensorSpec, WeightSource};
use serde_json::Value;

/// A GGUF file in the making.
#[derive(Clone, Default)]
pub struct Writer {
    entries: Vec<Vec<u8>>,
    infos: Vec<Vec<u8>>,
    data: Vec<u8>,
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl Writer {
    /// A metadata entry of any type; `value` is what follows the type's number.
    pub fn raw(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.entries
            .push([&string(key), &kind.to_le_bytes()[..], value].concat());
        self
    }

    pub fn u32(self, key: &str, value: u32) -> Self {
        self.raw(key, 4, &value.to_le_bytes())
    }

    pub fn f32(self, key: &str, value: f32) -> Self {
        self.raw(key, 6, &value.to_le_bytes())
    }

    pub fn flag(self, key: &str, value: bool) -> Self {
        self.raw(key, 7, &[u8::from(value)])
    }

    pub fn text(self, key: &str, value: &str) -> Self {
        self.raw(key, 8, &string(value))
    }

    pub fn texts(self, key: &str, values: &[impl AsRef<str>]) -> Self {
        let items: Vec<u8> = values
            .iter()
            .flat_map(|text| string(text.as_ref()))
            .collect();
        self.array(key, 8, values.len(), &items)
    }

    pub fn i32s(self, key: &str, values: &[i32]) -> Self {
        let items: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.array(key, 5, values.len(), &items)
    }

    fn array(self, key: &str, kind: u32, count: usize, items: &[u8]) -> Self {
        let head = [&kind.to_le_bytes()[..], &(count as u64).to_le_bytes()].concat();
        self.raw(key, 9, &[head, items.to_vec()].concat())
    }

    /// A tensor of ggml's type `kind`; `shape` in Hugging Face order.
    pub fn tensor(mut self, name: &str, shape: &[usize], kind: u32, bytes: &[u8]) -> Self {
        let mut info = string(name);
        info.extend((shape.len() as u32).to_le_bytes());
        for size in shape.iter().rev() {
            info.extend((*size as u64).to_le_bytes());
        }
        info.extend(kind.to_le_bytes());
        info.extend((self.data.len() as u64).to_le_bytes());
        self.infos.push(info);
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(32), 0);
        self
    }

    pub fn floats(self, name: &str, tensor: &Tensor) -> Self {
        let shape: Vec<usize> = tensor.size().iter().map(|size| *size as usize).collect();
        let numbers = Vec::<f32>::try_from(tensor.reshape(-1)).unwrap();
        let bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        self.tensor(name, &shape, 0, &bytes)
    }

    /// Takes the last tensor out again; its data stays.
    pub fn without_last_tensor(mut self) -> Self {
        self.infos.pop();
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend((self.infos.len() as u64).to_le_bytes());
        bytes.extend((self.entries.len() as u64).to_le_bytes());
        bytes.extend(self.entries.concat());
        bytes.extend(self.infos.concat());
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }
}

/// The fixture model `folder` as llama.cpp's converter writes it, in 32-bit floats.
pub fn converted(folder: &PathBuf, specs: &[TensorSpec]) -> Writer {
    let json: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("config.json")).unwrap()).unwrap();
    let source = SafetensorsFolder::open(folder).unwrap();
    let architecture = match json["model_type"].as_str().unwrap() {
        "qwen3_moe" => "qwen3moe",
        other => other,
    };
    let mut writer = metadata(&json, architecture);
    for spec in specs {
        let tensor = source
            .read(
                &spec.name,
                bosch_attn::tch::Kind::Float,
                bosch_attn::tch::Device::Cpu,
            )
            .unwrap();
        if spec.name.contains(".experts.") {
            continue;
        }
        let tensor = match architecture {
            "llama" if spec.name.contains("q_proj") => {
                permuted(&tensor, size(&json, "num_attention_heads"))
            }
            "llama" if spec.name.contains("k_proj") => {
                permuted(&tensor, size(&json, "num_key_value_heads"))
            }
            _ => tensor,
        };
        writer = writer.floats(&renamed(&spec.name), &tensor);
    }
    experts(writer, &json, &source)
}

fn size(json: &Value, key: &str) -> u32 {
    json[key].as_u64().unwrap() as u32
}

fn metadata(json: &Value, architecture: &str) -> Writer {
    let rope = match &json["rope_parameters"] {
        Value::Object(rope) => Value::Object(rope.clone()),
        _ => json.clone(),
    };
    let mut writer = Writer::default()
        .text("general.architecture", architecture)
        .f32(
            &format!("{architecture}.rope.freq_base"),
            rope["rope_theta"].as_f64().unwrap() as f32,
        )
        .f32(
            &format!("{architecture}.attention.layer_norm_rms_epsilon"),
            json["rms_norm_eps"].as_f64().unwrap() as f32,
        )
        .u32("tokenizer.ggml.bos_token_id", size(json, "bos_token_id"))
        .u32("tokenizer.ggml.eos_token_id", size(json, "eos_token_id"));
    for (theirs, ours) in [
        ("block_count", "num_hidden_layers"),
        ("context_length", "max_position_embeddings"),
        ("embedding_length", "hidden_size"),
        ("feed_forward_length", "intermediate_size"),
        ("attention.head_count", "num_attention_heads"),
        ("attention.head_count_kv", "num_key_value_heads"),
        ("attention.key_length", "head_dim"),
        ("attention.value_length", "head_dim"),
        ("expert_count", "num_experts"),
        ("expert_used_count", "num_experts_per_tok"),
        ("expert_feed_forward_length", "moe_intermediate_size"),
    ] {
        if json[ours].is_u64() {
            writer = writer.u32(&format!("{architecture}.{theirs}"), size(json, ours));
        }
    }
    match json["norm_topk_prob"].as_bool() {
        Some(norm) => writer.flag(&format!("{architecture}.expert_weights_norm"), norm),
        None => writer,
    }
}

/// The converter's order of rows: of each head, first and second half interleaved.
fn permuted(tensor: &Tensor, heads: u32) -> Tensor {
    let rows = tensor.size()[0];
    let head = rows / i64::from(heads);
    let order: Vec<i64> = (0..rows)
        .map(|row| row / head * head + row % head % 2 * (head / 2) + row % head / 2)
        .collect();
    tensor.index_select(0, &Tensor::from_slice(&order))
}

/// The converter's name of a tensor.
fn renamed(name: &str) -> String {
    let mut name = name.to_string();
    for (ours, theirs) in [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers", "blk"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.", "attn_"),
        ("mlp.gate.", "ffn_gate_inp."),
        ("mlp.", "ffn_"),
        ("_proj", ""),
    ] {
        name = name.replace(ours, theirs);
    }
    name
}

/// Adds each layer's experts, those of one projection stacked to one tensor.
fn experts(mut writer: Writer, json: &Value, source: &SafetensorsFolder) -> Writer {
    for layer in 0..size(json, "num_hidden_layers") {
        for part in ["gate", "up", "down"] {
            let slices: Vec<Tensor> = (0..json["num_experts"].as_u64().unwrap_or(0))
                .map(|expert| {
                    format!("model.layers.{layer}.mlp.experts.{expert}.{part}_proj.weight")
                })
                .filter(|name| source.shape(name).is_some())
                .map(|name| {
                    source
                        .read(
                            &name,
                            bosch_attn::tch::Kind::Float,
                            bosch_attn::tch::Device::Cpu,
                        )
                        .unwrap()
                })
                .collect();
            if !slices.is_empty() {
                let stacked = Tensor::stack(&slices, 0); // [E, out, in]
                writer = writer.floats(&format!("blk.{layer}.ffn_{part}_exps.weight"), &stacked);
            }
        }
    }
    writer
}
