//! Reading [`ModelConfig`] from the metadata of a GGUF file.

use super::{Architecture, Biases, ModelConfig, MoeConfig, RopeConfig, RopeScaling};
use crate::error::Error;
use crate::gguf::{GgufFile, Metadata};

impl ModelConfig {
    /// The configuration of a GGUF file of the architecture `llama` (Mistral's files too), `qwen2`, `qwen3` or
    /// `qwen3moe`.
    ///
    /// Biases and tied embeddings follow from the tensors that are there.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for the first key that is missing, of the wrong type or not supported.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, Error> {
        let metadata = file.metadata();
        let key = "general.architecture";
        let name = metadata.required(key, "an architecture", metadata.text(key)?)?;
        let architecture = architecture(metadata, name)?;
        let size = |key: &str| metadata.size(&format!("{name}.{key}"));
        let required = |key: &str| {
            let key = format!("{name}.{key}");
            metadata.required(&key, "a whole number", metadata.size(&key)?)
        };
        let layers = required("block_count")?;
        let query_heads = required("attention.head_count")?;
        let hidden = required("embedding_length")?;
        if layers > 10_000 {
            return Err(metadata.error(&format!("{name}.block_count"), "1 to 10000", layers));
        }
        let head_dim = match size("attention.key_length")? {
            Some(size) => size,
            None if query_heads > 0 && hidden.is_multiple_of(query_heads) => hidden / query_heads,
            None => {
                let expected = format!("a multiple of attention.head_count = {query_heads}");
                return Err(metadata.error(&format!("{name}.embedding_length"), expected, hidden));
            }
        };
        let has = |tensor: &str| file.tensor_info(tensor).is_some();
        let max_positions = required("context_length")?;
        let tokens = metadata
            .texts("tokenizer.ggml.tokens")?
            .map(<[String]>::len);
        let config = Self {
            architecture,
            layers,
            query_heads,
            groups: size("attention.head_count_kv")?.unwrap_or(query_heads),
            head_dim,
            hidden,
            intermediate: size("feed_forward_length")?.unwrap_or(0),
            vocab: match (size("vocab_size")?, tokens) {
                (Some(size), _) | (None, Some(size)) => size,
                (None, None) => required("vocab_size")?,
            },
            norm_eps: {
                let key = format!("{name}.attention.layer_norm_rms_epsilon");
                metadata.required(&key, "a number", metadata.number(&key)?)?
            },
            rope: rope(file, name, head_dim, max_positions)?,
            tied_embeddings: !has("output.weight"),
            biases: Biases {
                qkv: has("blk.0.attn_q.bias"),
                output: has("blk.0.attn_output.bias"),
                mlp: has("blk.0.ffn_gate.bias"),
            },
            own_windows: vec![
                size("attention.sliding_window")?.filter(|window| *window > 0);
                layers
            ],
            moe: match architecture {
                Architecture::Qwen3Moe => Some(MoeConfig {
                    experts: required("expert_count")?,
                    experts_per_token: required("expert_used_count")?,
                    intermediate: required("expert_feed_forward_length")?,
                    // llama.cpp renormalises for this architecture, whatever the file says.
                    normalise: true,
                    sparse_layers: (0..layers)
                        .map(|layer| has(&format!("blk.{layer}.ffn_gate_inp.weight")))
                        .collect(),
                }),
                _ => None,
            },
            max_positions,
            bos: metadata.token("tokenizer.ggml.bos_token_id")?,
            eos: metadata
                .token("tokenizer.ggml.eos_token_id")?
                .into_iter()
                .collect(),
        };
        config.check(&file.path().display().to_string())?;
        Ok(config)
    }
}

fn architecture(metadata: &Metadata, name: &str) -> Result<Architecture, Error> {
    match name {
        "llama" => Ok(Architecture::Llama),
        "qwen2" => Ok(Architecture::Qwen2),
        "qwen3" => Ok(Architecture::Qwen3),
        "qwen3moe" => Ok(Architecture::Qwen3Moe),
        other => {
            let expected = "one of llama, qwen2, qwen3, qwen3moe";
            Err(metadata.error("general.architecture", expected, format!("{other:?}")))
        }
    }
}

fn rope(
    file: &GgufFile,
    name: &str,
    head_dim: usize,
    max_positions: usize,
) -> Result<RopeConfig, Error> {
    let metadata = file.metadata();
    let number = |key: &str| metadata.number(&format!("{name}.rope.{key}"));
    let kind_key = format!("{name}.rope.scaling.type");
    let kind = metadata.text(&kind_key)?.unwrap_or("none");
    if let Some(size) = metadata.size(&format!("{name}.rope.dimension_count"))? {
        if size != head_dim {
            let key = format!("{name}.rope.dimension_count");
            return Err(metadata.error(&key, format!("the head size {head_dim}"), size));
        }
    }
    let factor = number("scaling.factor")?.unwrap_or(1.0);
    let scaling = match (kind, file.tensor_info("rope_freqs.weight")) {
        ("none", Some(info)) => {
            let divisors = file.read_part(info, 0, 1)?.to_kind(tch::Kind::Double);
            let divisors = Vec::<f64>::try_from(divisors.flatten(0, -1));
            RopeScaling::Divisors(divisors.map_err(Error::torch("reading rope_freqs.weight"))?)
        }
        ("none", None) => RopeScaling::None,
        ("linear", None) => RopeScaling::Linear { factor },
        ("yarn", None) => {
            let key = format!("{name}.rope.scaling.original_context_length");
            RopeScaling::Yarn {
                factor,
                original: metadata.size(&key)?.unwrap_or(max_positions),
                beta_fast: 32.0,
                beta_slow: 1.0,
                attention_factor: 0.1 * factor.ln() + 1.0,
                truncate: true,
            }
        }
        (other, _) => {
            let expected = "none (with or without rope_freqs.weight), linear or yarn";
            return Err(metadata.error(&kind_key, expected, format!("{other:?}")));
        }
    };
    Ok(RopeConfig {
        theta: number("freq_base")?.unwrap_or(10_000.0),
        scaling,
    })
}
