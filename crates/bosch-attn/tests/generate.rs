//! Greedy generation gives each prompt what it would get alone.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::{Generation, HeadMask, Window};
use common::Fixture;

/// The slow way: the whole text again for each token.
fn slow(
    fixture: &Fixture,
    prompt: &[u32],
    mask: &HeadMask,
    window: Window,
    settings: &Generation,
) -> Vec<u32> {
    let mut text = prompt.to_vec();
    while text.len() < prompt.len() + settings.max_new_tokens {
        let mut cache = fixture.decoder.cache(mask, window, 1).unwrap();
        let logits = fixture.decoder.extend(&mut cache, &[&text]).unwrap();
        let next = logits
            .get(text.len() as i64 - 1)
            .argmax(0, false)
            .int64_value(&[]) as u32;
        if settings.stop.contains(&next) {
            break;
        }
        text.push(next);
    }
    text[prompt.len()..].to_vec()
}

#[test]
fn prompts_of_different_length_are_continued_as_if_alone() {
    let fixture = Fixture::load("llama-tied");
    let texts = fixture.texts();
    let prompts: Vec<&[u32]> = vec![
        &texts[0][..17],
        &texts[1][..3],
        &texts[0][20..21],
        &texts[1][..40],
    ];
    let mask = HeadMask::from_rows(&[[true, false], [true, true], [false, true]]).unwrap();
    let window = Window::new(6, 2).unwrap();
    let settings = Generation {
        max_new_tokens: 20,
        stop: vec![],
    };
    let free = fixture
        .decoder
        .generate(&prompts, &mask, window, &settings)
        .unwrap();
    let expected: Vec<Vec<u32>> = prompts
        .iter()
        .map(|prompt| slow(&fixture, prompt, &mask, window, &settings))
        .collect();
    assert_eq!(free, expected);
    // Stop at what the second prompt generates at its sixth place: texts end at different times.
    let settings = Generation {
        max_new_tokens: 20,
        stop: vec![free[1][5]],
    };
    let stopped = fixture
        .decoder
        .generate(&prompts, &mask, window, &settings)
        .unwrap();
    let expected: Vec<Vec<u32>> = prompts
        .iter()
        .map(|prompt| slow(&fixture, prompt, &mask, window, &settings))
        .collect();
    assert_eq!(stopped, expected);
    assert!(stopped[1].len() <= 5);
}

#[test]
fn nothing_is_generated_where_nothing_is_asked_for() {
    let fixture = Fixture::load("llama-tied");
    let settings = Generation {
        max_new_tokens: 0,
        stop: vec![],
    };
    let window = Window::new(6, 2).unwrap();
    let result = fixture
        .decoder
        .generate(&[&[3, 4]], &HeadMask::zeros(3, 2), window, &settings)
        .unwrap();
    assert_eq!(result, vec![Vec::<u32>::new()]);
    assert!(
        fixture
            .decoder
            .generate(&[&[]], &HeadMask::zeros(3, 2), window, &settings)
            .is_err()
    );
}
