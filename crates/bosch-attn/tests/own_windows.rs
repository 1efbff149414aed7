//! The windows that a model's configuration gives: mask 0 leaves them, mask 1 replaces them.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use bosch_attn::{Decoder, HeadMask, Window};
use common::{Fixture, difference, folder};

#[test]
fn mistrals_window_is_that_of_all_groups_sliding() {
    let mistral = Decoder::from_folder(folder("mistral-sliding")).unwrap();
    assert_eq!(mistral.config().own_windows, [Some(13), Some(13)]);
    let fixture = Fixture::load("mistral-sliding"); // its own window taken away
    let zeros = HeadMask::zeros(2, 2);
    let (own, any) = (Window::new(13, 0).unwrap(), Window::new(3, 1).unwrap());
    let expected = fixture
        .decoder
        .logits(&fixture.ids, &HeadMask::all_swa(2, 2), own)
        .unwrap();
    let found = mistral.logits(&fixture.ids, &zeros, any).unwrap();
    assert_eq!(difference(&found, &expected), 0.0);
    assert!(difference(&found, &fixture.cases[0].logits) > 1.0);
    // Mask 1 replaces the window, by a wider one here.
    let wide = Window::new(48, 0).unwrap();
    let full = mistral
        .logits(&fixture.ids, &HeadMask::all_swa(2, 2), wide)
        .unwrap();
    assert!(difference(&full, &fixture.cases[0].logits) < 2e-4);
}

#[test]
fn a_cached_text_keeps_to_the_models_own_window() {
    let mistral = Decoder::from_folder(folder("mistral-sliding")).unwrap();
    let text = &Fixture::load("mistral-sliding").texts()[0];
    let mask = HeadMask::from_rows(&[[false, true], [false, false]]).unwrap();
    let window = Window::new(4, 2).unwrap();
    let mut whole = mistral.cache(&mask, window, 1).unwrap();
    let expected = mistral.extend(&mut whole, &[text]).unwrap();
    for chunk in [1, 5, 14] {
        let mut cache = mistral.cache(&mask, window, 1).unwrap();
        let pieces: Vec<_> = text
            .chunks(chunk)
            .map(|piece| mistral.extend(&mut cache, &[piece]).unwrap())
            .collect();
        let found = bosch_attn::tch::Tensor::cat(&pieces, 0);
        assert!(difference(&found, &expected) < 2e-5, "chunk {chunk}");
    }
}
