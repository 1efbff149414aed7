//! LongBench v1: 21 tasks in 6 categories (THUDM/LongBench).
//!
//! [`Dataset`] is the official table; [`read_samples`] reads the official JSON lines, plain or in
//! the zip file; [`LongBench`] is a [`Task`](crate::Task) over them; [`scorer`] and [`scorer_e`]
//! score prediction files as `eval.py` does, and [`Report`] averages as the boards do.

mod prompt;
mod read;
mod report;
mod scorer;
mod table;
mod task;
mod truncate;

pub use prompt::Templates;
pub use read::{LongBenchSample, Prediction, read_predictions, read_samples};
pub use report::Report;
pub use scorer::{Buckets, scorer, scorer_e};
pub use table::{Category, Dataset};
pub use task::LongBench;
pub use truncate::{Tokenizer, keep_ends, truncate_middle};
