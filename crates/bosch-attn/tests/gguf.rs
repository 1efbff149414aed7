//! GGUF files: the fixture models written as the converter writes them are the same models, and no file, however
//! damaged, does more than give an error.
#![cfg(feature = "gguf")]
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;
mod gguf_writer;

use std::fs;
use std::path::Path;

use bosch_attn::tch::{Device, Kind, Tensor};
use bosch_attn::{
    Decoder, Error, GgufFile, LoadOptions, ModelConfig, RopeScaling, SafetensorsFolder, Specials,
    Tokenizer, WeightSource,
};
use candle_core::quantized::{GgmlDType, QTensor};
use common::{Fixture, difference, folder};
use gguf_writer::{Writer, converted};

fn opened(bytes: &[u8]) -> Result<GgufFile, Error> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.gguf");
    fs::write(&path, bytes).unwrap();
    GgufFile::open(path)
}

/// A file that stays until the end of the test.
fn kept(place: &Path, bytes: &[u8]) -> GgufFile {
    let path = place.join("model.gguf");
    fs::write(&path, bytes).unwrap();
    GgufFile::open(path).unwrap()
}

fn message(writer: &Writer) -> String {
    opened(&writer.bytes()).unwrap_err().to_string()
}

#[test]
fn a_converted_model_has_the_same_settings_and_tensors() {
    for name in ["llama-tied", "qwen2", "qwen3", "qwen3-moe"] {
        let expected = ModelConfig::from_file(folder(name).join("config.json")).unwrap();
        let specs = expected.tensors();
        let place = tempfile::tempdir().unwrap();
        let file = kept(place.path(), &converted(&folder(name), &specs).bytes());
        let config = ModelConfig::from_gguf(&file).unwrap();
        assert_eq!(config, expected, "{name}");
        bosch_attn::check(&file, &specs).unwrap();
        let source = SafetensorsFolder::open(folder(name)).unwrap();
        for spec in &specs {
            let read = |source: &dyn WeightSource| {
                source.read(&spec.name, Kind::Float, Device::Cpu).unwrap()
            };
            assert_eq!(read(&file), read(&source), "{name}: {}", spec.name);
        }
    }
}

#[test]
fn llama_3_s_rope_divisors_give_the_reference_logits() {
    let fixture = Fixture::load("llama3-rope");
    let config = fixture.decoder.config();
    let RopeScaling::Llama3 {
        factor,
        low,
        high,
        original,
    } = config.rope.scaling
    else {
        unreachable!("the fixture's scaling is llama3")
    };
    // The converter's rule (`LlamaModel.generate_extra_tensors`): divisors instead of frequencies.
    let divisors: Vec<f32> = (0..config.head_dim / 2)
        .map(|i| {
            let exponent = 2.0 * i as f64 / config.head_dim as f64;
            let wavelength = 2.0 * std::f64::consts::PI * config.rope.theta.powf(exponent);
            let turns = original as f64 / wavelength;
            if turns > high {
                1.0
            } else if turns < low {
                factor as f32
            } else {
                let smooth = (turns - low) / (high - low);
                (1.0 / ((1.0 - smooth) / factor + smooth)) as f32
            }
        })
        .collect();
    let writer = converted(&folder("llama3-rope"), &config.tensors())
        .floats("rope_freqs.weight", &Tensor::from_slice(&divisors));
    let place = tempfile::tempdir().unwrap();
    let file = kept(place.path(), &writer.bytes());
    let read = ModelConfig::from_gguf(&file).unwrap();
    assert!(
        matches!(&read.rope.scaling, RopeScaling::Divisors(list) if list.len() == divisors.len())
    );
    let decoder = Decoder::load(read, &file, LoadOptions::new()).unwrap();
    for case in &fixture.cases {
        let logits = decoder
            .logits(&fixture.ids, &case.mask, case.window)
            .unwrap();
        assert!(difference(&logits, &case.logits) < 2e-4);
    }
}

