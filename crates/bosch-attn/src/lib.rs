//! Hybrid full and sliding-window attention, on libtorch.
//!
//! A [`Decoder`] computes models of the llama, qwen2, qwen3, qwen3_moe and mistral families. A [`HeadMask`] says, for each
//! layer and KV group, whether its heads keep the model's own attention (0) or slide (1): a sliding query i sees key j iff
//! j ≤ i and (i − j < W or j < S), the [`Window`]. Mask and window are arguments, so one decoder serves any number of them.
//!
//! ```
//! use bosch_attn::tch::Tensor;
//! use bosch_attn::{Decoder, Generation, HeadMask, PrefixScorer, Sample, Window};
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models/llama-tied");
//! // A folder with config.json and safetensors; GGUF files come through the feature `gguf`.
//! let decoder = Decoder::from_folder(folder)?;
//! let (layers, groups) = (decoder.config().layers, decoder.config().groups);
//! let mut mask = HeadMask::zeros(layers, groups);
//! mask.set(1, 0, true)?;
//! let window = Window::new(8, 2)?;
//!
//! let ids = Tensor::from_slice(&[5i64, 17, 42, 8]).unsqueeze(0); // [B, T]
//! assert_eq!(decoder.logits(&ids, &mask, window)?.size(), [1, 4, decoder.config().vocab as i64]);
//!
//! // Text by text with a cache in which sliding groups keep W + S positions; lengths may differ.
//! let mut cache = decoder.cache(&mask, window, 2)?;
//! let next = decoder.extend_last(&mut cache, &[&[5, 17, 42], &[8]])?;
//! assert_eq!((next.size()[0], cache.lengths()), (2, &[3, 1][..]));
//! let settings = Generation { max_new_tokens: 3, stop: vec![] };
//! assert_eq!(decoder.generate(&[&[5, 17, 42]], &mask, window, &settings)?[0].len(), 3);
//!
//! // The score of a mask is the mean log-probability of the answers. Masks that begin with the same rows share work.
//! let samples = [Sample { prompt: vec![5, 17, 42], answer: vec![8, 9] }];
//! let mut scorer = PrefixScorer::new(&decoder, window, &samples, 1 << 20)?;
//! let scores = scorer.score_batch(&[HeadMask::zeros(layers, groups), mask])?;
//! assert!(scores.iter().all(|of_mask| of_mask[0] < 0.0));
//! assert_eq!(scorer.layer_evaluations().saved, 1.0);
//! # Ok::<(), bosch_attn::Error>(())
//! ```
//!
//! Where to read on: `plan.rs` cuts a layer's heads into runs of one rule, `block.rs` is the layer, [`attention`] the
//! computation of one run, `cache.rs` the cache, `prefix.rs` the exact reuse.

mod answer;
pub mod attention;
mod block;
mod cache;
mod chat;
mod config;
mod decoder;
mod device;
mod error;
mod generate;
#[cfg(feature = "gguf")]
mod gguf;
mod linear;
mod mask;
mod mlp;
mod norm;
mod plan;
mod prefix;
mod ranking;
mod rope;
mod tokenizer;
mod weights;

pub use tch;

pub use crate::answer::Sample;
pub use crate::cache::KvCache;
pub use crate::chat::{ChatEnd, ChatTemplate, Message};
pub use crate::config::{
    Activation, Architecture, Biases, ModelConfig, MoeConfig, RopeConfig, RopeScaling,
};
pub use crate::decoder::{Decoder, LoadOptions};
pub use crate::device::best_device;
pub use crate::error::{Error, TensorProblem};
pub use crate::generate::Generation;
#[cfg(feature = "gguf")]
pub use crate::gguf::GgufFile;
pub use crate::mask::{HeadMask, Window};
pub use crate::prefix::{LayerEvaluations, PrefixScorer};
pub use crate::ranking::{Gate, Method, Ranking};
pub use crate::tokenizer::{Specials, Tokenizer};
pub use crate::weights::{SafetensorsFolder, TensorSpec, WeightSource, check, check_finite};
