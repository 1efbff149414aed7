//! Any bytes as a safetensors file and any text as the index beside it: an error, or a source that can be read.
#![no_main]

use std::fs;

use bosch_attn::tch::{Device, Kind};
use bosch_attn::{SafetensorsFolder, WeightSource};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8])| {
    let (index, shard) = input;
    let Ok(place) = tempfile::tempdir() else {
        return;
    };
    let written = fs::write(place.path().join("model.safetensors.index.json"), index)
        .and_then(|()| fs::write(place.path().join("a.safetensors"), shard))
        .and_then(|()| fs::write(place.path().join("model.safetensors"), shard));
    if written.is_err() {
        return;
    }
    if let Ok(source) = SafetensorsFolder::open(place.path()) {
        let _ = source.read("lm_head.weight", Kind::Float, Device::Cpu);
    }
});
