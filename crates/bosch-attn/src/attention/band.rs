//! Sliding-window attention that computes little more than what is visible.
//!
//! Queries are cut into three stretches. Those below W see all keys before them: a causal call. The next few, whose windows
//! still touch the sinks, go through one masked call. The rest is cut into blocks of equal length: each block sees the
//! sinks and the W − 1 + block keys that end with it, always through the same small mask, so that many blocks are one call
//! with the blocks as its batch, over overlapping views of the keys. Where the window is long, the keys that the whole
//! block sees are taken apart from the two triangles at its ends: they need no mask and no copy, and the two results are
//! merged by their log-sum-exp.

use tch::{Device, Kind, Tensor};

use super::kernel::{flash, merge, scaled_dot_product};
use super::{Path, Pattern, Span, additive_mask};
use crate::mask::Window;

/// Keys that one call of a batch of blocks may hold, in elements: a part of the second-level cache.
const CALL_ELEMENTS: usize = 1 << 18;

/// Windows with their sinks up to this length take one masked call for all queries before the blocks.
const SHORT: usize = 256;

/// The plan for one window and span.
#[derive(Debug)]
pub(super) struct Band {
    window: Window,
    span: Span,
    /// Stretches before the blocks: queries, keys, and how.
    early: Vec<(usize, usize, Pattern)>,
    /// Queries in a block.
    block: usize,
    /// `[block, S + W − 1 + block]`.
    mask: Tensor,
}

impl Band {
    /// A plan, or `None` where one masked call over everything is not dearer.
    pub(super) fn plan(window: Window, span: Span, kind: Kind, device: Device) -> Option<Self> {
        let block = block_length(window.window());
        if device != Device::Cpu || !pays(window, span, block) {
            return None;
        }
        let mut early = Vec::new();
        let end = span.start + span.queries;
        let separate = span.sinks > 0 || span.first > 0;
        let mut position = span.start;
        let mut stretch = |to: usize, causal: bool| {
            let to = to.min(end);
            if separate || position >= to {
                return;
            }
            let part = Span {
                start: position,
                queries: to - position,
                sinks: 0,
                first: 0,
            };
            let pattern = match causal {
                true => Pattern::new(None, part, kind, device),
                false => Pattern(Path::Masked(additive_mask(
                    Some(window),
                    part,
                    kind,
                    device,
                ))),
            };
            early.push((part.queries, part.keys(), pattern));
            position = to;
        };
        if window.slots() > SHORT {
            stretch(window.window(), true);
        }
        stretch(window.slots() - 1, false);
        let mask = block_mask(window, block, kind, device);
        Some(Self {
            window,
            span,
            early,
            block,
            mask,
        })
    }

