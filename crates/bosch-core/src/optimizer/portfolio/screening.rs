//! Screening: groups of variables set to one alone, before anything else is known.

use crate::blocks::Blocks;
use crate::mask::Mask;
use crate::space::Space;

/// The groups, and what is known of them.
///
/// With next to all other variables at zero there is little for a group to interact with, so that
/// one evaluation says about all that can be said of the group by itself. That pays off early; how
/// the variables act together is learned from admissible masks.
#[derive(Debug, Clone)]
pub(super) struct Screening {
    groups: Vec<Vec<usize>>,
    scores: Vec<Option<f64>>,
    /// The masks with all variables at zero, and at one, but those that are fixed.
    zeros: Mask,
    ones: Mask,
}

/// The share of the budget that finer groups than whole blocks may take.
const FINE: f64 = 0.15;
/// The share of the budget that whole blocks may take.
const COARSE: f64 = 0.33;

impl Screening {
    /// Each block in as many pieces as the budget allows, fixed variables left out; no groups if it does
    /// not allow one each.
    pub(super) fn new(blocks: &Blocks, space: &Space, budget: usize) -> Self {
        let pieces = (FINE * budget as f64) as usize / blocks.len();
        let coarse = blocks.len() as f64 <= COARSE * budget as f64;
        let (zeros, ones) = (space.filled(false), space.filled(true));
        let is_free = |i: &usize| zeros.get(*i) != ones.get(*i);
        let mut groups = Vec::new();
        for b in 0..blocks.len() {
            let variables: Vec<usize> = blocks.range(b).filter(is_free).collect();
            let pieces = pieces.max(usize::from(coarse)).min(variables.len());
            if pieces > 0 {
                groups.extend(
                    variables
                        .chunks(variables.len().div_ceil(pieces))
                        .map(<[_]>::to_vec),
                );
            }
        }
        Self {
            scores: vec![None; groups.len()],
            groups,
            zeros,
            ones,
        }
    }

    /// No groups.
    pub(super) fn none() -> Self {
        Self {
            groups: Vec::new(),
            scores: Vec::new(),
            zeros: Mask::zeros(0),
            ones: Mask::zeros(0),
        }
    }

    /// The masks to evaluate, the two extreme ones first.
    pub(super) fn masks(&self) -> Vec<Mask> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut masks = vec![self.zeros.clone(), self.ones.clone()];
        for group in &self.groups {
            let mut mask = self.zeros.clone();
            group.iter().for_each(|&i| mask.set(i, true));
            masks.push(mask);
        }
        masks
    }

    /// Takes note of a score; the expectation of each variable once the last group is known.
    pub(super) fn note(&mut self, mask: &Mask, score: f64) -> Option<Vec<f64>> {
        let flips = mask.hamming(&self.zeros);
        let same = |group: &Vec<usize>| group.len() == flips && group.iter().all(|&i| mask.get(i));
        let at = self.groups.iter().position(same)?;
        self.scores[at] = Some(score);
        let scores: Vec<f64> = self.scores.iter().flatten().copied().collect();
        if scores.len() < self.groups.len() {
            return None;
        }
        let mut expectations = vec![0.0; self.zeros.len()];
        for (group, expectation) in self.groups.iter().zip(standard(&scores)) {
            group.iter().for_each(|&i| expectations[i] = expectation);
        }
        Some(expectations)
    }
}

/// Numbers to what a standard logistic variable would be at their rank (scaled to deviation 1):
/// only the order counts. Ties to the lower index: it gets the higher value.
pub(super) fn standard(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)));
    let mut result = vec![0.0; values.len()];
    for (rank, &at) in order.iter().enumerate() {
        let u = (rank as f64 + 0.5) / values.len() as f64;
        result[at] = (u / (1.0 - u)).ln() * 3f64.sqrt() / std::f64::consts::PI;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_each_variable_once_and_fit_the_budget() {
        for (budget, groups) in [(10, 0), (30, 6), (100, 12), (1000, 24)] {
            let blocks = Blocks::uniform(6, 4).unwrap();
            let screening = Screening::new(&blocks, &Space::any(24), budget);
            assert_eq!(screening.groups.len(), groups, "budget {budget}");
            let mut all: Vec<usize> = screening.groups.concat();
            all.sort();
            assert!(groups == 0 || all == (0..24).collect::<Vec<_>>());
        }
    }

    #[test]
    fn expectations_follow_the_scores_once_all_are_known() {
        let mut screening = Screening::new(&Blocks::uniform(3, 2).unwrap(), &Space::any(6), 12);
        let masks = screening.masks();
        assert_eq!(masks.len(), 5);
        assert_eq!(screening.note(&masks[2], -3.0), None);
        assert_eq!(screening.note(&masks[4], -1.0), None);
        let expectations = screening.note(&masks[3], -2.0).unwrap();
        assert_eq!(expectations[0], expectations[1]);
        assert!(expectations[0] < expectations[2] && expectations[2] < expectations[4]);
    }

    #[test]
    fn fixed_variables_keep_their_values_and_are_in_no_group() {
        let space = Space::exactly(6, 3).unwrap();
        let space = space.fix(&[(0, true), (4, false), (5, false)]).unwrap();
        let mut screening = Screening::new(&Blocks::uniform(3, 2).unwrap(), &space, 10);
        let masks: Vec<String> = screening.masks().iter().map(Mask::to_string).collect();
        assert_eq!(masks, ["100000", "111100", "110000", "101100"]);
        assert_eq!(screening.note(&"110000".parse().unwrap(), -1.0), None);
        let expectations = screening.note(&"101100".parse().unwrap(), -2.0).unwrap();
        assert!(expectations[1] > expectations[2] && expectations[2] == expectations[3]);
    }

    #[test]
    fn standard_scores_have_mean_zero_and_keep_the_order() {
        let scores = standard(&[3.0, -1.0, 10.0, 10.0]);
        assert!(scores[1] < scores[0] && scores[0] < scores[3] && scores[3] < scores[2]);
        assert!(scores.iter().sum::<f64>().abs() < 1e-12);
    }
}
