//! The KV cache: full groups grow, sliding groups are a ring.

use tch::{Device, Kind, Tensor};

use crate::attention::{Rule, Span};
use crate::config::ModelConfig;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::{Run, layer_runs};

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
    capacity: usize,
    pub(crate) layers: Vec<LayerCache>,
}

/// One layer: the groups whose bit is 0, and those whose bit is 1.
#[derive(Debug)]
pub(crate) struct LayerCache {
    pub(crate) runs: Vec<Run>,
    stores: [Option<Store>; 2],
}

/// Groups of one layer that keep the same positions; `k` and `v` are `[B, groups, slots, d]`.
#[derive(Debug)]
struct Store {
    rule: Rule,
    k: Tensor,
    v: Tensor,
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
            let empty = || {
                Tensor::zeros(
                    [rows as i64, groups as i64, 0, config.head_dim as i64],
                    options,
                )
            };
            Some(Store {
                rule,
                k: empty(),
                v: empty(),
            })
        };
        let layer = |runs: Vec<Run>| LayerCache {
            stores: [store(&runs, false), store(&runs, true)],
            runs,
        };
        Self {
            mask: mask.clone(),
            window,
            lengths: vec![0; rows],
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
        let size = |tensor: &Tensor| tensor.numel() * tensor.kind().elt_size_in_bytes();
        self.stores()
            .map(|store| size(&store.k) + size(&store.v))
            .sum()
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

    /// Forgets all texts; the memory stays.
    pub fn reset(&mut self) {
        self.lengths.fill(0);
    }

    /// A copy that goes its own way from here: many questions about one document.
    pub fn fork(&self) -> Self {
        let copy = |store: &Store| Store {
            rule: store.rule,
            k: store.k.copy(),
            v: store.v.copy(),
        };
        let layer = |layer: &LayerCache| LayerCache {
            runs: layer.runs.clone(),
            stores: [0, 1].map(|bit| layer.stores[bit].as_ref().map(copy)),
        };
        Self {
            mask: self.mask.clone(),
            window: self.window,
            lengths: self.lengths.clone(),
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
        let Some(&stored) = self.lengths.get(row) else {
            return Err(Error::input(
                "row",
                format!("below {}", self.lengths.len()),
                row,
            ));
        };
        let smallest = self
            .stores()
            .filter_map(|store| store.rule)
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

/// The keys that stand ready for `count` new tokens of a text of which `start` are stored.
///
/// A text within the ring is whole and in order; beyond, the sinks and what the first new token's window reaches.
pub(crate) fn cached_span(rule: Rule, start: usize, count: usize) -> Span {
    match rule {
        Some(window) if start + 1 > window.slots() => Span {
            start,
            queries: count,
            sinks: window.sinks(),
            first: start + 1 - window.window(),
        },
        _ => Span {
            start,
            queries: count,
            sinks: 0,
            first: 0,
        },
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
            Some(store) => (
                store_part(&store.k, run, row).extend(store.rule, start, &new.0),
                store_part(&store.v, run, row).extend(store.rule, start, &new.1),
            ),
            None => new, // no run has a bit without a store
        }
    }
}

fn store_part(tensor: &Tensor, run: &Run, row: usize) -> Part {
    Part(
        tensor
            .narrow(0, row as i64, 1)
            .narrow(1, run.rank as i64, run.count as i64),
    )
}

impl Store {
    fn resize(&mut self, positions: usize) -> Result<(), Error> {
        let slots = self
            .rule
            .map_or(positions, |window| positions.min(window.slots())) as i64;
        for tensor in [&mut self.k, &mut self.v] {
            let size = tensor.size();
            let old = size[2];
            if slots > old {
                let larger = Tensor::f_empty(
                    [size[0], size[1], slots, size[3]],
                    (tensor.kind(), tensor.device()),
                )
                .map_err(Error::torch("the growth of a cache"))?;
                larger.narrow(2, 0, old).copy_(tensor);
                *tensor = larger;
            }
        }
        Ok(())
    }
}

/// The slots `[1, groups, slots, d]` of one text and run, a view.
struct Part(Tensor);

impl Part {
    fn extend(&self, rule: Rule, start: usize, new: &Tensor) -> Tensor {
        let count = new.size()[2] as usize;
        match rule {
            Some(window) if start + count > window.slots() && count == 1 => {
                // One query sees every slot, in whatever order.
                self.write(window, start, new);
                self.0.narrow(2, 0, window.slots() as i64)
            }
            Some(window) if start + count > window.slots() => {
                let span = cached_span(rule, start, count);
                let mut keys = vec![self.0.narrow(2, 0, span.sinks as i64)];
                keys.extend(self.read(window, span.first, start));
                keys.push(new.shallow_clone());
                let keys = Tensor::cat(&keys, 2);
                self.write(window, start, new);
                keys
            }
            _ => {
                self.0.narrow(2, start as i64, count as i64).copy_(new);
                self.0.narrow(2, 0, (start + count) as i64)
            }
        }
    }

    /// Positions `first..end` in order, all of them stored: one or two stretches of slots for each side of the sinks.
    fn read(&self, window: Window, first: usize, end: usize) -> Vec<Tensor> {
        stretches(window, first, end)
            .into_iter()
            .map(|(slot, _, count)| self.0.narrow(2, slot as i64, count as i64))
            .collect()
    }

    /// Puts the keys of positions `start..` where they belong; of those that the ring would forget at once, none.
    fn write(&self, window: Window, start: usize, new: &Tensor) {
        let end = start + new.size()[2] as usize;
        let put = |first: usize, end: usize| {
            for (slot, position, count) in stretches(window, first, end) {
                let source = new.narrow(2, (position - start) as i64, count as i64);
                self.0.narrow(2, slot as i64, count as i64).copy_(&source);
            }
        };
        let sinks_end = end.min(window.sinks());
        if start < sinks_end {
            put(start, sinks_end);
        }
        put(
            start
                .max(window.sinks())
                .max(end.saturating_sub(window.window())),
            end,
        );
    }
}

/// Cuts positions `first..end` where their slots are not consecutive: (slot, position, count). Position p has slot p
/// among the sinks and S + (p − S) mod W beyond.
fn stretches(window: Window, first: usize, end: usize) -> Vec<(usize, usize, usize)> {
    let (ring, sinks) = (window.window(), window.sinks());
    let mut stretches = Vec::new();
    let mut position = first;
    while position < end {
        let (slot, room) = if position < sinks {
            (position, sinks - position)
        } else {
            let within = (position - sinks) % ring;
            (sinks + within, ring - within)
        };
        let count = room.min(end - position);
        stretches.push((slot, position, count));
        position += count;
    }
    stretches
}
