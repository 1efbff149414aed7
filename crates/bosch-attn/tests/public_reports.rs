//! Faults that users of other libraries reported in public: here each has a test of the right behaviour. Those of
//! configurations are in `config.rs`, of stray shards in `bad_input.rs`, of scores in half in `precision.rs`, of the router in
//! `src/mlp.rs`, of DuoAttention's files in the crate `bosch`.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::attention::{Pattern, Span};
use bosch_attn::tch::{Device, Kind, Tensor};
use bosch_attn::{Decoder, Error, HeadMask, LoadOptions, SafetensorsFolder, WeightSource, Window};
use common::{Fixture, difference, folder};

const OPTIONS: (Kind, Device) = (Kind::Float, Device::Cpu);

fn window(window: usize, sinks: usize) -> Window {
    Window::new(window, sinks).unwrap()
}

fn random(shape: [i64; 4]) -> Tensor {
    Tensor::randn(shape, OPTIONS)
}

/// Logits of a text `[T, V]` that an all-sliding cache reads in pieces of the given lengths, the last one repeated.
fn in_pieces(fixture: &Fixture, text: &[u32], window: Window, lengths: &[usize]) -> Tensor {
    let mask = HeadMask::all_swa(3, 2); // llama-tied
    let mut cache = fixture.decoder.cache(&mask, window, 1).unwrap();
    let mut pieces = Vec::new();
    let (mut start, mut turn) = (0, 0);
    while start < text.len() {
        let end = text.len().min(start + lengths[turn.min(lengths.len() - 1)]);
        pieces.push(
            fixture
                .decoder
                .extend(&mut cache, &[&text[start..end]])
                .unwrap(),
        );
        (start, turn) = (end, turn + 1);
    }
    Tensor::cat(&pieces, 0)
}

fn in_one_pass(fixture: &Fixture, window: Window) -> Tensor {
    let mask = HeadMask::all_swa(3, 2);
    fixture
        .decoder
        .logits(&fixture.ids, &mask, window)
        .unwrap()
        .get(0)
}

/// The first prefill call already slides (there it was full attention on all heads).
#[test]
fn duo_attention_9_and_25_the_first_prefill_slides() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    let first = in_pieces(&fixture, text, window(4, 1), &[48]);
    assert!(difference(&first, &in_one_pass(&fixture, window(4, 1))) < 1e-4);
    assert!(difference(&first, &fixture.cases[0].logits.get(0)) > 1.0);
}

/// A mask has one bit for each KV group: one for each query head is refused, and a bit changes only its group's heads.
#[test]
fn duo_attention_15_a_mask_is_indexed_by_kv_group() {
    let fixture = Fixture::load("llama-tied"); // 6 query heads, 2 groups
    let by_query_head = HeadMask::zeros(3, 6);
    let error = fixture
        .decoder
        .logits(&fixture.ids, &by_query_head, window(4, 1))
        .unwrap_err();
    assert!(matches!(error, Error::Input { .. }));
    let (q, k, v) = (
        random([1, 6, 20, 8]),
        random([1, 2, 20, 8]),
        random([1, 2, 20, 8]),
    );
    let grouped =
        Pattern::new(Some(window(4, 1)), Span::whole(20), OPTIONS.0, OPTIONS.1).attend(&q, &k, &v);
    let repeated = |x: &Tensor| x.repeat_interleave_self_int(3, 1, 6);
    let each = Pattern::new(Some(window(4, 1)), Span::whole(20), OPTIONS.0, OPTIONS.1).attend(
        &q,
        &repeated(&k),
        &repeated(&v),
    );
    assert!(difference(&grouped, &each) < 1e-5);
}

/// Keys and values are stored for KV groups, not repeated for query heads, so that bytes are saved.
#[test]
fn headkv_3_the_cache_stores_groups_not_query_heads() {
    let fixture = Fixture::load("qwen2"); // 7 query heads, 1 group
    let config = fixture.decoder.config();
    let full = HeadMask::zeros(config.layers, config.groups);
    let mut cache = fixture.decoder.cache(&full, window(1, 0), 1).unwrap();
    cache.reserve(100).unwrap();
    assert_eq!(cache.bytes(), 2 * config.layers * config.head_dim * 4 * 100);
}

