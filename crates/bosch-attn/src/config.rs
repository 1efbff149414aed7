//! What a model is made of: shapes, norms, rotary embedding, the model's own windows.
//!
//! A [`ModelConfig`] is read from a Hugging Face `config.json` ([`ModelConfig::from_json`]) or from GGUF metadata. It
//! says which tensors the model needs ([`ModelConfig::tensors`]).

mod activation;
#[cfg(feature = "gguf")]
mod gguf;
mod hf;
mod rope;
mod tensors;

use crate::error::Error;

pub use activation::Activation;
pub use rope::{RopeConfig, RopeScaling};

/// The decoder families that this crate computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// `LlamaForCausalLM`, SmolLM2 among them.
    Llama,
    /// `Qwen2ForCausalLM`: biases on q, k and v.
    Qwen2,
    /// `Qwen3ForCausalLM`: RMSNorm on each query and key head.
    Qwen3,
    /// `Qwen3MoeForCausalLM`: Qwen3 with a mixture of experts.
    Qwen3Moe,
    /// `MistralForCausalLM`: a sliding window on all layers, where the configuration gives one.
    Mistral,
}

impl Architecture {
    /// All families, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Llama,
        Self::Qwen2,
        Self::Qwen3,
        Self::Qwen3Moe,
        Self::Mistral,
    ];

    /// The name in `config.json`'s `model_type`.
    pub fn model_type(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Qwen3Moe => "qwen3_moe",
            Self::Mistral => "mistral",
        }
    }

    /// Whether each query and key head is normalised before the rotary embedding.
    pub fn normalises_heads(self) -> bool {
        matches!(self, Self::Qwen3 | Self::Qwen3Moe)
    }
}

/// Which linear layers add a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Biases {
    /// `q_proj`, `k_proj` and `v_proj`.
    pub qkv: bool,
    /// `o_proj`.
    pub output: bool,
    /// `gate_proj`, `up_proj` and `down_proj` of dense layers.
    pub mlp: bool,
}

/// The mixture of experts of [`Architecture::Qwen3Moe`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoeConfig {
    /// Experts in a layer.
    pub experts: usize,
    /// Experts that each token goes through.
    pub experts_per_token: usize,
    /// Width of one expert.
    pub intermediate: usize,
    /// Whether the chosen experts' probabilities are divided by their sum.
    pub normalise: bool,
    /// For each layer, whether it is a mixture (true) or a dense MLP (false).
    pub sparse_layers: Vec<bool>,
}

/// All that the computation of a decoder depends on, apart from its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The family.
    pub architecture: Architecture,
    /// Decoder layers, L.
    pub layers: usize,
    /// Query heads in a layer, H; a multiple of `groups`.
    pub query_heads: usize,
    /// KV groups in a layer, G.
    pub groups: usize,
    /// Size of a head, d; even.
    pub head_dim: usize,
    /// Width of the residual stream, D.
    pub hidden: usize,
    /// Width of a dense MLP.
    pub intermediate: usize,
    /// The activation of every MLP.
    pub activation: Activation,
    /// Tokens in the vocabulary, V.
    pub vocab: usize,
    /// ε of every RMSNorm.
    pub norm_eps: f64,
    /// The rotary position embedding.
    pub rope: RopeConfig,
    /// Whether `lm_head` is the embedding matrix.
    pub tied_embeddings: bool,
    /// Which linear layers have a bias.
    pub biases: Biases,
    /// For each layer, its own sliding window in keys (the query itself counted), or `None` for full attention.
    pub own_windows: Vec<Option<usize>>,
    /// The mixture of experts, where there is one.
    pub moe: Option<MoeConfig>,
    /// Positions that the model was made for.
    pub max_positions: usize,
    /// The token that starts a text.
    pub bos: Option<u32>,
    /// The tokens that end a text; may be empty.
    pub eos: Vec<u32>,
}

impl ModelConfig {
    /// Query heads in a KV group, H / G.
    pub fn heads_per_group(&self) -> usize {
        self.query_heads / self.groups
    }