#[test]
fn yarn_and_the_window_are_read() {
    let name = "qwen3-yarn";
    let expected = ModelConfig::from_file(folder(name).join("config.json")).unwrap();
    let RopeScaling::Yarn {
        factor, original, ..
    } = expected.rope.scaling
    else {
        unreachable!("the fixture's scaling is yarn")
    };
    let writer = converted(&folder(name), &expected.tensors())
        .text("qwen3.rope.scaling.type", "yarn")
        .f32("qwen3.rope.scaling.factor", factor as f32)
        .u32(
            "qwen3.rope.scaling.original_context_length",
            original as u32,
        );
    let config = ModelConfig::from_gguf(&opened(&writer.bytes()).unwrap()).unwrap();
    assert_eq!(config.rope, expected.rope);

    let llama = ModelConfig::from_file(folder("llama-tied").join("config.json")).unwrap();
    let writer = converted(&folder("llama-tied"), &llama.tensors())
        .u32("llama.attention.sliding_window", 13);
    let config = ModelConfig::from_gguf(&opened(&writer.bytes()).unwrap()).unwrap();
    assert_eq!(config.own_windows, [Some(13); 3]);
}

#[test]
fn every_element_type_stands_for_the_numbers_that_were_stored() {
    let numbers: Vec<f32> = (0..512).map(|i| (i as f32 * 0.7).sin()).collect();
    let place = tempfile::tempdir().unwrap();
    let device = candle_core::Device::Cpu;
    let tensor = candle_core::Tensor::from_vec(numbers.clone(), (2, 256), &device).unwrap();
    // ggml's number, candle's type, half a step of the type on [-1, 1].
    for (code, dtype, error) in [
        (0, GgmlDType::F32, 0.0),
        (1, GgmlDType::F16, 0.0005),
        (30, GgmlDType::BF16, 0.004),
        (2, GgmlDType::Q4_0, 0.14),
        (3, GgmlDType::Q4_1, 0.07),
        (6, GgmlDType::Q5_0, 0.07),
        (7, GgmlDType::Q5_1, 0.035),
        (8, GgmlDType::Q8_0, 0.005),
        (10, GgmlDType::Q2K, 0.4),
        (11, GgmlDType::Q3K, 0.3),
        (12, GgmlDType::Q4K, 0.08),
        (13, GgmlDType::Q5K, 0.04),
        (14, GgmlDType::Q6K, 0.04),
    ] {
        let stored = QTensor::quantize(&tensor, dtype).unwrap();
        let writer = Writer::default()
            .text("general.architecture", "qwen2")
            .tensor("output.weight", &[2, 256], code, &stored.data().unwrap());
        let file = kept(place.path(), &writer.bytes());
        let read = file
            .read("lm_head.weight", Kind::Float, Device::Cpu)
            .unwrap();
        let expected = Tensor::from_slice(&numbers).reshape([2, 256]);
        let found = difference(&read, &expected);
        assert!(found <= error, "{dtype:?}: {found}");
    }
}

/// A small file with a bit of everything: settings, tokenizer, template, tensors.
fn small() -> Writer {
    let tokens = ["a", "b", "ab", "Ġ", "<s>", "</s>"];
    Writer::default()
        .text("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", 4)
        .u32("llama.feed_forward_length", 4)
        .u32("llama.attention.head_count", 2)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5)
        .u32("general.alignment", 32)
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "llama-bpe")
        .texts("tokenizer.ggml.tokens", &tokens)
        .i32s("tokenizer.ggml.token_type", &[1, 1, 1, 1, 3, 3])
        .texts("tokenizer.ggml.merges", &["a b"])
        .u32("tokenizer.ggml.bos_token_id", 4)
        .u32("tokenizer.ggml.eos_token_id", 5)
        .flag("tokenizer.ggml.add_eos_token", true)
        .text(
            "tokenizer.chat_template",
            "{% for m in messages %}{{ m.content }}{% endfor %}",
        )
        .floats(
            "token_embd.weight",
            &Tensor::ones([6, 4], (Kind::Float, Device::Cpu)),
        )
        .floats(
            "blk.0.attn_q.weight",
            &Tensor::ones([4, 4], (Kind::Float, Device::Cpu)),
        )
        .tensor("rope_freqs.weight", &[1], 0, &1_f32.to_le_bytes())
}

