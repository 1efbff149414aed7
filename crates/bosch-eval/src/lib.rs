//! Long-context benchmarks for language models, independent of what runs the model.
//!
//! A runtime implements [`TextModel`]; its tokenizer is a [`TokenCounter`]. [`niah`] makes
//! needle-in-a-haystack samples that fit a token budget:
//!
//! ```
//! use bosch_eval::niah::{Essay, Generator, NiahConfig, Subtask};
//! use bosch_eval::{BoxError, Prompt, string_match_all};
//!
//! // A stand-in for a tokenizer with the model's chat template.
//! let count = |prompt: &Prompt| -> Result<usize, BoxError> {
//!     Ok(35 + prompt.to_text().split_whitespace().count())
//! };
//! let config = NiahConfig::new(Subtask::MultiKey1, 256).new_tokens(16);
//! let samples = Generator::new(config, Essay::built_in())?.samples(&count, 8, 42)?;
//!
//! let prediction = samples[0].answer(); // from a model that is always right
//! assert_eq!(string_match_all(&prediction, &samples[0].outputs), 1.0);
//! # Ok::<(), bosch_eval::Error>(())
//! ```

mod error;
mod evaluate;
pub mod gsm8k;
mod json_lines;
pub mod longbench;
mod metric;
mod model;
pub mod niah;
mod rng;
mod task;
mod text;

pub use error::{BoxError, Error, Result};
pub use evaluate::{EvaluateSettings, Evaluation, Event, Record, evaluate};
pub use json_lines::parse_json_line;
pub use metric::{
    Case, CodeSimBackend, Metric, classification_score, code_sim_score, count_score,
    normalize_answer, normalize_zh_answer, qa_f1_score, qa_f1_zh_score, retrieval_score,
    retrieval_zh_score, rouge_score, rouge_zh_score, ruler_postprocess, score_all, segment,
    string_match_all, string_match_part,
};
pub use model::{Generation, Prompt, Question, TextModel, TokenCounter};
pub use task::{Item, Task};
pub use text::first_line;
