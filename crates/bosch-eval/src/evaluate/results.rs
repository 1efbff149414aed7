//! The results file: a JSON line a sample, with the official keys, flushed one by one.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json_lines::parse_json_line;
use crate::{Error, Item, Prompt, Result};

/// What became of one sample. As a JSON line it is also a line of LongBench's prediction files
/// (`pred`, `answers`, `all_classes`, `length`), unless the sample failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The task's name.
    pub task: String,
    /// The sample's number in the task.
    pub index: usize,
    /// The generated text; none if the model failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pred: Option<String>,
    /// The right answers.
    pub answers: Vec<String>,
    /// The classes to choose from; null if there are none.
    pub all_classes: Option<Vec<String>>,
    /// The length that the data set gives.
    pub length: Option<usize>,
    /// The score, 0..=1; none if there is an error.
    pub score: Option<f64>,
    /// Why there is no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Hash of prompt and generation settings, so that results of other prompts are not taken for
    /// results of these.
    pub prompt: String,
}

impl Record {
    pub(crate) fn new(task: &str, index: usize, item: &Item) -> Self {
        Self {
            task: task.to_owned(),
            index,
            pred: None,
            answers: item.answers.clone(),
            all_classes: Some(item.all_classes.clone()).filter(|classes| !classes.is_empty()),
            length: item.length,
            score: None,
            error: None,
            prompt: fingerprint(item),
        }
    }
}

/// An appending results file, and what was in it.
pub(crate) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Opens or creates the file and reads the records of `task`; of several for a sample, the
    /// last. The beginning of a record that a killed process left is cut off; whatever else is not
    /// a record is refused and left alone.
    pub(crate) fn open(path: &Path, task: &str) -> Result<(Self, BTreeMap<usize, Record>)> {
        let io = || Error::io(path);
        let mut file = lock(path).map_err(io())?;
        let mut records = BTreeMap::new();
        let mut complete = 0;
        let mut reader = BufReader::new(&file);
        for number in 1.. {
            let mut line = Vec::new();
            let length = reader.read_until(b'\n', &mut line).map_err(io())?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                check_torn(path, number, &line, task)?;
                break;
            }
            complete += length as u64;
            let record: Record =
                parse_json_line(&String::from_utf8_lossy(&line)).map_err(|error| {
                    let problem = format!("expected a record of {task}, found none: {error}");
                    Error::format(path, number, problem)
                })?;
            if record.task != task {
                let problem = format!("expected results of {task}, found those of {}", record.task);
                return Err(Error::format(path, number, problem));
            }
            records.insert(record.index, record);
        }
        file.set_len(complete).map_err(io())?;
        file.seek(SeekFrom::End(0)).map_err(io())?;
        Ok((
            Self {
                path: path.to_owned(),
                file,
            },
            records,
        ))
    }

    /// Adds a record and hands it to the system.
    pub(crate) fn append(&mut self, record: &Record) -> Result<()> {
        let line =
            serde_json::to_string(record).map_err(|error| Error::format(&self.path, 0, error))?;
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        written.map_err(Error::io(&self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Opens or creates the file for this process alone.
fn lock(path: &Path) -> std::io::Result<File> {
    if path.exists() && !path.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    file.try_lock()?;
    Ok(file)
}

/// Refuses what stands behind the last line feed unless it is the beginning of a record of `task`.
fn check_torn(path: &Path, number: usize, rest: &[u8], task: &str) -> Result<()> {
    let start = format!("{{\"task\":{},\"index\":", serde_json::json!(task)).into_bytes();
    if rest.starts_with(&start) || start.starts_with(rest) {
        return Ok(());
    }
    let found: String = String::from_utf8_lossy(rest).chars().take(60).collect();
    let problem = format!("expected a record of {task} or the beginning of one, found {found:?}");
    Err(Error::format(path, number, problem))
}

/// 64-bit FNV-1a over prompt and settings, as hexadecimal digits.
fn fingerprint(item: &Item) -> String {
    let Item {
        prompt, generation, ..
    } = item;
    let (form, text, prefix) = match prompt {
        Prompt::Text(text) => ("text", text.as_str(), ""),
        Prompt::Chat {
            user,
            answer_prefix,
        } => ("chat", user.as_str(), answer_prefix.as_str()),
    };
    let settings = format!(
        "{}/{}",
        generation.max_new_tokens, generation.min_new_tokens
    );
    let parts = [form, text, prefix, &settings].into_iter();
    let parts = parts.chain(generation.stop.iter().map(String::as_str));
    let hash = parts.fold(0xcbf2_9ce4_8422_2325_u64, |hash, part| {
        let bytes = part.as_bytes().iter().copied().chain([0xff]); // 0xff is in no UTF-8 text
        bytes.fold(hash, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    format!("{hash:016x}")
}
