//! Official files: data as JSON lines, plain or in a zip file, and predictions.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json_lines::{one_or_many, parse_lines};
use crate::{Error, Result};

/// One sample of a data set, with the official keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RawSample")]
pub struct LongBenchSample {
    /// The question or instruction; may be empty.
    pub input: String,
    /// The long text.
    pub context: String,
    /// The right answers.
    pub answers: Vec<String>,
    /// Length of all three, in words or, for Chinese, in characters.
    pub length: usize,
    /// The classes to choose from; empty where there are none.
    pub all_classes: Vec<String>,
    /// The official identifier; may be empty.
    #[serde(rename = "_id")]
    pub id: String,
}

/// A list of answers, or a single one without its list.
#[derive(Deserialize)]
struct Answers(#[serde(deserialize_with = "one_or_many")] Vec<String>);

/// The spellings that files use. Two for the same field are no error, the official one wins.
#[derive(Deserialize)]
struct RawSample {
    input: Option<String>,
    question: Option<String>,
    query: Option<String>,
    context: String,
    answers: Option<Answers>,
    answer: Option<Answers>,
    outputs: Option<Answers>,
    #[serde(default)]
    length: usize,
    all_classes: Option<Vec<String>>,
    _id: Option<String>,
    id: Option<String>,
}

impl From<RawSample> for LongBenchSample {
    fn from(raw: RawSample) -> Self {
        let answers = raw.answers.or(raw.answer).or(raw.outputs);
        Self {
            input: raw.input.or(raw.question).or(raw.query).unwrap_or_default(),
            context: raw.context,
            answers: answers.map(|answers| answers.0).unwrap_or_default(),
            length: raw.length,
            all_classes: raw.all_classes.unwrap_or_default(),
            id: raw._id.or(raw.id).unwrap_or_default(),
        }
    }
}

/// One line of an official prediction file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RawPrediction")]
pub struct Prediction {
    /// The generated text.
    pub pred: String,
    /// The right answers.
    pub answers: Vec<String>,
    /// The classes to choose from; empty where there are none.
    pub all_classes: Vec<String>,
    /// Length of the sample; for [`scorer_e`](super::scorer_e).
    pub length: usize,
}

#[derive(Deserialize)]
struct RawPrediction {
    pred: String,
    answers: Answers,
    all_classes: Option<Vec<String>>,
    length: Option<usize>,
}

impl From<RawPrediction> for Prediction {
    fn from(raw: RawPrediction) -> Self {
        Self {
            pred: raw.pred,
            answers: raw.answers.0,
            all_classes: raw.all_classes.unwrap_or_default(),
            length: raw.length.unwrap_or_default(),
        }
    }
}

/// The samples of a data set: from a file of JSON lines, from `{dataset}.jsonl` of a folder, or
/// from that member of a zip file such as the official `data.zip`.
///
/// # Errors
///
/// [`Error::Io`] for what cannot be read, [`Error::Format`] with the line for what is no sample or
/// has no answer.
pub fn read_samples(path: impl AsRef<Path>, dataset: &str) -> Result<Vec<LongBenchSample>> {
    let path = path.as_ref();
    let is_zip = |extension: &std::ffi::OsStr| extension.eq_ignore_ascii_case("zip");
    let (text, path) = if path.is_dir() {
        let file = path.join(format!("{dataset}.jsonl"));
        (read_plain(&file)?, file)
    } else if path.extension().is_some_and(is_zip) {
        read_zip(path, dataset)?
    } else {
        (read_plain(path)?, path.to_owned())
    };
    parse_lines(&text, &path, |sample: &LongBenchSample| {
        let empty = sample.answers.is_empty();
        empty.then_some("expected at least one answer, found none")
    })
}

/// The lines of an official prediction file.
///
/// # Errors
///
/// As [`read_samples`].
pub fn read_predictions(path: impl AsRef<Path>) -> Result<Vec<Prediction>> {
    let path = path.as_ref();
    parse_lines(&read_plain(path)?, path, |_| None)
}

fn read_plain(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(Error::io(path))
}

fn read_zip(path: &Path, dataset: &str) -> Result<(String, PathBuf)> {
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    let broken = |error: zip::result::ZipError| Error::format(path, 0, error);
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let wanted = format!("{dataset}.jsonl");
    let is_wanted = |name: &str| name.rsplit('/').next() == Some(wanted.as_str());
    let mut names = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()));
    let Some(name) = names.find(|name| is_wanted(name)) else {
        return Err(Error::format(
            path,
            0,
            format!("expected a member {wanted}, found none"),
        ));
    };
    let member = path.join(&name);
    drop(names);
    let mut text = String::new();
    let mut reader = archive.by_name(&name).map_err(broken)?;
    reader
        .read_to_string(&mut text)
        .map_err(Error::io(&member))?;
    Ok((text, member))
}