    /// The same model with its positions stretched `factor` times by YaRN, for texts longer than it was made for.
    ///
    /// Takes the place of whatever scaling the configuration has; parameters are the paper's (β 32 and 1, attention factor
    /// 0.1·ln(factor) + 1).
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a factor below 1 or not finite.
    pub fn with_yarn(mut self, factor: f64) -> Result<Self, Error> {
        let original = match self.rope.scaling {
            RopeScaling::Yarn { original, .. }
            | RopeScaling::Llama3 { original, .. }
            | RopeScaling::LongRope { original, .. } => original,
            _ => self.max_positions,
        };
        self.rope.scaling = RopeScaling::Yarn {
            factor,
            original,
            beta_fast: 32.0,
            beta_slow: 1.0,
            attention_factor: 0.1 * factor.ln() + 1.0,
            truncate: true,
        };
        self.rope.check("with_yarn", self.head_dim)?;
        self.max_positions = (original as f64 * factor) as usize;
        Ok(self)
    }

    /// Whether layer `layer` is a mixture of experts.
    pub fn is_sparse(&self, layer: usize) -> bool {
        self.moe
            .as_ref()
            .is_some_and(|moe| moe.sparse_layers.get(layer) == Some(&true))
    }

    /// Checks that the values fit together; `origin` names their file in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the first value that does not fit.
    pub fn check(&self, origin: &str) -> Result<(), Error> {
        let limit = 1 << 24; // far above any model, far below overflow in a product of two
        for (key, value) in [
            ("num_hidden_layers", self.layers),
            ("num_attention_heads", self.query_heads),
            ("num_key_value_heads", self.groups),
            ("head_dim", self.head_dim),
            ("hidden_size", self.hidden),
            ("intermediate_size", self.intermediate),
            ("vocab_size", self.vocab),
            ("max_position_embeddings", self.max_positions),
        ] {
            if value == 0 || value > limit {
                return Err(Error::config(origin, key, format!("1 to {limit}"), value));
            }
        }
        if self.layers > 10_000 {
            return Err(Error::config(
                origin,
                "num_hidden_layers",
                "1 to 10000",
                self.layers,
            ));
        }
        if !self.query_heads.is_multiple_of(self.groups) {
            let expected = format!("a divisor of num_attention_heads = {}", self.query_heads);
            return Err(Error::config(
                origin,
                "num_key_value_heads",
                expected,
                self.groups,
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(Error::config(
                origin,
                "head_dim",
                "an even number",
                self.head_dim,
            ));
        }
        if !(self.norm_eps.is_finite() && self.norm_eps > 0.0) {
            return Err(Error::config(
                origin,
                "rms_norm_eps",
                "a positive number",
                self.norm_eps,
            ));
        }
        if self.own_windows.len() != self.layers || self.own_windows.contains(&Some(0)) {
            return Err(Error::config(
                origin,
                "sliding_window",
                format!("{} windows of 1 or more", self.layers),
                format!("{:?}", self.own_windows),
            ));
        }
        self.check_moe(origin)?;
        self.rope.check(origin, self.head_dim)
    }

    fn check_moe(&self, origin: &str) -> Result<(), Error> {
        let Some(moe) = &self.moe else { return Ok(()) };
        if moe.experts == 0 || moe.experts > 65_536 {
            return Err(Error::config(
                origin,
                "num_experts",
                "1 to 65536",
                moe.experts,
            ));
        }
        if moe.experts_per_token == 0 || moe.experts_per_token > moe.experts {
            return Err(Error::config(
                origin,
                "num_experts_per_tok",
                format!("1 to {}", moe.experts),
                moe.experts_per_token,
            ));
        }
        if moe.intermediate == 0 || moe.intermediate > 1 << 24 {
            return Err(Error::config(
                origin,
                "moe_intermediate_size",
                "1 or more",
                moe.intermediate,
            ));
        }
        if moe.sparse_layers.len() != self.layers {
            return Err(Error::config(
                origin,
                "mlp_only_layers",
                format!("{} layers", self.layers),
                moe.sparse_layers.len(),
            ));
        }
        Ok(())
    }
}
