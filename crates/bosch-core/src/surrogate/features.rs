//! The centred features of masks, stored by variable, and their inner products per block.

use crate::blocks::Blocks;
use crate::mask::Mask;

/// Features x = (z − ρ)/σ of the bits z, of mean 0 and variance 1 for masks with the share ρ of
/// ones; for the points of a surrogate, one column for each variable.
#[derive(Debug, Clone)]
pub(super) struct Features {
    blocks: Blocks,
    ratio: f64,
    /// σ = √(ρ (1 − ρ))
    deviation: f64,
    /// `columns[i][t]`: feature i of point t.
    columns: Vec<Vec<f32>>,
    /// `sums[b][t]`: Σ x over block b of point t, divided by √size.
    sums: Vec<Vec<f32>>,
    /// A direction in which the score is expected to grow, and Σ direction x / √dim of every point.
    direction: Vec<f32>,
    along: Vec<f32>,
}

impl Features {
    pub(super) fn new(blocks: &Blocks, ratio: f64) -> Self {
        let ratio = ratio.clamp(0.05, 0.95);
        Self {
            ratio,
            deviation: (ratio * (1.0 - ratio)).sqrt(),
            columns: vec![Vec::new(); blocks.dim()],
            sums: vec![Vec::new(); blocks.len()],
            direction: vec![0.0; blocks.dim()],
            along: Vec::new(),
            blocks: blocks.clone(),
        }
    }

    /// The same features, of these points.
    pub(super) fn of(&self, points: &[&Mask]) -> Self {
        let mut features = Self {
            columns: vec![Vec::with_capacity(points.len()); self.columns.len()],
            sums: vec![Vec::with_capacity(points.len()); self.sums.len()],
            direction: self.direction.clone(),
            along: Vec::with_capacity(points.len()),
            blocks: self.blocks.clone(),
            ..*self
        };
        points.iter().for_each(|point| features.push(point));
        features
    }

    /// Adds a point.
    pub(super) fn push(&mut self, mask: &Mask) {
        for (column, bit) in self.columns.iter_mut().zip(mask.iter()) {
            column.push(feature(bit, self.ratio, self.deviation));
        }
        self.along.push(self.along(mask));
        for b in 0..self.blocks.len() {
            let sum = self.sum(b, mask);
            self.sums[b].push(sum);
        }
    }

    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// ρ
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// σ
    pub(super) fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Σ direction x / √dim of a mask.
    pub(super) fn along(&self, mask: &Mask) -> f32 {
        let x = |bit| feature(bit, self.ratio, self.deviation);
        let sum: f32 = mask
            .iter()
            .zip(&self.direction)
            .map(|(bit, d)| d * x(bit))
            .sum();
        sum / (self.direction.len() as f32).sqrt()
    }

    pub(super) fn alongs(&self) -> &[f32] {
        &self.along
    }

    pub(super) fn direction(&self) -> &[f32] {
        &self.direction
    }

    pub(super) fn set_direction(&mut self, direction: &[f64], points: &[Mask]) {
        self.direction = direction.iter().map(|&d| d as f32).collect();
        self.along = points.iter().map(|point| self.along(point)).collect();
    }

    /// Feature `i` of every point.
    pub(super) fn column(&self, i: usize) -> &[f32] {
        &self.columns[i]
    }

    /// The sum over block b of every point.
    pub(super) fn sums(&self, b: usize) -> &[f32] {
        &self.sums[b]
    }

    /// Σ x over block b of a mask, divided by √size.
    pub(super) fn sum(&self, b: usize, mask: &Mask) -> f32 {
        let range = self.blocks.range(b);
        let size = range.len() as f64;
        let ones = range.filter(|&i| mask.get(i)).count() as f64;
        ((ones - self.ratio * size) / (self.deviation * size.sqrt())) as f32
    }

    /// `inner[b][t]`: Σ x x' over block b of a mask and point t, for the first `points` points.
    pub(super) fn inner(&self, mask: &Mask, points: usize) -> Vec<Vec<f32>> {
        let block = |b: usize| {
            let mut inner = vec![0.0; points];
            for i in self.blocks.range(b) {
                let x = feature(mask.get(i), self.ratio, self.deviation);
                add(&mut inner, x, &self.columns[i]);
            }
            inner
        };
        (0..self.blocks.len()).map(block).collect()
    }

    /// Σ w x of the first `points` points.
    pub(super) fn linear(&self, weights: &[f64], points: usize) -> Vec<f32> {
        let mut values = vec![0.0; points];
        for (column, &weight) in self.columns.iter().zip(weights) {
            add(&mut values, weight as f32, column);
        }
        values
    }
}

fn feature(bit: bool, ratio: f64, deviation: f64) -> f32 {
    ((f64::from(bit) - ratio) / deviation) as f32
}

/// to += factor · column
fn add(to: &mut [f32], factor: f32, column: &[f32]) {
    for (to, x) in to.iter_mut().zip(column) {
        *to += factor * x;
    }
}
