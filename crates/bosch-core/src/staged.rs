//! The staged search: a ratio of ones over variables in layers, found with few evaluations.
//!
//! Layers are [`Blocks`], the topmost being the last. In order:
//!
//! 1. *Anchors.* The masks without ones and of ones are scored; they fix the scale.
//! 2. *Ablation* (ours): every variable converted alone, and the mask of the K least harmful. A
//!    strong start on real models; skipped unless the budget is at least twice the number of
//!    variables ([`Ablation`]). Without it, an evenly spread mask is the first candidate.
//! 3. *Probe* (the paper's stage 1): from the top layer down, the best choice of ⌈ρ G⌉ variables
//!    inside each layer, the layers above at theirs, those below at zero. Where ⌈ρ G⌉ would be a
//!    whole layer, quotas whose running sum follows ρ (ours).
//! 4. *Allocation* (stage 2), a pure function: [`allocate`].
//! 5. *Groups* (stage 3): layers of one ratio searched jointly, their ones held.
//! 6. *Polish* (ours): free exchange over the whole mask under the exact total.
//!
//! Every mask with exactly K ones that was evaluated anywhere competes for the result. So the
//! result has exactly K ones and is never worse than the ablation's choice.
//!
//! A budget that does not reach for all shrinks the stages: the ablation goes first (see above), the
//! probe is left out if its share is below two evaluations a layer (layers then count as hard as
//! their ablation says, or all the same), the groups if theirs is below two a layer; what is not
//! used goes to the polish. The least budget is three evaluations.

use serde_json::to_value;

use crate::blocks::Blocks;
use crate::error::{Error, InvalidInput};
use crate::evaluator::{Evaluator, Plan};
use crate::loss::{Anchors, RatioPenalty};
use crate::mask::Mask;
use crate::objective::Objective;
use crate::rng::Rng;
use crate::space::Space;

mod ablation;
mod allocate;
mod group;
mod outcome;
mod polish;
mod probe;
mod settings;

pub use allocate::{Allocation, allocate};
pub use outcome::{Outcome, StageReport};
pub use settings::{Ablation, LayerDrop, Rest, StagedSettings};

/// Finds a mask with exactly K = ρ N ones (halves rounded up) and a high score.
///
/// ```
/// use bosch_core::{Blocks, Evaluator, Mask, StagedSettings, from_fn, staged};
///
/// // Each one costs its weight, two neighbouring ones cost extra.
/// let objective = from_fn(12, |mask: &Mask| {
///     let weights: f64 = mask.iter_ones().map(|i| 1.0 + (i * 7 % 12) as f64).sum();
///     let pairs = (1..12).filter(|&i| mask.get(i) && mask.get(i - 1)).count();
///     -weights - 5.0 * pairs as f64
/// });
/// let mut evaluator = Evaluator::new(objective);
/// let outcome =
///     staged::search(&mut evaluator, &Blocks::uniform(4, 3)?, &StagedSettings::new(0.5, 200))?;
/// assert_eq!(outcome.mask.count_ones(), 6);
/// assert!(outcome.evaluations <= 200);
/// # Ok::<(), bosch_core::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Input`] for settings out of range, among them a ratio that converts nothing or all;
/// [`Error::Anchors`] if the two extreme masks score alike; the faults of the objective and of the
/// trace; [`Error::Stopped`] if the observer stopped the search before it had a candidate.
pub fn search<O: Objective>(
    evaluator: &mut Evaluator<'_, O>,
    blocks: &Blocks,
    settings: &StagedSettings,
) -> Result<Outcome, Error<O::Error>> {
    if blocks.dim() != evaluator.dim() {
        let expected = format!("{}, as the objective", evaluator.dim());
        return Err(InvalidInput::new("variables in the blocks", expected, blocks.dim()).into());
    }
    let ones = settings.check(blocks.dim())?;
    let space = Space::exactly(blocks.dim(), ones)?;
    evaluator.start(Plan {
        budget: settings.budget,
        seed: settings.seed,
        settings: to_value(settings).unwrap_or_default(),
        admissible: space.clone(),
    })?;
    let mut search = Search {
        evaluator,
        blocks,
        settings,
        space,
        full: 0.0,
        harmless: None,
        stages: Vec::new(),
    };
    let penalty = search.anchors()?;
    search.run()?;
    search.outcome(&penalty)
}

