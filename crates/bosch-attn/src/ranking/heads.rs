//! [`Heads`]: the queries and keys of one layer over a text, and their attention in blocks of queries.

use tch::{Kind, Tensor};

use crate::attention::{Rule, Span, additive_mask};
use crate::block::Block;
use crate::plan::Pass;

/// Queries whose attention is spelled out at once.
const BLOCK: i64 = 256;

/// The heads of one layer over one text.
pub(super) struct Heads {
    /// Rotated queries, `[H, T, d]` in float32.
    pub(super) q: Tensor,
    /// Rotated keys of each query head's group, `[H, T, d]` in float32.
    pub(super) k: Tensor,
    rule: Rule,
}

/// The attention of neighbouring queries.
pub(super) struct Rows {
    /// Positions of the queries, `[queries, 1]`.
    pub(super) i: Tensor,
    /// Positions of the keys, up to the last query, `[keys]`.
    pub(super) j: Tensor,
    /// q·k/√d, `[H, queries, keys]`; −∞ where the key is not visible.
    pub(super) logits: Tensor,
}

impl Rows {
    /// A: the softmax of the logits over the keys.
    pub(super) fn attention(&self) -> Tensor {
        self.logits.softmax(-1, Kind::Float)
    }
}

impl Heads {
    pub(super) fn new(block: &Block, hidden: &Tensor, pass: &Pass, rule: Rule) -> Self {
        let attention = &block.attention;
        let (q, k, _) = attention.heads(&block.attention_norm.forward(hidden), pass);
        let heads_first = |x: &Tensor| x.transpose(0, 1).to_kind(Kind::Float);
        let per_group = attention.query_heads / attention.groups;
        Self {
            q: heads_first(&q),
            k: heads_first(&k).repeat_interleave_self_int(per_group, 0, None),
            rule,
        }
    }

    /// T
    pub(super) fn length(&self) -> i64 {
        self.q.size()[1]
    }

    /// √d
    pub(super) fn scale(&self) -> f64 {
        (self.q.size()[2] as f64).sqrt()
    }

    /// The mean over the queries from `first` on of a score `[H, queries]`, as `[H]` in float64.
    pub(super) fn mean(&self, first: i64, score: impl Fn(&Rows) -> Tensor) -> Tensor {
        let length = self.length();
        let sums = (first..length).step_by(BLOCK as usize).map(|start| {
            let rows = self.rows(start, BLOCK.min(length - start));
            score(&rows).sum_dim_intlist([-1i64].as_slice(), false, Kind::Double)
        });
        let zeros = Tensor::zeros([self.q.size()[0]], (Kind::Double, self.q.device()));
        sums.fold(zeros, |sum, block| sum + block) / (length - first) as f64
    }

    fn rows(&self, start: i64, count: i64) -> Rows {
        let device = self.q.device();
        let span = Span {
            start: start as usize,
            queries: count as usize,
            sinks: 0,
            first: 0,
        };
        let seen = start + count;
        let q = self.q.narrow(1, start, count) / self.scale();
        let mask = additive_mask(self.rule, span, Kind::Float, device); // [queries, keys]
        let logits = q.matmul(&self.k.narrow(1, 0, seen).transpose(1, 2)) + mask;
        let positions = |start, end| Tensor::arange_start(start, end, (Kind::Int64, device));
        Rows {
            i: positions(start, seen).unsqueeze(1),
            j: positions(0, seen),
            logits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    #[test]
    fn means_over_blocks_of_queries_are_those_over_all_of_them() {
        tch::manual_seed(1);
        let random = || Tensor::randn([2, 600, 8], (Kind::Float, Device::Cpu));
        let (q, k) = (random(), random());
        let expected = {
            let logits = q.matmul(&k.transpose(1, 2)) / 8f64.sqrt();
            let later = Tensor::ones([600, 600], (Kind::Bool, Device::Cpu)).triu(1);
            let attention = logits
                .masked_fill(&later, f64::NEG_INFINITY)
                .softmax(-1, Kind::Float);
            let j = Tensor::arange(600, (Kind::Float, Device::Cpu));
            let place = attention.matmul(&j); // [2, 600]
            place
                .narrow(1, 150, 450)
                .mean_dim([1i64].as_slice(), false, Kind::Double)
        };
        let heads = Heads { q, k, rule: None };
        let mean = heads.mean(150, |rows| {
            rows.attention().matmul(&rows.j.to_kind(Kind::Float))
        });
        assert!((mean - expected).abs().max().double_value(&[]) < 1e-3);
    }
}
