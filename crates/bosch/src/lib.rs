//! Decide which attention heads of a pretrained LLM can become sliding-window attention (SWA),
//! without training.
//!
//! A long context costs a KV cache that grows with it. Many heads do not need it: they look at the
//! last few tokens. This crate finds them, one bit for each (layer, KV group), by a black-box search
//! over needle-in-a-haystack scores (BOSCH, arXiv 2604.05942), so that the model still finds the
//! needle and the cache shrinks.
//!
//! # The tour
//!
//! * [`HybridModel`] is the seam: any runtime that can switch its KV groups. With the feature
//!   `torch`, `DecoderModel` is ours.
//! * [`select_heads`] runs the search and gives a [`Selection`]: the mask, its JSON, DuoAttention's
//!   folder. [`NiahObjective`] is what it maximises.
//! * [`LayerBaseline`] and [`compare_masks`] say whether the choice is good, [`bootstrap_interval`] how sure that is;
//!   [`kv_bytes`] what it saves; [`jaccard_distance`] and [`Turnover`] how alike choices are.
//! * With the feature `plots`, [`plots`] draws masks, the convergence and the NIAH heat map as SVG.
//!
//! The crates behind it: [`core`] (the optimiser, for any binary black box), [`eval`] (benchmarks),
//! `attn` (libtorch, feature `torch`).
//!
//! # A model of twenty lines
//!
//! Anything that implements [`HybridModel`] can be searched, so the method can be tried without
//! libtorch:
//!
//! ```
//! use std::convert::Infallible;
//! use std::ops::ControlFlow;
//!
//! use bosch::core::{Mask, StagedSettings};
//! use bosch::eval::{Generation, Prompt, Question, TextModel};
//! use bosch::{Grid, HybridModel};
//!
//! /// Two layers of four groups; converting group 1 of layer 0 loses the needle.
//! struct Planted(Mask);
//!
//! impl TextModel for Planted {
//!     type Error = Infallible;
//!     fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, Infallible> {
//!         Ok(vec![String::new(); prompts.len()])
//!     }
//!     fn answer_log_probabilities(&mut self, questions: &[Question]) -> Result<Vec<f64>, Infallible> {
//!         let lost = if self.0.get(1) { 3.0 } else { 0.0 };
//!         Ok(vec![-lost - 0.01 * self.0.count_ones() as f64; questions.len()])
//!     }
//! }
//!
//! impl HybridModel for Planted {
//!     fn grid(&self) -> Grid {
//!         Grid { layers: 2, groups: 4, query_heads: 8, window: 16, sinks: 4 }
//!     }
//!     fn apply(&mut self, mask: &Mask) -> Result<(), Infallible> {
//!         self.0 = mask.clone();
//!         Ok(())
//!     }
//! }
//!
//! # fn samples() -> Vec<bosch::eval::niah::NiahSample> {
//! #     use bosch::eval::niah::{Essay, Generator, NiahConfig, Subtask};
//! #     use bosch::eval::{BoxError, Prompt};
//! #     let words = |prompt: &Prompt| -> Result<usize, BoxError> {
//! #         Ok(prompt.to_text().split_whitespace().count())
//! #     };
//! #     let config = NiahConfig::new(Subtask::Single1, 256);
//! #     Generator::new(config, Essay::built_in()).unwrap().samples(&words, 2, 1).unwrap()
//! # }
//! let samples = samples(); // from `eval::niah::Generator`
//! let settings = bosch::SelectSettings::new("planted", StagedSettings::new(0.5, 60));
//! let selected = bosch::select_heads(&mut Planted(Mask::zeros(8)), &samples, &settings, |_| {
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(selected.selection.mask().count_ones(), 4);
//! assert!(!selected.selection.mask().get(1));
//! # Ok::<(), bosch::core::Error>(())
//! ```

mod analysis;
mod baselines;
mod compare;
#[cfg(feature = "torch")]
mod decoder_model;
mod error;
mod hybrid_model;
mod kv_bytes;
mod objective;
#[cfg(feature = "plots")]
pub mod plots;
mod select;
mod selection;

#[cfg(feature = "torch")]
pub use bosch_attn as attn;
pub use bosch_core as core;
pub use bosch_eval as eval;

pub use crate::analysis::{Turnover, bootstrap_interval, jaccard_distance};
pub use crate::baselines::LayerBaseline;
pub use crate::compare::{CompareSettings, Row, compare_masks, markdown_table};
#[cfg(feature = "torch")]
pub use crate::decoder_model::DecoderModel;
pub use crate::error::Error;
pub use crate::hybrid_model::{Grid, HybridModel};
pub use crate::kv_bytes::kv_bytes;
pub use crate::objective::{NiahForm, NiahObjective};
pub use crate::select::{SelectSettings, Selected, select_heads};
pub use crate::selection::{Provenance, Selection};