/// W counts the query itself: with W = 1 a query sees its own value only, with W = 2 also the one before
/// (transformers #39408, #29623, mlx-lm PR 390, axlearn PR 1009).
#[test]
fn transformers_39408_and_29623_the_window_counts_the_query() {
    for length in [1, 5, 700] {
        let (q, k, v) = (
            random([1, 2, length, 8]),
            random([1, 2, length, 8]),
            random([1, 2, length, 8]),
        );
        let attend = |w: usize| {
            let span = Span::whole(length as usize);
            Pattern::new(Some(window(w, 0)), span, OPTIONS.0, OPTIONS.1).attend(&q, &k, &v)
        };
        assert!(difference(&attend(1), &v) < 1e-6);
        if length > 1 {
            let score = |offset: i64| {
                (q.narrow(2, 1, length - 1) * k.narrow(2, offset, length - 1)).sum_dim_intlist(
                    [-1].as_slice(),
                    true,
                    Kind::Float,
                )
            };
            let weight = ((score(1) - score(0)) / 8f64.sqrt()).sigmoid();
            let expected = v.narrow(2, 0, length - 1).lerp_tensor(
                &v.narrow(2, 1, length - 1),
                &weight.expand_as(&v.narrow(2, 1, length - 1)),
            );
            assert!(difference(&attend(2).narrow(2, 1, length - 1), &expected) < 1e-5);
        }
    }
}

/// The ring is right where the text's length reaches W, and W + S, at a step or at a chunk's end.
#[test]
fn transformers_37574_the_ring_holds_as_the_length_reaches_the_window() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    for (w, s) in [(8, 0), (8, 3)] {
        let expected = in_one_pass(&fixture, window(w, s));
        for first in w - 1..=w + s + 1 {
            for then in [1, 2, w] {
                let found = in_pieces(&fixture, text, window(w, s), &[first, then]);
                assert!(
                    difference(&found, &expected) < 1e-4,
                    "W = {w}, S = {s}: {first}, then {then}"
                );
            }
        }
    }
}

/// A prefill longer than W stays causal: what comes later changes nothing before it.
#[test]
fn litgpt_2182_a_prefill_beyond_the_window_is_causal() {
    let fixture = Fixture::load("llama-tied");
    let mut text = fixture.texts()[0].clone();
    let before = in_pieces(&fixture, &text, window(8, 2), &[48]).narrow(0, 0, 30);
    text[30..].fill(5);
    let after = in_pieces(&fixture, &text, window(8, 2), &[48]).narrow(0, 0, 30);
    assert!(difference(&before, &after) < 1e-5);
}

/// Chunks longer than W leave no query without a key, and no NaN (mlxcel PR 412, PR 418; pytorch #103749).
#[test]
fn mlxcel_412_and_418_chunks_beyond_the_window_have_no_empty_rows() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    for (w, s) in [(1, 0), (2, 0), (5, 1)] {
        let expected = in_one_pass(&fixture, window(w, s));
        for chunk in [w + 1, 2 * w + s, 3 * w + 7, 40] {
            let found = in_pieces(&fixture, text, window(w, s), &[chunk]);
            assert!(
                difference(&found, &expected) < 1e-4,
                "W = {w}, S = {s}, chunk {chunk}"
            );
        }
    }
}

/// The stored keys are cut to the window: bytes end growing at W + S positions.
#[test]
fn mistral_rs_246_the_cache_is_cut_to_the_window() {
    let fixture = Fixture::load("llama-tied");
    let mut cache = fixture
        .decoder
        .cache(&HeadMask::all_swa(3, 2), window(8, 2), 1)
        .unwrap();
    for id in &fixture.texts()[0] {
        let _ = fixture.decoder.extend(&mut cache, &[&[*id]]).unwrap();
        assert!(cache.bytes() <= 2 * 3 * 2 * 8 * 4 * 10);
    }
}

