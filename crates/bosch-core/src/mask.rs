//! [`Mask`]: a point of the search space, one bit for each binary variable.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::InvalidInput;

/// A fixed number of bits, packed in 64-bit words.
///
/// Its text form, in [`Display`](fmt::Display), [`FromStr`] and serde, is one `0` or `1` for each
/// variable in order. Masks compare as those strings do.
///
/// ```
/// use bosch_core::Mask;
///
/// let mask = Mask::from_ones(6, &[1, 4])?;
/// assert_eq!(mask.to_string(), "010010");
/// assert_eq!(mask.count_ones(), 2);
/// assert_eq!(mask.with(0, true).hamming(&mask), 1);
/// assert_eq!("010010".parse::<Mask>()?, mask);
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Mask {
    len: usize,
    words: Vec<u64>,
}

impl Mask {
    /// All `len` bits 0.
    pub fn zeros(len: usize) -> Self {
        Self {
            len,
            words: vec![0; len.div_ceil(64)],
        }
    }

    /// All `len` bits equal to `value`.
    pub fn filled(len: usize, value: bool) -> Self {
        let mut mask = Self::zeros(len);
        if value {
            (0..len).for_each(|i| mask.set(i, true));
        }
        mask
    }

    /// Ones at the given positions, zeros elsewhere. A position may be given twice.
    ///
    /// # Errors
    ///
    /// If a position is not below `len`.
    pub fn from_ones(len: usize, ones: &[usize]) -> Result<Self, InvalidInput> {
        let mut mask = Self::zeros(len);
        for &i in ones {
            if i >= len {
                return Err(InvalidInput::new(
                    "position of a one",
                    format!("below {len}"),
                    i,
                ));
            }
            mask.set(i, true);
        }
        Ok(mask)
    }

    /// Bit `i` is `bits[i]`.
    pub fn from_bools(bits: &[bool]) -> Self {
        let mut mask = Self::zeros(bits.len());
        bits.iter()
            .enumerate()
            .filter(|(_, bit)| **bit)
            .for_each(|(i, _)| mask.set(i, true));
        mask
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len), as a slice does.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of a mask of {} bits", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len), as a slice does.
    pub fn set(&mut self, i: usize, value: bool) {
        assert!(i < self.len, "bit {i} of a mask of {} bits", self.len);
        if value {
            self.words[i / 64] |= 1 << (i % 64);
        } else {
            self.words[i / 64] &= !(1 << (i % 64));
        }
    }

    /// A copy with bit `i` set to `value`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len), as a slice does.
    pub fn with(&self, i: usize, value: bool) -> Self {
        let mut mask = self.clone();
        mask.set(i, value);
        mask
    }

    /// The number of ones.
    pub fn count_ones(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The positions of the ones, ascending.
    pub fn iter_ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(w, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| 64 * w + rest.trailing_zeros() as usize)
        })
    }

    /// The bits in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.words[i / 64] >> (i % 64) & 1 == 1)
    }

    /// The number of positions where the two differ; bits beyond the shorter one count as zeros.
    pub fn hamming(&self, other: &Self) -> usize {
        let words = self.words.len().max(other.words.len());
        let word = |mask: &Self, w: usize| mask.words.get(w).copied().unwrap_or(0);
        (0..words)
            .map(|w| (word(self, w) ^ word(other, w)).count_ones() as usize)
            .sum()
    }
}

impl Ord for Mask {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |word: &u64| word.reverse_bits();
        self.words
            .iter()
            .map(key)
            .cmp(other.words.iter().map(key))
            .then(self.len.cmp(&other.len))
    }
}

impl PartialOrd for Mask {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.iter().map(|bit| if bit { '1' } else { '0' }).collect();
        f.pad(&text)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({self})")
    }
}

impl FromStr for Mask {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Self, InvalidInput> {
        let mut bits = Vec::with_capacity(text.len());
        for (at, c) in text.chars().enumerate() {
            match c {
                '0' => bits.push(false),
                '1' => bits.push(true),
                _ => {
                    return Err(InvalidInput::new(
                        "mask",
                        "a string of 0 and 1",
                        format!("{c:?} at {at}"),
                    ));
                }
            }
        }
        Ok(Self::from_bools(&bits))
    }
}

impl Serialize for Mask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_vector_of_bools(bits in prop::collection::vec(any::<bool>(), 0..200)) {
            let mask = Mask::from_bools(&bits);
            let ones: Vec<usize> = (0..bits.len()).filter(|&i| bits[i]).collect();
            prop_assert_eq!(mask.iter().collect::<Vec<_>>(), bits.clone());
            prop_assert_eq!(mask.iter_ones().collect::<Vec<_>>(), ones.clone());
            prop_assert_eq!(mask.count_ones(), ones.len());
            prop_assert_eq!(&Mask::from_ones(bits.len(), &ones).unwrap(), &mask);
            prop_assert_eq!(&mask.to_string().parse::<Mask>().unwrap(), &mask);
            prop_assert_eq!(mask.hamming(&Mask::zeros(bits.len())), ones.len());
        }

        #[test]
        fn orders_as_its_text(a in "[01]{0,130}", b in "[01]{0,130}") {
            let (x, y): (Mask, Mask) = (a.parse().unwrap(), b.parse().unwrap());
            if x.len() == y.len() {
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            }
            prop_assert_eq!(x.cmp(&y) == Ordering::Equal, a == b);
        }
    }

    #[test]
    fn json_is_the_string_and_bad_text_is_refused() {
        let mask: Mask = "0110".parse().unwrap();
        assert_eq!(serde_json::to_string(&mask).unwrap(), "\"0110\"");
        assert_eq!(serde_json::from_str::<Mask>("\"0110\"").unwrap(), mask);
        assert!(serde_json::from_str::<Mask>("\"01x0\"").is_err());
        let message = "01x0".parse::<Mask>().unwrap_err().to_string();
        assert!(message.contains("'x' at 2"), "{message}");
        assert!(Mask::from_ones(4, &[4]).is_err());
    }

    #[test]
    fn filled_has_no_stray_bits() {
        let mask = Mask::filled(70, true);
        assert_eq!(mask.count_ones(), 70);
        assert_eq!(mask, Mask::from_bools(&[true; 70]));
    }
}
