//! How alike the choices of methods and of ratios are.

use bosch_core::Mask;

/// Jaccard distance of two choices of windows A and B: 1 − |A ∩ B| / |A ∪ B|; 0 where both are empty.
///
/// ```
/// let (a, b) = ("1100".parse()?, "0110".parse()?);
/// assert!((bosch::jaccard_distance(&a, &b) - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), bosch::core::InvalidInput>(())
/// ```
#[must_use]
pub fn jaccard_distance(a: &Mask, b: &Mask) -> f64 {
    let both = common(a, b);
    let either = a.count_ones() + b.count_ones() - both;
    match either {
        0 => 0.0,
        either => 1.0 - both as f64 / either as f64,
    }
}

/// How much of the choice A of a lower ratio is dropped in the choice B of a higher one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turnover {
    /// |A ∖ B| / |A|; 0 where A is empty.
    pub share: f64,
    /// |A ∖ B| / √(|A| |B|) (ours; the paper calls its figures geometrically normalised); 0 where one is empty.
    pub geometric: f64,
}

impl Turnover {
    /// From the choice of the lower ratio to that of the higher one.
    ///
    /// ```
    /// use bosch::Turnover;
    ///
    /// let turnover = Turnover::between(&"1100".parse()?, &"0111".parse()?);
    /// assert_eq!(turnover.share, 0.5);
    /// # Ok::<(), bosch::core::InvalidInput>(())
    /// ```
    #[must_use]
    pub fn between(lower: &Mask, higher: &Mask) -> Self {
        let (a, b) = (lower.count_ones() as f64, higher.count_ones() as f64);
        let dropped = a - common(lower, higher) as f64;
        let over = |norm: f64| if norm > 0.0 { dropped / norm } else { 0.0 };
        Self {
            share: over(a),
            geometric: over((a * b).sqrt()),
        }
    }
}

/// Bits that are set in both.
fn common(a: &Mask, b: &Mask) -> usize {
    a.iter().zip(b.iter()).filter(|(a, b)| *a && *b).count()
}

/// A bootstrap interval of the mean of some values: the bounds that hold 95 % of the means of as many values drawn from
/// them with replacement, 2000 times; the same for the same seed. NaN without values.
#[must_use]
pub fn bootstrap_interval(values: &[f64], seed: u64) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut rng = bosch_core::Rng::stream(seed, "bootstrap");
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let draw = (0..values.len()).map(|_| values[rng.below(values.len())]);
            draw.sum::<f64>() / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = DRAWS / 40; // 2.5 %
    (means[tail], means[DRAWS - 1 - tail])
}

const DRAWS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(text: &str) -> Mask {
        text.parse().unwrap()
    }

    #[test]
    fn distances_and_turnovers_by_their_definitions() {
        let (a, b) = (mask("110010"), mask("010111"));
        assert_eq!(jaccard_distance(&a, &b), 1.0 - 2.0 / 5.0);
        assert_eq!(jaccard_distance(&a, &a), 0.0);
        assert_eq!(jaccard_distance(&mask("10"), &mask("01")), 1.0);
        let turnover = Turnover::between(&a, &b);
        assert_eq!(
            (turnover.share, turnover.geometric),
            (1.0 / 3.0, 1.0 / 12f64.sqrt())
        );
        // A choice that only grows turns nothing over.
        assert_eq!(Turnover::between(&mask("0100"), &mask("0111")).share, 0.0);
    }

    #[test]
    fn empty_choices_give_no_nan() {
        let (none, some) = (mask("000"), mask("010"));
        assert_eq!(jaccard_distance(&none, &none), 0.0);
        assert_eq!(
            Turnover::between(&none, &some),
            Turnover {
                share: 0.0,
                geometric: 0.0
            }
        );
        assert_eq!(Turnover::between(&some, &none).geometric, 0.0);
    }

    #[test]
    fn an_interval_holds_the_mean_and_shrinks_with_more_values() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let (low, high) = bootstrap_interval(&values, 1);
        assert!(low < 0.5 && 0.5 < high);
        // 1.96 standard errors of 1/2/√400.
        assert!(
            ((high - low) - 2.0 * 1.96 * 0.025).abs() < 0.01,
            "{low} {high}"
        );
        let (low, high) = bootstrap_interval(&values[..40], 1);
        assert!(high - low > 0.25);
        assert_eq!(bootstrap_interval(&[3.0; 5], 1), (3.0, 3.0));
    }
}
