//! The KV cache: full groups grow, sliding groups are a ring.

mod store;

use tch::{Device, Kind, Tensor};

use self::store::Store;
pub(crate) use self::store::cached_span;
use crate::config::ModelConfig;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::{Run, Stretch, layer_runs};

/// Keys and values of a batch of texts, for one mask and window.
///
/// Each text has its own length. A group with full attention keeps every position; a sliding group keeps the S sinks
/// and a ring of the last W positions. For L layers, b bytes an element and room for `capacity` positions, the cache
/// holds exactly
///
/// ```text
/// Σ_layers 2 · d · b · B · [ G_full · capacity + G_swa · min(capacity, W + S) ]
/// ```
///
/// bytes. When a text outgrows the capacity, it becomes the larger of the new length and twice the old capacity;
/// [`KvCache::reserve`] sets it up front.
#[derive(Debug)]
pub struct KvCache {
    mask: HeadMask,
    window: Window,
    lengths: Vec<usize>,
    expected: Vec<usize>,
    capacity: usize,
    pub(crate) layers: Vec<LayerCache>,
}

/// One layer: the groups whose bit is 0, and those whose bit is 1.
#[derive(Debug)]
pub(crate) struct LayerCache {
    pub(crate) runs: Vec<Run>,
    stores: [Option<Store>; 2],
}

impl KvCache {
    /// An empty cache for `rows` texts.
    pub(crate) fn new(
        config: &ModelConfig,
        mask: &HeadMask,
        window: Window,
        rows: usize,
        options: (Kind, Device),
    ) -> Self {
        let store = |runs: &[Run], swa: bool| {
            let groups: usize = runs
                .iter()
                .filter(|run| run.swa == swa)
                .map(|run| run.count)
                .sum();
            let rule = runs.iter().find(|run| run.swa == swa)?.rule;
            Some(Store::new(rule, (rows, groups, config.head_dim), options))
        };
        let layer = |runs: Vec<Run>| LayerCache {
            stores: [store(&runs, false), store(&runs, true)],
            runs,
        };
        Self {
            mask: mask.clone(),
            window,
            lengths: vec![0; rows],
            expected: vec![0; rows],
            capacity: 0,
            layers: layer_runs(config, mask, window)
                .into_iter()
                .map(layer)
                .collect(),
        }
    }

    /// The mask that the cache was made for.
    pub fn mask(&self) -> &HeadMask {
        &self.mask
    }

    /// The window that the cache was made for.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Positions stored for each text.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Positions that fit before the cache grows.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes of all tensors, as allocated.
    pub fn bytes(&self) -> usize {
        self.stores().map(Store::bytes).sum()
    }

    /// Makes room for texts of `positions` tokens. Never shrinks.
    ///
    /// # Errors
    ///
    /// [`Error::Torch`] where the memory cannot be had.
    pub fn reserve(&mut self, positions: usize) -> Result<(), Error> {
        if positions <= self.capacity {
            return Ok(());
        }
        for store in self
            .layers
            .iter_mut()
            .flat_map(|layer| layer.stores.iter_mut().flatten())
        {
            store.resize(positions)?;
        }
        self.capacity = positions;
        Ok(())
    }

    /// Says how long text `row` is going to be, before it is read in pieces.
    ///
    /// It matters to models whose rotary frequencies depend on the length of the text (`dynamic`, `longrope`): all pieces
    /// are then computed as the whole text would be in one pass. Without it, each piece takes the length so far, as
    /// transformers does, and what is stored keeps the frequencies of its own pass.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where there is no such text.
    pub fn expect_length(&mut self, row: usize, length: usize) -> Result<(), Error> {
        self.check_row(row)?;
        self.expected[row] = length;
        Ok(())
    }

    /// Forgets all texts; the memory stays.
    pub fn reset(&mut self) {
        self.lengths.fill(0);
        self.expected.fill(0);
    }

    /// A copy that goes its own way from here: many questions about one document.
    pub fn fork(&self) -> Self {
        let layer = |layer: &LayerCache| LayerCache {
            runs: layer.runs.clone(),
            stores: [0, 1].map(|bit| layer.stores[bit].as_ref().map(Store::copy)),
        };
        Self {
            mask: self.mask.clone(),
            window: self.window,
            lengths: self.lengths.clone(),
            expected: self.expected.clone(),
            capacity: self.capacity,
            layers: self.layers.iter().map(layer).collect(),
        }
    }

    /// Cuts text `row` back to its first `length` positions.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where there is no such text, it is shorter than `length`, or a ring no longer holds what the next
    /// position would see: a ring forgets position p when p + W + S positions are stored, so a text longer than its
    /// rings can only be cut to nothing.
    pub fn truncate(&mut self, row: usize, length: usize) -> Result<(), Error> {
        self.check_row(row)?;
        let stored = self.lengths[row];
        let smallest = self
            .stores()
            .filter_map(Store::rule)
            .map(Window::slots)
            .min();
        let wrapped = smallest.is_some_and(|slots| stored > slots);
        if length > stored || (wrapped && length != stored && length != 0) {
            let expected = if wrapped {
                format!("0 or {stored}, as a ring has wrapped")
            } else {
                format!("0 to {stored}")
            };
            return Err(Error::input("length to truncate to", expected, length));
        }
        self.lengths[row] = length;
        Ok(())
    }

    fn check_row(&self, row: usize) -> Result<(), Error> {
        if row < self.lengths.len() {
            return Ok(());
        }
        let expected = format!("below {}", self.lengths.len());
        Err(Error::input("row", expected, row))
    }

    /// What a pass reads that adds `new` tokens to each text.
    pub(crate) fn stretches(&self, new: &[usize]) -> Vec<Stretch> {
        let of_text = |((&start, &count), &expected): ((&usize, &usize), &usize)| Stretch {
            start,
            count,
            length: expected.max(start + count),
        };
        let stored = self.lengths.iter().zip(new).zip(&self.expected);
        stored.map(of_text).collect()
    }

    /// Makes room for `new` more tokens of each text: doubling, so that growth costs O(1) a token.
    pub(crate) fn grow(&mut self, new: &[usize]) -> Result<(), Error> {
        let needed = self
            .lengths
            .iter()
            .zip(new)
            .map(|(length, new)| length + new)
            .max()
            .unwrap_or(0);
        if needed > self.capacity {
            self.reserve(needed.max(2 * self.capacity))
        } else {
            Ok(())
        }
    }

    /// Notes that the tokens of a pass are stored.
    pub(crate) fn advance(&mut self, new: &[usize]) {
        for (length, new) in self.lengths.iter_mut().zip(new) {
            *length += new;
        }
    }

    fn stores(&self) -> impl Iterator<Item = &Store> {
        self.layers
            .iter()
            .flat_map(|layer| layer.stores.iter().flatten())
    }
}

impl LayerCache {
    /// Stores the keys and values `[1, groups, n, d]` of `run` for text `row`, from position `start` on; returns the keys
    /// and values of [`cached_span`].
    pub(crate) fn extend(
        &mut self,
        run: &Run,
        row: usize,
        start: usize,
        new: (Tensor, Tensor),
    ) -> (Tensor, Tensor) {
        match &mut self.stores[usize::from(run.swa)] {
            Some(store) => store.extend(run, row, start, new),
            None => new, // no run has a bit without a store
        }
    }
}
