//! Narrow element types stay near float32, and scores accumulate in float32.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::attention::{Pattern, Span};
use bosch_attn::tch::{Device, Kind, Tensor};
use bosch_attn::{Decoder, LoadOptions, ModelConfig, SafetensorsFolder, Window};
use common::{Fixture, difference, folder};

/// Relative precision: half of the last of 8 or 11 bits.
const NARROW: [(Kind, f64); 2] = [(Kind::BFloat16, 1.0 / 256.0), (Kind::Half, 1.0 / 2048.0)];

fn window() -> Window {
    Window::new(40, 4).unwrap()
}

/// Every path: open, causal, past, masked, and bands of short and long windows.
#[test]
fn attention_in_narrow_types_rounds_its_inputs_and_outputs_only() {
    let random = |length: i64| Tensor::randn([1, 2, length, 32], (Kind::Float, Device::Cpu));
    let past = |start, queries| Span {
        start,
        queries,
        sinks: 0,
        first: 0,
    };
    let long = Window::new(300, 4).unwrap();
    for (kind, precision) in NARROW {
        for (rule, span) in [
            (None, Span::whole(300)),
            (None, past(200, 1)),
            (None, past(200, 50)),
            (Some(window()), Span::whole(60)),
            (Some(window()), Span::whole(1200)),
            (Some(long), Span::whole(1500)),
        ] {
            let narrow = |x: Tensor| x.to_kind(kind);
            let (q, k, v) = (
                narrow(random(span.queries as i64)),
                narrow(random(span.keys() as i64)),
                narrow(random(span.keys() as i64)),
            );
            let found = Pattern::new(rule, span, kind, Device::Cpu).attend(&q, &k, &v);
            assert_eq!(found.kind(), kind);
            let wide = |x: &Tensor| x.to_kind(Kind::Float);
            let exact = Pattern::masked(rule, span, Kind::Float, Device::Cpu).attend(
                &wide(&q),
                &wide(&k),
                &wide(&v),
            );
            // The weights are rounded once, the output once; values are at most about 4.
            let error = difference(&found, &exact);
            assert!(
                error < 8.0 * precision,
                "{kind:?}, {rule:?}, {span:?}: {error}"
            );
        }
    }
}

/// Scores beyond the largest half, 65504, do not overflow (Qwen3 #910).
#[test]
fn qwen3_910_large_scores_do_not_overflow_in_half() {
    let large = |length: i64| Tensor::randn([1, 2, length, 16], (Kind::Half, Device::Cpu)) * 200.0;
    for length in [1, 64, 700] {
        let (q, k, v) = (large(length), large(length), large(length) / 200.0);
        assert!(
            length < 64
                || q.to_kind(Kind::Float)
                    .matmul(&k.to_kind(Kind::Float).transpose(2, 3))
                    .max()
                    .double_value(&[])
                    > 65504.0
        );
        for rule in [None, Some(window())] {
            let span = Span::whole(length as usize);
            let found = Pattern::new(rule, span, Kind::Half, Device::Cpu).attend(&q, &k, &v);
            let wide = |x: &Tensor| x.to_kind(Kind::Float);
            let exact = Pattern::masked(rule, span, Kind::Float, Device::Cpu).attend(
                &wide(&q),
                &wide(&k),
                &wide(&v),
            );
            assert!(difference(&found, &exact) < 0.02, "{length}, {rule:?}");
        }
    }
}

#[test]
fn decoders_in_narrow_types_are_near_float32() {
    for name in ["llama3-rope", "qwen2", "qwen3", "qwen3-moe"] {
        let fixture = Fixture::load(name);
        let config = ModelConfig::from_file(folder(name).join("config.json")).unwrap();
        let source = SafetensorsFolder::open(folder(name)).unwrap();
        for (kind, precision) in NARROW {
            let options = LoadOptions::new().kind(kind);
            let decoder = Decoder::load(config.clone(), &source, options).unwrap();
            for case in &fixture.cases {
                let logits = decoder
                    .logits(&fixture.ids, &case.mask, case.window)
                    .unwrap();
                assert_eq!(logits.kind(), Kind::Float);
                // Errors of weights and of some twenty roundings a layer add up; the median says what most logits have.
                let scale = case.logits.std(false).double_value(&[]);
                let error = (logits - &case.logits).abs().median().double_value(&[]) / scale;
                println!("{name} {kind:?}: {:.1} roundings", error / precision);
                assert!(error < 16.0 * precision, "{name} {kind:?}: {error}");
            }
        }
    }
}

#[test]
fn a_cache_in_bfloat16_holds_half_the_bytes_and_the_same_logits() {
    let name = "qwen3";
    let config = ModelConfig::from_file(folder(name).join("config.json")).unwrap();
    let source = SafetensorsFolder::open(folder(name)).unwrap();
    let options = LoadOptions::new().kind(Kind::BFloat16);
    let decoder = Decoder::load(config, &source, options).unwrap();
    let fixture = Fixture::load(name);
    let case = &fixture.cases[1];
    let texts = fixture.texts();
    let mut cache = decoder.cache(&case.mask, case.window, 1).unwrap();
    let mut wide = fixture.decoder.cache(&case.mask, case.window, 1).unwrap();
    let mut last = Tensor::new();
    for id in &texts[0] {
        last = decoder.extend_last(&mut cache, &[&[*id]]).unwrap();
        let _ = fixture.decoder.extend_last(&mut wide, &[&[*id]]).unwrap();
    }
    assert_eq!(2 * cache.bytes(), wide.bytes());
    let expected = case.logits.get(0).narrow(0, 47, 1);
    let error =
        (last - &expected).abs().median().double_value(&[]) / expected.std(false).double_value(&[]);
    assert!(error < 16.0 / 256.0, "{error}");
}
