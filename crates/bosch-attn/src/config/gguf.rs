//! Reading a model's settings from GGUF metadata.
//!
//! Keys: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>; what the files leave out is taken from the tensors
//! that they have (biases, tied embeddings, experts) and from llama.cpp's rules for each architecture.

use super::{Activation, Architecture, Biases, ModelConfig, MoeConfig, RopeConfig, RopeScaling};
use crate::error::Error;
use crate::gguf::{GgufFile, Metadata};

impl ModelConfig {
    /// Reads the settings of a GGUF file of the architectures `llama` (Mistral among them), `qwen2`, `qwen3` and
    /// `qwen3moe`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for the first key that is missing, of the wrong type, out of range or not supported.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, Error> {
        let config = Reader::new(file)?.config()?;
        config.check(&file.path().display().to_string())?;
        Ok(config)
    }
}

/// The file, with the prefix of its architecture's keys.
struct Reader<'a> {
    file: &'a GgufFile,
    metadata: &'a Metadata,
    prefix: &'a str,
    architecture: Architecture,
}

impl<'a> Reader<'a> {
    fn new(file: &'a GgufFile) -> Result<Self, Error> {
        let metadata = file.metadata();
        let key = "general.architecture";
        let expected = "one of llama, qwen2, qwen3, qwen3moe";
        let prefix = metadata.required(key, expected, metadata.text(key)?)?;
        let architecture = match prefix {
            "llama" => Architecture::Llama,
            "qwen2" => Architecture::Qwen2,
            "qwen3" => Architecture::Qwen3,
            "qwen3moe" => Architecture::Qwen3Moe,
            other => return Err(metadata.error(key, expected, other)),
        };
        Ok(Self {
            file,
            metadata,
            prefix,
            architecture,
        })
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    fn size(&self, name: &str) -> Result<Option<usize>, Error> {
        self.metadata.size(&self.key(name))
    }

    fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        self.metadata.number(&self.key(name))
    }

    /// A size that the file must give.
    fn required(&self, name: &str) -> Result<usize, Error> {
        let key = self.key(name);
        self.metadata
            .required(&key, "a whole number", self.size(name)?)
    }

    /// Refuses any value of a size but `supported`; absent is fine.
    fn only(&self, name: &str, supported: usize) -> Result<(), Error> {
        match self.size(name)? {
            Some(value) if value != supported => {
                Err(self.metadata.error(&self.key(name), supported, value))
            }
            _ => Ok(()),
        }
    }

    fn has(&self, tensor: &str) -> bool {
        self.file.tensor_info(tensor).is_some()
    }

    fn config(&self) -> Result<ModelConfig, Error> {
        let layers = self.layers()?;
        let query_heads = self.required("attention.head_count")?;
        let hidden = self.required("embedding_length")?;
        let groups = self.size("attention.head_count_kv")?.unwrap_or(query_heads);
        let head_dim = match self.size("attention.key_length")? {
            Some(given) => given,
            None => hidden.checked_div(query_heads).unwrap_or_default(),
        };
        self.only("attention.value_length", head_dim)?;
        self.only("rope.dimension_count", head_dim)?;
        let max_positions = self.required("context_length")?;
        let epsilon = "attention.layer_norm_rms_epsilon";
        let moe = self.moe(layers)?;
        Ok(ModelConfig {
            architecture: self.architecture,
            layers,
            query_heads,
            groups,
            head_dim,
            hidden,
            intermediate: self.intermediate(moe.as_ref())?,
            activation: Activation::Silu,
            vocab: self.vocab()?,
            norm_eps: self.metadata.required(
                &self.key(epsilon),
                "a number",
                self.number(epsilon)?,
            )?,
            rope: self.rope(max_positions)?,
            tied_embeddings: !self.has("output.weight"),
            biases: Biases {
                qkv: self.has("blk.0.attn_q.bias"),
                output: self.has("blk.0.attn_output.bias"),
                mlp: self.has("blk.0.ffn_gate.bias"),
            },
            own_windows: vec![self.window()?; layers],
            moe,
            max_positions,
            bos: self.metadata.token("tokenizer.ggml.bos_token_id")?,
            eos: self
                .metadata
                .token("tokenizer.ggml.eos_token_id")?
                .into_iter()
                .collect(),
        })
    }

    /// Number of layers; checked here because lists of that length follow.
    fn layers(&self) -> Result<usize, Error> {
        match self.required("block_count")? {
            layers @ 1..=10_000 => Ok(layers),
            layers => {
                let key = self.key("block_count");
                Err(self.metadata.error(&key, "1 to 10000", layers))
            }
        }
    }

    /// Rows of the embedding matrix, which may be padded beyond the tokenizer's vocabulary.
    fn vocab(&self) -> Result<usize, Error> {
        match self.file.tensor_info("token_embd.weight") {
            Some(info) => Ok(info.shape[0]),
            None => self.required("vocab_size"),
        }
    }

