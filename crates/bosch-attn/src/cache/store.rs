//! The groups of a layer that keep the same positions: all of them, or the sinks and a ring.

use tch::{Device, Kind, Tensor};

use crate::attention::{Rule, Span};
use crate::error::Error;
use crate::mask::Window;
use crate::plan::Run;

/// Groups of one layer that keep the same positions; `k` and `v` are `[B, groups, slots, d]`.
#[derive(Debug)]
pub(super) struct Store {
    rule: Rule,
    k: Tensor,
    v: Tensor,
}

impl Store {
    /// No slots yet, for (texts, groups, head size).
    pub(super) fn new(
        rule: Rule,
        (rows, groups, head_dim): (usize, usize, usize),
        options: (Kind, Device),
    ) -> Self {
        let empty = || Tensor::zeros([rows as i64, groups as i64, 0, head_dim as i64], options);
        Self {
            rule,
            k: empty(),
            v: empty(),
        }
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    /// Bytes of both tensors, as allocated.
    pub(super) fn bytes(&self) -> usize {
        [&self.k, &self.v]
            .map(|tensor| tensor.numel() * tensor.kind().elt_size_in_bytes())
            .iter()
            .sum()
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            rule: self.rule,
            k: self.k.copy(),
            v: self.v.copy(),
        }
    }

    /// As [`LayerCache::extend`](super::LayerCache::extend).
    pub(super) fn extend(
        &self,
        run: &Run,
        row: usize,
        start: usize,
        new: (Tensor, Tensor),
    ) -> (Tensor, Tensor) {
        let extend =
            |store: &Tensor, new: &Tensor| part(store, run, row).extend(self.rule, start, new);
        (extend(&self.k, &new.0), extend(&self.v, &new.1))
    }

    /// Makes room for texts of `positions` tokens; never shrinks.
    pub(super) fn resize(&mut self, positions: usize) -> Result<(), Error> {
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

fn part(tensor: &Tensor, run: &Run, row: usize) -> Part {
    Part(
        tensor
            .narrow(0, row as i64, 1)
            .narrow(1, run.rank as i64, run.count as i64),
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_libtorch_s_storage() {
        for (rule, slots) in [
            (None, 40),
            (Window::new(8, 2).ok(), 10),
            (Window::new(100, 4).ok(), 40),
        ] {
            for kind in [Kind::Float, Kind::BFloat16] {
                let mut store = Store::new(rule, (2, 3, 16), (kind, Device::Cpu));
                store.resize(7).unwrap();
                store.resize(40).unwrap();
                let elements = 2 * 3 * slots * 16;
                assert_eq!(
                    store.bytes(),
                    2 * elements * kind.elt_size_in_bytes(),
                    "{rule:?}"
                );
                for tensor in [&store.k, &store.v] {
                    // libtorch refuses a view that goes beyond the storage, so the storage ends where the tensor does.
                    let view = |size: usize| tensor.f_as_strided([size as i64], [1], 0);
                    assert!(view(elements).is_ok() && view(elements + 1).is_err());
                }
            }
        }
    }

    /// The slots begin as NaN, and the keys are their own positions: what comes back is what the span promises.
    #[test]
    fn keys_are_those_of_the_span_and_never_uninitialised() {
        let run = Run {
            first: 0,
            count: 1,
            rule: None,
            swa: true,
            rank: 0,
        };
        for (w, s) in [(1, 0), (1, 2), (4, 0), (4, 3), (7, 30)] {
            let rule = Window::new(w, s).ok();
            for chunk in [1, 2, 3, 5, 11] {
                let mut store = Store::new(rule, (1, 1, 1), (Kind::Float, Device::Cpu));
                store.resize(60).unwrap();
                let _ = store.k.fill_(f64::NAN);
                for start in (0..50).step_by(chunk) {
                    let new = Tensor::arange_start(
                        start as i64,
                        (start + chunk) as i64,
                        (Kind::Float, Device::Cpu),
                    );
                    let new = new.reshape([1, 1, -1, 1]);
                    let (keys, _) = store.extend(&run, 0, start, (new.shallow_clone(), new));
                    let mut found =
                        Vec::<f64>::try_from(keys.flatten(0, 3).to_kind(Kind::Double)).unwrap();
                    let span = cached_span(rule, start, chunk);
                    let expected: Vec<f64> = (0..span.sinks)
                        .chain(span.first..start + chunk)
                        .map(|position| position as f64)
                        .collect();
                    if chunk == 1 {
                        found.sort_by(f64::total_cmp); // one query sees every slot, in whatever order
                    }
                    assert_eq!(found, expected, "W = {w}, S = {s}, {chunk} after {start}");
                }
            }
        }
    }
}
