//! [`Rng`]: the only source of randomness, named streams from one seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A reproducible random number generator (ChaCha with 8 rounds).
///
/// Each component of a search draws from a stream of its own, so that one component's draws never
/// shift another's. The values of a stream are part of the crate's stability promise.
///
/// ```
/// use bosch_core::Rng;
///
/// let mut a = Rng::stream(7, "probe/layer-3");
/// let mut b = Rng::stream(7, "probe/layer-3");
/// assert_eq!(a.below(1000), b.below(1000));
/// assert!(a.unit() < 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream called `name` of the family that `seed` selects.
    pub fn stream(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut chacha = ChaCha8Rng::from_seed(key);
        chacha.set_stream(fnv1a(name.as_bytes()));
        Self(chacha)
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`, without bias. `below(0)` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // Lemire's multiply and reject (arXiv 1805.10941, algorithm 5).
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with the probability `p`; never for p ≤ 0 or NaN, always for p ≥ 1.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal (Box–Muller, the cosine half).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Puts `items` into a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// A uniformly random item; none if there are none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// 64-bit FNV-1a: a stable hash of a stream's name.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_stability() {
        let mut rng = Rng::stream(42, "test");
        assert_eq!(
            [rng.bits(), rng.bits()],
            [15589190446236398835, 16173599132507273558]
        );
        let below: Vec<usize> = (0..8).map(|_| rng.below(100)).collect();
        assert_eq!(below, [52, 79, 60, 68, 14, 55, 34, 44]);
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        rng.shuffle(&mut items);
        assert_eq!(items, [6, 4, 3, 1, 0, 7, 2, 5]);
        assert_eq!(rng.unit(), 0.7259461110754101);
        assert!((rng.normal() - 0.9401186800879486).abs() < 1e-15); // ln and cos may differ
    }

    #[test]
    fn streams_differ_by_seed_and_by_name() {
        let first = |seed, name| Rng::stream(seed, name).bits();
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_eq!(first(1, "a"), first(1, "a"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::stream(1, "below");
        let mut counts = [0; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        assert!(
            counts.iter().all(|&c| (9_500..10_500).contains(&c)),
            "{counts:?}"
        );
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.choose::<u8>(&[]), None);
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let mut rng = Rng::stream(1, "normal");
        let draws: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64 - mean * mean;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02,
            "{mean} {variance}"
        );
    }
}