    /// Width of a dense MLP; a model of nothing but mixtures may leave it out.
    fn intermediate(&self, moe: Option<&MoeConfig>) -> Result<usize, Error> {
        match (self.size("feed_forward_length")?, moe) {
            (Some(width), _) if width > 0 => Ok(width),
            (_, Some(moe)) => Ok(moe.intermediate),
            _ => self.required("feed_forward_length"),
        }
    }

    /// Mistral's window on all layers, which some files of the architecture `llama` give; 0 means none.
    fn window(&self) -> Result<Option<usize>, Error> {
        if self.architecture != Architecture::Llama {
            self.only("attention.sliding_window", 0)?;
        }
        let window = self.size("attention.sliding_window")?;
        Ok(window.filter(|window| *window > 0))
    }

    fn moe(&self, layers: usize) -> Result<Option<MoeConfig>, Error> {
        if self.architecture != Architecture::Qwen3Moe {
            self.only("expert_count", 0)?;
            return Ok(None);
        }
        self.only("expert_shared_count", 0)?;
        let norm = self.key("expert_weights_norm");
        Ok(Some(MoeConfig {
            experts: self.required("expert_count")?,
            experts_per_token: self.required("expert_used_count")?,
            intermediate: self.required("expert_feed_forward_length")?,
            // llama.cpp renormalises in this architecture, and the files need not say so.
            normalise: self.metadata.flag(&norm)?.unwrap_or(true),
            sparse_layers: (0..layers)
                .map(|layer| self.has(&format!("blk.{layer}.ffn_gate_inp.weight")))
                .collect(),
        }))
    }

    fn rope(&self, max_positions: usize) -> Result<RopeConfig, Error> {
        Ok(RopeConfig {
            theta: self.number("rope.freq_base")?.unwrap_or(10_000.0),
            scaling: self.rope_scaling(max_positions)?,
        })
    }

    fn rope_scaling(&self, max_positions: usize) -> Result<RopeScaling, Error> {
        if let Some(divisors) = self.divisors("rope_freqs.weight")? {
            return Ok(RopeScaling::Divisors(divisors));
        }
        let original = self
            .size("rope.scaling.original_context_length")?
            .unwrap_or(max_positions);
        let key = self.key("rope.scaling.type");
        let factor = self
            .number("rope.scaling.factor")?
            .or(self.number("rope.scale_linear")?);
        match self.metadata.text(&key)? {
            None if factor.is_none() => Ok(RopeScaling::None),
            Some("none") => Ok(RopeScaling::None),
            None | Some("linear") => Ok(RopeScaling::Linear {
                factor: factor.unwrap_or(1.0),
            }),
            Some("yarn") => self.yarn(factor.unwrap_or(1.0), original),
            Some("longrope") => self.longrope(original),
            Some(other) => {
                let expected = "one of none, linear, yarn, longrope";
                Err(self.metadata.error(&key, expected, other))
            }
        }
    }

    fn yarn(&self, factor: f64, original: usize) -> Result<RopeScaling, Error> {
        let given = |name: &str, default: f64| {
            Ok(self
                .number(&format!("rope.scaling.{name}"))?
                .unwrap_or(default))
        };
        let scale = given("attn_factor", 1.0)? * given("yarn_attn_factor", 1.0)?;
        Ok(RopeScaling::Yarn {
            factor,
            original,
            beta_fast: given("yarn_beta_fast", 32.0)?,
            beta_slow: given("yarn_beta_slow", 1.0)?,
            attention_factor: scale * (0.1 * factor.max(1.0).ln() + 1.0),
            truncate: true,
        })
    }

    fn longrope(&self, original: usize) -> Result<RopeScaling, Error> {
        let list = |name: &str| {
            self.metadata
                .required(name, "a tensor of divisors", self.divisors(name)?)
        };
        Ok(RopeScaling::LongRope {
            short: list("rope_factors_short.weight")?,
            long: list("rope_factors_long.weight")?,
            original,
            attention_factor: self.number("rope.scaling.attn_factor")?.unwrap_or(1.0),
        })
    }

    /// The numbers of a one-dimensional tensor, one for each frequency, or `None` where the file has no such tensor.
    fn divisors(&self, name: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(info) = self.file.tensor_info(name) else {
            return Ok(None);
        };
        if info.shape.len() != 1 || info.shape[0] > 4096 {
            let expected = "at most 4096 divisors in one dimension";
            return Err(self
                .metadata
                .error(name, expected, format!("{:?}", info.shape)));
        }
        let tensor = self.file.read_part(info, 0, 1)?;
        Vec::<f64>::try_from(tensor.to_kind(tch::Kind::Double))
            .map(Some)
            .map_err(Error::torch("reading rope divisors"))
    }
}
