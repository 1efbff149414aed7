//! DuoAttention's folder (mit-han-lab/duo-attention): `full_attention_heads.tsv` and `config.json`.
//!
//! **Polarity is the opposite of ours**: 1 = full attention, 0 = streaming (our sliding window). The
//! table has one row a layer and one column a KV group, tab-separated, written as `%.18e`. The
//! configuration holds `sink_size` (our sinks) and `recent_size` (our window).

use std::fs;
use std::path::Path;

use bosch_core::{Mask, ones_for_ratio};
use serde::{Deserialize, Serialize};

use super::{Provenance, Selection, write_whole};
use crate::{Error, Grid};

const TABLE: &str = "full_attention_heads.tsv";
const CONFIG: &str = "config.json";

#[derive(Serialize, Deserialize)]
struct Config {
    sink_size: usize,
    recent_size: usize,
}

impl Selection {
    /// Writes DuoAttention's two files into `folder`, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when a file cannot be written.
    pub fn save_duo_attention(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
        let mut table = String::new();
        for row in self.grid().rows(self.mask()) {
            let cells: Vec<_> = row
                .iter()
                .map(|is_swa| format!("{}.000000000000000000e+00", u8::from(!is_swa)))
                .collect();
            table += &(cells.join("\t") + "\n");
        }
        let config = Config {
            sink_size: self.grid().sinks,
            recent_size: self.grid().window,
        };
        let config = serde_json::to_string_pretty(&config)
            .map_err(|source| Error::file(folder, source.into()))?;
        write_whole(&folder.join(TABLE), &table)?;
        write_whole(&folder.join(CONFIG), &config)
    }

    /// Reads DuoAttention's folder. The files do not hold the number of `query_heads` a layer.
    ///
    /// Values are clipped to [0, 1]. Where they are not all 0 or 1 (DuoAttention stores the gates
    /// that it learnt), the groups with the lowest values, `ratio` of all, become sliding windows;
    /// ties go to the lower layer, then the lower group.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when a file cannot be read; [`Error::Format`] when the table is empty,
    /// ragged, or holds something that is not a finite number, when the configuration lacks a size,
    /// or when the values are continuous and no `ratio` is given.
    pub fn load_duo_attention(
        folder: &Path,
        query_heads: usize,
        ratio: Option<f64>,
    ) -> Result<Self, Error> {
        let config_path = folder.join(CONFIG);
        let text =
            fs::read_to_string(&config_path).map_err(|source| Error::file(&config_path, source))?;
        let config: Config = serde_json::from_str(&text).map_err(|source| Error::Format {
            path: config_path,
            expected: "sink_size and recent_size".into(),
            got: source.to_string(),
        })?;
        let (layers, groups, gates) = read_table(&folder.join(TABLE))?;
        let grid = Grid {
            layers,
            groups,
            query_heads,
            window: config.recent_size,
            sinks: config.sink_size,
        };
        let mask = binarise(&gates, ratio).map_err(|got| Error::Format {
            path: folder.join(TABLE),
            expected: "values that are all 0 or 1, or a ratio in [0, 1] to cut continuous ones at"
                .into(),
            got,
        })?;
        let provenance = Provenance {
            method: "DuoAttention file".into(),
            ..Default::default()
        };
        Self::new(grid, mask, provenance)
    }
}

/// Layers, groups and the gates row by row, clipped to [0, 1].
fn read_table(path: &Path) -> Result<(usize, usize, Vec<f64>), Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::file(path, source))?;
    let format = |expected: &str, got: String| Error::Format {
        path: path.into(),
        expected: expected.into(),
        got,
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut gates = Vec::new();
    let mut groups = 0;
    for (layer, line) in lines.iter().enumerate() {
        let before = gates.len();
        for cell in line.split_whitespace() {
            let gate: f64 = cell.parse().unwrap_or(f64::NAN);
            if !gate.is_finite() {
                return Err(format("finite numbers", format!("{cell:?} in row {layer}")));
            }
            gates.push(gate.clamp(0.0, 1.0));
        }
        let width = gates.len() - before;
        if layer > 0 && width != groups {
            return Err(format(
                "rows of equal length",
                format!("{width} values in row {layer}, {groups} before"),
            ));
        }
        groups = width;
    }
    if gates.is_empty() {
        return Err(format("a row for each layer", "an empty table".into()));
    }
    Ok((lines.len(), groups, gates))
}

