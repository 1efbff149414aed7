//! [`Evaluator`]: the only caller of an objective.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::{Error, InvalidInput};
use crate::event::Event;
use crate::mask::Mask;
use crate::objective::Objective;
use crate::space::Space;
use crate::trace::{Header, Trace};
use crate::trial::{CurvePoint, Trial};

mod call;
mod faults;
mod pay;
mod run;

pub use faults::Faults;
pub use run::Plan;
use run::Run;

/// How exact a score has to be.
#[derive(Debug, Clone, Copy)]
enum Care {
    Score,
    Estimate,
}

type Observer<'a> = Box<dyn FnMut(&Event) -> ControlFlow<()> + 'a>;

/// Calls an objective for a search, and owns all that is common to searches: the budget, the memo
/// (no mask is paid for twice), the numbering, the trace, the observer, and the checks of what
/// the objective answers.
///
/// Make one, add a trace or an observer if you want them, and pass it to a search:
///
/// ```
/// use bosch_core::{Blocks, Evaluator, Event, Mask, StagedSettings, from_fn, staged};
/// use std::ops::ControlFlow;
///
/// let weights = [5.0, 1.0, 4.0, 2.0, 3.0, 0.5];
/// let objective = from_fn(6, |mask: &Mask| -mask.iter_ones().map(|i| weights[i]).sum::<f64>());
/// let mut seen = 0;
/// let mut evaluator = Evaluator::new(objective).with_observer(|event| {
///     if let Event::Evaluated { .. } = event {
///         seen += 1;
///     }
///     ControlFlow::Continue(())
/// });
/// let settings = StagedSettings::new(0.5, 20);
/// let outcome = staged::search(&mut evaluator, &Blocks::uniform(3, 2)?, &settings)?;
/// assert_eq!(outcome.mask.to_string(), "010101");
/// drop(evaluator);
/// assert_eq!(seen, outcome.evaluations);
/// # Ok::<(), bosch_core::Error>(())
/// ```
pub struct Evaluator<'a, O: Objective> {
    objective: O,
    observer: Option<Observer<'a>>,
    trace_at: Option<(PathBuf, Value)>,
    batch: usize,
    faults: Faults,
    /// Faults skipped so far.
    skipped: usize,
    run: Option<Run>,
    trials: Vec<Trial>,
    memo: HashMap<Mask, usize>,
    replayed: usize,
    stopped: bool,
}

impl<'a, O: Objective> Evaluator<'a, O> {
    /// An evaluator without trace and observer.
    pub fn new(objective: O) -> Self {
        Self {
            objective,
            observer: None,
            trace_at: None,
            batch: usize::MAX,
            faults: Faults::Abort,
            skipped: 0,
            run: None,
            trials: Vec::new(),
            memo: HashMap::new(),
            replayed: 0,
            stopped: false,
        }
    }

