//! Runnable examples; see the `examples/` folder of this package. Here is what several of them share.

mod layered_heads;

pub use layered_heads::LayeredHeads;
