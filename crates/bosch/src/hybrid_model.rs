//! The one seam between a language model and the search: a model whose KV groups can be switched
//! between full and sliding-window attention.

use bosch_core::Mask;
use bosch_eval::TextModel;
use serde::{Deserialize, Serialize};

/// A text model with one switch per (layer, KV group).
///
/// Who implements it: whoever has a runtime. The search calls [`apply`](Self::apply) before each
/// evaluation and then the methods of [`TextModel`]; it assumes that the same mask gives the same
/// results.
pub trait HybridModel: TextModel {
    /// What a mask of this model is about. Constant over the life of the model.
    fn grid(&self) -> Grid;

    /// Makes `mask` the current one: bit `layer · groups + group` set means that every query head
    /// of that KV group uses sliding-window attention, clear means full causal attention.
    ///
    /// # Errors
    ///
    /// When the mask has not `grid().dim()` bits, or the runtime refuses.
    fn apply(&mut self, mask: &Mask) -> Result<(), Self::Error>;
}

/// The shape of a model's masks and the attention pattern that a set bit stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// Decoder layers, from the input (0) to the output.
    pub layers: usize,
    /// KV groups in a layer (`num_key_value_heads`).
    pub groups: usize,
    /// Query heads in a layer, a multiple of `groups`.
    pub query_heads: usize,
    /// Sliding window in tokens; it counts the query itself.
    pub window: usize,
    /// Sinks: the first positions, which stay visible. May be 0.
    pub sinks: usize,
}

impl Grid {
    /// Number of binary variables: layers × groups.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.layers * self.groups
    }

    /// The mask as rows, one a layer: `[layers][groups]`, true = sliding window.
    #[must_use]
    pub fn rows(&self, mask: &Mask) -> Vec<Vec<bool>> {
        (0..self.layers)
            .map(|layer| {
                (0..self.groups)
                    .map(|group| mask.get(layer * self.groups + group))
                    .collect()
            })
            .collect()
    }
}
