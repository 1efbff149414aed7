//! [`Experience`]: what the scores so far say of each variable, without a model.

use crate::mask::Mask;

/// For each variable, the mean score of the masks where it is 1, less that where it is 0.
#[derive(Debug, Clone)]
pub struct Experience {
    /// Number and sum of scores for each variable at 0 and at 1.
    seen: Vec<[(f64, f64); 2]>,
}

impl Experience {
    /// Of `dim` variables, with nothing seen.
    pub fn new(dim: usize) -> Self {
        Self {
            seen: vec![[(0.0, 0.0); 2]; dim],
        }
    }

    /// Learns one score.
    pub fn learn(&mut self, mask: &Mask, score: f64) {
        for (seen, bit) in self.seen.iter_mut().zip(mask.iter()) {
            seen[usize::from(bit)].0 += 1.0;
            seen[usize::from(bit)].1 += score;
        }
    }

    /// How much better variable `i` was at 1 than at 0; 0 if it was not seen at both.
    pub fn advantage(&self, i: usize) -> f64 {
        match self.seen.get(i) {
            Some([(n0, sum0), (n1, sum1)]) if *n0 > 0.0 && *n1 > 0.0 => sum1 / n1 - sum0 / n0,
            _ => 0.0,
        }
    }

    /// The number of variables.
    pub fn dim(&self) -> usize {
        self.seen.len()
    }

    /// The mean size of an advantage, as a unit for noise.
    pub(super) fn unit(&self) -> f64 {
        let sum: f64 = (0..self.dim()).map(|i| self.advantage(i).abs()).sum();
        sum / self.dim().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advantage_is_a_difference_of_means() {
        let mut experience = Experience::new(2);
        assert_eq!(experience.advantage(0), 0.0);
        for (mask, score) in [("10", 4.0), ("11", 2.0), ("00", 1.0)] {
            experience.learn(&mask.parse().unwrap(), score);
        }
        assert_eq!(experience.advantage(0), 2.0);
        assert_eq!(experience.advantage(1), -0.5);
    }
}
