//! [`Ranking`]: one score for each (layer, KV group), and the masks that follow from it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::mask::HeadMask;

/// Scores of the KV groups: the lowest are converted first.
///
/// ```
/// use bosch_attn::Ranking;
///
/// let ranking = Ranking::new(2, 2, vec![0.5, 3.0, 0.5, 1.0])?;
/// let mask = ranking.mask(2)?;
/// assert_eq!(mask.bits(), [true, false, true, false]);
/// # Ok::<(), bosch_attn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Ranking {
    layers: usize,
    groups: usize,
    /// Layer by layer; higher where the group looks further.
    scores: Vec<f64>,
}

/// A ranking from a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    layers: usize,
    groups: usize,
    scores: Vec<f64>,
}

impl TryFrom<Unchecked> for Ranking {
    type Error = Error;

    fn try_from(ranking: Unchecked) -> Result<Self, Error> {
        Self::new(ranking.layers, ranking.groups, ranking.scores)
    }
}

impl Ranking {
    /// A ranking from `layers · groups` scores, layer by layer.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where a size is 0, the number of scores is another one, or a score is not a finite number.
    pub fn new(layers: usize, groups: usize, scores: Vec<f64>) -> Result<Self, Error> {
        if layers == 0 || groups == 0 || layers.checked_mul(groups) != Some(scores.len()) {
            let expected = format!("{layers} layers × {groups} groups, at least one of each");
            return Err(Error::input("scores of a ranking", expected, scores.len()));
        }
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            let found = format!(
                "{} for layer {}, group {}",
                scores[at],
                at / groups,
                at % groups
            );
            return Err(Error::input("score of a group", "a finite number", found));
        }
        Ok(Self {
            layers,
            groups,
            scores,
        })
    }

    /// The scores, layer by layer.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The mask that converts the `count` groups of the lowest scores; ties go to the lower index.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where there are fewer groups.
    pub fn mask(&self, count: usize) -> Result<HeadMask, Error> {
        if count > self.scores.len() {
            let expected = format!("at most {}", self.scores.len());
            return Err(Error::input("groups to convert", expected, count));
        }
        let mut order: Vec<usize> = (0..self.scores.len()).collect();
        order.sort_by(|&a, &b| self.scores[a].total_cmp(&self.scores[b]).then(a.cmp(&b)));
        let mut bits = vec![false; self.scores.len()];
        order[..count].iter().for_each(|&at| bits[at] = true);
        HeadMask::from_bits(self.layers, self.groups, &bits)
    }

    /// Writes the ranking to a JSON file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::io(path, e.into()))?;
        std::fs::write(path, text + "\n").map_err(|e| Error::io(path, e))
    }

    /// Reads a ranking from a JSON file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Format`] for a file that is no ranking.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        serde_json::from_str(&text).map_err(|e| Error::format(path, "a ranking in JSON", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_ranking_comes_back_and_what_is_none_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ranking.json");
        let ranking = Ranking::new(1, 3, vec![0.1, -2.5e-7, 3.0]).unwrap();
        ranking.save(&path).unwrap();
        assert_eq!(Ranking::load(&path).unwrap(), ranking);
        for (text, part) in [
            (r#"{"layers":2,"groups":2,"scores":[1.0]}"#, "found 1"),
            (r#"{"layers":0,"groups":0,"scores":[]}"#, "at least one"),
            (r#"{"layers":1,"groups":1,"scores":[null]}"#, "null"),
            ("[]", "a ranking in JSON"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Ranking::load(&path).unwrap_err().to_string();
            assert!(
                error.contains(part) && error.contains("ranking.json"),
                "{error}"
            );
        }
    }

    #[test]
    fn scores_that_are_no_numbers_name_their_group() {
        let error = Ranking::new(2, 2, vec![0.0, 0.0, f64::NAN, 0.0]).unwrap_err();
        assert!(error.to_string().contains("layer 1, group 0"), "{error}");
        assert!(Ranking::new(1, 2, vec![0.0, 1.0]).unwrap().mask(3).is_err());
    }
}
