//! [`Space`]: which masks are admissible, and random ones among them.

use serde_json::{Value, json};

use crate::blocks::Blocks;
use crate::error::InvalidInput;
use crate::mask::Mask;
use crate::rng::Rng;

mod steps;

/// Variables that share one rule: how many of them are ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// The variables that may change, ascending.
    variables: Vec<usize>,
    /// How many of them are ones; any number if none is given.
    ones: Option<usize>,
}

/// The admissible masks: free, with an exact number of ones, or with exact quotas per block;
/// single variables may be fixed.
///
/// ```
/// use bosch_core::{Blocks, Rng, Space};
///
/// let blocks = Blocks::uniform(2, 3)?;
/// let space = Space::quotas(&blocks, &[1, 2])?.fix(&[(0, true)])?;
/// let mask = space.random(&mut Rng::stream(1, "example"));
/// assert!(mask.to_string().starts_with("100"));
/// assert!(space.contains(&mask) && mask.count_ones() == 3);
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The values of the variables that are in no rule.
    fixed: Mask,
    rules: Vec<Rule>,
}

impl Space {
    /// All masks of `dim` bits.
    pub fn any(dim: usize) -> Self {
        let rule = Rule {
            variables: (0..dim).collect(),
            ones: None,
        };
        Self {
            fixed: Mask::zeros(dim),
            rules: vec![rule],
        }
    }

    /// The masks of `dim` bits with exactly `ones` ones.
    ///
    /// # Errors
    ///
    /// If `ones` is above `dim`.
    pub fn exactly(dim: usize, ones: usize) -> Result<Self, InvalidInput> {
        if ones > dim {
            return Err(InvalidInput::new(
                "number of ones",
                format!("at most {dim}"),
                ones,
            ));
        }
        let rule = Rule {
            variables: (0..dim).collect(),
            ones: Some(ones),
        };
        Ok(Self {
            fixed: Mask::zeros(dim),
            rules: vec![rule],
        })
    }

    /// The masks with exactly `ones[b]` ones in each block b.
    ///
    /// # Errors
    ///
    /// If there is not one number for each block, or one is above its block's size.
    pub fn quotas(blocks: &Blocks, ones: &[usize]) -> Result<Self, InvalidInput> {
        if ones.len() != blocks.len() {
            let expected = format!("one for each of {} blocks", blocks.len());
            return Err(InvalidInput::new("quotas", expected, ones.len()));
        }
        let mut rules = Vec::with_capacity(blocks.len());
        for (b, &ones) in ones.iter().enumerate() {
            let range = blocks.range(b);
            if ones > range.len() {
                let what = format!("quota of block {b}");
                return Err(InvalidInput::new(
                    what,
                    format!("at most {}", range.len()),
                    ones,
                ));
            }
            rules.push(Rule {
                variables: range.collect(),
                ones: Some(ones),
            });
        }
        Ok(Self {
            fixed: Mask::zeros(blocks.dim()),
            rules,
        })
    }

    /// The same, with these variables held at these values; the last value counts if a variable
    /// is given twice. Quotas go on counting them.
    ///
    /// # Errors
    ///
    /// If a variable does not exist, or the values leave a quota out of reach.
    pub fn fix(mut self, values: &[(usize, bool)]) -> Result<Self, InvalidInput> {
        let mut wanted = vec![None; self.dim()];
        for &(i, value) in values {
            *wanted.get_mut(i).ok_or_else(|| {
                InvalidInput::new("fixed variable", format!("below {}", self.fixed.len()), i)
            })? = Some(value);
        }
        for rule in &mut self.rules {
            let fixed_ones = rule
                .variables
                .iter()
                .filter(|&&i| wanted[i] == Some(true))
                .count();
            rule.variables.retain(|&i| wanted[i].is_none());
            if let Some(ones) = rule.ones {
                let most = fixed_ones + rule.variables.len();
                if ones < fixed_ones || ones > most {
                    let expected = format!("values that allow {ones} ones");
                    let found = format!("{fixed_ones} to {most}");
                    return Err(InvalidInput::new("fixed variables", expected, found));
                }
                rule.ones = Some(ones - fixed_ones);
            }
        }
        for (i, value) in wanted.iter().enumerate() {
            if let Some(value) = value {
                self.fixed.set(i, *value);
            }
        }
        Ok(self)
    }

    /// The number of variables, fixed ones included.
    pub fn dim(&self) -> usize {
        self.fixed.len()
    }