    /// Writes every evaluation to the file at `path`, or continues the run that the file holds.
    ///
    /// `context` is whatever else the scores depend on, such as the model and the samples: a
    /// trace of another context is refused. The file is opened when a search starts.
    ///
    /// ```
    /// use bosch_core::{Blocks, Evaluator, Mask, StagedSettings, from_fn, staged};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("trace.jsonl");
    /// let search = || {
    ///     let objective = from_fn(12, |mask: &Mask| -(mask.iter_ones().sum::<usize>() as f64));
    ///     let context = serde_json::json!({ "objective": "sum of positions" });
    ///     let mut evaluator = Evaluator::new(objective).with_trace(&path, context);
    ///     staged::search(&mut evaluator, &Blocks::uniform(4, 3)?, &StagedSettings::new(0.5, 40))
    /// };
    /// let first = search()?;
    /// let again = search()?; // the file knows all the answers
    /// assert_eq!((again.mask, again.replayed), (first.mask, first.evaluations));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_trace(mut self, path: impl Into<PathBuf>, context: Value) -> Self {
        self.trace_at = Some((path.into(), context));
        self
    }

    /// Calls `observer` for each [`Event`]; `Break` ends the run.
    pub fn with_observer(mut self, observer: impl FnMut(&Event) -> ControlFlow<()> + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Never gives the objective more than `masks` (at least 1) masks at once. Unlimited at first.
    /// A smaller number loses less when a process is killed.
    pub fn with_batch(mut self, masks: usize) -> Self {
        self.batch = masks.max(1);
        self
    }

    /// What to do when the objective fails, panics, or answers with something that is not a finite score;
    /// [`Faults::Abort`] at first.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Begins a run: opens the trace and tells the observer. Searches call it; call it yourself
    /// only to drive an [`Optimizer`](crate::Optimizer) by hand.
    ///
    /// A second run may follow on the same evaluator if there is no trace; it gets the scores
    /// that are already known without paying.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the plan's masks have another dimension than the objective, or a trace
    /// would get a second run; [`Error::Trace`] and [`Error::Io`] if the trace does not fit.
    pub fn start(&mut self, plan: Plan) -> Result<(), Error<O::Error>> {
        let dim = self.dim();
        if plan.admissible.dim() != dim {
            let expected = format!("{dim}, as the objective");
            return Err(InvalidInput::new("variables", expected, plan.admissible.dim()).into());
        }
        let (mut trace, mut recorded) = (None, HashMap::new());
        if let Some((path, context)) = &self.trace_at {
            if !self.trials.is_empty() {
                let found = "a second run on the same evaluator";
                return Err(InvalidInput::new("trace", "one run for each trace", found).into());
            }
            let space = plan.admissible.settings();
            let settings = json!({ "search": plan.settings, "space": space, "context": context });
            let header = Header::new(dim, plan.seed, settings);
            let (open, records) = Trace::open(path, &header).map_err(Error::widen)?;
            trace = Some(open);
            recorded = records.into_iter().map(|r| (r.mask.clone(), r)).collect();
        }
        let (first, budget) = (self.trials.len(), plan.budget);
        let started = Event::Started {
            dim,
            budget,
            recorded: recorded.len(),
        };
        let admissible = plan.admissible;
        let last = first.saturating_add(budget);
        let mut run = Run {
            last,
            budget,
            first,
            admissible,
            best: None,
            trace,
            recorded,
        };
        run.find_best(&self.trials);
        self.run = Some(run);
        self.stopped = false;
        self.emit(&started);
        Ok(())
    }

    /// Changes which masks of the run can be its result, and with them the rival of those to come.
    pub(crate) fn aim(&mut self, admissible: Space) {
        if let Some(run) = &mut self.run {
            run.admissible = admissible;
            run.find_best(&self.trials);
        }
    }

    /// Tells the observer that a part of the search begins, and how many evaluations it may use.
    pub fn stage(&mut self, name: &str, planned: usize) {
        self.emit(&Event::StageStarted {
            name: name.to_owned(),
            planned,
        });
    }

    /// The trials of these masks, in order. Known masks cost nothing. Masks that the budget does
    /// not cover, or that come after the observer's `Break`, are missing from the answer.
    ///
    /// # Errors
    ///
    /// The objective's faults, the trace's, and [`Error::Input`] for a mask of another dimension
    /// or before [`start`](Self::start). All evaluations that succeeded are kept and written.
    pub fn evaluate(&mut self, masks: &[Mask]) -> Result<Vec<Trial>, Error<O::Error>> {
        self.obtain(masks, Care::Score)
    }

    /// As [`evaluate`](Self::evaluate), but [estimates](Objective::estimate) are enough, for masks that
    /// cannot be the result. An estimate counts as an evaluation and stands for the score from then on.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn screen(&mut self, masks: &[Mask]) -> Result<Vec<Trial>, Error<O::Error>> {
        match masks.iter().any(|mask| self.is_admissible(mask)) {
            true => self.obtain(masks, Care::Score),
            false => self.obtain(masks, Care::Estimate),
        }
    }

    fn obtain(&mut self, masks: &[Mask], care: Care) -> Result<Vec<Trial>, Error<O::Error>> {
        let dim = self.dim();
        if let Some(mask) = masks.iter().find(|mask| mask.len() != dim) {
            return Err(InvalidInput::new("bits of a mask", dim, mask.len()).into());
        }
        let mut new: Vec<&Mask> = Vec::new();
        for mask in masks {
            if !self.memo.contains_key(mask) && !new.contains(&mask) {
                new.push(mask);
            }
        }
        new.truncate(self.remaining());
        let new = self.replay(new)?;
        for chunk in new.chunks(self.batch) {
            if !self.stopped {
                self.pay(chunk, care)?;
            }
        }
        Ok(masks
            .iter()
            .filter_map(|mask| self.trial(mask).cloned())
            .collect())
    }

    /// Ends the run and tells the observer.
    pub fn finish(&mut self) {
        let event = Event::Finished {
            evaluations: self.evaluations(),
            replayed: self.replayed,
            best: self.best().map(|trial| trial.score),
        };
        self.emit(&event);
    }

    /// The number of variables of the objective.
    pub fn dim(&self) -> usize {
        self.objective.dim()
    }

    /// Evaluations of this run so far, the replayed ones included.
    pub fn evaluations(&self) -> usize {
        self.trials.len() - self.run.as_ref().map_or(0, |run| run.first)
    }

    /// How many evaluations came from the trace.
    pub fn replayed(&self) -> usize {
        self.replayed
    }

    /// Evaluations left; 0 once the observer has stopped the run, or before one has started.
    pub fn remaining(&self) -> usize {
        let last = self.run.as_ref().map_or(0, |run| run.last);
        if self.stopped {
            0
        } else {
            last.saturating_sub(self.trials.len())
        }
    }

    /// How many evaluations failed and were skipped.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether the observer has stopped the run.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The best admissible trial; of equal scores the lesser mask.
    pub fn best(&self) -> Option<&Trial> {
        self.run
            .as_ref()
            .and_then(|run| run.best)
            .map(|at| &self.trials[at])
    }

    /// All trials in the order of their numbers, earlier runs included.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The trial of a mask, if it was evaluated.
    pub fn trial(&self, mask: &Mask) -> Option<&Trial> {
        self.memo.get(mask).map(|&at| &self.trials[at])
    }

    /// Whether a mask can be the result of the run.
    pub fn is_admissible(&self, mask: &Mask) -> bool {
        self.run
            .as_ref()
            .is_some_and(|run| run.admissible.contains(mask))
    }

    /// One point for each evaluation of this run.
    pub fn curve(&self) -> Vec<CurvePoint> {
        let Some(run) = &self.run else {
            return Vec::new();
        };
        let mut best: Option<f64> = None;
        let trials = self.trials[run.first..].iter();
        let point = |trial: &Trial| {
            if run.admissible.contains(&trial.mask) {
                best = Some(best.map_or(trial.score, |best| best.max(trial.score)));
            }
            CurvePoint {
                number: trial.number - run.first,
                score: trial.score,
                best,
            }
        };
        trials.map(point).collect()
    }

    /// The objective.
    pub fn objective(&self) -> &O {
        &self.objective
    }

    /// The objective, back.
    pub fn into_objective(self) -> O {
        self.objective
    }

    fn emit(&mut self, event: &Event) {
        if let Some(observer) = &mut self.observer {
            self.stopped |= observer(event).is_break();
        }
    }
}

impl<O: Objective> std::fmt::Debug for Evaluator<'_, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("dim", &self.dim())
            .field("evaluations", &self.trials.len())
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}
