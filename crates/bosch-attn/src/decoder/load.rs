//! From a folder, or any source of weights, to a decoder.

use std::path::Path;

use tch::{Device, Kind, Tensor};

use super::Decoder;
use crate::block::{Attention, Block};
use crate::config::{ModelConfig, MoeConfig};
use crate::error::Error;
use crate::linear::Linear;
use crate::mlp::{FeedForward, Mlp, Moe};
use crate::norm::RmsNorm;
use crate::weights::{SafetensorsFolder, WeightSource, check};

/// Element type and device of a decoder that is being loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Element type of weights and activations; float32 unless set.
    pub kind: Kind,
    /// Where the weights go; the CPU unless set.
    pub device: Device,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            kind: Kind::Float,
            device: Device::Cpu,
        }
    }
}

impl LoadOptions {
    /// Float32 on the CPU.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the element type: `Float`, `BFloat16` or `Half`.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }
}

impl Decoder {
    /// Reads a Hugging Face folder (`config.json`, safetensors in one file or sharded) in float32 to the CPU.
    ///
    /// # Errors
    ///
    /// As [`Decoder::load`], and those of reading the files.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let config = ModelConfig::from_file(folder.join("config.json"))?;
        Self::load(
            config,
            &SafetensorsFolder::open(folder)?,
            LoadOptions::new(),
        )
    }

    /// Builds the decoder that `config` describes from the tensors of `source`, each read to its place.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] where values contradict each other; [`Error::Tensors`] with all tensors that are missing or of
    /// another shape; [`Error::Input`] for an element type that is not supported; what the source meets when it reads.
    pub fn load(
        config: ModelConfig,
        source: &dyn WeightSource,
        options: LoadOptions,
    ) -> Result<Self, Error> {
        let _guard = tch::no_grad_guard();
        let LoadOptions { kind, device } = options;
        if !matches!(
            kind,
            Kind::Float | Kind::Double | Kind::BFloat16 | Kind::Half
        ) {
            return Err(Error::input(
                "element type",
                "Float, Double, BFloat16 or Half",
                format!("{kind:?}"),
            ));
        }
        config.check(&source.origin())?;
        check(source, &config.tensors())?;
        let reader = Reader {
            source,
            config: &config,
            options,
        };
        let embedding = reader.read("model.embed_tokens.weight")?;
        let head = Linear {
            weight: reader.head(&embedding)?,
            bias: None,
        };
        let layers = (0..config.layers)
            .map(|layer| reader.block(layer))
            .collect::<Result<_, _>>()?;
        let norm = reader.norm("model.norm.weight")?;
        Ok(Self {
            kind,
            device,
            longer_texts: false,
            embedding,
            layers,
            norm,
            head,
            config,
        })
    }
}

struct Reader<'a> {
    source: &'a dyn WeightSource,
    config: &'a ModelConfig,
    options: LoadOptions,
}