    /// The variables that are not fixed, ascending within each rule.
    pub fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.rules
            .iter()
            .flat_map(|rule| rule.variables.iter().copied())
    }

    /// Whether the mask is one of the space.
    pub fn contains(&self, mask: &Mask) -> bool {
        mask.len() == self.dim()
            && self
                .rules
                .iter()
                .all(|rule| rule.ones.is_none_or(|ones| ones == rule.count(mask)))
            && self.with_fixed(mask) == *mask
    }

    /// The number of masks; `u64::MAX` stands for more.
    pub fn size(&self) -> u64 {
        let sizes = self.rules.iter().map(|rule| match rule.ones {
            Some(ones) => binomial(rule.variables.len() as u64, ones as u64),
            None => 1u64
                .checked_shl(rule.variables.len() as u32)
                .unwrap_or(u64::MAX),
        });
        sizes.fold(1, u64::saturating_mul)
    }

    /// Every mask, in ascending order within each rule; meant for small spaces.
    pub fn enumerate(&self) -> Vec<Mask> {
        let mut masks = vec![self.fixed.clone()];
        for rule in &self.rules {
            for &i in &rule.variables {
                let with = masks
                    .iter()
                    .map(|mask| mask.with(i, true))
                    .collect::<Vec<_>>();
                masks.extend(with);
                if let Some(ones) = rule.ones {
                    let later = rule.variables.iter().filter(|&&j| j > i).count();
                    masks.retain(|mask| {
                        let count = rule.count(mask);
                        count <= ones && count + later >= ones
                    });
                }
            }
        }
        masks
    }

    /// A uniformly random mask of the space.
    pub fn random(&self, rng: &mut Rng) -> Mask {
        let mut mask = self.fixed.clone();
        for rule in &self.rules {
            match rule.ones {
                Some(ones) => {
                    let mut order = rule.variables.clone();
                    rng.shuffle(&mut order);
                    order.iter().take(ones).for_each(|&i| mask.set(i, true));
                }
                None => rule
                    .variables
                    .iter()
                    .for_each(|&i| mask.set(i, rng.chance(0.5))),
            }
        }
        mask
    }

    /// The mask of the space with the greatest sum of `keys` over its ones; where the number of
    /// ones is free, those with a key above 0. Ties go to the lower variable.
    ///
    /// # Errors
    ///
    /// If there is not one key, not NaN, for each variable.
    pub fn best_by(&self, keys: &[f64]) -> Result<Mask, InvalidInput> {
        if keys.len() != self.dim() || keys.iter().any(|key| key.is_nan()) {
            let expected = format!("{} numbers, none of them NaN", self.dim());
            return Err(InvalidInput::new(
                "keys",
                expected,
                format!("{} keys", keys.len()),
            ));
        }
        let mut mask = self.fixed.clone();
        for rule in &self.rules {
            let mut order = rule.variables.clone();
            order.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]).then(a.cmp(&b)));
            let above = order.iter().filter(|&&i| keys[i] > 0.0).count();
            order
                .iter()
                .take(rule.ones.unwrap_or(above))
                .for_each(|&i| mask.set(i, true));
        }
        Ok(mask)
    }

    /// What a trace records of the space: each variable fixed to 0 or 1 or free, and the sizes and the
    /// numbers of ones (null if free) of its rules.
    pub(crate) fn settings(&self) -> Value {
        let mut fixed: Vec<u8> = self.fixed.to_string().into_bytes();
        self.variables().for_each(|i| fixed[i] = b'-');
        let sizes: Vec<usize> = self.rules.iter().map(|rule| rule.variables.len()).collect();
        let ones: Vec<Option<usize>> = self.rules.iter().map(|rule| rule.ones).collect();
        json!({ "fixed": String::from_utf8_lossy(&fixed), "sizes": sizes, "ones": ones })
    }

    /// The expected share of ones among the variables that are not fixed.
    pub(crate) fn share(&self) -> f64 {
        let free: usize = self.rules.iter().map(|rule| rule.variables.len()).sum();
        let ones = |rule: &Rule| match rule.ones {
            Some(ones) => ones as f64,
            None => 0.5 * rule.variables.len() as f64,
        };
        self.rules.iter().map(ones).sum::<f64>() / free.max(1) as f64
    }

    /// The mask whose variables are all at this value, but those that are fixed.
    pub(crate) fn filled(&self, value: bool) -> Mask {
        self.with_fixed(&Mask::filled(self.dim(), value))
    }

    /// Whether the number of ones is given for all variables that are not fixed.
    pub(crate) fn is_counted(&self) -> bool {
        self.rules.iter().all(|rule| rule.ones.is_some())
    }

    /// The mask with the fixed variables put to their values.
    fn with_fixed(&self, mask: &Mask) -> Mask {
        let mut fixed = self.fixed.clone();
        self.variables().for_each(|i| fixed.set(i, mask.get(i)));
        fixed
    }
}

