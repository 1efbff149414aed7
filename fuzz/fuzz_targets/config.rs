//! Any text as a `config.json`: an error, or settings whose list of tensors can be made.
#![no_main]

use bosch_attn::ModelConfig;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(config) = ModelConfig::from_json(text, "config.json") {
        // A mixture may have many experts in many layers; the list is long then, not wrong.
        let experts = config.moe.as_ref().map_or(1, |moe| moe.experts);
        if config.layers * experts < 100_000 {
            assert!(!config.tensors().is_empty());
        }
    }
});
