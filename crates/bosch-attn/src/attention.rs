//! Attention of some heads over some keys, by one visibility rule.
//!
//! A [`Pattern`] is worked out once for a rule and a span of positions and then applied in every layer. Two families of
//! heads of one layer are two patterns; the decoder runs them apart.

mod band;
mod kernel;

use tch::{Device, Kind, Tensor};

use self::band::Band;
use self::kernel::{flash, merge, scaled_dot_product};
use crate::mask::Window;

/// What a head sees: `None` = every key up to the query, `Some` = a sliding window with sinks.
pub type Rule = Option<Window>;

/// The positions of queries and keys in one call.
///
/// Queries stand at `start..start + queries`. The keys are positions `0..sinks` followed by `first..start + queries`;
/// `sinks` ≤ `first` ≤ `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Position of the first query.
    pub start: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of keys from the beginning of the text that stand before the others.
    pub sinks: usize,
    /// Position of the first of the other keys.
    pub first: usize,
}

impl Span {
    /// Queries and keys of a whole text of `length` tokens.
    pub fn whole(length: usize) -> Self {
        Self {
            start: 0,
            queries: length,
            sinks: 0,
            first: 0,
        }
    }

    /// The last `queries` queries of a text of `length` tokens, all keys.
    pub fn tail(length: usize, queries: usize) -> Self {
        Self {
            start: length.saturating_sub(queries),
            queries: queries.min(length),
            sinks: 0,
            first: 0,
        }
    }

    /// Number of keys.
    pub fn keys(&self) -> usize {
        self.sinks + self.start + self.queries - self.first
    }

    /// Positions of the keys, in their order.
    fn key_positions(&self) -> impl Iterator<Item = usize> {
        (0..self.sinks).chain(self.first..self.start + self.queries)
    }
}

/// How the heads of one rule are computed over one span.
#[derive(Debug)]
pub struct Pattern(Path);

#[derive(Debug)]
enum Path {
    /// Every query sees every key.
    Open,
    /// Query i sees keys 0..=i; queries and keys are the same positions.
    Causal,
    /// As causal, after this many earlier keys that every query sees.
    Past(i64),
    /// Visibility as an additive mask `[queries, keys]` of 0 and −∞.
    Masked(Tensor),
    /// Blocks of queries against the keys near them.
    Band(Band),
}

impl Pattern {
    /// The way to compute `rule` over `span` for tensors of `kind` on `device`.
    pub fn new(rule: Rule, span: Span, kind: Kind, device: Device) -> Self {
        let all_in_window =
            rule.is_none_or(|window| span.start + span.queries <= window.window() + span.first);
        let contiguous = span.sinks == 0 && span.first <= span.start;
        if all_in_window && span.queries == 1 {
            return Self(Path::Open);
        }
        if all_in_window && contiguous && span.first == span.start {
            return Self(Path::Causal);
        }
        if all_in_window && contiguous && device == Device::Cpu {
            return Self(Path::Past((span.start - span.first) as i64));
        }
        match rule.and_then(|window| Band::plan(window, span, kind, device)) {
            Some(band) => Self(Path::Band(band)),
            None => Self(Path::Masked(additive_mask(rule, span, kind, device))),
        }
    }

    /// The reference: visibility spelled out as a mask, whatever the rule.
    pub fn masked(rule: Rule, span: Span, kind: Kind, device: Device) -> Self {
        Self(Path::Masked(additive_mask(rule, span, kind, device)))
    }

    /// Attention of `q` `[B, H, queries, d]` over `k` and `v` `[B, G, keys, d]`, H a multiple of G; head h uses KV head
    /// h / (H / G). Returns `[B, H, queries, d]`. Scores are divided by √d; softmax accumulates in float32.
    pub fn attend(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Tensor {
        match &self.0 {
            Path::Open => scaled_dot_product(q, k, v, None, false),
            Path::Causal => scaled_dot_product(q, k, v, None, true),
            Path::Masked(mask) => scaled_dot_product(q, k, v, Some(mask), false),
            Path::Band(band) => band.attend(q, k, v),
            Path::Past(past) => {
                let new = k.size()[2] - past;
                let before = flash(
                    q,
                    &k.narrow(2, 0, *past),
                    &v.narrow(2, 0, *past),
                    None,
                    false,
                );
                let new = |x: &Tensor| x.narrow(2, *past, new);
                merge(&before, &flash(q, &new(k), &new(v), None, true))
            }
        }
    }
}

/// `[queries, keys]`: 0 where the key is visible, −∞ elsewhere.
pub(crate) fn additive_mask(rule: Rule, span: Span, kind: Kind, device: Device) -> Tensor {
    let keys: Vec<i64> = span
        .key_positions()
        .map(|position| position as i64)
        .collect();
    let j = Tensor::from_slice(&keys).to_device(device); // [keys]
    let start = span.start as i64;
    let i = Tensor::arange_start(start, start + span.queries as i64, (Kind::Int64, device))
        .unsqueeze(1); // [queries, 1]
    let mut hidden = j.gt_tensor(&i);
    if let Some(window) = rule {
        let far = (&i - &j)
            .ge(window.window() as i64)
            .logical_and(&j.ge(window.sinks() as i64));
        hidden = hidden.logical_or(&far);
    }
    Tensor::zeros(hidden.size(), (kind, device)).masked_fill(&hidden, f64::NEG_INFINITY)
}
