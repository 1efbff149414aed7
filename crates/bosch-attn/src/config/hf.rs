//! Reading a Hugging Face `config.json`.
//!
//! Keys that are absent take the defaults of transformers' configuration classes, apart from `num_key_value_heads`
//! (as many as query heads). Keys that would change the computation in a way that is not supported are errors.

mod fields;
mod rope;

use std::fs;
use std::path::Path;

use serde_json::Value;

use self::fields::Fields;
use super::{Activation, Architecture, Biases, ModelConfig, MoeConfig};
use crate::error::Error;

impl ModelConfig {
    /// Reads the `config.json` at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where the file cannot be read, else as [`ModelConfig::from_json`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        Self::from_json(&text, path)
    }

    /// Reads the text of a `config.json`; `path` names it in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] where it is not JSON; [`Error::Config`] for the first key that is missing, of the wrong type,
    /// out of range or not supported.
    ///
    /// ```
    /// use bosch_attn::{Architecture, ModelConfig};
    ///
    /// let text = r#"{"model_type": "llama", "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3,
    ///     "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 96}"#;
    /// let config = ModelConfig::from_json(text, "config.json")?;
    /// assert_eq!((config.architecture, config.head_dim, config.groups), (Architecture::Llama, 8, 2));
    /// # Ok::<(), bosch_attn::Error>(())
    /// ```
    pub fn from_json(text: &str, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let value: Value =
            serde_json::from_str(text).map_err(|error| Error::format(path, "JSON", error))?;
        let origin = path.display().to_string();
        let config = read(&Fields::new(&value, &origin)?)?;
        config.check(&origin)?;
        Ok(config)
    }
}

fn read(fields: &Fields) -> Result<ModelConfig, Error> {
    let architecture = architecture(fields)?;
    let layers = fields.required("num_hidden_layers")?;
    let query_heads = fields.required("num_attention_heads")?;
    let hidden = fields.required("hidden_size")?;
    let max_positions = fields
        .size("max_position_embeddings")?
        .unwrap_or(match architecture {
            Architecture::Llama => 2048,
            Architecture::Mistral => 131_072,
            _ => 32_768,
        });
    if layers > 10_000 {
        return Err(fields.error("num_hidden_layers", "1 to 10000", layers));
    }
    Ok(ModelConfig {
        architecture,
        layers,
        query_heads,
        groups: fields.size("num_key_value_heads")?.unwrap_or(query_heads),
        head_dim: head_dim(fields, architecture, hidden, query_heads)?,
        hidden,
        intermediate: fields.required("intermediate_size")?,
        activation: activation(fields)?,
        vocab: fields.required("vocab_size")?,
        norm_eps: fields.number("rms_norm_eps")?.unwrap_or(1e-6),
        rope: rope::read(fields, max_positions)?,
        tied_embeddings: fields.flag("tie_word_embeddings")?.unwrap_or(false),
        biases: biases(fields, architecture)?,
        own_windows: own_windows(fields, architecture, layers)?,
        moe: match architecture {
            Architecture::Qwen3Moe => moe(fields, layers)?,
            _ => None,
        },
        max_positions,
        bos: fields.tokens("bos_token_id")?.first().copied(),
        eos: fields.tokens("eos_token_id")?,
    })
}

fn architecture(fields: &Fields) -> Result<Architecture, Error> {
    let name = fields.text("model_type")?.unwrap_or_default();
    Architecture::ALL
        .into_iter()
        .find(|architecture| architecture.model_type() == name)
        .ok_or_else(|| {
            let known = Architecture::ALL.map(Architecture::model_type).join(", ");
            fields.error("model_type", format!("one of {known}"), format!("{name:?}"))
        })
}

fn head_dim(
    fields: &Fields,
    architecture: Architecture,
    hidden: usize,
    query_heads: usize,
) -> Result<usize, Error> {
    match (fields.size("head_dim")?, architecture) {
        (Some(size), _) => Ok(size),
        (None, Architecture::Qwen3) => Ok(128),
        (None, Architecture::Llama) if query_heads > 0 && !hidden.is_multiple_of(query_heads) => {
            let expected = format!("a multiple of num_attention_heads = {query_heads}");
            Err(fields.error("hidden_size", expected, hidden))
        }
        (None, _) => Ok(hidden.checked_div(query_heads).unwrap_or_default()),
    }
}

