//! Any bytes as a GGUF file: an error, or a file whose tokenizer can be asked for; with libtorch its settings, some
//! of which are tensors, and its weights too.
#![no_main]

use std::fs;

use bosch_attn::{GgufFile, Specials, Tokenizer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("model.gguf");
    if fs::write(&path, bytes).is_err() {
        return;
    }
    let Ok(file) = GgufFile::open(&path) else {
        return;
    };
    #[cfg(not(feature = "without-libtorch"))]
    read_tensors(&file);
    if let Ok(tokenizer) = Tokenizer::from_gguf(&file) {
        let _ = tokenizer.encode_with_specials("ab a</s>");
        let _ = tokenizer.decode(&[0, 1, 2], Specials::Show);
    }
});

#[cfg(not(feature = "without-libtorch"))]
fn read_tensors(file: &GgufFile) {
    use bosch_attn::tch::{Device, Kind};
    use bosch_attn::{ModelConfig, WeightSource};

    let _ = ModelConfig::from_gguf(file);
    for name in [
        "model.embed_tokens.weight",
        "model.layers.0.self_attn.q_proj.weight",
        "lm_head.weight",
    ] {
        let _ = file.read(name, Kind::Float, Device::Cpu);
    }
}