    /// As [`Pattern::attend`].
    pub(super) fn attend(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Tensor {
        let mut parts = Vec::new();
        let mut done = 0;
        for (queries, keys, pattern) in &self.early {
            let (q, k, v) = (
                part(q, done, *queries),
                part(k, 0, *keys),
                part(v, 0, *keys),
            );
            parts.push(pattern.attend(&q, &k, &v).transpose(1, 2)); // [B, queries, H, d]
            done += queries;
        }
        let per_block = self.mask.size()[1] as usize * (k.size()[1] * k.size()[3]) as usize;
        let at_once = (CALL_ELEMENTS / per_block.max(1)).max(1);
        while done < self.span.queries {
            let left = self.span.queries - done;
            let (blocks, length) = match left / self.block {
                0 => (1, left),
                blocks => (blocks.min(at_once), self.block),
            };
            parts.push(self.blocks(q, k, v, done, (blocks, length)));
            done += blocks * length;
        }
        Tensor::cat(&parts, 1).transpose(1, 2)
    }

    /// `count` blocks of `length` queries from query `first` on: `[B, queries, H, d]`.
    fn blocks(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        first: usize,
        (count, length): (usize, usize),
    ) -> Tensor {
        // Index among the given keys of the first one that the first query's window reaches.
        let reach =
            self.span.sinks + self.span.start + first + 1 - self.window.window() - self.span.first;
        let texts: Vec<Tensor> = (0..q.size()[0])
            .map(|text| {
                let of_text = |x: &Tensor| x.narrow(0, text, 1);
                let q = part(&of_text(q), first, count * length).squeeze_dim(0); // [H, queries, d]
                let q = q
                    .unflatten(1, [count as i64, length as i64].as_slice())
                    .transpose(0, 1); // [blocks, H, length, d]
                let blocks = Blocks {
                    sinks: self.window.sinks(),
                    reach,
                    count,
                    length,
                };
                let out = self.some_blocks(&q, &of_text(k), &of_text(v), blocks);
                out.transpose(1, 2).flatten(0, 1) // [queries, H, d]
            })
            .collect();
        Tensor::stack(&texts, 0)
    }

    /// `q` `[blocks, H, length, d]` of one text against its keys and values `[1, G, keys, d]`.
    fn some_blocks(&self, q: &Tensor, k: &Tensor, v: &Tensor, blocks: Blocks) -> Tensor {
        let (window, length, sinks) = (self.window.window(), blocks.length, self.window.sinks());
        let rows = self.mask.narrow(0, 0, length as i64);
        let columns =
            |first: usize, count: usize| rows.narrow(1, (sinks + first) as i64, count as i64);
        if window < LONG || length < 2 {
            let all = |x: &Tensor| blocks.joined(x, &[(0, window - 1 + length)]);
            return scaled_dot_product(
                q,
                &all(k),
                &all(v),
                Some(&rows.narrow(1, 0, (sinks + window - 1 + length) as i64)),
                false,
            );
        }
        // Keys length − 1 to W − 1 are visible to the whole block: no mask, and views without a copy.
        let inner = |x: &Tensor| blocks.views(x, length - 1, window + 1 - length);
        let near = [(0, length - 1), (window, length - 1)];
        let edges = |x: &Tensor| blocks.joined(x, &near);
        let mask = Tensor::cat(
            &[
                rows.narrow(1, 0, sinks as i64),
                columns(near[0].0, near[0].1),
                columns(near[1].0, near[1].1),
            ],
            1,
        );
        merge(
            &flash(q, &inner(k), &inner(v), None, false),
            &flash(q, &edges(k), &edges(v), Some(&mask), false),
        )
    }
}

/// Neighbouring blocks of queries among the keys of one text: the window of the first query begins at key `reach`.
#[derive(Clone, Copy)]
struct Blocks {
    sinks: usize,
    reach: usize,
    count: usize,
    length: usize,
}

impl Blocks {
    /// `size` keys of each block, the first of them `offset` after the block's reach: `[blocks, G, size, d]`, a view.
    fn views(&self, x: &Tensor, offset: usize, size: usize) -> Tensor {
        let reached = part(
            x,
            self.reach + offset,
            size + (self.count - 1) * self.length,
        );
        reached
            .unfold(2, size as i64, self.length as i64)
            .squeeze_dim(0)
            .permute([1, 0, 3, 2])
    }

    /// The sinks and then some stretches (offset, size) of each block's keys.
    fn joined(&self, x: &Tensor, stretches: &[(usize, usize)]) -> Tensor {
        let mut parts: Vec<Tensor> = stretches
            .iter()
            .map(|(offset, size)| self.views(x, *offset, *size))
            .collect();
        if self.sinks > 0 {
            parts.insert(
                0,
                part(x, 0, self.sinks).expand([self.count as i64, -1, -1, -1], false),
            );
        }
        match parts.as_slice() {
            [only] => only.shallow_clone(),
            parts => Tensor::cat(parts, 2),
        }
    }
}

/// Windows from this length on are computed in two parts; below, the merge costs more than the mask.
const LONG: usize = 256;

/// Queries in a block. Longer blocks are fewer calls and compute more that is not visible; chosen by
/// `benches/prefill.rs`.
fn block_length(window: usize) -> usize {
    if window < LONG { 32 } else { 64 }
}

/// Whether blocks compute enough fewer scores than one masked call to pay for the calls and copies.
fn pays(window: Window, span: Span, block: usize) -> bool {
    let keys = span.keys();
    let blocked = window.slots() + block;
    // Queries before the first block go through calls of their own, which cost what they cost without blocks.
    let early = if span.sinks > 0 || span.first > 0 {
        0
    } else {
        (window.slots() - 1)
            .saturating_sub(span.start)
            .min(span.queries)
    };
    let queries = span.queries - early;
    queries > 0 && queries * keys > queries * blocked + 4096
}

/// Queries a and keys of a block: the sinks, then key c of W − 1 + block, visible iff a ≤ c < a + W.
fn block_mask(window: Window, block: usize, kind: Kind, device: Device) -> Tensor {
    let keys = (window.window() - 1 + block) as i64;
    let a = Tensor::arange(block as i64, (Kind::Int64, device)).unsqueeze(1);
    let c = Tensor::arange(keys, (Kind::Int64, device));
    let hidden = c
        .lt_tensor(&a)
        .logical_or(&c.ge_tensor(&(&a + window.window() as i64)));
    let band =
        Tensor::zeros([block as i64, keys], (kind, device)).masked_fill(&hidden, f64::NEG_INFINITY);
    Tensor::cat(
        &[
            Tensor::zeros([block as i64, window.sinks() as i64], (kind, device)),
            band,
        ],
        1,
    )
}

fn part(x: &Tensor, first: usize, count: usize) -> Tensor {
    x.narrow(2, first as i64, count as i64)
}