fn activation(fields: &Fields) -> Result<Activation, Error> {
    let name = fields.text("hidden_act")?.unwrap_or("silu");
    Activation::from_name(name).ok_or_else(|| fields.error("hidden_act", Activation::KNOWN, name))
}

fn biases(fields: &Fields, architecture: Architecture) -> Result<Biases, Error> {
    let attention = fields.flag("attention_bias")?.unwrap_or(false);
    Ok(match architecture {
        Architecture::Llama => Biases {
            qkv: attention,
            output: attention,
            mlp: fields.flag("mlp_bias")?.unwrap_or(false),
        },
        Architecture::Qwen2 => Biases {
            qkv: true,
            output: false,
            mlp: false,
        },
        Architecture::Qwen3 | Architecture::Qwen3Moe => Biases {
            qkv: attention,
            output: attention,
            mlp: false,
        },
        Architecture::Mistral => Biases::default(),
    })
}

/// The windows of the model itself. Mistral's key is on unless null; Qwen's needs `use_sliding_window`, and its
/// mixture of experts then slides on every layer.
fn own_windows(
    fields: &Fields,
    architecture: Architecture,
    layers: usize,
) -> Result<Vec<Option<usize>>, Error> {
    let all = |window| vec![window; layers];
    let window = if fields.has("sliding_window") {
        fields.size("sliding_window")?
    } else {
        Some(4096)
    };
    match architecture {
        Architecture::Llama => Ok(all(None)),
        Architecture::Mistral => Ok(all(window)),
        Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Qwen3Moe => {
            if !fields.flag("use_sliding_window")?.unwrap_or(false) {
                return Ok(all(None));
            }
            if architecture == Architecture::Qwen3Moe {
                return Ok(all(window));
            }
            let slides = sliding_layers(fields, layers)?;
            Ok(slides
                .into_iter()
                .map(|slides| if slides { window } else { None })
                .collect())
        }
    }
}

fn sliding_layers(fields: &Fields, layers: usize) -> Result<Vec<bool>, Error> {
    let Some(types) = fields.list("layer_types")? else {
        let first = fields.size("max_window_layers")?.unwrap_or(28);
        return Ok((0..layers).map(|layer| layer >= first).collect());
    };
    if types.len() != layers {
        return Err(fields.error("layer_types", format!("{layers} entries"), types.len()));
    }
    types
        .iter()
        .map(|value| match value.as_str() {
            Some("sliding_attention") => Ok(true),
            Some("full_attention") => Ok(false),
            _ => Err(fields.error("layer_types", "full_attention or sliding_attention", value)),
        })
        .collect()
}

/// The mixture of experts; `None` where the configuration says that there are none.
fn moe(fields: &Fields, layers: usize) -> Result<Option<MoeConfig>, Error> {
    let experts = match fields.size("num_experts")? {
        Some(experts) => experts,
        None => fields.size("num_local_experts")?.unwrap_or(128),
    };
    if experts == 0 {
        return Ok(None);
    }
    let step = fields.size("decoder_sparse_step")?.unwrap_or(1).max(1);
    let dense: Vec<usize> = match fields.list("mlp_only_layers")? {
        Some(list) => list
            .iter()
            .map(|value| fields.as_size("mlp_only_layers", value))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    Ok(Some(MoeConfig {
        experts,
        experts_per_token: fields.size("num_experts_per_tok")?.unwrap_or(8),
        intermediate: fields.size("moe_intermediate_size")?.unwrap_or(768),
        normalise: fields.flag("norm_topk_prob")?.unwrap_or(false),
        sparse_layers: (0..layers)
            .map(|layer| !dense.contains(&layer) && (layer + 1).is_multiple_of(step))
            .collect(),
    }))
}
