//! The largest haystack that fits into a token budget.

use crate::Result;

/// The largest size in `smallest..=largest` whose length is at most `budget`, and its length. None
/// if `smallest` does not fit; a length that was not measured is never returned.
///
/// Binary search with guesses from the slope, as a measurement is a tokenizer's run over the whole
/// prompt: four or five of them instead of fifteen.
pub(crate) fn largest_that_fits(
    (smallest, largest): (usize, usize),
    budget: usize,
    mut measure: impl FnMut(usize) -> Result<usize>,
) -> Result<Option<(usize, usize)>> {
    let mut low = (smallest, measure(smallest)?); // fits
    if low.1 > budget {
        return Ok(None);
    }
    let mut high = largest.saturating_add(1); // does not fit, or is not allowed
    let mut tokens_per_unit = 1.0;
    for step in 0.. {
        if high - low.0 <= 1 {
            break;
        }
        let guess = if step % 3 == 2 {
            low.0 + (high - low.0) / 2
        } else {
            let room = (budget - low.1) as f64 / tokens_per_unit;
            (low.0.saturating_add(room as usize)).clamp(low.0 + 1, high - 1)
        };
        let length = measure(guess)?;
        let slope = (length as f64 - low.1 as f64) / (guess - low.0) as f64;
        tokens_per_unit = slope.max(0.01);
        if length <= budget {
            low = (guess, length);
        } else {
            high = guess;
        }
    }
    Ok(Some(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_trying_every_size() {
        for tokens_per_unit in [1, 2, 19, 500] {
            for budget in [0, 5, 6, 7, 300, 1000, 4096] {
                let length = |size: usize| 5 + size * tokens_per_unit + size / 7;
                let expected = (1..=900).rev().find(|&size| length(size) <= budget);
                let found = largest_that_fits((1, 900), budget, |size| Ok(length(size))).unwrap();
                assert_eq!(found, expected.map(|size| (size, length(size))));
            }
        }
    }

    #[test]
    fn few_measurements_are_enough() {
        let mut count = 0;
        let measure = |size: usize| {
            count += 1;
            Ok(70 + size * 13 / 10)
        };
        let found = largest_that_fits((1, 131_072), 131_072, measure).unwrap();
        assert_eq!(found, Some((100_771, 131_072)));
        assert!(count <= 8, "{count}");
    }

    #[test]
    fn a_counter_that_never_grows_ends() {
        // lm-evaluation-harness #2963: a fitting loop without end.
        let found = largest_that_fits((1, 1000), 1000, |_| Ok(3)).unwrap();
        assert_eq!(found, Some((1000, 3)));
    }
}
