//! What the search tells while it runs: a bar with the time left and the best score, and the trials.

use std::ops::ControlFlow;

use bosch::Grid;
use bosch::core::{Event, InvalidInput, Mask};
use indicatif::{ProgressBar, ProgressStyle};

/// Where there is no terminal for a bar, a line is printed so often.
const LINE_EVERY: usize = 20;

/// Shows the events of a search and keeps what the table and the pictures need.
pub struct Progress {
    bar: ProgressBar,
    grid: Grid,
    /// Score of the mask that converts only this group, where it was evaluated.
    singles: Vec<Option<f64>>,
    trials: Vec<(usize, f64)>,
    best: Vec<(usize, f64)>,
}

impl Progress {
    /// A bar that appears with the search.
    pub fn new(grid: Grid) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            grid,
            singles: vec![None; grid.dim()],
            trials: Vec::new(),
            best: Vec::new(),
        }
    }

    /// The observer.
    pub fn hear(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Started {
                budget, recorded, ..
            } => {
                let template =
                    "{prefix:<9} [{bar:40}] {pos}/{len} masks, {elapsed} passed, {eta} left  {msg}";
                self.bar = ProgressBar::new(*budget as u64);
                if let Ok(style) = ProgressStyle::with_template(template) {
                    self.bar.set_style(style.progress_chars("=> "));
                }
                if *recorded > 0 {
                    self.bar
                        .println(format!("resuming: {recorded} evaluations are in the trace"));
                }
            }
            Event::StageStarted { name, planned } => {
                self.bar.set_prefix(name.clone());
                if self.bar.is_hidden() {
                    println!("{name}: up to {planned} evaluations");
                }
            }
            Event::Evaluated {
                number,
                mask,
                score,
                best,
                replayed,
                ..
            } => {
                self.trials.push((*number, *score));
                if mask.count_ones() == 1 {
                    self.singles[mask.iter_ones().next().unwrap_or(0)] = Some(*score);
                }
                if let Some(best) = best {
                    self.best.push((*number, *best));
                    self.bar.set_message(format!("best {best:.4}"));
                }
                self.bar.set_position(*number as u64);
                if self.bar.is_hidden() && number % LINE_EVERY == 0 {
                    let left = self.bar.eta().as_secs();
                    let best = best.map_or_else(|| "none".into(), |best| format!("{best:.4}"));
                    println!("{number} evaluations, about {left} s left, best {best}");
                }
                if *replayed {
                    // Replayed evaluations take no time and must not spoil the estimate.
                    self.bar.reset_eta();
                }
            }
            Event::Finished { .. } => self.bar.finish(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Single-group ablation: the `ones` groups whose conversion alone scores best, ties to the
    /// lower index; none when the search did not ablate every group.
    pub fn ablation(&self, ones: usize) -> Result<Option<Mask>, InvalidInput> {
        let Some(scores) = self.singles.iter().copied().collect::<Option<Vec<f64>>>() else {
            return Ok(None);
        };
        let mut order: Vec<usize> = (0..self.grid.dim()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        Mask::from_ones(self.grid.dim(), &order[..ones]).map(Some)
    }

    /// (number, score) of every evaluation.
    pub fn trials(&self) -> &[(usize, f64)] {
        &self.trials
    }

    /// (number, best score so far), from the first admissible mask on.
    pub fn best(&self) -> &[(usize, f64)] {
        &self.best
    }
}
