//! A Cholesky factor that grows by one row at a time.

use crate::surrogate::dot;

/// L with L Lᵀ = K, row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Appends the row of K up to and including its diagonal.
    pub(super) fn append(&mut self, mut row: Vec<f64>) {
        let n = self.rows.len();
        for j in 0..n {
            let known = &self.rows[j];
            row[j] = (row[j] - dot(&row[..j], &known[..j])) / known[j];
        }
        let rest = row[n] - dot(&row[..n], &row[..n]);
        row[n] = rest.max(1e-10).sqrt();
        self.rows.push(row);
    }

    /// K⁻¹ y
    pub(super) fn solve(&self, mut y: Vec<f64>) -> Vec<f64> {
        for (i, row) in self.rows.iter().enumerate() {
            y[i] = (y[i] - dot(&row[..i], &y[..i])) / row[i];
        }
        for (i, row) in self.rows.iter().enumerate().rev() {
            y[i] /= row[i];
            let yi = y[i];
            for (y, l) in y[..i].iter_mut().zip(row) {
                *y -= yi * l;
            }
        }
        y
    }

    /// (yᵀ K⁻¹ y, log det K)
    pub(super) fn likelihood(&self, mut y: Vec<f64>) -> (f64, f64) {
        let mut log_det = 0.0;
        for (i, row) in self.rows.iter().enumerate() {
            y[i] = (y[i] - dot(&row[..i], &y[..i])) / row[i];
            log_det += 2.0 * row[i].ln();
        }
        (dot(&y, &y), log_det)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_measures_a_known_matrix() {
        // K = [[4, 2, 0], [2, 5, 1], [0, 1, 3]], det K = 44.
        let mut factor = Cholesky::default();
        for row in [vec![4.0], vec![2.0, 5.0], vec![0.0, 1.0, 3.0]] {
            factor.append(row);
        }
        let x = factor.solve(vec![6.0, 8.0, 4.0]);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{x:?}");
        let (square, log_det) = factor.likelihood(vec![6.0, 8.0, 4.0]);
        assert!((square - 18.0).abs() < 1e-12 && (log_det - 44f64.ln()).abs() < 1e-12);
    }
}
