//! Black-box binary optimisation for expensive objectives.
//!
//! You have tens to a thousand yes/no decisions, a score that takes seconds or minutes to measure,
//! and a few hundred measurements to spend, often under a hard rule such as "exactly 68 of 90". This
//! crate spends them well, loses none of them, and gives the same answer for the same seed.
//!
//! ```
//! use bosch_core::{Blocks, Evaluator, Mask, StagedSettings, from_fn, staged};
//!
//! // 30 layers of 3 variables; converting a variable costs, in some layers more than in others.
//! let objective = from_fn(90, |mask: &Mask| {
//!     -mask.iter_ones().map(|i| 1.0 + (i / 3 % 7) as f64 + (i % 3) as f64).sum::<f64>()
//! });
//! let mut evaluator = Evaluator::new(objective);
//! let blocks = Blocks::uniform(30, 3)?;
//! let outcome = staged::search(&mut evaluator, &blocks, &StagedSettings::new(0.75, 400).seed(1))?;
//! assert_eq!(outcome.mask.count_ones(), 68);
//! println!("{} scores {}", outcome.mask, outcome.score);
//! # Ok::<(), bosch_core::Error>(())
//! ```
//!
//! # Map
//!
//! * [`Mask`] is a point; [`Space`] says which points are admissible (free, exactly K ones, quotas
//!   per block, fixed variables); [`Blocks`] groups variables into layers.
//! * [`Objective`] is what you implement; [`from_fn`] and [`try_from_fn`] make one from a closure.
//! * [`Evaluator`] calls it: budget, memo, trace and resume, [`Event`]s for a progress bar.
//! * [`staged::search`] is the method of the BOSCH paper (arXiv 2604.05942) with what we add to it.
//! * [`Optimizer`] is the ask/tell interface below it; [`maximize`] runs one solver alone.
//!
//! * [`pareto`] finds masks for several ratios in one run, or the highest ratio that keeps a share of the score.
//! * [`lns`] is large neighbourhood search from visible, replaceable parts.
//! * [`StopWhen`] ends a run early; [`from_sync_fn`] and [`Pool`] score a batch on all cores.
//! * [`Repeated`] and [`Raced`] are for noisy objectives: means, and weak candidates dropped early.
//!
//! # Resuming
//!
//! With [`Evaluator::with_trace`] every evaluation is written to a file as soon as it is known. The
//! same search on the same file continues where the last process ended, killed or not: the search
//! asks the same questions, and the file gives the first answers.

mod blocks;
mod error;
mod evaluator;
mod event;
pub mod lns;
mod loss;
mod mask;
mod objective;
mod optimizer;
mod parallel;
pub mod pareto;
mod raced;
mod recent;
mod repeated;
mod rng;
mod space;
pub mod staged;
mod stop;
mod surrogate;
mod trace;
mod trial;

pub use blocks::Blocks;
pub use error::{Error, InvalidInput};
pub use evaluator::{Evaluator, Faults, Plan};
pub use event::Event;
pub use loss::{Anchors, RatioPenalty, ones_for_ratio};
pub use mask::Mask;
pub use objective::{FromFn, Objective, TryFromFn, from_fn, try_from_fn};
pub use optimizer::{LocalSearch, Optimizer, Portfolio, Roulette, drive, maximize};
pub use parallel::{FromSyncFn, Pool, from_sync_fn};
pub use raced::Raced;
pub use repeated::Repeated;
pub use rng::Rng;
pub use space::Space;
pub use staged::{Ablation, LayerDrop, Outcome, Rest, StagedSettings};
pub use stop::StopWhen;
pub use trial::{CurvePoint, Trial};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
