//! The fixture models agree with transformers: plain, under head masks, and however the text is cut.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::tch::Tensor;
use common::{Case, Fixture, MODELS, difference};

/// Logits `[B, T, V]` when the texts are read in pieces of `chunk` tokens.
fn chunked(fixture: &Fixture, case: &Case, chunk: usize) -> Tensor {
    let texts = fixture.texts();
    let mut cache = fixture
        .decoder
        .cache(&case.mask, case.window, texts.len())
        .unwrap();
    let length = texts[0].len();
    let pieces: Vec<Tensor> = (0..length)
        .step_by(chunk)
        .map(|start| {
            let end = length.min(start + chunk);
            let tokens: Vec<&[u32]> = texts.iter().map(|text| &text[start..end]).collect();
            let logits = fixture.decoder.extend(&mut cache, &tokens).unwrap(); // [B · n, V]
            logits.unflatten(0, [texts.len() as i64, (end - start) as i64].as_slice())
        })
        .collect();
    Tensor::cat(&pieces, 1)
}

#[test]
fn logits_agree_with_the_reference_in_one_pass() {
    for fixture in MODELS.map(Fixture::load) {
        for (index, case) in fixture.cases.iter().enumerate() {
            let logits = fixture
                .decoder
                .logits(&fixture.ids, &case.mask, case.window)
                .unwrap();
            let error = difference(&logits, &case.logits);
            println!("{} case {index}: {error:.1e}", fixture.name);
            assert!(error < 2e-4, "{} case {index}: {error}", fixture.name);
        }
    }
}

#[test]
fn logits_agree_with_the_reference_in_chunks_and_token_by_token() {
    for fixture in MODELS.map(Fixture::load) {
        for (index, case) in fixture.cases.iter().enumerate() {
            for chunk in [1, 7, 16] {
                let error = difference(&chunked(&fixture, case, chunk), &case.logits);
                assert!(
                    error < 2e-4,
                    "{} case {index} chunk {chunk}: {error}",
                    fixture.name
                );
            }
        }
    }
}
