//! The cache: exact bytes, and the same logits whatever is stored and however it was stored.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::tch::Tensor;
use bosch_attn::{
    Decoder, Error, HeadMask, KvCache, LoadOptions, RopeScaling, SafetensorsFolder, Window,
};
use common::{Fixture, difference, folder};

fn window(window: usize, sinks: usize) -> Window {
    Window::new(window, sinks).unwrap()
}

/// A mask that mixes full, sliding and mixed layers of llama-tied (3 layers × 2 groups).
fn mixed() -> HeadMask {
    HeadMask::from_rows(&[[true, false], [true, true], [false, false]]).unwrap()
}

fn bytes_by_the_formula(fixture: &Fixture, cache: &KvCache, texts: usize) -> usize {
    let config = fixture.decoder.config();
    let swa = cache.mask().count_swa();
    let full = config.layers * config.groups - swa;
    2 * config.head_dim
        * 4
        * texts
        * (full * cache.capacity() + swa * cache.capacity().min(cache.window().slots()))
}

#[test]
fn bytes_are_those_of_the_formula_as_the_cache_grows() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    let mut cache = fixture.decoder.cache(&mixed(), window(8, 2), 1).unwrap();
    assert_eq!(cache.bytes(), 0);
    for id in text {
        let _ = fixture.decoder.extend(&mut cache, &[&[*id]]).unwrap();
        assert_eq!(cache.bytes(), bytes_by_the_formula(&fixture, &cache, 1));
        assert!(
            cache.capacity() >= cache.lengths()[0] && cache.capacity() <= 2 * cache.lengths()[0]
        );
    }
    cache.reserve(100).unwrap();
    assert_eq!(
        (cache.capacity(), cache.bytes()),
        (100, 2 * 8 * 4 * (3 * 100 + 3 * 10))
    );
}

#[test]
fn texts_of_different_length_in_one_batch_are_as_if_alone() {
    let fixture = Fixture::load("llama-tied");
    let texts = fixture.texts();
    let (long, short) = (&texts[0][..40], &texts[1][..9]);
    let mut both = fixture.decoder.cache(&mixed(), window(8, 2), 2).unwrap();
    let first = fixture.decoder.extend(&mut both, &[long, short]).unwrap();
    let second = fixture
        .decoder
        .extend(&mut both, &[&texts[0][40..41], &texts[1][9..15]])
        .unwrap();
    for (row, (text, end)) in [(&texts[0], 41), (&texts[1], 15)].into_iter().enumerate() {
        let mut alone = fixture.decoder.cache(&mixed(), window(8, 2), 1).unwrap();
        let expected = fixture.decoder.extend(&mut alone, &[&text[..end]]).unwrap();
        let rows = |logits: &Tensor, start: i64, count: i64| logits.narrow(0, start, count);
        let found = if row == 0 {
            Tensor::cat(&[rows(&first, 0, 40), rows(&second, 0, 1)], 0)
        } else {
            Tensor::cat(&[rows(&first, 40, 9), rows(&second, 1, 6)], 0)
        };
        assert!(difference(&found, &expected) < 1e-4);
    }
}

#[test]
fn chunks_around_the_window_and_the_sinks_change_nothing() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    for (w, s) in [
        (1, 0),
        (1, 3),
        (4, 0),
        (4, 4),
        (5, 2),
        (3, 60),
        (48, 4),
        (60, 0),
    ] {
        let mut whole = fixture.decoder.cache(&mixed(), window(w, s), 1).unwrap();
        let expected = fixture.decoder.extend(&mut whole, &[text]).unwrap();
        for chunk in [1, 2, 3, 4, 5, 6, 9, 10, 13, 47] {
            let mut cache = fixture.decoder.cache(&mixed(), window(w, s), 1).unwrap();
            let pieces: Vec<Tensor> = text
                .chunks(chunk)
                .map(|piece| fixture.decoder.extend(&mut cache, &[piece]).unwrap())
                .collect();
            let error = difference(&Tensor::cat(&pieces, 0), &expected);
            assert!(error < 1e-4, "W = {w}, S = {s}, chunk {chunk}: {error}");
        }
    }
}

