//! Any bytes as a GGUF file: an error, or a file whose settings, tokenizer and tensors can be asked for.
#![no_main]

use std::fs;

use bosch_attn::{GgufFile, ModelConfig, Specials, Tokenizer, WeightSource};
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
    if let Ok(config) = ModelConfig::from_gguf(&file) {
        let _ = config.heads_per_group();
    }
    for name in [
        "model.embed_tokens.weight",
        "model.layers.0.self_attn.q_proj.weight",
        "lm_head.weight",
    ] {
        let _ = file.shape(name);
        #[cfg(not(feature = "without-libtorch"))]
        let _ = file.read(
            name,
            bosch_attn::tch::Kind::Float,
            bosch_attn::tch::Device::Cpu,
        );
    }
    if let Ok(tokenizer) = Tokenizer::from_gguf(&file) {
        let _ = tokenizer.encode_with_specials("ab a</s>");
        let _ = tokenizer.decode(&[0, 1, 2], Specials::Show);
    }
});
