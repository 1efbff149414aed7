//! Large neighbourhood search from visible parts: destroy a few variables, repair them, accept or not.
//!
//! Policies are small objects; [`Lns`] chooses among several of them by their recent success
//! ([`Roulette`]). It works alone on any objective:
//!
//! ```
//! use bosch_core::lns::{Lns, Settings};
//! use bosch_core::{Blocks, Evaluator, Mask, Space, from_fn, maximize};
//!
//! // Max-cut on a ring of 20 nodes with chords: which nodes go to the other side?
//! let edges: Vec<(usize, usize)> =
//!     (0..20).flat_map(|i| [(i, (i + 1) % 20), (i, (i + 7) % 20)]).collect();
//! let cut = from_fn(20, |side: &Mask| {
//!     edges.iter().filter(|(a, b)| side.get(*a) != side.get(*b)).count() as f64
//! });
//! let space = Space::any(20);
//! let mut solver = Lns::new(space.clone(), Settings::standard(&Blocks::uniform(5, 4)?), 1);
//! let best = maximize(&mut Evaluator::new(cut), &mut solver, &space, 600)?;
//! assert_eq!(best.score, 40.0); // the ring is even and the chords are odd: all edges can be cut
//! # Ok::<(), bosch_core::Error>(())
//! ```

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::blocks::Blocks;
use crate::mask::Mask;
use crate::optimizer::{Optimizer, Roulette};
use crate::rng::Rng;
use crate::space::Space;
use crate::trial::Trial;

mod accept;
mod destroy;
mod experience;
mod repair;

pub use accept::{Accept, Annealing, NotWorse, RecordToRecord};
pub use destroy::{Destroy, DestroyBlock, DestroyDoubtful, DestroyRandom};
pub use experience::Experience;
pub use repair::{Repair, RepairAdvised, RepairRandom};

/// The policies of an [`Lns`].
///
/// ```
/// use bosch_core::lns::{Annealing, DestroyRandom, Lns, RepairRandom, Settings};
/// use bosch_core::{Evaluator, Mask, Space, from_fn, maximize};
///
/// let policies = Settings {
///     destroy: vec![Box::new(DestroyRandom::new(3))],
///     repair: vec![Box::new(RepairRandom)],
///     accept: Box::new(Annealing::new(4.0, 0.1, 300)),
/// };
/// let space = Space::exactly(20, 3)?;
/// let objective = from_fn(20, |mask: &Mask| mask.iter_ones().sum::<usize>() as f64);
/// let mut solver = Lns::new(space.clone(), policies, 1);
/// let best = maximize(&mut Evaluator::new(objective), &mut solver, &space, 300)?;
/// assert_eq!(best.score, 54.0); // 17 + 18 + 19
/// # Ok::<(), bosch_core::Error>(())
/// ```
pub struct Settings {
    /// Ways to choose the variables that are set free; at least one.
    pub destroy: Vec<Box<dyn Destroy>>,
    /// Ways to set them anew; at least one.
    pub repair: Vec<Box<dyn Repair>>,
    /// Whether the search goes on from a new mask.
    pub accept: Box<dyn Accept>,
}

impl Settings {
    /// Random, doubtful and same-block variables; random and advised repair; not worse is accepted.
    pub fn standard(blocks: &Blocks) -> Self {
        Self {
            destroy: vec![
                Box::new(DestroyRandom::new(4)),
                Box::new(DestroyDoubtful::new(6)),
                Box::new(DestroyBlock::new(blocks.clone())),
            ],
            repair: vec![Box::new(RepairRandom), Box::new(RepairAdvised)],
            accept: Box::new(NotWorse),
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Settings({} destroy, {} repair)",
            self.destroy.len(),
            self.repair.len()
        )
    }
}

/// Large neighbourhood search over a space, see the [module](self).
#[derive(Debug)]
pub struct Lns {
    space: Space,
    seed: u64,
    settings: Settings,
    rng: Rng,
    current: Option<(Mask, f64)>,
    best: f64,
    experience: Experience,
    known: HashSet<Mask>,
    pending: HashMap<Mask, (usize, usize)>,
    destroy: Roulette,
    repair: Roulette,
}

impl Lns {
    /// Starts from a random mask of the space, or from what it is told before it is asked.
    pub fn new(space: Space, settings: Settings, seed: u64) -> Self {
        Self {
            seed,
            rng: Rng::stream(seed, "lns"),
            current: None,
            best: f64::NEG_INFINITY,
            experience: Experience::new(space.dim()),
            known: HashSet::new(),
            pending: HashMap::new(),
            destroy: Roulette::new(settings.destroy.len()),
            repair: Roulette::new(settings.repair.len()),
            space,
            settings,
        }
    }