/// What a test does with a file after opening it.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// Settings and tensors.
    Model,
    /// Those and tokenizer and template, which take longer.
    All,
}

/// Does with a file what a user would do; any error is fine.
fn used(place: &Path, bytes: &[u8], what: Use) -> Result<(), Error> {
    let path = place.join("model.gguf");
    fs::write(&path, bytes).unwrap();
    let file = GgufFile::open(path)?;
    for name in [
        "model.embed_tokens.weight",
        "model.layers.0.self_attn.q_proj.weight",
    ] {
        let _ = file.read(name, Kind::Float, Device::Cpu);
    }
    if what == Use::All
        && let Ok(tokenizer) = Tokenizer::from_gguf(&file)
    {
        let _ = tokenizer.encode_with_specials("ab a</s>");
        let _ = tokenizer.decode(&[0, 2, 4, 5], Specials::Show);
        let _ = tokenizer.chat_template();
    }
    ModelConfig::from_gguf(&file).map(drop)
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let bytes = small().bytes();
    let place = tempfile::tempdir().unwrap();
    used(place.path(), &bytes, Use::All).unwrap();
    let data_end = bytes.len() - 28; // the last tensor's 4 bytes, then padding
    for length in 0..data_end {
        let error = used(place.path(), &bytes[..length], Use::Model).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{length}: {error}");
    }
    used(place.path(), &bytes[..data_end], Use::All).unwrap();
}

#[test]
fn a_flipped_bit_anywhere_is_an_error_or_another_file() {
    let bytes = small().bytes();
    let place = tempfile::tempdir().unwrap();
    let mut errors = 0;
    let mut files = 0;
    for at in 0..bytes.len() {
        for bit in [at % 8, (at + 4) % 8] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // Building a tokenizer takes longest, so every fourth file has it.
            let what = if files % 4 == 0 { Use::All } else { Use::Model };
            errors += usize::from(used(place.path(), &damaged, what).is_err());
            files += 1;
        }
    }
    println!("{errors} errors of {files} files");
    assert!(errors > files / 8 && errors < files);
}

#[test]
fn each_kind_of_damage_is_named() {
    let text = opened(b"PK\x03\x04 and so on").unwrap_err().to_string();
    assert!(text.contains("bytes GGUF") && text.contains("PK"), "{text}");
    let version = |version: [u8; 4]| {
        let bytes = [b"GGUF".to_vec(), version.to_vec(), vec![0; 16]].concat();
        opened(&bytes).unwrap_err().to_string()
    };
    assert!(version([1, 0, 0, 0]).contains("found version 1"));
    assert!(version([0, 0, 0, 3]).contains("found a big-endian file"));

    let header = |tensors: u64, entries: u64| {
        let counts = [tensors.to_le_bytes(), entries.to_le_bytes()].concat();
        let bytes = [b"GGUF\x03\0\0\0".to_vec(), counts].concat();
        opened(&bytes).unwrap_err().to_string()
    };
    assert!(header(u64::MAX, 0).contains("tensors, found 18446744073709551615"));
    assert!(header(1000, 0).contains("expected 1000 tensors"));
    assert!(header(0, 60_000).contains("expected 60000 metadata entries"));

    let huge = u64::MAX.to_le_bytes();
    assert!(
        message(&Writer::default().raw("k", 8, &huge)).contains("a length of 18446744073709551615")
    );
    let list = [&8_u32.to_le_bytes()[..], &(1_u64 << 20).to_le_bytes()].concat();
    assert!(message(&Writer::default().raw("k", 9, &list)).contains("1048576 elements of k"));
    let lists = [&9_u32.to_le_bytes()[..], &huge].concat();
    assert!(message(&Writer::default().raw("k", 9, &lists)).contains("a list of lists"));
    assert!(message(&Writer::default().raw("k", 13, &[0])).contains("type 13"));
    assert!(message(&Writer::default().raw("k", 7, &[2])).contains("0 or 1 for k, found 2"));
    assert!(
        message(&Writer::default().raw("k", 8, b"\x01\0\0\0\0\0\0\0\xff")).contains("UTF-8 in k")
    );
    assert!(message(&Writer::default().u32("k", 1).u32("k", 1)).contains("k twice"));
    for alignment in [0, 3, 1 << 31] {
        let writer = Writer::default().u32("general.alignment", alignment);
        assert!(
            message(&writer).contains("general.alignment"),
            "{alignment}"
        );
    }
}

