//! [`evaluate`]: a model on a task, one batch after the other, resumable.

mod results;
mod run;

pub use results::Record;
pub use run::{EvaluateSettings, Evaluation, Event, evaluate};
