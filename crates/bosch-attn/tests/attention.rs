//! Every path of attention agrees with the masked reference.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::Window;
use bosch_attn::attention::{Pattern, Rule, Span};
use bosch_attn::tch::{Device, Kind, Tensor};
use common::difference;

const OPTIONS: (Kind, Device) = (Kind::Float, Device::Cpu);

/// The largest difference between the chosen path and the reference for one rule and span.
fn error(rule: Rule, span: Span, texts: i64, heads: (i64, i64), d: i64) -> f64 {
    let random =
        |heads: i64, length: usize| Tensor::randn([texts, heads, length as i64, d], OPTIONS);
    let (q, k, v) = (
        random(heads.0, span.queries),
        random(heads.1, span.keys()),
        random(heads.1, span.keys()),
    );
    let found = Pattern::new(rule, span, OPTIONS.0, OPTIONS.1).attend(&q, &k, &v);
    let expected = Pattern::masked(rule, span, OPTIONS.0, OPTIONS.1).attend(&q, &k, &v);
    difference(&found, &expected)
}

#[test]
fn the_reference_is_softmax_over_the_visible_keys() {
    let (length, window) = (9, Window::new(3, 2).unwrap());
    let span = Span::whole(length);
    let random = || Tensor::randn([1, 1, length as i64, 4], (Kind::Double, Device::Cpu));
    let (q, k, v) = (random(), random(), random());
    let found = Pattern::masked(Some(window), span, Kind::Double, Device::Cpu).attend(&q, &k, &v);
    for i in 0..length {
        let row = |x: &Tensor, index: usize| x.get(0).get(0).get(index as i64);
        let visible: Vec<usize> = (0..length).filter(|j| window.sees(i, *j)).collect();
        let weights: Vec<f64> = visible
            .iter()
            .map(|j| (row(&q, i).dot(&row(&k, *j)).double_value(&[]) / 2.0).exp())
            .collect();
        let total: f64 = weights.iter().sum();
        let mut expected = Tensor::zeros([4], (Kind::Double, Device::Cpu));
        for (j, weight) in visible.iter().zip(&weights) {
            expected += row(&v, *j) * (weight / total);
        }
        assert!(difference(&row(&found, i), &expected) < 1e-12);
    }
}

#[test]
fn whole_texts_agree_with_the_reference() {
    for (w, s) in [
        (1, 0),
        (1, 4),
        (2, 0),
        (16, 0),
        (16, 4),
        (16, 40),
        (33, 1),
        (100, 4),
        (128, 4),
        (300, 3),
        (700, 0),
        (1000, 700),
    ] {
        let rule = Some(Window::new(w, s).unwrap());
        for length in [1, 2, 15, 17, 20, 64, 129, 256, 300, 777, 1024, 1500] {
            let error = error(rule, Span::whole(length), 1, (4, 2), 16);
            assert!(error < 1e-5, "W = {w}, S = {s}, T = {length}: {error}");
        }
    }
    for length in [1, 2, 40, 300, 1100] {
        assert!(error(None, Span::whole(length), 2, (6, 3), 8) < 1e-5);
    }
}

#[test]
fn chunks_after_stored_keys_agree_with_the_reference() {
    for (w, s) in [(1, 0), (8, 2), (16, 4), (100, 4), (257, 0)] {
        let window = Window::new(w, s).unwrap();
        for queries in [1, 2, 31, 64, 200, 513] {
            for start in [0, 1, w / 2, w, w + s, 3 * w + 5] {
                let contiguous = Span {
                    start,
                    queries,
                    sinks: 0,
                    first: 0,
                };
                let error_contiguous = error(Some(window), contiguous, 1, (4, 2), 8);
                assert!(
                    error_contiguous < 1e-5,
                    "W = {w}, S = {s}, {contiguous:?}: {error_contiguous}"
                );
                assert!(error(None, contiguous, 1, (4, 2), 8) < 1e-5);
                if start >= w + s {
                    let cached = Span {
                        start,
                        queries,
                        sinks: s,
                        first: start + 1 - w,
                    };
                    let error_cached = error(Some(window), cached, 1, (4, 2), 8);
                    assert!(
                        error_cached < 1e-5,
                        "W = {w}, S = {s}, {cached:?}: {error_cached}"
                    );
                }
            }
        }
    }
}

#[test]
fn several_texts_at_once_agree_with_the_reference() {
    let rule = Some(Window::new(32, 4).unwrap());
    assert!(error(rule, Span::whole(700), 3, (6, 2), 16) < 1e-5);
    assert!(error(rule, Span::tail(700, 9), 3, (6, 2), 16) < 1e-5);
    assert!(error(None, Span::tail(700, 9), 3, (6, 2), 16) < 1e-5);
}

#[test]
fn large_scores_do_not_overflow() {
    let span = Span::whole(400);
    let rule = Some(Window::new(32, 4).unwrap());
    let large = |length: i64| Tensor::randn([1, 2, length, 16], OPTIONS) * 300.0;
    let (q, k, v) = (
        large(400),
        large(400),
        Tensor::randn([1, 2, 400, 16], OPTIONS),
    );
    let found = Pattern::new(rule, span, OPTIONS.0, OPTIONS.1).attend(&q, &k, &v);
    let expected = Pattern::masked(rule, span, OPTIONS.0, OPTIONS.1).attend(&q, &k, &v);
    assert!(difference(&found, &expected) < 1e-4);
}
