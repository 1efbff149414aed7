//! Any text as an index and any bytes as the safetensors file beside it: an error, or weights whose shapes are known.
//!
//! The first line is the index, the rest the file.
#![no_main]

use std::fs;
use std::path::Path;

use bosch_attn::{SafetensorsFolder, WeightSource};
use libfuzzer_sys::fuzz_target;

fn open(folder: &Path) {
    let Ok(source) = SafetensorsFolder::open(folder) else {
        return;
    };
    for name in ["lm_head.weight", "w"] {
        let _ = source.shape(name);
        #[cfg(not(feature = "without-libtorch"))]
        let _ = source.read(
            name,
            bosch_attn::tch::Kind::Float,
            bosch_attn::tch::Device::Cpu,
        );
    }
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (index, file) = bytes.split_at(end.map_or(bytes.len(), |at| at + 1));
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let at = |name| folder.path().join(name);
    let written = fs::write(at("model.safetensors.index.json"), index)
        .and_then(|()| fs::write(at("a.safetensors"), file));
    if written.is_err() {
        return;
    }
    open(folder.path());
    // Where both forms are there, the single file wins.
    if fs::rename(at("a.safetensors"), at("model.safetensors")).is_ok() {
        open(folder.path());
    }
});