#[test]
fn a_wide_window_is_full_attention() {
    let fixture = Fixture::load("llama-tied");
    let all = HeadMask::all_swa(3, 2);
    let full = &fixture.cases[0].logits;
    for window in [window(48, 0), window(1, 48), window(1000, 4)] {
        let logits = fixture.decoder.logits(&fixture.ids, &all, window).unwrap();
        assert!(difference(&logits, full) < 2e-4);
    }
}

#[test]
fn forks_go_their_own_ways() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    let mut document = fixture.decoder.cache(&mixed(), window(8, 2), 1).unwrap();
    let _ = fixture
        .decoder
        .extend(&mut document, &[&text[..30]])
        .unwrap();
    let mut fork = document.fork();
    let _ = fixture.decoder.extend(&mut fork, &[&[5, 6, 7]]).unwrap();
    let after_fork = fixture
        .decoder
        .extend(&mut document, &[&text[30..]])
        .unwrap();
    let mut fresh = fixture.decoder.cache(&mixed(), window(8, 2), 1).unwrap();
    let expected = fixture
        .decoder
        .extend(&mut fresh, &[text])
        .unwrap()
        .narrow(0, 30, 18);
    assert!(difference(&after_fork, &expected) < 1e-4);
}

#[test]
fn reset_and_truncate_leave_no_trace() {
    let fixture = Fixture::load("llama-tied");
    let text = &fixture.texts()[0];
    let mut cache = fixture.decoder.cache(&mixed(), window(8, 2), 1).unwrap();
    let expected = fixture.decoder.extend(&mut cache, &[&text[..10]]).unwrap();
    cache.truncate(0, 4).unwrap();
    let again = fixture.decoder.extend(&mut cache, &[&text[4..10]]).unwrap();
    assert!(difference(&again, &expected.narrow(0, 4, 6)) < 1e-4);
    let _ = fixture
        .decoder
        .extend(&mut cache, &[&text[10..11]])
        .unwrap();
    let error = cache.truncate(0, 10).unwrap_err();
    assert!(
        matches!(&error, Error::Input { expected, .. } if expected.contains("wrapped")),
        "{error}"
    );
    let bytes = cache.bytes();
    cache.reset();
    let again = fixture.decoder.extend(&mut cache, &[&text[..10]]).unwrap();
    assert!(difference(&again, &expected) < 1e-4);
    assert_eq!(cache.bytes(), bytes);
}

#[test]
fn a_specialised_decoder_has_the_logits_of_the_old_one() {
    for name in ["qwen3", "llama3-rope"] {
        let fixture = Fixture::load(name);
        for case in &fixture.cases {
            let (decoder, mask) = fixture.decoder.share().specialize(&case.mask).unwrap();
            assert!(mask.rows().all(<[bool]>::is_sorted));
            let logits = decoder.logits(&fixture.ids, &mask, case.window).unwrap();
            assert!(difference(&logits, &case.logits) < 2e-4, "{name}");
        }
    }
}

/// Dynamic and longrope frequencies depend on the length of a text; a cache that knows it computes each piece as the whole
/// text in one pass.
#[test]
fn pieces_of_an_expected_length_are_the_whole_text() {
    let factors = |by: f64| (0..4).map(|i| 1.0 + by * f64::from(i)).collect();
    for scaling in [
        RopeScaling::Dynamic {
            factor: 2.0,
            original: 16,
        },
        RopeScaling::LongRope {
            short: factors(0.1),
            long: factors(0.9),
            original: 16,
            attention_factor: 1.1,
        },
    ] {
        let fixture = Fixture::load("llama-tied");
        let mut config = fixture.decoder.config().clone();
        config.rope.scaling = scaling;
        let source = SafetensorsFolder::open(folder("llama-tied")).unwrap();
        let decoder = Decoder::load(config, &source, LoadOptions::new()).unwrap();
        let expected = decoder
            .logits(&fixture.ids, &mixed(), window(8, 2))
            .unwrap()
            .get(0);
        for chunk in [1, 7, 40] {
            let mut cache = decoder.cache(&mixed(), window(8, 2), 1).unwrap();
            cache.expect_length(0, 48).unwrap();
            let pieces: Vec<Tensor> = fixture.texts()[0]
                .chunks(chunk)
                .map(|piece| decoder.extend(&mut cache, &[piece]).unwrap())
                .collect();
            let error = difference(&Tensor::cat(&pieces, 0), &expected);
            assert!(error < 1e-4, "chunk {chunk}: {error}");
        }
    }
}
