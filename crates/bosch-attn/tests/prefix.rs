//! Exact reuse: the same bits as from scratch, whatever was scored before and however little may be stored.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::{HeadMask, PrefixScorer, Sample, Window};
use common::Fixture;

fn samples(fixture: &Fixture) -> Vec<Sample> {
    let texts = fixture.texts();
    vec![
        Sample {
            prompt: texts[0][..40].to_vec(),
            answer: texts[0][40..45].to_vec(),
        },
        Sample {
            prompt: texts[1][..21].to_vec(),
            answer: texts[1][21..22].to_vec(),
        },
        Sample {
            prompt: texts[1][..33].to_vec(),
            answer: texts[1][33..40].to_vec(),
        },
    ]
}

/// Masks as a search asks for them: random ones, and neighbours of one that changes now and then.
fn masks(layers: usize, groups: usize, count: usize, seed: u64) -> Vec<HeadMask> {
    let mut state = seed;
    let mut draw = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut incumbent = HeadMask::zeros(layers, groups);
    (0..count)
        .map(|_| {
            let mut mask = incumbent.clone();
            for _ in 0..1 + draw(3) {
                let (layer, group) = (draw(layers), draw(groups));
                mask.set(layer, group, !mask.get(layer, group).unwrap())
                    .unwrap();
            }
            if draw(3) == 0 {
                incumbent = mask.clone();
            }
            mask
        })
        .collect()
}

#[test]
fn scores_are_those_from_scratch_to_the_last_bit() {
    let fixture = Fixture::load("qwen3");
    let samples = samples(&fixture);
    let window = Window::new(5, 2).unwrap();
    let masks = masks(4, 4, 60, 7);
    let scratch: Vec<Vec<f64>> = masks
        .iter()
        .map(|mask| {
            PrefixScorer::new(&fixture.decoder, window, &samples, 0)
                .unwrap()
                .score(mask)
                .unwrap()
        })
        .collect();
    let node = 44 * 64 * 4; // bytes of the longest sample's layer input
    for memory in [0, node, 3 * node, 12 * node, 1 << 30] {
        let mut one_by_one = PrefixScorer::new(&fixture.decoder, window, &samples, memory).unwrap();
        for (mask, expected) in masks.iter().zip(&scratch) {
            assert_eq!(
                &one_by_one.score(mask).unwrap(),
                expected,
                "memory {memory}"
            );
            assert!(one_by_one.stored_bytes() <= memory);
        }
        for batch in [2, 7, 60] {
            let mut scorer = PrefixScorer::new(&fixture.decoder, window, &samples, memory).unwrap();
            let scores: Vec<Vec<f64>> = masks
                .chunks(batch)
                .flat_map(|batch| scorer.score_batch(batch).unwrap())
                .collect();
            assert_eq!(scores, scratch, "memory {memory}, batch {batch}");
            assert!(scorer.stored_bytes() <= memory);
        }
    }
}

#[test]
fn evaluations_are_counted() {
    let fixture = Fixture::load("qwen3");
    let window = Window::new(5, 2).unwrap();
    let mut scorer =
        PrefixScorer::new(&fixture.decoder, window, &samples(&fixture), 1 << 30).unwrap();
    let full = HeadMask::zeros(4, 4);
    scorer.score(&full).unwrap();
    assert_eq!(
        (
            scorer.layer_evaluations().done,
            scorer.layer_evaluations().saved
        ),
        (4.0, 0.0)
    );
    // Two masks that leave the full one in layer 2 in the same way and differ in layer 3.
    let mut one = full.clone();
    one.set(2, 1, true).unwrap();
    let mut two = one.clone();
    two.set(3, 0, true).unwrap();
    scorer.score_batch(&[one, two]).unwrap();
    assert_eq!(
        (
            scorer.layer_evaluations().done,
            scorer.layer_evaluations().saved
        ),
        (7.0, 5.0)
    );
}

#[test]
fn scores_are_the_means_of_the_answer_log_probabilities() {
    let fixture = Fixture::load("llama-tied");
    let samples = samples(&fixture);
    let window = Window::new(5, 2).unwrap();
    let mask = HeadMask::from_rows(&[[true, false], [true, true], [false, true]]).unwrap();
    let scores = PrefixScorer::new(&fixture.decoder, window, &samples, 0)
        .unwrap()
        .score(&mask)
        .unwrap();
    for (sample, score) in samples.iter().zip(scores) {
        // The slow way: logits of the whole text.
        let mut cache = fixture.decoder.cache(&mask, window, 1).unwrap();
        let text = [&sample.prompt[..], &sample.answer].concat();
        let logits = fixture.decoder.extend(&mut cache, &[&text]).unwrap();
        let log_p = logits.log_softmax(-1, bosch_attn::tch::Kind::Double);
        let each: Vec<f64> = sample
            .answer
            .iter()
            .enumerate()
            .map(|(index, id)| {
                log_p.double_value(&[(sample.prompt.len() - 1 + index) as i64, i64::from(*id)])
            })
            .collect();
        let found = fixture
            .decoder
            .answer_log_probabilities(sample, &mask, window)
            .unwrap();
        for (found, expected) in found.iter().zip(&each) {
            assert!((found - expected).abs() < 1e-4);
        }
        assert_eq!(score, found.iter().sum::<f64>() / found.len() as f64);
    }
}
