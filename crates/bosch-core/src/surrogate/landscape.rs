//! [`Landscape`]: a belief about the score, seen from a mask that moves step by step.

use crate::mask::Mask;
use crate::surrogate::Quadratic;

/// What a belief says of the changes of a mask, kept up to date while the mask moves.
pub(crate) struct Landscape<'q> {
    quadratic: &'q Quadratic,
    mask: Mask,
    gains: Vec<f64>,
}

impl<'q> Landscape<'q> {
    /// Seen from a mask.
    pub(crate) fn new(quadratic: &'q Quadratic, mask: &Mask) -> Self {
        Self {
            gains: quadratic.gains(mask),
            mask: mask.clone(),
            quadratic,
        }
    }

    /// The mask that it is at.
    pub(crate) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The believed change of the score for each variable going from 0 to 1.
    pub(crate) fn gains(&self) -> &[f64] {
        &self.gains
    }

    /// The believed change of the score when variable `i` is flipped.
    pub(crate) fn flip_gain(&self, i: usize) -> f64 {
        self.sign(i) * self.gains[i]
    }

    /// The believed change of the score when two different variables are flipped.
    pub(crate) fn pair_gain(&self, i: usize, j: usize) -> f64 {
        let both = self.sign(i) * self.sign(j) * self.quadratic.pair(i, j);
        self.flip_gain(i) + self.flip_gain(j) + both
    }

    /// 1 for a variable that would go to 1, −1 for one that would go to 0.
    fn sign(&self, i: usize) -> f64 {
        if self.mask.get(i) { -1.0 } else { 1.0 }
    }

    /// Flips a variable.
    pub(crate) fn flip(&mut self, i: usize) {
        let sign = self.sign(i);
        self.mask.set(i, sign > 0.0);
        self.quadratic.add_row(&mut self.gains, i, sign);
    }
}
