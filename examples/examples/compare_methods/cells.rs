//! The cells of the table, one for each (ratio, method), kept in a file that a killed run goes on from.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use bosch::core::Mask;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Fault;

/// A method's mask at a ratio, what it cost and how it does on the test samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    pub ratio: f64,
    pub method: String,
    pub mask: Mask,
    /// Mean answer log-probability of each test sample.
    pub log_probabilities: Vec<f64>,
    /// `string_match_all` of each test sample.
    pub matches: Vec<f64>,
    pub kv_bytes: u64,
    /// Masks that were scored to find this one.
    pub evaluations: usize,
    /// Layers of samples that were computed for that.
    pub layer_evaluations: f64,
    /// The time that it took.
    pub seconds: f64,
}

impl Cell {
    pub fn score(&self) -> f64 {
        mean(&self.log_probabilities)
    }

    pub fn exact_match(&self) -> f64 {
        mean(&self.matches)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// All cells, and the file that holds them: its first line has the settings.
pub struct Cells {
    path: PathBuf,
    cells: Vec<Cell>,
}

impl Cells {
    /// Opens the file or makes it. A last line that was cut short is dropped; a file of other settings is refused.
    pub fn open(path: &Path, settings: &Value) -> Result<Self, Fault> {
        let text = match path.exists() {
            true => fs::read_to_string(path)?,
            false => String::new(),
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let mut kept = format!("{settings}\n");
        if let Some(first) = lines.next() {
            let found: Value = serde_json::from_str(first)
                .map_err(|e| format!("{}, line 1: expected settings: {e}", path.display()))?;
            if found != *settings {
                let path = path.display();
                return Err(
                    format!("{path}: expected the settings {settings}, found {found}").into(),
                );
            }
        } else if !text.is_empty() && !kept.starts_with(&text) {
            return Err(format!("{}: expected settings in line 1", path.display()).into());
        }
        let mut cells: Vec<Cell> = Vec::new();
        for (index, line) in lines.enumerate() {
            let fault = |e| {
                format!(
                    "{}, line {}: expected a cell: {e}",
                    path.display(),
                    index + 2
                )
            };
            cells.push(serde_json::from_str(line).map_err(fault)?);
            kept += &format!("{line}\n");
        }
        let new = path.with_extension("new");
        fs::write(&new, kept)?;
        fs::rename(&new, path)?;
        Ok(Self {
            path: path.to_owned(),
            cells,
        })
    }

    pub fn get(&self, ratio: f64, method: &str) -> Option<&Cell> {
        let is_it = |cell: &&Cell| cell.ratio == ratio && cell.method == method;
        self.cells.iter().find(is_it)
    }

    /// Adds a cell and writes it down.
    pub fn push(&mut self, cell: Cell) -> Result<(), Fault> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(format!("{}\n", serde_json::to_string(&cell)?).as_bytes())?;
        self.cells.push(cell);
        Ok(())
    }
}
