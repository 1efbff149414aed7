//! Reading little-endian values from a file, never beyond its end.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Longest string that is read; chat templates and vocabularies stay far below.
const LONGEST_STRING: u64 = 1 << 24;

/// A file read from front to back, with the bytes that are left.
pub(super) struct Reader {
    file: BufReader<File>,
    path: PathBuf,
    position: u64,
    length: u64,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        let length = file
            .metadata()
            .map_err(|source| Error::io(path, source))?
            .len();
        Ok(Self {
            file: BufReader::new(file),
            path: path.to_path_buf(),
            position: 0,
            length,
        })
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Size of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// An [`Error::Format`] for this file.
    pub(super) fn error(&self, expected: impl ToString, found: impl ToString) -> Error {
        Error::format(&self.path, expected, found)
    }

    /// Fails unless `count` items of at least `size` bytes each are left; `what` names them.
    pub(super) fn need(&self, count: u64, size: u64, what: &str) -> Result<(), Error> {
        let left = self.length.saturating_sub(self.position);
        match count.checked_mul(size) {
            Some(bytes) if bytes <= left => Ok(()),
            _ => {
                let expected = format!("{count} {what} from byte {} on", self.position);
                Err(self.error(
                    expected,
                    format!("the end of the file at byte {}", self.length),
                ))
            }
        }
    }

    /// The next `N` bytes.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.need(N as u64, 1, "bytes")?;
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.file
            .read_exact(bytes)
            .map_err(|source| Error::io(&self.path, source))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A string with its length in front; `what` names it.
    pub(super) fn string(&mut self, what: &str) -> Result<String, Error> {
        let start = self.position;
        let length = self.u64()?;
        if length > LONGEST_STRING {
            let expected = format!("{what} of at most {LONGEST_STRING} bytes at byte {start}");
            return Err(self.error(expected, format!("a length of {length}")));
        }
        self.need(length, 1, &format!("bytes of {what}"))?;
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|error| {
            self.error(
                format!("UTF-8 in {what} at byte {start}"),
                error.utf8_error(),
            )
        })
    }
}
