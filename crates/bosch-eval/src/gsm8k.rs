//! GSM8K: grade-school arithmetic, scored as by lm-evaluation-harness
//! (`lm_eval/tasks/gsm8k/gsm8k.yaml`).

mod extract;
mod task;

pub use extract::{Gsm8kFilter, extract, gsm8k_score};
pub use task::{Gsm8k, Gsm8kQuestion, read};