    /// The mask that the search goes on from, and its score.
    pub fn current(&self) -> Option<(&Mask, f64)> {
        self.current.as_ref().map(|(mask, score)| (mask, *score))
    }

    fn propose(&mut self) -> Option<Mask> {
        let Some((current, _)) = self.current.clone() else {
            return self.random();
        };
        for _ in 0..TRIES {
            let arms = (
                self.destroy.pick(&mut self.rng),
                self.repair.pick(&mut self.rng),
            );
            let destroy = self.settings.destroy.get_mut(arms.0)?;
            let freed = destroy.destroy(&current, &self.experience, &mut self.rng);
            let hold = |i: &usize| !freed.contains(i);
            let held: Vec<_> = self.space.variables().filter(hold).collect();
            let held: Vec<_> = held.into_iter().map(|i| (i, current.get(i))).collect();
            let Ok(open) = self.space.clone().fix(&held) else {
                continue;
            };
            let repair = self.settings.repair.get_mut(arms.1)?;
            let mask = repair.repair(&open, &self.experience, &mut self.rng);
            if self.known.insert(mask.clone()) {
                self.pending.insert(mask.clone(), arms);
                return Some(mask);
            }
        }
        let step = (0..TRIES).find_map(|_| {
            let mask = self.space.step(&current, &mut self.rng)?;
            self.known.insert(mask.clone()).then_some(mask)
        });
        step.or_else(|| self.random())
    }

    /// Any mask that is new.
    fn random(&mut self) -> Option<Mask> {
        (0..TRIES).find_map(|_| {
            let mask = self.space.random(&mut self.rng);
            self.known.insert(mask.clone()).then_some(mask)
        })
    }
}

/// Tries for a new mask.
const TRIES: usize = 50;

impl Optimizer for Lns {
    fn ask(&mut self, n: usize) -> Vec<Mask> {
        (0..n).map_while(|_| self.propose()).collect()
    }

    fn tell(&mut self, trials: &[Trial]) {
        let dim = self.space.dim();
        for Trial {
            mask,
            score,
            failed,
            ..
        } in trials.iter().filter(|trial| trial.is_usable(dim))
        {
            self.known.insert(mask.clone());
            if *failed || !self.space.contains(mask) {
                continue;
            }
            self.experience.learn(mask, *score);
            let current = self.current.as_ref().map(|(_, score)| *score);
            if let Some((destroy, repair)) = self.pending.remove(mask) {
                let better = current.is_none_or(|current| *score > current);
                self.destroy.reward(destroy, better);
                self.repair.reward(repair, better);
            }
            self.best = self.best.max(*score);
            let accept = &mut self.settings.accept;
            if current.is_none_or(|now| accept.accept(*score, now, self.best, &mut self.rng)) {
                self.current = Some((mask.clone(), *score));
            }
        }
    }

    fn settings(&self) -> Value {
        let policies = [self.settings.destroy.len(), self.settings.repair.len()];
        json!({ "name": "Lns", "seed": self.seed, "policies": policies })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_proposal_is_new_and_of_the_space() {
        let blocks = Blocks::uniform(4, 5).unwrap();
        let space = Space::quotas(&blocks, &[2, 0, 5, 3]).unwrap();
        let mut lns = Lns::new(space.clone(), Settings::standard(&blocks), 1);
        let mut seen = HashSet::new();
        for number in 1..=99 {
            let Some(mask) = lns.ask(1).pop() else { break };
            assert!(space.contains(&mask) && seen.insert(mask.clone()));
            let score = mask.iter_ones().sum::<usize>() as f64;
            lns.tell(&[Trial::new(mask, score, number)]);
        }
        assert_eq!(lns.current().unwrap().1, (3 + 4 + 60 + 17 + 18 + 19) as f64);
    }

    #[test]
    fn value_stability() {
        let blocks = Blocks::uniform(4, 5).unwrap();
        let space = Space::exactly(20, 6).unwrap();
        let mut lns = Lns::new(space, Settings::standard(&blocks), 1);
        let mut asked = Vec::new();
        for number in 1..=6 {
            let mask = lns.ask(1).pop().unwrap();
            asked.push(mask.to_string());
            let score = mask.iter_ones().sum::<usize>() as f64;
            lns.tell(&[Trial::new(mask, score, number)]);
        }
        assert_eq!(asked[4..], ["00000000101011001100", "00000000101011101000"]);
    }
}
