//! bosch
#[cfg(feature = "torch")]
pub use bosch_attn as attn;
pub use bosch_core as core;
pub use bosch_eval as eval;