impl Reader<'_> {
    fn read(&self, name: &str) -> Result<Tensor, Error> {
        self.source
            .read(name, self.options.kind, self.options.device)
    }

    /// The embedding where it is tied, unless the file has a head of its own with other values: transformers then goes by
    /// the file.
    fn head(&self, embedding: &Tensor) -> Result<Tensor, Error> {
        const NAME: &str = "lm_head.weight";
        let tied = self.config.tied_embeddings;
        if tied && self.source.shape(NAME) != Some(embedding.size()) {
            return Ok(embedding.shallow_clone());
        }
        let head = self.read(NAME)?;
        Ok(match tied && head == *embedding {
            true => embedding.shallow_clone(),
            false => head,
        })
    }

    fn norm(&self, name: &str) -> Result<RmsNorm, Error> {
        Ok(RmsNorm {
            weight: self.read(name)?,
            eps: self.config.norm_eps,
        })
    }

    fn linear(&self, name: &str, bias: bool) -> Result<Linear, Error> {
        let bias = if bias {
            Some(self.read(&format!("{name}.bias"))?)
        } else {
            None
        };
        Ok(Linear {
            weight: self.read(&format!("{name}.weight"))?,
            bias,
        })
    }

    fn block(&self, layer: usize) -> Result<Block, Error> {
        let name = |part: &str| format!("model.layers.{layer}.{part}");
        let mlp = name("mlp");
        Ok(Block {
            attention_norm: self.norm(&name("input_layernorm.weight"))?,
            attention: self.attention(&name("self_attn"))?,
            mlp_norm: self.norm(&name("post_attention_layernorm.weight"))?,
            mlp: match &self.config.moe {
                Some(moe) if self.config.is_sparse(layer) => {
                    FeedForward::Sparse(self.moe(&mlp, moe)?)
                }
                _ => FeedForward::Dense(self.mlp(&mlp, self.config.biases.mlp)?),
            },
        })
    }

    fn attention(&self, name: &str) -> Result<Attention, Error> {
        let config = self.config;
        let (h, g, d) = (
            config.query_heads as i64,
            config.groups as i64,
            config.head_dim as i64,
        );
        let head_norm = if config.architecture.normalises_heads() {
            Some(self.head_norm(name, h, g)?)
        } else {
            None
        };
        Ok(Attention {
            qkv: Linear {
                weight: self.stacked(name, "weight", &[(h + 2 * g) * d, config.hidden as i64])?,
                bias: if config.biases.qkv {
                    Some(self.stacked(name, "bias", &[(h + 2 * g) * d])?)
                } else {
                    None
                },
            },
            head_norm,
            output: self.linear(&format!("{name}.o_proj"), config.biases.output)?,
            query_heads: h,
            groups: g,
            head_dim: d,
        })
    }

    /// The rows of q, k and v in one tensor of `shape`, each read to its place.
    fn stacked(&self, name: &str, part: &str, shape: &[i64]) -> Result<Tensor, Error> {
        let stacked = Tensor::f_empty(shape, (self.options.kind, self.options.device))
            .map_err(Error::torch("the allocation of weights"))?;
        let mut row = 0;
        for projection in ["q_proj", "k_proj", "v_proj"] {
            let heads = if projection == "q_proj" {
                self.config.query_heads
            } else {
                self.config.groups
            };
            let rows = (heads * self.config.head_dim) as i64;
            let place = stacked.narrow(0, row, rows);
            self.source
                .read_into(&format!("{name}.{projection}.{part}"), &place)?;
            row += rows;
        }
        Ok(stacked)
    }

    fn head_norm(&self, name: &str, h: i64, g: i64) -> Result<RmsNorm, Error> {
        let repeated = |weight: Tensor, heads: i64| weight.unsqueeze(0).repeat([heads, 1]);
        let q = repeated(self.read(&format!("{name}.q_norm.weight"))?, h);
        let k = repeated(self.read(&format!("{name}.k_norm.weight"))?, g);
        Ok(RmsNorm {
            weight: Tensor::cat(&[q, k], 0),
            eps: self.config.norm_eps,
        })
    }

    fn mlp(&self, name: &str, bias: bool) -> Result<Mlp, Error> {
        let part = |part: &str| self.linear(&format!("{name}.{part}"), bias);
        Ok(Mlp {
            gate: part("gate_proj")?,
            up: part("up_proj")?,
            down: part("down_proj")?,
            activation: self.config.activation,
        })
    }

    fn moe(&self, name: &str, moe: &MoeConfig) -> Result<Moe, Error> {
        Ok(Moe {
            router: self.linear(&format!("{name}.gate"), false)?,
            experts: (0..moe.experts)
                .map(|expert| self.mlp(&format!("{name}.experts.{expert}"), false))
                .collect::<Result<_, _>>()?,
            per_token: moe.experts_per_token as i64,
            normalise: moe.normalise,
        })
    }
}
