//! Scores of one prediction, each named as in the official code.

mod string_match;

pub use string_match::{string_match_all, string_match_part};
