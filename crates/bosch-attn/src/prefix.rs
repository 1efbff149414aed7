//! Scores of many masks over the same samples, with exact reuse of what they share.
//!
//! The input of layer ℓ depends on the mask's rows below ℓ only. A [`PrefixScorer`] keeps such inputs and evaluates a
//! mask from the deepest one that fits; a batch of masks is walked as a tree, depth first.

mod store;

use std::borrow::Borrow;

use tch::Tensor;

use self::store::Store;
use crate::answer::{Prepared, Sample};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::runs;

/// Layer evaluations: one layer computed over all samples for one mask is 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerEvaluations {
    /// Computed.
    pub done: f64,
    /// Taken from what was stored or shared; `done + saved` is the cost from scratch.
    pub saved: f64,
}

/// Mean answer log-probabilities of fixed samples under any mask.
///
/// Samples are computed one by one, which keeps the activations in the processor's cache and needs no padding: each score
/// is the same to the last bit as that of a new scorer, whatever was scored before and however little memory there is.
#[derive(Debug)]
pub struct PrefixScorer<D: Borrow<Decoder>> {
    decoder: D,
    window: Window,
    samples: Vec<(Prepared, Store)>,
    /// Layers computed, summed over the samples.
    done: u64,
    /// Layers that the same scores would have cost from scratch, summed over the samples.
    asked: u64,
}

impl<D: Borrow<Decoder>> PrefixScorer<D> {
    /// Prepares `samples` for masks with `window`, with at most `memory` bytes of stored layer inputs.
    ///
    /// The limit is shared out by the lengths of the samples. Beside it live the inputs along the path that is being
    /// computed, one sample's at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where there are no samples; for an empty prompt or answer, ids outside the vocabulary or a text that
    /// is too long.
    pub fn new(
        decoder: D,
        window: Window,
        samples: &[Sample],
        memory: usize,
    ) -> Result<Self, Error> {
        let _guard = tch::no_grad_guard();
        if samples.is_empty() {
            return Err(Error::input("samples", "at least one", "none"));
        }
        let prepared = samples
            .iter()
            .map(|sample| Prepared::new(decoder.borrow(), sample, window))
            .collect::<Result<Vec<_>, _>>()?;
        let total: u128 = prepared
            .iter()
            .map(|sample| sample.input.numel() as u128)
            .sum();
        let share = |sample: &Prepared| {
            (memory as u128 * sample.input.numel() as u128 / total.max(1)) as usize
        };
        let samples = prepared.into_iter().map(|sample| {
            let store = Store::new(&sample.input, share(&sample));
            (sample, store)
        });
        Ok(Self {
            samples: samples.collect(),
            decoder,
            window,
            done: 0,
            asked: 0,
        })
    }

    /// The decoder.
    pub fn decoder(&self) -> &Decoder {
        self.decoder.borrow()
    }

    /// The window of the sliding groups.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Layer evaluations since the scorer was made.
    pub fn layer_evaluations(&self) -> LayerEvaluations {
        let count = self.samples.len() as f64;
        LayerEvaluations {
            done: self.done as f64 / count,
            saved: (self.asked - self.done) as f64 / count,
        }
    }

    /// Bytes allocated for stored layer inputs, at most the limit.
    pub fn stored_bytes(&self) -> usize {
        self.samples.iter().map(|(_, store)| store.bytes()).sum()
    }

    /// The mean of ln p over each sample's answer tokens, under `mask`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a mask of another shape.
    pub fn score(&mut self, mask: &HeadMask) -> Result<Vec<f64>, Error> {
        Ok(self
            .score_batch(std::slice::from_ref(mask))?
            .pop()
            .unwrap_or_default())
    }

