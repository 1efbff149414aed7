//! [`LocalSearch`]: random smallest steps from the best mask so far.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::mask::Mask;
use crate::optimizer::Optimizer;
use crate::rng::Rng;
use crate::space::Space;
use crate::trial::Trial;

/// The (1+1) local search: a swap inside a quota, or a flip where the number of ones is free,
/// sometimes two or three at once; a proposal that is not worse becomes the new incumbent.
///
/// It never proposes a mask twice; a space with at most [`ENUMERATE`](Self::ENUMERATE) masks is
/// enumerated in random order.
///
/// ```
/// use bosch_core::{Evaluator, LocalSearch, Mask, Space, from_fn, maximize};
///
/// // Ten ones of thirty, the first of them given; a guess to start with.
/// let space = Space::exactly(30, 10)?.fix(&[(0, true)])?;
/// let guess = Mask::from_ones(30, &[0, 20, 21, 22, 23, 24, 25, 26, 27, 28])?;
/// let mut solver = LocalSearch::new(space.clone(), 1).start_with(&[guess]);
/// let objective = from_fn(30, |mask: &Mask| mask.iter_ones().sum::<usize>() as f64);
/// let best = maximize(&mut Evaluator::new(objective), &mut solver, &space, 500)?;
/// assert_eq!(best.score, 225.0); // 21 + 22 + … + 29
/// # Ok::<(), bosch_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalSearch {
    space: Space,
    seed: u64,
    rng: Rng,
    incumbent: Option<(Mask, f64)>,
    known: HashSet<Mask>,
    /// Masks to propose first, the last one next.
    queue: Vec<Mask>,
    enumerated: bool,
}

impl LocalSearch {
    /// Spaces with at most this many masks are enumerated.
    pub const ENUMERATE: u64 = 64;

    /// Starts from a random mask of the space, or from what it is told before it is asked.
    pub fn new(space: Space, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "local-search");
        let enumerated = space.size() <= Self::ENUMERATE;
        let mut queue = if enumerated {
            space.enumerate()
        } else {
            Vec::new()
        };
        rng.shuffle(&mut queue);
        Self {
            space,
            seed,
            rng,
            incumbent: None,
            known: HashSet::new(),
            queue,
            enumerated,
        }
    }

    /// Proposes these masks of the space first, in order; others are left out.
    pub fn start_with(mut self, masks: &[Mask]) -> Self {
        self.queue.extend(
            masks
                .iter()
                .rev()
                .filter(|mask| self.space.contains(mask))
                .cloned(),
        );
        self
    }

    /// The best mask so far and its score.
    pub fn incumbent(&self) -> Option<(&Mask, f64)> {
        self.incumbent.as_ref().map(|(mask, score)| (mask, *score))
    }

    fn propose(&mut self) -> Option<Mask> {
        while let Some(mask) = self.queue.pop() {
            if self.known.insert(mask.clone()) {
                return Some(mask);
            }
        }
        if self.enumerated {
            return None;
        }
        let Some((incumbent, _)) = self.incumbent.clone() else {
            return (0..TRIES).find_map(|_| {
                let mask = self.space.random(&mut self.rng);
                self.known.insert(mask.clone()).then_some(mask)
            });
        };
        // Near an incumbent whose neighbours are known, two and three steps remain.
        for attempt in 0..TRIES {
            let mut mask = incumbent.clone();
            let mut again = true;
            while again {
                mask = self.space.step(&mask, &mut self.rng)?;
                again = self.rng.chance(0.3 + 0.002 * f64::from(attempt));
            }
            if self.known.insert(mask.clone()) {
                return Some(mask);
            }
        }
        None
    }
}

/// Tries for a new mask.
const TRIES: u32 = 200;

impl Optimizer for LocalSearch {
    fn ask(&mut self, n: usize) -> Vec<Mask> {
        (0..n).map_while(|_| self.propose()).collect()
    }

    fn tell(&mut self, trials: &[Trial]) {
        let dim = self.space.dim();
        for trial in trials.iter().filter(|trial| trial.is_usable(dim)) {
            self.known.insert(trial.mask.clone());
            let better = self
                .incumbent
                .as_ref()
                .is_none_or(|(_, score)| trial.score >= *score);
            if better && !trial.failed && self.space.contains(&trial.mask) {
                self.incumbent = Some((trial.mask.clone(), trial.score));
            }
        }
    }

    fn settings(&self) -> Value {
        json!({ "name": "LocalSearch", "seed": self.seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;

    fn told(search: &mut LocalSearch, score: impl Fn(&Mask) -> f64, n: usize) -> Vec<Mask> {
        let mut asked = Vec::new();
        for number in 1..=n {
            let Some(mask) = search.ask(1).pop() else {
                break;
            };
            search.tell(&[Trial::new(mask.clone(), score(&mask), number)]);
            asked.push(mask);
        }
        asked
    }

    #[test]
    fn keeps_the_quotas_and_repeats_nothing() {
        let blocks = Blocks::uniform(3, 8).unwrap();
        let space = Space::quotas(&blocks, &[2, 0, 5]).unwrap();
        let mut search = LocalSearch::new(space.clone(), 3);
        let asked = told(
            &mut search,
            |mask| mask.iter_ones().sum::<usize>() as f64,
            300,
        );
        assert!(asked.iter().all(|mask| space.contains(mask)));
        assert_eq!(asked.iter().collect::<HashSet<_>>().len(), asked.len());
        let best = search.incumbent().unwrap().0;
        assert_eq!(
            best.iter_ones().collect::<Vec<_>>(),
            [6, 7, 19, 20, 21, 22, 23]
        );
    }

    #[test]
    fn small_spaces_are_enumerated_and_then_it_says_so() {
        let space = Space::exactly(6, 2).unwrap();
        let mut search = LocalSearch::new(space, 3);
        assert_eq!(told(&mut search, |_| 0.0, 100).len(), 15);
        assert!(search.ask(1).is_empty());
    }

    #[test]
    fn value_stability() {
        let space = Space::exactly(10, 5).unwrap();
        let asked = told(
            &mut LocalSearch::new(space, 1),
            |mask| mask.iter_ones().sum::<usize>() as f64,
            4,
        );
        let text: Vec<String> = asked.iter().map(Mask::to_string).collect();
        assert_eq!(
            text,
            ["0011101010", "0001101011", "0010101011", "0011101001"]
        );
    }
}