/// Several new queries after stored keys see all of these (candle #1789, PR 3236: a mask `[t, t]` with a cache); causal is
/// aligned to the end of the keys, not the beginning (pytorch #108108, #144858).
#[test]
fn candle_1789_and_pytorch_108108_new_queries_see_the_stored_keys() {
    let (past, new) = (13, 6);
    let (q, k) = (random([1, 2, new, 8]), random([1, 2, past + new, 8]));
    for rule in [None, Some(window(100, 0))] {
        let span = Span {
            start: past as usize,
            queries: new as usize,
            sinks: 0,
            first: 0,
        };
        // Values that name their position: the mean of a query's weights over stored positions cannot be 0.
        let stored = Tensor::cat(
            &[
                Tensor::ones([1, 2, past, 8], OPTIONS),
                Tensor::zeros([1, 2, new, 8], OPTIONS),
            ],
            2,
        );
        let pattern = Pattern::new(rule, span, OPTIONS.0, OPTIONS.1);
        assert!(pattern.attend(&q, &k, &stored).min().double_value(&[]) > 0.0);
        let scores = q.matmul(&k.transpose(2, 3)) / 8f64.sqrt();
        let hidden = Tensor::ones([new, past + new], (Kind::Bool, Device::Cpu)).triu(past + 1);
        let weights = scores
            .masked_fill(&hidden, f64::NEG_INFINITY)
            .softmax(-1, Kind::Float);
        let v = random([1, 2, past + new, 8]);
        assert!(difference(&pattern.attend(&q, &k, &v), &weights.matmul(&v)) < 1e-5);
    }
}

/// Positions are those of the text, not the number of keys that a ring keeps (transformers #33691, #35350).
#[test]
fn transformers_33691_and_35350_positions_are_not_the_number_of_kept_keys() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    let mut cache = fixture
        .decoder
        .cache(&HeadMask::all_swa(3, 2), window(4, 1), 1)
        .unwrap();
    let _ = fixture.decoder.extend(&mut cache, &[&text[..40]]).unwrap();
    assert_eq!(cache.lengths(), [40]);
    let last = fixture
        .decoder
        .extend(&mut cache, &[&text[40..41]])
        .unwrap();
    let expected = in_one_pass(&fixture, window(4, 1)).narrow(0, 40, 1);
    assert!(difference(&last, &expected) < 1e-4);
}

/// Each text of a batch has positions of its own; nothing is padded, so that nothing can leak from padding.
#[test]
fn unsloth_3803_texts_of_a_batch_have_their_own_positions() {
    let fixture = Fixture::load("llama-tied");
    let texts = fixture.texts();
    let mask = HeadMask::from_rows(&[[true, false], [true, true], [false, false]]).unwrap();
    let (long, short) = (&texts[0][..30], &texts[1][..5]);
    let mut both = fixture.decoder.cache(&mask, window(6, 2), 2).unwrap();
    let _ = fixture
        .decoder
        .extend_last(&mut both, &[long, short])
        .unwrap();
    for step in 0..8 {
        let (a, b) = (
            &texts[0][30 + step..31 + step],
            &texts[1][5 + step..6 + step],
        );
        let found = fixture.decoder.extend_last(&mut both, &[a, b]).unwrap();
        for (row, (text, end)) in [(&texts[0], 31 + step), (&texts[1], 6 + step)]
            .into_iter()
            .enumerate()
        {
            let mut alone = fixture.decoder.cache(&mask, window(6, 2), 1).unwrap();
            let expected = fixture
                .decoder
                .extend_last(&mut alone, &[&text[..end]])
                .unwrap();
            assert!(difference(&found.get(row as i64).unsqueeze(0), &expected) < 1e-4);
        }
    }
}

/// A folder's weights, with a head of their own.
struct WithHead<'a>(&'a SafetensorsFolder, f64);

impl WeightSource for WithHead<'_> {
    fn origin(&self) -> String {
        "with a head".into()
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        self.0.shape(if name == "lm_head.weight" {
            "model.embed_tokens.weight"
        } else {
            name
        })
    }

    fn read_into(&self, name: &str, target: &Tensor) -> Result<(), Error> {
        if name != "lm_head.weight" {
            return self.0.read_into(name, target);
        }
        self.0.read_into("model.embed_tokens.weight", target)?;
        let _ = target.shallow_clone().g_mul_scalar_(self.1);
        Ok(())
    }
}

/// A tied model's head may be absent or present; one with other values counts, as in transformers (candle #2516, PR 2930).
#[test]
fn candle_2516_a_tied_head_may_be_absent_or_present() {
    let fixture = Fixture::load("llama-tied");
    let source = SafetensorsFolder::open(folder("llama-tied")).unwrap();
    assert!(source.shape("lm_head.weight").is_none());
    let case = &fixture.cases[1];
    for factor in [1.0, 2.0] {
        let config = fixture.decoder.config().clone();
        let decoder =
            Decoder::load(config, &WithHead(&source, factor), LoadOptions::new()).unwrap();
        let logits = decoder
            .logits(&fixture.ids, &case.mask, case.window)
            .unwrap();
        assert!(difference(&(logits / factor), &case.logits) < 2e-4);
    }
}
