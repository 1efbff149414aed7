//! The settings of the rotary position embedding (RoPE).

use crate::error::Error;

/// Base and scaling of the rotary embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeConfig {
    /// Base θ; frequency i of a head of size d is θ^(−2i/d).
    pub theta: f64,
    /// How the frequencies are changed for texts longer than the training texts.
    pub scaling: RopeScaling,
}

/// The scaling rules of transformers (`modeling_rope_utils.py`), and GGUF's table of divisors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RopeScaling {
    /// `default`: the frequencies as they are.
    None,
    /// `linear`: every frequency divided by `factor`.
    Linear {
        /// Stretch of the positions, 1 or more.
        factor: f64,
    },
    /// `dynamic` (NTK): θ grows with the length of the text beyond `original`.
    Dynamic {
        /// Stretch, 1 or more.
        factor: f64,
        /// Positions that the model was trained for (`max_position_embeddings`).
        original: usize,
    },
    /// `yarn` (Peng et al. 2023, arXiv 2309.00071): high frequencies kept, low ones interpolated, a ramp between.
    Yarn {
        /// Stretch, 1 or more.
        factor: f64,
        /// Positions before stretching (`original_max_position_embeddings`).
        original: usize,
        /// Turns within `original` positions above which a frequency is kept; 32 unless given.
        beta_fast: f64,
        /// Turns below which a frequency is fully interpolated; 1 unless given.
        beta_slow: f64,
        /// Factor on cos and sin; 0.1·ln(factor) + 1 unless given.
        attention_factor: f64,
        /// Whether the ramp's ends are rounded outwards to whole frequencies (transformers' `truncate`, true by default).
        truncate: bool,
    },
    /// `llama3`: wavelengths above `original`/`low` are divided by `factor`, below `original`/`high` kept, smooth between.
    Llama3 {
        /// Stretch, 1 or more.
        factor: f64,
        /// `low_freq_factor`.
        low: f64,
        /// `high_freq_factor`, above `low`.
        high: f64,
        /// `original_max_position_embeddings`.
        original: usize,
    },
    /// `longrope` (arXiv 2402.13753): one divisor for each frequency, one list for short and one for long texts.
    LongRope {
        /// Divisors for texts up to `original` positions; head_dim/2 values.
        short: Vec<f64>,
        /// Divisors for longer texts; head_dim/2 values.
        long: Vec<f64>,
        /// Positions before stretching.
        original: usize,
        /// Factor on cos and sin.
        attention_factor: f64,
    },
    /// One divisor for each frequency, as GGUF files store them (`rope_freqs.weight`); head_dim/2 values.
    Divisors(Vec<f64>),
}

impl RopeConfig {
    /// The plain embedding of base `theta`.
    pub fn plain(theta: f64) -> Self {
        Self {
            theta,
            scaling: RopeScaling::None,
        }
    }

    /// Checks ranges and list lengths for heads of size `head_dim`.
    pub(crate) fn check(&self, origin: &str, head_dim: usize) -> Result<(), Error> {
        if !(self.theta.is_finite() && self.theta > 1.0) {
            return Err(Error::config(
                origin,
                "rope_theta",
                "a number above 1",
                self.theta,
            ));
        }
        let factor = |factor: f64| {
            if factor.is_finite() && factor >= 1.0 {
                Ok(())
            } else {
                Err(Error::config(
                    origin,
                    "factor",
                    "a number of 1 or more",
                    factor,
                ))
            }
        };
        let original = |original: usize| {
            if original > 0 {
                Ok(())
            } else {
                Err(Error::config(
                    origin,
                    "original_max_position_embeddings",
                    "1 or more",
                    original,
                ))
            }
        };
        let scale = |scale: f64| {
            if scale.is_finite() && scale > 0.0 {
                Ok(())
            } else {
                Err(Error::config(
                    origin,
                    "attention_factor",
                    "a positive number",
                    scale,
                ))
            }
        };
        let divisors = |key: &str, values: &[f64]| {
            let bad = values.len() != head_dim / 2
                || values
                    .iter()
                    .any(|value| !(value.is_finite() && *value > 0.0));
            if bad {
                Err(Error::config(
                    origin,
                    key,
                    format!("{} positive numbers", head_dim / 2),
                    format!("{values:?}"),
                ))
            } else {
                Ok(())
            }
        };
        match &self.scaling {
            RopeScaling::None => Ok(()),
            RopeScaling::Linear { factor: f } => factor(*f),
            RopeScaling::Dynamic {
                factor: f,
                original: o,
            } => factor(*f).and(original(*o)),
            RopeScaling::Yarn {
                factor: f,
                original: o,
                beta_fast,
                beta_slow,
                attention_factor,
                ..
            } => {
                if !(beta_fast.is_finite() && *beta_slow > 0.0 && beta_fast >= beta_slow) {
                    return Err(Error::config(
                        origin,
                        "beta_fast",
                        "a number not below beta_slow > 0",
                        format!("{beta_fast}, beta_slow {beta_slow}"),
                    ));
                }
                factor(*f).and(original(*o)).and(scale(*attention_factor))
            }
            RopeScaling::Llama3 {
                factor: f,
                low,
                high,
                original: o,
            } => {
                if !(high.is_finite() && *low > 0.0 && high > low) {
                    return Err(Error::config(
                        origin,
                        "high_freq_factor",
                        "a number above low_freq_factor > 0",
                        format!("{high}, low_freq_factor {low}"),
                    ));
                }
                factor(*f).and(original(*o))
            }
            RopeScaling::LongRope {
                short,
                long,
                original: o,
                attention_factor,
            } => {
                divisors("short_factor", short)?;
                divisors("long_factor", long)?;
                original(*o).and(scale(*attention_factor))
            }
            RopeScaling::Divisors(values) => divisors("rope_freqs", values),
        }
    }
}
