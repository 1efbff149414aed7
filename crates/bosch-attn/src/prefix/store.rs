//! Layer inputs under a limit of bytes; the least recently used go first.
//!
//! The inputs of one sample are all of one size. They are copied into slots of a few large tensors, so that thousands of
//! insertions and evictions between other allocations do not tear the heap into holes.

use std::collections::{BTreeMap, HashMap};

use tch::Tensor;

/// Slots that are allocated at once.
const SLAB: usize = 16;

/// Layer inputs by the rows of the mask below the layer.
#[derive(Debug)]
pub(super) struct Store {
    /// Slots that the limit allows.
    capacity: usize,
    slot_bytes: usize,
    /// An input of the right shape, from which slabs are made.
    like: Tensor,
    /// `[slots, T, D]` each.
    slabs: Vec<Tensor>,
    free: Vec<Slot>,
    clock: u64,
    entries: HashMap<Vec<bool>, Entry>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, Vec<bool>>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    slab: usize,
    place: usize,
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    used: u64,
}

impl Store {
    /// An empty store of at most `limit` bytes for tensors of the shape and type of `like`.
    pub(super) fn new(like: &Tensor, limit: usize) -> Self {
        let slot_bytes = like.numel() * like.kind().elt_size_in_bytes();
        Self {
            capacity: limit.checked_div(slot_bytes).unwrap_or(0),
            slot_bytes,
            like: like.shallow_clone(),
            slabs: Vec::new(),
            free: Vec::new(),
            clock: 0,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
        }
    }

    /// Bytes allocated for slots.
    pub(super) fn bytes(&self) -> usize {
        self.allocated() * self.slot_bytes
    }

    pub(super) fn contains(&self, rows: &[bool]) -> bool {
        self.entries.contains_key(rows)
    }

    /// A copy of the input for `rows`, marked as used together with those for the rows' beginnings, in steps of `step`
    /// bits.
    ///
    /// The shortest beginning counts as used last: masks to come share it most likely.
    pub(super) fn take_note(&mut self, rows: &[bool], step: usize) -> Option<Tensor> {
        for end in (1..=rows.len() / step.max(1)).rev() {
            self.touch(&rows[..end * step]);
        }
        // A copy, as the slot may get another input while the caller still works on this one.
        self.entries
            .get(rows)
            .map(|entry| self.slot(entry.slot).copy())
    }

    fn touch(&mut self, rows: &[bool]) {
        if let Some(entry) = self.entries.get_mut(rows) {
            self.clock += 1;
            if let Some(key) = self.by_use.remove(&entry.used) {
                self.by_use.insert(self.clock, key);
            }
            entry.used = self.clock;
        }
    }

    /// Keeps `input` for `rows`, if the limit permits it at all, in place of the least recently used.
    pub(super) fn insert(&mut self, rows: &[bool], input: &Tensor) {
        if input.size() != self.like.size() || self.contains(rows) {
            return;
        }
        let Some(slot) = self.take_slot() else { return };
        self.slot(slot).copy_(input);
        self.clock += 1;
        self.by_use.insert(self.clock, rows.to_vec());
        self.entries.insert(
            rows.to_vec(),
            Entry {
                slot,
                used: self.clock,
            },
        );
    }

    /// A slot that is free, new, or taken from the least recently used; `None` where the limit is below one slot.
    fn take_slot(&mut self) -> Option<Slot> {
        if self.free.is_empty() && self.allocated() < self.capacity {
            self.allocate();
        }
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        let (_, oldest) = self.by_use.pop_first()?;
        self.entries.remove(&oldest).map(|entry| entry.slot)
    }

    fn allocate(&mut self) {
        let slots = SLAB.min(self.capacity - self.allocated());
        let shape = [&[slots as i64], self.like.size().as_slice()].concat();
        let slab = self.slabs.len();
        self.slabs
            .push(Tensor::empty(shape, (self.like.kind(), self.like.device())));
        self.free
            .extend((0..slots).rev().map(|place| Slot { slab, place }));
    }

    fn allocated(&self) -> usize {
        self.free.len() + self.entries.len()
    }

    fn slot(&self, slot: Slot) -> Tensor {
        self.slabs[slot.slab].get(slot.place as i64)
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;

    fn input(value: f64) -> Tensor {
        Tensor::full([4], value, (Kind::Float, Device::Cpu)) // 16 bytes
    }

    #[test]
    fn the_limit_holds_and_the_least_recently_used_go_first() {
        let mut store = Store::new(&input(0.0), 40);
        store.insert(&[false], &input(0.0));
        store.insert(&[true], &input(1.0));
        assert!(store.take_note(&[false], 1).is_some());
        store.insert(&[true, true], &input(2.0));
        assert_eq!(store.bytes(), 32);
        assert!(
            store.contains(&[false]) && !store.contains(&[true]) && store.contains(&[true, true])
        );
    }

    #[test]
    fn using_a_long_prefix_keeps_its_beginnings() {
        let mut store = Store::new(&input(0.0), 48);
        store.insert(&[true], &input(1.0));
        store.insert(&[false], &input(0.0));
        store.insert(&[true, false], &input(2.0));
        let found = store.take_note(&[true, false], 1).unwrap();
        store.insert(&[false, false], &input(3.0)); // drops [false]
        store.insert(&[false, true], &input(4.0)); // drops the deeper of the two that were noted
        assert!(
            store.contains(&[true]) && !store.contains(&[false]) && !store.contains(&[true, false])
        );
        assert_eq!(
            found.double_value(&[0]),
            2.0,
            "what was taken out stays what it was"
        );
    }

    #[test]
    fn many_insertions_return_what_was_put_in() {
        let mut store = Store::new(&input(0.0), 16 * 40);
        let key = |index: usize| {
            (0..8)
                .map(|bit| index >> bit & 1 == 1)
                .collect::<Vec<bool>>()
        };
        for index in 0..200 {
            store.insert(&key(index), &input(index as f64));
        }
        for index in 160..200 {
            assert_eq!(
                store.take_note(&key(index), 8).unwrap().double_value(&[3]),
                index as f64
            );
        }
        assert!(!store.contains(&key(159)));
        assert_eq!(store.bytes(), 16 * 40);
    }

    #[test]
    fn what_exceeds_the_limit_is_not_kept() {
        let mut store = Store::new(&input(0.0), 8);
        store.insert(&[true], &input(1.0));
        assert_eq!((store.bytes(), store.contains(&[true])), (0, false));
    }
}
