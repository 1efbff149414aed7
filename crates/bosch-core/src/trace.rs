//! The trace: an append-only JSON-lines file of every evaluation that was paid for.
//!
//! The first line is the header (format version, dimension, seed, settings), each further line one
//! evaluation. A line is written by one call and ends with its line feed, so that after a kill at
//! any byte only an unterminated last line can be torn; it is dropped and the file cut there. What
//! is no beginning of a record is refused and left alone.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::mask::Mask;

mod header;

pub(crate) use header::Header;

/// How each record begins.
const RECORD_START: &[u8] = b"{\"n\":";

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

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
        let mut file = lock(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|source| io_error(path, source))?;
        if !bytes.contains(&b'\n') && line.as_bytes().starts_with(&bytes) {
            // A new file, or one that was cut inside its header: nothing was paid for yet.
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

fn rewrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

/// Opens or creates the file for this process alone.
fn lock(path: &Path) -> Result<File, Error> {
    let open = || {
        if path.exists() && !path.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path)?;
        file.try_lock()?;
        Ok(file)
    };
    open().map_err(|source| io_error(path, source))
}

/// The records of a file and the length of its whole lines.
fn parse(path: &Path, bytes: &[u8], header: &Header) -> Result<(Vec<Record>, usize), Error> {
    let good = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let mut lines = bytes[..good].split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or(&[]);
    let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
    check_header(path, first, header)?;
    let mut records = Vec::new();
    let mut known = HashMap::new();
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
        if let Some(line) = known.insert(record.mask.clone(), at + 2) {
            let found = format!("{}, as in line {line}", record.mask);
            return Err(fault("mask", "one that is new".to_owned(), found));
        }
        records.push(record);
    }
    let torn = &bytes[good..];
    if !torn.starts_with(RECORD_START) && !RECORD_START.starts_with(torn) {
        return Err(Error::Trace {
            path: path.to_owned(),
            line: bytes.iter().filter(|&&byte| byte == b'\n').count() + 1,
            what: "record".to_owned(),
            expected: "an evaluation as JSON or its beginning".to_owned(),
            found: shortened(torn),
        });
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
        let expected = "the header of a trace".to_owned();
        return fault(("header".to_owned(), expected, shortened(line)));
    };
    header.difference(&found).map_or(Ok(()), fault)
}

/// The beginning of a line, for messages.
fn shortened(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned()
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
            mask: Mask::from_bools(&[n & 1 > 0, n & 2 > 0, n & 4 > 0]),
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
            ("{\"n\":1,\"mask\":\"000\",\"score\":null}\n", "null"),
            ("{\"n\":1,\"mask\":\"000\",\"score\":NaN}\n", "record"),
            (
                "{\"n\":1,\"mask\":\"000\",\"score\":1e999}\n",
                "out of range",
            ),
            ("my notes", "record: expected an evaluation"),
            ("{\"mask\":\"000\",\"n\"", "record"),
        ] {
            std::fs::write(&path, start.clone() + line).unwrap();
            let text = message(Trace::open(&path, &header(1.0)));
            assert!(text.contains(part) && text.contains("line 2"), "{text}");
            assert_eq!(
                std::fs::read_to_string(&path).unwrap(),
                start.clone() + line
            );
        }
    }

    #[test]
    fn a_mask_that_was_there_before_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let (mut trace, _) = Trace::open(&path, &header(1.0)).unwrap();
        trace.append(&record(1, 0.5)).unwrap();
        trace
            .append(&Record {
                n: 2,
                ..record(1, 0.5)
            })
            .unwrap();
        drop(trace);
        let text = message(Trace::open(&path, &header(1.0)));
        let expected = "line 3: mask: expected one that is new, found 100, as in line 2";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn line_ends_and_the_mark_of_other_systems_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let (mut trace, _) = Trace::open(&path, &header(1.0)).unwrap();
        trace.append(&record(1, 0.5)).unwrap();
        drop(trace);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("\u{feff}{text}").replace('\n', "\r\n")).unwrap();
        let (mut trace, records) = Trace::open(&path, &header(1.0)).unwrap();
        assert_eq!(records, [record(1, 0.5)]);
        trace.append(&record(2, 1.5)).unwrap();
        drop(trace);
        assert_eq!(Trace::open(&path, &header(1.0)).unwrap().1.len(), 2);
    }

    #[test]
    fn what_is_no_regular_file_or_out_of_reach_is_an_io_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mut paths = vec![
            dir.path().to_owned(),
            file.join("below"),
            dir.path().join("no/t"),
        ];
        #[cfg(unix)]
        paths.push("/dev/null".into());
        for path in paths {
            let error = Trace::open(&path, &header(1.0)).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{path:?}: {error}");
        }
    }

    #[test]
    fn a_file_that_may_not_be_written_is_an_io_error_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, "").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        // Some users, such as root, may write it all the same.
        if OpenOptions::new().write(true).open(&path).is_err() {
            let error = Trace::open(&path, &header(1.0)).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), b"");
        }
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
