//! Greedy generation.

use crate::decoder::Decoder;
use crate::error::Error;
use crate::mask::{HeadMask, Window};

/// Tokens that one prefill call reads at most; bounds the memory of a long prompt's logits and activations.
const PREFILL_CHUNK: usize = 2048;

/// When greedy generation stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// Tokens to generate at most, 0 or more.
    pub max_new_tokens: usize,
    /// Tokens that end a text; a stop token is not part of the result.
    pub stop: Vec<u32>,
}

impl Decoder {
    /// Continues each prompt with its most probable tokens (ties to the lower id); returns the new tokens.
    ///
    /// The prompts may differ in length: nothing is padded, and each result is what the prompt alone would give.
    ///
    /// # Errors
    ///
    /// As [`Decoder::extend`]; [`Error::Input`] for an empty prompt or no prompts.
    pub fn generate(
        &self,
        prompts: &[&[u32]],
        mask: &HeadMask,
        window: Window,
        settings: &Generation,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let _guard = tch::no_grad_guard();
        if prompts.iter().any(|prompt| prompt.is_empty()) {
            return Err(Error::input("prompt", "at least one token", "none"));
        }
        let mut cache = self.cache(mask, window, prompts.len())?;
        let mut results = vec![Vec::new(); prompts.len()];
        if settings.max_new_tokens == 0 {
            return Ok(results);
        }
        let longest = prompts.iter().map(|prompt| prompt.len()).max().unwrap_or(0);
        for prompt in prompts {
            let _checked = self.ids(prompt)?;
            self.check_length(prompt.len() + settings.max_new_tokens - 1)?;
        }
        cache.reserve(longest + settings.max_new_tokens - 1)?;
        // One text after the other: the first pass of a prompt is bound by arithmetic, so that a batch gains nothing.
        let mut next: Vec<Option<u32>> = vec![None; prompts.len()];
        for (text, prompt) in prompts.iter().enumerate() {
            cache.expect_length(text, prompt.len())?;
            for piece in prompt.chunks(PREFILL_CHUNK) {
                let mut tokens: Vec<&[u32]> = vec![&[]; prompts.len()];
                tokens[text] = piece;
                next[text] = Some(self.extend_greedy(&mut cache, &tokens)?[0]);
            }
        }
        loop {
            for (text, token) in next.iter_mut().enumerate() {
                match token {
                    Some(id) if !settings.stop.contains(id) => results[text].push(*id),
                    _ => *token = None,
                }
                if results[text].len() >= settings.max_new_tokens {
                    *token = None;
                }
            }
            if next.iter().all(Option::is_none) {
                return Ok(results);
            }
            let tokens: Vec<&[u32]> = next.iter().map(|token| token.as_slice()).collect();
            let mut found = self.extend_greedy(&mut cache, &tokens)?.into_iter();
            for token in next.iter_mut().flatten() {
                if let Some(id) = found.next() {
                    *token = id;
                }
            }
        }
    }
}
