//! The trace: an append-only JSON-lines file of every evaluation that was paid for.
//!
//! The first line is the header (format version, dimension, seed, settings), each further line one
//! evaluation. A line is written by one call and ends with its line feed, so that after a kill at
//! any byte only an unterminated last line can be torn; it is dropped and the file cut there.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::mask::Mask;

/// The version of the format that this crate writes and reads.
const VERSION: u32 = 1;

/// What two runs must share for one to continue the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    bosch_trace: u32,
    dim: usize,
    seed: u64,
    settings: Value,
}

impl Header {
    pub(crate) fn new(dim: usize, seed: u64, settings: Value) -> Self {
        Self {
            bosch_trace: VERSION,
            dim,
            seed,
            settings,
        }
    }
}

/// One evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) n: usize,
    pub(crate) mask: Mask,
    pub(crate) score: f64,
    /// Why the evaluation failed, if it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
}

impl Record {
    /// A sound evaluation that has no number yet.
    pub(crate) fn new(mask: &Mask, score: f64) -> Self {
        Self {
            n: 0,
            mask: mask.clone(),
            score,
            fault: None,
        }
    }
}

/// An open trace, locked against other processes, positioned at its end.
#[derive(Debug)]
pub(crate) struct Trace {
    path: PathBuf,
    file: File,
}

impl Trace {
    /// Opens or creates the file, and returns the evaluations that it already holds.
    pub(crate) fn open(path: &Path, header: &Header) -> Result<(Self, Vec<Record>), Error> {
        let line = to_line(header).map_err(|source| io_error(path, source))?;
        if !path.exists() {
            create(path, &line).map_err(|source| io_error(path, source))?;
        }
        let mut file = lock(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|source| io_error(path, source))?;
        if !bytes.contains(&b'\n') && line.as_bytes().starts_with(&bytes) {
            // A copy of the file that was cut inside its header: nothing was paid for yet.
            bytes = line.into_bytes();
            rewrite(&mut file, &bytes).map_err(|source| io_error(path, source))?;
        }
        let (records, good) = parse(path, &bytes, header)?;
        file.set_len(good as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|source| io_error(path, source))?;
        Ok((
            Self {
                path: path.to_owned(),
                file,
            },
            records,
        ))
    }

    /// Appends one evaluation; it has reached the operating system when this returns.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), Error> {
        to_line(record)
            .and_then(|line| self.file.write_all(line.as_bytes()))
            .map_err(|source| io_error(&self.path, source))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes the header to a file beside the trace and renames it, so that a trace never exists
/// without its whole header.
fn create(path: &Path, header: &str) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let mut file = File::create(&name)?;
    file.write_all(header.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&name, path)
}

fn rewrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

fn lock(path: &Path) -> Result<File, Error> {
    let open = OpenOptions::new().read(true).write(true).open(path);
    let file = open.map_err(|source| io_error(path, source))?;
    file.try_lock()
        .map_err(|error| io_error(path, io::Error::from(error)))?;
    Ok(file)
}

/// The records of a file and the length of its whole lines.
fn parse(path: &Path, bytes: &[u8], header: &Header) -> Result<(Vec<Record>, usize), Error> {
    let good = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let mut lines = bytes[..good].split(|&byte| byte == b'\n');
    check_header(path, lines.next().unwrap_or(&[]), header)?;
    let mut records = Vec::new();
    let mut masks = HashSet::new(); // no mask is paid for twice
    for (at, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        let fault = |what: &str, expected: String, found: String| Error::Trace {
            path: path.to_owned(),
            line: at + 2,
            what: what.to_owned(),
            expected,
            found,
        };
        let record: Record = serde_json::from_slice(line)
            .map_err(|e| fault("record", "an evaluation as JSON".to_owned(), e.to_string()))?;
        if record.n != records.len() + 1 {
            return Err(fault(
                "n",
                (records.len() + 1).to_string(),
                record.n.to_string(),
            ));
        }
        if record.mask.len() != header.dim {
            let found = format!("{} bits", record.mask.len());
            return Err(fault("mask", format!("{} bits", header.dim), found));
        }
        if !masks.insert(record.mask.clone()) {
            let found = format!("{} again", record.mask);
            return Err(fault("mask", "one that is new".to_owned(), found));
        }
        records.push(record);
    }
    Ok((records, good))
}

fn check_header(path: &Path, line: &[u8], header: &Header) -> Result<(), Error> {
    let fault = |(what, expected, found)| {
        Err(Error::Trace {
            path: path.to_owned(),
            line: 1,
            what,
            expected,
            found,
        })
    };
    let Ok(found) = serde_json::from_slice::<Value>(line) else {
        let found = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        return fault((
            "header".to_owned(),
            "the header of a trace".to_owned(),
            found,
        ));
    };
    let expected = serde_json::to_value(header).unwrap_or(Value::Null);
    difference("", &expected, &found).map_or(Ok(()), fault)
}