    /// As [`PrefixScorer::score`] for several masks; what they share is computed once. One list of scores a mask.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a mask of another shape.
    pub fn score_batch(&mut self, masks: &[HeadMask]) -> Result<Vec<Vec<f64>>, Error> {
        let _guard = tch::no_grad_guard();
        let decoder = self.decoder.borrow();
        for mask in masks {
            mask.check(decoder.config().layers, decoder.config().groups)?;
        }
        let mut scores = vec![Vec::with_capacity(self.samples.len()); masks.len()];
        for (sample, store) in &mut self.samples {
            let mut walk = Walk {
                decoder,
                window: self.window,
                masks,
                sample,
                store,
                scores: vec![f64::NAN; masks.len()],
                done: 0,
            };
            walk.all();
            self.done += walk.done;
            self.asked += (masks.len() * decoder.config().layers) as u64;
            for (list, score) in scores.iter_mut().zip(walk.scores) {
                list.push(score);
            }
        }
        Ok(scores)
    }
}

/// One sample's walk through the tree of a batch of masks.
struct Walk<'a> {
    decoder: &'a Decoder,
    window: Window,
    masks: &'a [HeadMask],
    sample: &'a Prepared,
    store: &'a mut Store,
    scores: Vec<f64>,
    done: u64,
}

impl<'a> Walk<'a> {
    /// Scores every mask. Masks whose deepest stored input is the same one are walked together from there; what is stored
    /// meanwhile is looked up again for the next ones.
    fn all(&mut self) {
        let mut left: Vec<usize> = (0..self.masks.len()).collect();
        while let Some(&first) = left.first() {
            let depth = self.stored_depth(first);
            let together = |&index: &usize| {
                self.stored_depth(index) == depth
                    && self.prefix(index, depth) == self.prefix(first, depth)
            };
            let (group, rest): (Vec<usize>, Vec<usize>) = left.into_iter().partition(together);
            let rows = self.prefix(first, depth);
            let stored = self.store.take_note(rows, self.decoder.config().groups);
            let input = stored.unwrap_or_else(|| self.sample.input.shallow_clone());
            self.descend(depth, &input, &group);
            left = rest;
        }
    }

    /// Goes on from the input of layer `depth`, which all masks of `group` share.
    fn descend(&mut self, depth: usize, input: &Tensor, group: &[usize]) {
        let layers = self.decoder.config().layers;
        for part in self.parts(depth, group) {
            let row = self.row(part[0], depth);
            let runs = runs(row, self.decoder.config().own_windows[depth], self.window);
            self.done += 1;
            if depth + 1 == layers {
                let answer = self.sample.answer(self.decoder, input, &runs);
                let mean = answer.iter().sum::<f64>() / answer.len() as f64;
                part.iter().for_each(|&index| self.scores[index] = mean);
            } else {
                let output = self.sample.layer(self.decoder, depth, input, &runs);
                let rows = self.prefix(part[0], depth + 1);
                self.store.insert(rows, &output);
                self.descend(depth + 1, &output, &part);
            }
        }
    }

    /// `group` by the row of layer `depth`, in order of first appearance.
    fn parts(&self, depth: usize, group: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for &index in group {
            match parts
                .iter_mut()
                .find(|part| self.row(part[0], depth) == self.row(index, depth))
            {
                Some(part) => part.push(index),
                None => parts.push(vec![index]),
            }
        }
        parts
    }

    /// The deepest layer whose input is stored for mask `index`; 0 where there is none.
    fn stored_depth(&self, index: usize) -> usize {
        let layers = self.decoder.config().layers;
        (1..layers)
            .rev()
            .find(|&depth| self.store.contains(self.prefix(index, depth)))
            .unwrap_or(0)
    }

    fn row(&self, index: usize, depth: usize) -> &'a [bool] {
        let groups = self.masks[index].groups();
        &self.masks[index].bits()[depth * groups..(depth + 1) * groups]
    }

    /// The rows below layer `depth`.
    fn prefix(&self, index: usize, depth: usize) -> &'a [bool] {
        &self.masks[index].bits()[..depth * self.masks[index].groups()]
    }
}
