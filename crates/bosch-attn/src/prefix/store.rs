//! Layer inputs under a limit of bytes; the least recently used go first.

use std::collections::{BTreeMap, HashMap};

use tch::Tensor;

/// Layer inputs by the rows of the mask below the layer.
#[derive(Debug)]
pub(super) struct Store {
    limit: usize,
    bytes: usize,
    clock: u64,
    entries: HashMap<Vec<bool>, Entry>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, Vec<bool>>,
}

#[derive(Debug)]
struct Entry {
    input: Tensor,
    used: u64,
}

impl Store {
    /// An empty store of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: 0,
            clock: 0,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn contains(&self, rows: &[bool]) -> bool {
        self.entries.contains_key(rows)
    }

    /// The input for `rows`, marked as used together with those for the rows' beginnings, in steps of `step` bits.
    ///
    /// The shortest beginning counts as used last: masks to come share it most likely.
    pub(super) fn take_note(&mut self, rows: &[bool], step: usize) -> Option<Tensor> {
        for end in (1..=rows.len() / step.max(1)).rev() {
            self.touch(&rows[..end * step]);
        }
        self.entries
            .get(rows)
            .map(|entry| entry.input.shallow_clone())
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
        let size = size(input);
        if size > self.limit || self.contains(rows) {
            return;
        }
        while self.bytes + size > self.limit {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.bytes -= self::size(&entry.input);
            }
        }
        self.clock += 1;
        self.bytes += size;
        self.by_use.insert(self.clock, rows.to_vec());
        self.entries.insert(
            rows.to_vec(),
            Entry {
                input: input.shallow_clone(),
                used: self.clock,
            },
        );
    }
}

fn size(tensor: &Tensor) -> usize {
    tensor.numel() * tensor.kind().elt_size_in_bytes()
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
        let mut store = Store::new(40);
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
        let mut store = Store::new(48);
        store.insert(&[true], &input(1.0));
        store.insert(&[false], &input(0.0));
        store.insert(&[true, false], &input(2.0));
        let found = store.take_note(&[true, false], 1).unwrap();
        assert_eq!(found.double_value(&[0]), 2.0);
        store.insert(&[false, false], &input(3.0)); // drops [false]
        store.insert(&[false, true], &input(4.0)); // drops the deeper of the two that were noted
        assert!(
            store.contains(&[true]) && !store.contains(&[false]) && !store.contains(&[true, false])
        );
    }

    #[test]
    fn what_exceeds_the_limit_is_not_kept() {
        let mut store = Store::new(8);
        store.insert(&[true], &input(1.0));
        assert_eq!((store.bytes(), store.contains(&[true])), (0, false));
    }
}