#[test]
fn each_unusable_tensor_is_named() {
    let with = |shape: &[usize], kind: u32, bytes: usize| {
        message(&Writer::default().tensor("t", shape, kind, &vec![0; bytes]))
    };
    assert!(with(&[2, 32], 23, 64).contains("found type 23 (IQ4_XS)"));
    assert!(
        with(&[2, 33], 8, 1000).contains("rows of t in blocks of 32 elements, found rows of 33")
    );
    assert!(with(&[2, 64], 0, 32).contains("512 bytes of t at offset 0"));
    assert!(with(&[usize::MAX, 2], 0, 32).contains("1 to 2^48 elements for t"));
    assert!(with(&[0], 0, 32).contains("1 to 2^48 elements for t"));
    assert!(with(&[1, 1, 1, 1, 1], 0, 32).contains("1 to 4 dimensions of t, found 5"));
    let twice = Writer::default()
        .tensor("t", &[1], 0, &[0; 4])
        .tensor("t", &[1], 0, &[0; 4]);
    assert!(message(&twice).contains("t twice"));
}

#[test]
fn settings_that_are_not_supported_are_named() {
    let error = |writer: Writer| {
        let file = opened(&writer.bytes()).unwrap();
        ModelConfig::from_gguf(&file).unwrap_err().to_string()
    };
    let gemma = Writer::default().text("general.architecture", "gemma3");
    assert!(error(gemma).contains("general.architecture: expected one of llama, qwen2"));
    assert!(error(Writer::default()).contains("general.architecture"));
    let short = Writer::default().text("general.architecture", "llama");
    assert!(error(short).contains("llama.block_count: expected a whole number, found nothing"));
    for (key, value) in [
        ("llama.rope.dimension_count", 1),
        ("llama.attention.value_length", 8),
        ("llama.expert_count", 8),
    ] {
        assert!(error(small().u32(key, value)).contains(key), "{key}");
    }
    // The divisors of `rope_freqs.weight` would win over the type.
    let other = small()
        .without_last_tensor()
        .text("llama.rope.scaling.type", "other");
    assert!(error(other).contains("llama.rope.scaling.type"));
}

#[test]
fn a_missing_tensor_is_an_error_of_its_name() {
    let place = tempfile::tempdir().unwrap();
    let file = kept(place.path(), &small().bytes());
    let error = file
        .read("model.norm.weight", Kind::Float, Device::Cpu)
        .unwrap_err();
    assert!(matches!(error, Error::Tensors { .. }));
    assert!(error.to_string().contains("model.norm.weight"));
    fs::remove_file(place.path().join("model.gguf")).unwrap();
    let error = file
        .read("model.embed_tokens.weight", Kind::Float, Device::Cpu)
        .unwrap_err();
    assert!(matches!(error, Error::Io { .. }));
    assert!(matches!(
        GgufFile::open(place.path().join("none.gguf")),
        Err(Error::Io { .. })
    ));
}
