//! [`Rng`]: the only source of randomness, named streams from one seed.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A reproducible random number generator (ChaCha with 8 rounds).
///
/// Each sample draws from a stream of its own, so that sample 7 is the same whether or not the
/// samples before it were made.
#[derive(Debug, Clone)]
pub(crate) struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream called `name` of the family that `seed` selects.
    pub(crate) fn stream(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut chacha = ChaCha8Rng::from_seed(key);
        chacha.set_stream(fnv1a(name.as_bytes()));
        Self(chacha)
    }

    /// 64 uniform bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`, without bias. `below(0)` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
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

    /// Puts `items` into a uniformly random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// `count` different numbers below `n`, in random order; all `n` of them if `count` is more.
    pub(crate) fn distinct(&mut self, count: usize, n: usize) -> Vec<usize> {
        // Floyd's sampling: one draw a number, whatever the range.
        let mut seen = HashSet::new();
        let mut drawn: Vec<usize> = (n.saturating_sub(count)..n)
            .map(|last| {
                let candidate = self.below(last + 1);
                let number = if seen.contains(&candidate) {
                    last
                } else {
                    candidate
                };
                seen.insert(number);
                number
            })
            .collect();
        self.shuffle(&mut drawn);
        drawn
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
    }

    #[test]
    fn distinct_numbers_are_distinct_and_cover_the_range() {
        let mut rng = Rng::stream(1, "distinct");
        let mut counts = [0; 6];
        for _ in 0..6000 {
            let drawn = rng.distinct(2, 6);
            assert!(drawn.len() == 2 && drawn[0] != drawn[1]);
            drawn.iter().for_each(|&number| counts[number] += 1);
        }
        assert!(
            counts.iter().all(|&c| (1800..2200).contains(&c)),
            "{counts:?}"
        );
        let mut all = rng.distinct(9, 4);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
}
