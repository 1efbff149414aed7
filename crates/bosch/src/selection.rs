//! What a search leaves behind: the mask, what it is about, and where it came from.
//!
//! Two file forms, see `docs/formats.md`: our JSON, where **1 = sliding window**, and
//! DuoAttention's folder ([`duo_attention`]), where **1 = full**.

pub mod duo_attention;

use std::fs;
use std::path::Path;

use bosch_core::Mask;
use serde::{Deserialize, Serialize};

use crate::{Error, Grid};

/// The format number that [`Selection::save`] writes and [`Selection::load`] accepts.
pub const FORMAT_VERSION: u32 = 1;

/// A chosen set of KV groups, with what a runtime needs to apply it.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    grid: Grid,
    mask: Mask,
    provenance: Provenance,
}

/// Where a mask came from. Everything is optional but the method's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The method, such as `bosch` or `single-group ablation`.
    pub method: String,
    /// Name or path of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was maximised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Seed of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Number of masks that were evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<usize>,
    /// Score of this mask on the calibration samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Score of the model with full attention everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_full: Option<f64>,
    /// Score of the model with sliding windows everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_all_swa: Option<f64>,
}

/// The JSON file, field by field.
#[derive(Serialize, Deserialize)]
struct SelectionFile {
    version: u32,
    layers: usize,
    groups: usize,
    query_heads: usize,
    window: usize,
    sinks: usize,
    ratio: f64,
    mask: Vec<Vec<u8>>,
    provenance: Provenance,
}

impl Selection {
    /// Joins a mask with the grid it belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] when the mask has not one bit for each KV group, or the grid itself is
    /// impossible: no layer, no group, no window, query heads not a multiple of the groups.
    pub fn new(grid: Grid, mask: Mask, provenance: Provenance) -> Result<Self, Error> {
        let fault = |expected: String, got: String| {
            Err(Error::Shape {
                what: "selection",
                expected,
                got,
            })
        };
        if grid.layers == 0 || grid.groups == 0 || grid.window == 0 {
            return fault(
                "at least one layer, group and window position".into(),
                format!("{grid:?}"),
            );
        }
        if grid.query_heads == 0 || !grid.query_heads.is_multiple_of(grid.groups) {
            return fault(
                format!("query heads a multiple of {} groups", grid.groups),
                grid.query_heads.to_string(),
            );
        }
        if mask.len() != grid.dim() {
            return fault(
                format!("{} bits", grid.dim()),
                format!("{} bits", mask.len()),
            );
        }
        Ok(Self {
            grid,
            mask,
            provenance,
        })
    }

    /// The shape and the attention pattern.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The mask: bit `layer · groups + group`, set = sliding window.
    #[must_use]
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Where it came from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Fraction of the KV groups that use sliding windows, in [0, 1].
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.mask.count_ones() as f64 / self.grid.dim() as f64
    }

    /// Writes the JSON form to `path`, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let file = SelectionFile {
            version: FORMAT_VERSION,
            layers: self.grid.layers,
            groups: self.grid.groups,
            query_heads: self.grid.query_heads,
            window: self.grid.window,
            sinks: self.grid.sinks,
            ratio: self.ratio(),
            mask: self
                .grid
                .rows(&self.mask)
                .iter()
                .map(|row| row.iter().map(|bit| u8::from(*bit)).collect())
                .collect(),
            provenance: self.provenance.clone(),
        };
        let text =
            serde_json::to_string(&file).map_err(|source| Error::file(path, source.into()))?;
        write_whole(path, &text)
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when the file cannot be read, [`Error::Format`] when it is not such a JSON
    /// or of another version, [`Error::Shape`] when mask and shape disagree.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::file(path, source))?;
        let format = |expected: String, got: String| Error::Format {
            path: path.into(),
            expected,
            got,
        };
        let file: SelectionFile = serde_json::from_str(&text)
            .map_err(|source| format("a selection as JSON".into(), source.to_string()))?;
        if file.version != FORMAT_VERSION {
            return Err(format(
                format!("version {FORMAT_VERSION}"),
                format!("version {}", file.version),
            ));
        }
        let grid = Grid {
            layers: file.layers,
            groups: file.groups,
            query_heads: file.query_heads,
            window: file.window,
            sinks: file.sinks,
        };
        let mask = mask_from_rows(&grid, &file.mask, |bit| match bit {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        })
        .map_err(|got| {
            format(
                format!(
                    "{} rows of {} entries, each 0 or 1",
                    grid.layers, grid.groups
                ),
                got,
            )
        })?;
        Self::new(grid, mask, file.provenance)
    }
}

/// Reads `[layers][groups]` entries into a mask; the error says what was found instead.
fn mask_from_rows<T: std::fmt::Display>(
    grid: &Grid,
    rows: &[Vec<T>],
    is_swa: impl Fn(&T) -> Option<bool>,
) -> Result<Mask, String> {
    if rows.len() != grid.layers {
        return Err(format!("{} rows", rows.len()));
    }
    let mut bits = Vec::new();
    for (layer, row) in rows.iter().enumerate() {
        if row.len() != grid.groups {
            return Err(format!("{} entries in row {layer}", row.len()));
        }
        for (group, entry) in row.iter().enumerate() {
            let bit =
                is_swa(entry).ok_or_else(|| format!("{entry} at row {layer}, column {group}"))?;
            if bit {
                bits.push(layer * grid.groups + group);
            }
        }
    }
    Mask::from_ones(grid.dim(), &bits).map_err(|error| error.to_string())
}

/// Writes beside the target and renames, so that no reader meets half a file.
fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let part = path.with_extension("part");
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|source| Error::file(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        let grid = Grid {
            layers: 2,
            groups: 3,
            query_heads: 9,
            window: 16,
            sinks: 4,
        };
        let provenance = Provenance {
            method: "bosch".into(),
            seed: Some(1),
            score: Some(-0.125),
            ..Default::default()
        };
        Selection::new(grid, "011000".parse().unwrap(), provenance).unwrap()
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selection.json");
        selection().save(&path).unwrap();
        assert_eq!(Selection::load(&path).unwrap(), selection());
        let value: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(value["mask"], serde_json::json!([[0, 1, 1], [0, 0, 0]]));
        assert_eq!(value["version"], 1);
    }

    #[test]
    fn a_mask_of_another_length_is_refused() {
        let error =
            Selection::new(*selection().grid(), Mask::zeros(5), Provenance::default()).unwrap_err();
        assert_eq!(error.to_string(), "selection: expected 6 bits, got 5 bits");
    }

    #[test]
    fn files_that_are_no_selection_are_refused_with_what_was_expected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selection.json");
        selection().save(&path).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        for (bad, word) in [
            (good.replace("\"version\":1", "\"version\":2"), "version 2"),
            (good.replace("[0,1,1]", "[0,1]"), "2 entries in row 0"),
            (good.replace("[0,1,1]", "[0,1,7]"), "7 at row 0, column 2"),
            (good.replace("\"layers\":2", "\"layers\":3"), "2 rows"),
            (
                good.replace("\"query_heads\":9", "\"query_heads\":8"),
                "multiple of 3",
            ),
            (good.replace("\"window\":16", "\"window\":0"), "window"),
            (good[..good.len() / 2].to_string(), "JSON"),
        ] {
            assert_ne!(bad, good);
            fs::write(&path, bad).unwrap();
            let error = Selection::load(&path).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let missing = Selection::load(&folder.path().join("none.json"))
            .unwrap_err()
            .to_string();
        assert!(missing.contains("none.json"), "{missing}");
    }
}
