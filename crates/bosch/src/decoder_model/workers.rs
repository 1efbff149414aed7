//! Texts dealt out to as many threads as the machine has.
//!
//! Texts are independent, and one of a few hundred tokens is too small to keep several threads of
//! libtorch busy inside one matrix product: a thread for each share of the texts is faster. A result
//! does not depend on the number of threads, as each text is computed alone.

use std::panic::resume_unwind;
use std::thread;

use bosch_attn::{Decoder, Error, HeadMask, LayerEvaluations, PrefixScorer, Sample, Window, tch};

/// Runs `work(part, index)` for every part in a thread of its own, each with its share of libtorch's
/// threads. Text i belongs to part i mod their number; the results come back in the order of the
/// texts.
pub(super) fn deal<P: Send, R: Send>(
    parts: &mut [P],
    work: impl Fn(&mut P, usize) -> Result<Vec<R>, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let threads = i32::try_from(available_threads() / parts.len().max(1)).unwrap_or(1).max(1);
    let work = &work;
    let lists = thread::scope(|scope| {
        let running: Vec<_> = parts
            .iter_mut()
            .enumerate()
            .map(|(index, part)| {
                scope.spawn(move || {
                    tch::set_num_threads(threads); // of this thread only
                    work(part, index)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect::<Result<Vec<_>, Error>>()
    })?;
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut results = Vec::new();
    loop {
        let round: Vec<R> = lists.iter_mut().map_while(Iterator::next).collect();
        if round.is_empty() {
            return Ok(results);
        }
        results.extend(round);
    }
}

/// The share of part `index` of `parts`.
pub(super) fn share<T: Clone>(texts: &[T], index: usize, parts: usize) -> Vec<T> {
    texts.iter().skip(index).step_by(parts).cloned().collect()
}

/// Processors that this process may use.
pub(super) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The samples of a call, ready to be scored under any mask; one scorer a thread.
pub(super) struct Scorers {
    scorers: Vec<PrefixScorer<Decoder>>,
    samples: usize,
}

impl Scorers {
    /// `reuse_limit` is for all of them together.
    pub(super) fn new(
        decoder: &Decoder,
        window: Window,
        samples: &[Sample],
        reuse_limit: usize,
    ) -> Result<Self, Error> {
        let count = available_threads().min(samples.len()).max(1);
        let scorers = (0..count)
            .map(|index| {
                let share = share(samples, index, count);
                PrefixScorer::new(decoder.share(), window, &share, reuse_limit / count)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { scorers, samples: samples.len() })
    }

    /// Mean answer log-probability of each sample under `mask`.
    pub(super) fn score(&mut self, mask: &HeadMask) -> Result<Vec<f64>, Error> {
        deal(&mut self.scorers, |scorer, _| scorer.score(mask))
    }

    /// One layer over all samples for one mask is 1.
    pub(super) fn layer_evaluations(&self) -> LayerEvaluations {
        let mut sum = LayerEvaluations::default();
        for scorer in &self.scorers {
            let share = scorer.samples() as f64 / self.samples as f64;
            let part = scorer.layer_evaluations();
            sum.done += part.done * share;
            sum.saved += part.saved * share;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_the_order_of_the_texts() {
        let texts: Vec<usize> = (0..7).collect();
        for count in 1..=7 {
            let mut parts = vec![(); count];
            let results = deal(&mut parts, |(), index| Ok(share(&texts, index, count))).unwrap();
            assert_eq!(results, texts, "{count} parts");
        }
    }

    #[test]
    fn an_error_of_one_part_is_the_error_of_all() {
        let result = deal(&mut [1, 2, 3], |part, _| match part {
            2 => Err(Error::Input { what: "part", expected: "another".into(), found: "2".into() }),
            _ => Ok(vec![0]),
        });
        assert_eq!(result.unwrap_err().to_string(), "part: expected another, found 2");
    }
}