/// Set = sliding window: the gates that are 0, or the lowest `ratio` of continuous ones.
fn binarise(gates: &[f64], ratio: Option<f64>) -> Result<Mask, String> {
    if gates.iter().all(|gate| *gate == 0.0 || *gate == 1.0) {
        let zeros: Vec<usize> = (0..gates.len()).filter(|i| gates[*i] == 0.0).collect();
        return Mask::from_ones(gates.len(), &zeros).map_err(|error| error.to_string());
    }
    let ratio = ratio.ok_or("continuous values and no ratio")?;
    let count = ones_for_ratio(ratio, gates.len()).map_err(|error| error.to_string())?;
    let mut order: Vec<usize> = (0..gates.len()).collect();
    order.sort_by(|a, b| gates[*a].total_cmp(&gates[*b]));
    Mask::from_ones(gates.len(), &order[..count]).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(table: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(TABLE), table).unwrap();
        fs::write(
            folder.path().join(CONFIG),
            r#"{"sink_size": 4, "recent_size": 16}"#,
        )
        .unwrap();
        folder
    }

    fn mask_of(table: &str, ratio: Option<f64>) -> Result<String, String> {
        let folder = folder_with(table);
        Selection::load_duo_attention(folder.path(), 4, ratio)
            .map(|selection| selection.mask().to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn one_is_full_and_the_text_is_numpys() {
        let grid = Grid {
            layers: 2,
            groups: 2,
            query_heads: 4,
            window: 16,
            sinks: 4,
        };
        let selection =
            Selection::new(grid, "1000".parse().unwrap(), Provenance::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        selection.save_duo_attention(folder.path()).unwrap();
        let table = fs::read_to_string(folder.path().join(TABLE)).unwrap();
        let first = table.lines().next().unwrap();
        assert_eq!(first, "0.000000000000000000e+00\t1.000000000000000000e+00");
        let back = Selection::load_duo_attention(folder.path(), 4, None).unwrap();
        assert_eq!(
            (back.mask(), back.grid()),
            (selection.mask(), selection.grid())
        );
    }

    #[test]
    fn sink_and_recent_are_not_swapped() {
        // duo-attention#4
        let folder = folder_with("1\t0\n");
        let selection = Selection::load_duo_attention(folder.path(), 2, None).unwrap();
        assert_eq!((selection.grid().sinks, selection.grid().window), (4, 16));
    }

    #[test]
    fn continuous_values_are_cut_at_the_ratio() {
        assert_eq!(mask_of("0.9\t0.1\n-0.5\t1.7\n", Some(0.5)).unwrap(), "0110");
        assert_eq!(mask_of("0.5\t0.5\n0.5\t0.5\n", Some(0.25)).unwrap(), "1000");
        assert!(
            mask_of("0.9\t0.1\n", None)
                .unwrap_err()
                .contains("no ratio")
        );
        assert!(
            mask_of("0.9\t0.1\n", Some(f64::NAN))
                .unwrap_err()
                .contains("NaN")
        );
    }

    #[test]
    fn bad_tables_say_where() {
        assert!(
            mask_of("1\t0\n1\n", None)
                .unwrap_err()
                .contains("1 values in row 1")
        );
        assert!(
            mask_of("1\tx\n", None)
                .unwrap_err()
                .contains("\"x\" in row 0")
        );
        assert!(mask_of("1\tnan\n", None).unwrap_err().contains("row 0"));
        assert!(mask_of("\n", None).unwrap_err().contains("empty table"));
    }
}
