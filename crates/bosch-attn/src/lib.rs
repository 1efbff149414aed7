//! Hybrid full and sliding-window attention, on libtorch.

mod answer;
pub mod attention;
mod block;
mod cache;
mod chat;
mod config;
mod decoder;
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
mod rope;
mod tokenizer;
mod weights;

pub use tch;

pub use crate::answer::Sample;
pub use crate::cache::KvCache;
pub use crate::chat::{ChatEnd, ChatTemplate, Message};
pub use crate::config::{Architecture, Biases, ModelConfig, MoeConfig, RopeConfig, RopeScaling};
pub use crate::decoder::{Decoder, LoadOptions};
pub use crate::error::{Error, TensorProblem};
pub use crate::generate::Generation;
#[cfg(feature = "gguf")]
pub use crate::gguf::GgufFile;
pub use crate::mask::{HeadMask, Window};
pub use crate::prefix::{LayerEvaluations, PrefixScorer};
pub use crate::tokenizer::{Specials, Tokenizer};
pub use crate::weights::{SafetensorsFolder, TensorSpec, WeightSource, check};
