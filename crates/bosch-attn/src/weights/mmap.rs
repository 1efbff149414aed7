//! A stretch of a file mapped into memory. The only unsafe code of the crate.
#![allow(unsafe_code)] // mapping a file: see `Slice::map`

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Bytes of a file, mapped for as long as this value lives.
pub(super) struct Slice(Option<Mmap>);

impl Slice {
    /// Maps `length` bytes from `offset` on.
    pub(super) fn map(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        if length == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the map is read-only, private to this crate and dropped after one copy. If another process cuts the
        // file short during that copy, the kernel stops this process; changed bytes are read as changed numbers. No
        // reference outlives the map. This is the usual contract of reading weights through a map.
        unsafe { MmapOptions::new().offset(offset).len(length).map(file) }
            .map(|map| Self(Some(map)))
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}
