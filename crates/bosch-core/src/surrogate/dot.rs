//! The inner product.

use std::iter::Sum;
use std::ops::{AddAssign, Mul};

/// Σ a b, in eight sums so that it vectorises; of slices of equal length.
pub(super) fn dot<T>(a: &[T], b: &[T]) -> T
where
    T: Copy + Default + Mul<Output = T> + AddAssign + Sum,
{
    let mut sums = [T::default(); 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a8.remainder().iter().zip(b8.remainder());
    let mut rest: T = rest.map(|(&x, &y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    rest += sums.into_iter().sum();
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_summed_in_full() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let squares: f64 = a.iter().map(|x| x * x).sum();
            assert_eq!(dot(&a, &a), squares);
        }
    }
}