/// The first difference between two JSON values: its path, and the two values there.
fn difference(at: &str, expected: &Value, found: &Value) -> Option<(String, String, String)> {
    let join = |key: &str| {
        if at.is_empty() {
            key.to_owned()
        } else {
            format!("{at}.{key}")
        }
    };
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.dedup();
            keys.into_iter()
                .find_map(|key| match (a.get(key), b.get(key)) {
                    (Some(x), Some(y)) => difference(&join(key), x, y),
                    (x, y) => {
                        let text =
                            |v: Option<&Value>| v.map_or("nothing".to_owned(), Value::to_string);
                        Some((join(key), text(x), text(y)))
                    }
                })
        }
        _ if expected == found => None,
        _ => {
            let what = if at.is_empty() { "header" } else { at };
            Some((what.to_owned(), expected.to_string(), found.to_string()))
        }
    }
}

fn to_line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn header(alpha: f64) -> Header {
        Header::new(3, 7, json!({"search": {"alpha": alpha}, "context": null}))
    }

    fn record(n: usize, score: f64) -> Record {
        Record {
            n,
            mask: format!("{n:03b}").parse().unwrap(),
            score,
            fault: None,
        }
    }

    fn message(result: Result<(Trace, Vec<Record>), Error>) -> String {
        result.map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn scores_come_back_to_the_last_bit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let scores = [
            0.1 + 0.2,
            -1.0 / 3.0,
            f64::MIN_POSITIVE,
            1e300,
            -0.0,
            0.20899999999999996,
        ];
        let (mut trace, old) = Trace::open(&path, &header(1.0)).unwrap();
        assert!(old.is_empty());
        for (i, &score) in scores.iter().enumerate() {
            trace.append(&record(i + 1, score)).unwrap();
        }
        drop(trace);
        let (_, records) = Trace::open(&path, &header(1.0)).unwrap();
        let bits: Vec<u64> = records.iter().map(|r| r.score.to_bits()).collect();
        assert_eq!(bits, scores.map(f64::to_bits));
    }

    #[test]
    fn a_file_cut_at_any_byte_keeps_its_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let (mut trace, _) = Trace::open(&path, &header(1.0)).unwrap();
        (1..=3).for_each(|n| trace.append(&record(n, n as f64)).unwrap());
        drop(trace);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut trace, records) = Trace::open(&path, &header(1.0)).unwrap();
            let lines = whole[..cut].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(records.len(), lines.saturating_sub(1), "cut at {cut}");
            (records.len() + 1..=3).for_each(|n| trace.append(&record(n, n as f64)).unwrap());
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        drop(Trace::open(&path, &header(1.0)).unwrap());
        let text = message(Trace::open(&path, &header(2.0)));
        assert!(
            text.contains("settings.search.alpha: expected 2.0, found 1.0"),
            "{text}"
        );
        let other = Header::new(3, 8, json!({"search": {"alpha": 1.0}, "context": null}));
        let text = message(Trace::open(&path, &other));
        assert!(text.contains("seed: expected 8, found 7"), "{text}");
    }

    #[test]
    fn a_foreign_or_damaged_file_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        for text in ["my notes", "my notes\n", "{}\n"] {
            std::fs::write(&path, text).unwrap();
            let _ = message(Trace::open(&path, &header(1.0)));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::remove_file(&path).unwrap();
        drop(Trace::open(&path, &header(1.0)).unwrap());
        let start = std::fs::read_to_string(&path).unwrap();
        for (line, part) in [
            (
                "{\"n\":1,\"mask\":\"00\",\"score\":1}\n",
                "mask: expected 3 bits, found 2 bits",
            ),
            (
                "{\"n\":2,\"mask\":\"000\",\"score\":1}\n",
                "n: expected 1, found 2",
            ),
            ("{\"n\":1,\"mask\":\"000\",\"sc\n", "record"),
        ] {
            std::fs::write(&path, start.clone() + line).unwrap();
            let text = message(Trace::open(&path, &header(1.0)));
            assert!(text.contains(part) && text.contains("line 2"), "{text}");
        }
    }

    #[test]
    fn a_mask_that_was_paid_for_twice_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let (mut trace, _) = Trace::open(&path, &header(1.0)).unwrap();
        for n in [1, 2] {
            let mask = Mask::filled(3, true);
            trace
                .append(&Record {
                    mask,
                    ..record(n, 0.0)
                })
                .unwrap();
        }
        drop(trace);
        let text = message(Trace::open(&path, &header(1.0)));
        let part = "line 3: mask: expected one that is new, found 111 again";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn a_trace_in_use_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let _held = Trace::open(&path, &header(1.0)).unwrap();
        assert!(matches!(
            Trace::open(&path, &header(1.0)),
            Err(Error::Io { .. })
        ));
    }
}
