//! [`RecordToRecord`]

use super::Accept;
use crate::rng::Rng;

/// Accepts what is worse than the best so far by no more than a fixed amount (Dueck, 1993).
#[derive(Debug, Clone, Copy)]
pub struct RecordToRecord {
    deviation: f64,
}

impl RecordToRecord {
    /// The amount, at least 0, in units of the score.
    pub fn new(deviation: f64) -> Self {
        Self {
            deviation: deviation.max(0.0),
        }
    }
}

impl Accept for RecordToRecord {
    fn accept(&mut self, new: f64, current: f64, best: f64, _: &mut Rng) -> bool {
        new >= current || new >= best - self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_measured_from_the_best() {
        let mut rng = Rng::stream(1, "record");
        let mut accept = RecordToRecord::new(1.0);
        assert!(accept.accept(9.0, 9.5, 10.0, &mut rng));
        assert!(!accept.accept(8.5, 9.0, 10.0, &mut rng));
        assert!(accept.accept(8.5, 8.0, 10.0, &mut rng));
    }
}