/// A search in progress.
struct Search<'r, 'a, O: Objective> {
    evaluator: &'r mut Evaluator<'a, O>,
    blocks: &'r Blocks,
    settings: &'r StagedSettings,
    /// The masks with exactly K ones.
    space: Space,
    /// S_full
    full: f64,
    /// The score of each variable converted alone, if the ablation ran.
    harmless: Option<Vec<f64>>,
    stages: Vec<StageReport>,
}

impl<O: Objective> Search<'_, '_, O> {
    fn anchors(&mut self) -> Result<RatioPenalty, Error<O::Error>> {
        let start = self.begin("anchors", 2);
        let dim = self.blocks.dim();
        let mut extremes = Vec::new();
        for mask in [Mask::zeros(dim), Mask::filled(dim, true)] {
            extremes.extend(self.evaluator.evaluate(&[mask])?);
        }
        self.end("anchors", start);
        let [full, all] = extremes.as_slice() else {
            self.evaluator.finish();
            return Err(Error::Stopped {
                evaluations: self.evaluator.evaluations(),
            });
        };
        self.full = full.score;
        let anchors = Anchors {
            full: full.score,
            all: all.score,
        };
        let settings = self.settings;
        RatioPenalty::new(anchors, settings.alpha, settings.ratio).map_err(Error::widen)
    }

    fn run(&mut self) -> Result<(), Error<O::Error>> {
        ablation::ablation(self)?;
        let left = self.evaluator.remaining() as f64;
        let probe_budget = (left * self.settings.probe_share) as usize;
        let groups_budget = (left * self.settings.groups_share) as usize;
        let cascade = probe::cascade(self, probe_budget)?;
        if groups_budget >= 2 * self.blocks.len() {
            let drops = match &cascade {
                Some(cascade) => cascade.drops.clone(),
                None => ablation::drops(self),
            };
            let sizes: Vec<usize> = (0..self.blocks.len())
                .map(|b| self.blocks.size(b))
                .collect();
            let allocation = allocate(&drops, &sizes, self.settings.ratio)?;
            group::groups(self, &allocation, cascade.as_ref(), groups_budget)?;
        }
        polish::polish(self)
    }

    fn outcome(&mut self, penalty: &RatioPenalty) -> Result<Outcome, Error<O::Error>> {
        self.evaluator.finish();
        let evaluations = self.evaluator.evaluations();
        let best = self
            .evaluator
            .best()
            .ok_or(Error::Stopped { evaluations })?;
        Ok(Outcome {
            mask: best.mask.clone(),
            score: best.score,
            loss: penalty.loss(&best.mask, best.score),
            anchors: penalty.anchors(),
            evaluations,
            replayed: self.evaluator.replayed(),
            stopped: self.evaluator.is_stopped(),
            curve: self.evaluator.curve(),
            stages: std::mem::take(&mut self.stages),
        })
    }

    /// Announces a stage; the number of evaluations before it.
    fn begin(&mut self, name: &str, planned: usize) -> usize {
        self.evaluator.stage(name, planned);
        self.evaluator.evaluations()
    }

    /// Notes what a stage did.
    fn end(&mut self, name: &str, start: usize) {
        self.stages.push(StageReport {
            name: name.to_owned(),
            evaluations: self.evaluator.evaluations() - start,
            best: self.evaluator.best().map(|trial| trial.score),
        });
    }

    /// The masks that equal `mask` outside `layers` and have the given ones inside.
    fn space_of(
        &self,
        mask: &Mask,
        layers: &[usize],
        ones: &[usize],
    ) -> Result<Space, InvalidInput> {
        let count = |b: usize| self.blocks.range(b).filter(|&i| mask.get(i)).count();
        let quota = |b: usize| {
            if layers.contains(&b) {
                ones[b]
            } else {
                count(b)
            }
        };
        let quotas: Vec<usize> = (0..self.blocks.len()).map(quota).collect();
        let outside = (0..self.blocks.len()).filter(|b| !layers.contains(b));
        let outside = outside.flat_map(|b| self.blocks.range(b));
        let fixed: Vec<(usize, bool)> = outside.map(|i| (i, mask.get(i))).collect();
        Space::quotas(self.blocks, &quotas)?.fix(&fixed)
    }

    /// Which variables to convert first: by their ablation if it ran, else those of `prior`.
    fn keys(&self, prior: &Mask) -> Vec<f64> {
        match &self.harmless {
            Some(scores) => scores.clone(),
            None => prior.iter().map(f64::from).collect(),
        }
    }

    /// A seed for one component of a stage.
    fn seed_of(&self, stage: &str, part: usize) -> u64 {
        Rng::stream(self.settings.seed, &format!("staged/{stage}-{part}")).bits()
    }
}
