//! [`Annealing`]

use super::Accept;
use crate::rng::Rng;

/// Metropolis' rule with a temperature that falls by a constant factor for each mask.
#[derive(Debug, Clone)]
pub struct Annealing {
    temperature: f64,
    factor: f64,
}

impl Annealing {
    /// From the temperature `start` down to `end` after `steps` masks, all above 0, in units of the
    /// score; anything else gives a temperature of 0, at which only what is not worse is accepted.
    pub fn new(start: f64, end: f64, steps: usize) -> Self {
        let usable = start > 0.0 && end > 0.0 && start.is_finite() && end.is_finite() && steps > 0;
        let factor = (end / start).powf(1.0 / steps.max(1) as f64);
        match usable {
            true => Self {
                temperature: start,
                factor,
            },
            false => Self {
                temperature: 0.0,
                factor: 1.0,
            },
        }
    }
}

impl Accept for Annealing {
    fn accept(&mut self, new: f64, current: f64, _: f64, rng: &mut Rng) -> bool {
        let temperature = self.temperature;
        self.temperature *= self.factor;
        new >= current || (temperature > 0.0 && rng.chance(((new - current) / temperature).exp()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_accepts_most_and_cold_little() {
        let mut rng = Rng::stream(1, "annealing");
        let mut annealing = Annealing::new(100.0, 0.01, 1000);
        let mut taken = Vec::new();
        for _ in 0..1000 {
            taken.push(annealing.accept(0.0, 1.0, 1.0, &mut rng));
        }
        let count = |part: &[bool]| part.iter().filter(|&&taken| taken).count();
        assert!(count(&taken[..100]) > 90 && count(&taken[900..]) == 0);
        assert!(!Annealing::new(f64::NAN, 1.0, 5).accept(0.0, 1.0, 1.0, &mut rng));
    }
}
