//! Monotone transforms of the score: on the right one, the score is nearer to a sum of terms.

/// The interval that scores are measured on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    fixed: bool,
}

impl Default for Scale {
    fn default() -> Self {
        Self {
            low: 0.0,
            high: 1.0,
            fixed: false,
        }
    }
}

impl Scale {
    /// Between two known scores.
    pub(super) fn fixed(low: f64, high: f64) -> Self {
        if high > low {
            Self {
                low,
                high,
                fixed: true,
            }
        } else {
            Self::default()
        }
    }

    /// Where no bounds are known: a little more than what was seen.
    pub(super) fn widen(&mut self, scores: &[f64]) {
        if !self.fixed {
            let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let margin = 0.1 * (high - low) + 1e-9;
            (self.low, self.high) = (low - margin, high + margin);
        }
    }

    pub(super) fn unit(self, score: f64) -> f64 {
        (score - self.low) / (self.high - self.low)
    }
}

/// A strictly increasing transform of a score on the unit scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Link {
    /// t
    Identity,
    /// −√(1 − t): the score is flat at its top
    Top,
    /// ln t
    Log,
    /// ln (t / (1 − t))
    Logit,
    /// −√((1 − t) / t)
    Odds,
}

impl Link {
    pub(super) const ALL: [Self; 5] = [
        Self::Identity,
        Self::Top,
        Self::Log,
        Self::Logit,
        Self::Odds,
    ];

    pub(super) fn apply(self, t: f64) -> f64 {
        let u = t.clamp(EDGE, 1.0 - EDGE);
        match self {
            Self::Identity => t,
            Self::Top => -(1.0 - u).sqrt() + (t - u),
            Self::Log => u.ln() + (t - u),
            Self::Logit => (u / (1.0 - u)).ln() + (t - u),
            Self::Odds => -((1.0 - u) / u).sqrt() + (t - u),
        }
    }

    /// The logarithm of the derivative.
    pub(super) fn log_slope(self, t: f64) -> f64 {
        let u = t.clamp(EDGE, 1.0 - EDGE);
        match self {
            Self::Identity => 0.0,
            Self::Top => -(2.0 * (1.0 - u).sqrt()).ln(),
            Self::Log => -u.ln(),
            Self::Logit => -(u * (1.0 - u)).ln(),
            Self::Odds => -(2.0 * u * (u * (1.0 - u)).sqrt()).ln(),
        }
    }
}

/// How near to its ends the unit scale is used.
const EDGE: f64 = 1e-3;
