//! Needle in a haystack: RULER's eight retrieval subtasks (NVIDIA/RULER,
//! `scripts/data/synthetic/niah.py`).
//!
//! A needle is the sentence "One of the special magic numbers for K is: V."; a sample hides one or
//! more of them in a haystack and asks for the value of some key. The sentences of prompts and
//! needles, and the noise, are RULER's own (Apache-2.0), as results depend on them; words, essay
//! and random choices are not.

mod assemble;
mod config;
mod essay;
mod fit;
mod generator;
mod grid;
mod needle;
mod sample;
mod task;
mod words;

pub use config::{Depth, EssayStart, HaystackKind, NeedleKind, NiahConfig, PromptForm, Subtask};
pub use essay::Essay;
pub use generator::Generator;
pub use grid::{GridSettings, NiahGrid};
pub use sample::NiahSample;
pub use task::Niah;