impl Rule {
    fn count(&self, mask: &Mask) -> usize {
        self.variables.iter().filter(|&&i| mask.get(i)).count()
    }

    /// The number of variables that a step can touch.
    fn freedom(&self) -> usize {
        match self.ones {
            Some(ones) if ones == 0 || ones == self.variables.len() => 0,
            _ => self.variables.len(),
        }
    }
}

/// n over k, saturating.
fn binomial(n: u64, k: u64) -> u64 {
    let mut product = 1u128;
    for j in 1..=k.min(n - k) {
        product = product * u128::from(n - j + 1) / u128::from(j);
        if product > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    fn any_space() -> impl Strategy<Value = Space> {
        (1usize..4, 1usize..4, 0usize..100, 0usize..3).prop_map(|(blocks, size, seed, kind)| {
            let mut rng = Rng::stream(seed as u64, "space");
            let shape = Blocks::uniform(blocks, size).unwrap();
            match kind {
                0 => Space::any(shape.dim()).fix(&[(0, true)]).unwrap(),
                1 => Space::exactly(shape.dim(), rng.below(shape.dim() + 1)).unwrap(),
                _ => {
                    let ones: Vec<usize> = (0..blocks).map(|_| rng.below(size + 1)).collect();
                    Space::quotas(&shape, &ones).unwrap()
                }
            }
        })
    }

    proptest! {
        #[test]
        fn enumeration_holds_exactly_the_masks_of_the_space(space in any_space()) {
            let dim = space.dim();
            let mut all = space.enumerate();
            all.sort();
            let mut slow: Vec<Mask> = (0..1u32 << dim)
                .map(|bits| Mask::from_bools(&(0..dim).map(|i| bits >> i & 1 == 1).collect::<Vec<_>>()))
                .filter(|mask| space.contains(mask))
                .collect();
            slow.sort();
            prop_assert_eq!(all.len() as u64, space.size());
            prop_assert_eq!(all, slow);
        }

        #[test]
        fn random_masks_and_steps_stay_inside(space in any_space(), seed in 0u64..50) {
            let mut rng = Rng::stream(seed, "walk");
            let mut mask = space.random(&mut rng);
            for _ in 0..10 {
                prop_assert!(space.contains(&mask));
                match space.step(&mask, &mut rng) {
                    Some(next) => {
                        prop_assert_ne!(&next, &mask);
                        mask = next;
                    }
                    None => prop_assert_eq!(space.size(), 1),
                }
            }
        }

        #[test]
        fn best_by_is_the_best_of_all(space in any_space(), seed in 0u64..50) {
            let mut rng = Rng::stream(seed, "keys");
            let keys: Vec<f64> = (0..space.dim()).map(|_| rng.normal()).collect();
            let value = |mask: &Mask| mask.iter_ones().map(|i| keys[i]).sum::<f64>();
            let best = space.best_by(&keys).unwrap();
            prop_assert!(space.contains(&best));
            for other in space.enumerate() {
                prop_assert!(value(&other) <= value(&best) + 1e-12);
            }
        }
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(Space::exactly(3, 4).is_err());
        assert!(
            Space::exactly(3, 1)
                .unwrap()
                .fix(&[(0, true), (1, true)])
                .is_err()
        );
        assert!(
            Space::exactly(3, 2)
                .unwrap()
                .fix(&[(0, false), (1, false)])
                .is_err()
        );
        assert!(Space::any(3).fix(&[(3, true)]).is_err());
        let blocks = Blocks::uniform(2, 2).unwrap();
        assert!(Space::quotas(&blocks, &[1]).is_err());
        assert!(Space::quotas(&blocks, &[1, 3]).is_err());
        assert!(Space::any(2).best_by(&[f64::NAN, 0.0]).is_err());
    }

    #[test]
    fn large_spaces_saturate() {
        assert_eq!(Space::any(64).size(), u64::MAX);
        assert_eq!(Space::exactly(1000, 500).unwrap().size(), u64::MAX);
        assert_eq!(Space::exactly(10, 3).unwrap().size(), 120);
    }
}
