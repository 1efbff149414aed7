//! Runnable examples; see the `examples/` folder of this package.
