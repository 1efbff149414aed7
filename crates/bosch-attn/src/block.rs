//! One decoder layer: attention by runs of heads, then the feed-forward part.

use tch::Tensor;

use crate::cache::LayerCache;
use crate::linear::Linear;
use crate::mlp::FeedForward;
use crate::norm::RmsNorm;
use crate::plan::{Pass, Row, Run};

/// The weights of one layer.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) attention_norm: RmsNorm,
    pub(crate) attention: Attention,
    pub(crate) mlp_norm: RmsNorm,
    pub(crate) mlp: FeedForward,
}

/// The attention weights: `qkv` holds the rows of q, k and v one after the other, `[(H + 2G) d, D]`.
#[derive(Debug)]
pub(crate) struct Attention {
    pub(crate) qkv: Linear,
    /// One weight for each query head, then each key head, `[H + G, d]` (Qwen3).
    pub(crate) head_norm: Option<RmsNorm>,
    pub(crate) output: Linear,
    pub(crate) query_heads: i64,
    pub(crate) groups: i64,
    pub(crate) head_dim: i64,
}

impl Block {
    /// The same layer over the same memory.
    pub(crate) fn share(&self) -> Self {
        Self {
            attention_norm: self.attention_norm.share(),
            attention: Attention {
                qkv: self.attention.qkv.share(),
                head_norm: self.attention.head_norm.as_ref().map(RmsNorm::share),
                output: self.attention.output.share(),
                query_heads: self.attention.query_heads,
                groups: self.attention.groups,
                head_dim: self.attention.head_dim,
            },
            mlp_norm: self.mlp_norm.share(),
            mlp: self.mlp.share(),
        }
    }

    /// From the layer's input `[N, D]` to its output, `[N, D]`, or `[tail, D]` in a pass that asks for a tail.
    pub(crate) fn forward(
        &self,
        input: &Tensor,
        runs: &[Run],
        pass: &Pass,
        cache: Option<&mut LayerCache>,
    ) -> Tensor {
        let attended =
            self.attention
                .forward(&self.attention_norm.forward(input), runs, pass, cache);
        let hidden = match pass.tail {
            None => input + attended,
            Some(tail) => last(input, tail as i64) + attended,
        };
        &hidden + self.mlp.forward(&self.mlp_norm.forward(&hidden))
    }
}

impl Attention {
    /// Puts the KV groups, with their query heads, into another order; group i is then what group `order[i]` was. The
    /// output stays the same.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        let (h, g, d) = (self.query_heads, self.groups, self.head_dim);
        let rows = |first: i64, size: i64| {
            order.iter().flat_map(move |&group| {
                let start = first + group as i64 * size;
                start..start + size
            })
        };
        let queries = h / g * d;
        let index = |rows: Vec<i64>| Tensor::from_slice(&rows).to_device(self.qkv.weight.device());
        let qkv = rows(0, queries)
            .chain(rows(h * d, d))
            .chain(rows((h + g) * d, d));
        let qkv = index(qkv.collect());
        let output = index(rows(0, queries).collect());
        self.qkv = Linear {
            weight: self.qkv.weight.index_select(0, &qkv),
            bias: self
                .qkv
                .bias
                .as_ref()
                .map(|bias| bias.index_select(0, &qkv)),
        };
        self.output.weight = self.output.weight.index_select(1, &output);
    }

    fn forward(
        &self,
        x: &Tensor,
        runs: &[Run],
        pass: &Pass,
        mut cache: Option<&mut LayerCache>,
    ) -> Tensor {
        let (q, k, v) = self.heads(x, pass);
        let rows: Vec<Tensor> = pass
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let parts: Vec<Tensor> = runs
                    .iter()
                    .filter_map(|run| {
                        let (k, v) = (self.keys(&k, row, run), self.keys(&v, row, run));
                        let (k, v) = match cache.as_deref_mut() {
                            Some(cache) => cache.extend(run, row.text, row.start, (k, v)),
                            None => (k, v),
                        };
                        // [1, h, n, d] to [n, h, d]; the pass was made for these runs, so it has the pattern.
                        let pattern = pass.pattern(run.rule, index)?;
                        Some(
                            pattern
                                .attend(&self.queries(&q, row, run, pass.tail), &k, &v)
                                .squeeze_dim(0)
                                .transpose(0, 1),
                        )
                    })
                    .collect();
                joined(&parts, 1)
            })
            .collect();
        self.output.forward(&joined(&rows, 0).flatten(1, 2))
    }

    /// Rotated queries `[N or tail, H, d]`, rotated keys and values `[N, G, d]`.
    pub(crate) fn heads(&self, x: &Tensor, pass: &Pass) -> (Tensor, Tensor, Tensor) {
        let (h, g, d) = (self.query_heads, self.groups, self.head_dim);
        let split = |x: Tensor, heads: i64| x.unflatten(1, [heads, d].as_slice());
        let Some(tail) = pass.tail else {
            let all = split(self.qkv.forward(x), h + 2 * g); // [N, H + 2G, d]
            let turned = pass
                .rotation
                .apply(&self.normalised(all.narrow(1, 0, h + g), 0));
            return (
                turned.narrow(1, 0, h),
                turned.narrow(1, h, g),
                all.narrow(1, h + g, g),
            );
        };
        let tail = tail as i64;
        let q = split(self.qkv.rows(0, h * d).forward(&last(x, tail)), h); // [tail, H, d]
        let kv = split(self.qkv.rows(h * d, 2 * g * d).forward(x), 2 * g); // [N, 2G, d]
        let q = pass.rotation.tail(tail).apply(&self.normalised(q, 0));
        let k = pass.rotation.apply(&self.normalised(kv.narrow(1, 0, g), h));
        (q, k, kv.narrow(1, g, g))
    }

    /// Each head of `x` `[N, heads, d]` normalised, where the model does so; `first` is the first head's row of weights.
    fn normalised(&self, x: Tensor, first: i64) -> Tensor {
        match &self.head_norm {
            Some(norm) => norm.rows(first, x.size()[1]).forward(&x),
            None => x,
        }
    }

    /// The queries `[1, h, n, d]` of one text and run.
    fn queries(&self, q: &Tensor, row: &Row, run: &Run, tail: Option<usize>) -> Tensor {
        let per_group = self.query_heads / self.groups;
        let (offset, count) = tail.map_or((row.offset, row.count), |tail| (0, tail));
        part(
            q,
            (offset, count),
            run.first as i64 * per_group,
            run.count as i64 * per_group,
        )
    }

    /// The keys or values `[1, g, n, d]` of one text and run.
    fn keys(&self, k: &Tensor, row: &Row, run: &Run) -> Tensor {
        part(
            k,
            (row.offset, row.count),
            run.first as i64,
            run.count as i64,
        )
    }
}

/// Tokens and heads of `x` `[N, heads, d]` as `[1, heads, tokens, d]`, a view.
fn part(x: &Tensor, tokens: (usize, usize), first: i64, count: i64) -> Tensor {
    x.narrow(0, tokens.0 as i64, tokens.1 as i64)
        .narrow(1, first, count)
        .transpose(0, 1)
        .unsqueeze(0)
}

fn last(x: &Tensor, count: i64) -> Tensor {
    x.narrow(0, x.size()[0] - count, count)
}

/// The tensors one after the other; one alone is not copied.
fn joined(parts: &[Tensor], dim: i64) -> Tensor {
    match parts {
        [only] => only.shallow_clone(),
        parts => Tensor::cat(parts, dim),
    }
}
