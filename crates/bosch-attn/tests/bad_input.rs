//! Bad files and bad arguments: one clear error each, never a panic.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use bosch_attn::tch::{Device, Kind, Tensor};
use bosch_attn::{
    Decoder, Error, Generation, HeadMask, LoadOptions, ModelConfig, PrefixScorer,
    SafetensorsFolder, Sample, TensorProblem, Window, check_finite,
};
use common::{Fixture, folder};
use tempfile::TempDir;

/// A copy of a fixture model to spoil.
fn copy(name: &str) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(folder(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

fn edit(path: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from} is in {}", path.display());
    fs::write(path, text.replace(from, to)).unwrap();
}

fn load_error(folder: &Path) -> Error {
    Decoder::from_folder(folder).unwrap_err()
}

#[test]
fn a_folder_without_a_model_is_named() {
    let empty = TempDir::new().unwrap();
    let Error::Io { path, .. } = load_error(empty.path()) else {
        panic!("not an Io error")
    };
    assert!(path.ends_with("config.json"));
    fs::copy(
        folder("qwen2").join("config.json"),
        empty.path().join("config.json"),
    )
    .unwrap();
    let text = load_error(empty.path()).to_string();
    assert!(
        text.contains("model.safetensors or model.safetensors.index.json"),
        "{text}"
    );
}

#[test]
fn a_truncated_file_is_an_error_at_every_length() {
    let copy = copy("qwen3-yarn");
    let path = copy.path().join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len())
        .step_by(997)
        .chain([7, 8, 9, whole.len() - 1])
    {
        fs::write(&path, &whole[..length]).unwrap();
        let error = load_error(copy.path());
        assert!(
            matches!(&error, Error::Format { path, .. } if path.ends_with("model.safetensors")),
            "{length}: {error}"
        );
        assert!(
            error.to_string().contains(&format!("{length} bytes")),
            "{error}"
        );
    }
}

#[test]
fn damaged_headers_are_errors() {
    let copy = copy("qwen3-yarn");
    let path = copy.path().join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    for byte in (0..8 + header).step_by(13) {
        for bit in [0, 3, 7] {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1 << bit;
            fs::write(&path, &damaged).unwrap();
            // A flip in a tensor's name or in a shape of the same size is found by the comparison with the model.
            match Decoder::from_folder(copy.path()) {
                Err(Error::Format { .. } | Error::Tensors { .. }) => {}
                Err(error) => panic!("byte {byte} bit {bit}: {error}"),
                Ok(_) => assert!(
                    whole[8..8 + header].contains(&b'_'),
                    "byte {byte} bit {bit}"
                ),
            }
        }
    }
}

#[test]
fn shards_that_are_not_there_are_all_named() {
    let copy = copy("llama3-rope");
    for shard in [1, 3] {
        fs::remove_file(
            copy.path()
                .join(format!("model-0000{shard}-of-00003.safetensors")),
        )
        .unwrap();
    }
    let text = load_error(copy.path()).to_string();
    assert!(
        text.contains("index.json")
            && text.contains("model-00001-of-00003")
            && text.contains("model-00003-of-00003"),
        "{text}"
    );
    assert!(!text.contains("model-00002-of-00003"), "{text}");
}

/// Files that the index does not name are not read (candle #2079, mlx-vlm PR 1464).
#[test]
fn candle_2079_stray_shards_are_ignored() {
    let copy = copy("llama3-rope");
    fs::write(
        copy.path().join("model-00004-of-00004.safetensors"),
        b"not a model",
    )
    .unwrap();
    assert!(Decoder::from_folder(copy.path()).is_ok());
}

#[test]
fn an_index_may_not_lead_out_of_its_folder() {
    let copy = copy("llama3-rope");
    edit(
        copy.path().join("model.safetensors.index.json"),
        "model-00001-of-00003.safetensors",
        "../secret",
    );
    let text = load_error(copy.path()).to_string();
    assert!(text.contains("../secret"), "{text}");
    fs::write(
        copy.path().join("model.safetensors.index.json"),
        "{\"weight_map\": 3}",
    )
    .unwrap();
    assert!(matches!(load_error(copy.path()), Error::Format { .. }));
}

#[test]
fn tensors_that_are_missing_or_misshapen_are_listed_at_once() {
    let config = |hidden: usize| {
        let text = fs::read_to_string(folder("llama-tied").join("config.json")).unwrap();
        ModelConfig::from_json(
            &text.replace(
                "\"intermediate_size\": 96",
                &format!("\"intermediate_size\": {hidden}"),
            ),
            "x",
        )
        .unwrap()
    };
    let source = SafetensorsFolder::open(folder("llama-tied")).unwrap();
    let error = Decoder::load(config(80), &source, LoadOptions::new()).unwrap_err();
    let Error::Tensors { problems, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(problems.len(), 9); // gate, up and down of 3 layers
    assert_eq!(
        problems[0],
        TensorProblem::Shape {
            name: "model.layers.0.mlp.gate_proj.weight".into(),
            expected: vec![80, 48],
            found: vec![96, 48],
        }
    );
    let mut deeper = config(96);
    deeper.layers = 5;
    deeper.own_windows = vec![None; 5];
    let text = Decoder::load(deeper, &source, LoadOptions::new())
        .unwrap_err()
        .to_string();
    assert!(text.contains("18 of the model's tensors"), "{text}");
    assert!(
        text.contains("model.layers.3.input_layernorm.weight [48] is missing")
            && text.contains("model.layers.4.mlp.down_proj.weight"),
        "{text}"
    );
}

/// NaN weights are found on request, with their names and numbers.
#[test]
fn weights_that_are_not_finite_are_found_on_request() {
    let copy = copy("llama-tied");
    let path = copy.path().join("model.safetensors");
    let source = SafetensorsFolder::open(copy.path()).unwrap();
    let specs = ModelConfig::from_file(copy.path().join("config.json"))
        .unwrap()
        .tensors();
    check_finite(&source, &specs).unwrap();
    let mut tensors = Tensor::read_safetensors(&path).unwrap();
    for (name, tensor) in &mut tensors {
        match name.as_str() {
            "model.norm.weight" => drop(tensor.fill_(f64::NAN)),
            "model.embed_tokens.weight" => drop(tensor.get(3).fill_(f64::INFINITY)),
            _ => {}
        }
    }
    Tensor::write_safetensors(&tensors, &path).unwrap();
    let source = SafetensorsFolder::open(copy.path()).unwrap();
    let Error::Tensors { problems, .. } = check_finite(&source, &specs).unwrap_err() else {
        panic!("not the error of tensors")
    };
    let problem = |name: &str| TensorProblem::NotFinite {
        name: name.into(),
        count: 48,
    };
    let expected = ["model.embed_tokens.weight", "model.norm.weight"].map(problem);
    assert_eq!(problems, expected);
}

#[test]
fn ids_are_checked() {
    let fixture = Fixture::load("llama-tied");
    let (decoder, mask, window) = (
        &fixture.decoder,
        HeadMask::zeros(3, 2),
        Window::new(4, 0).unwrap(),
    );
    let text = |ids: &Tensor| decoder.logits(ids, &mask, window).unwrap_err().to_string();
    let ids = |ids: &[i64]| Tensor::from_slice(ids).unsqueeze(0);
    assert!(text(&ids(&[3, 96])).contains("0 to 95") && text(&ids(&[3, 96])).contains("96"));
    assert!(text(&ids(&[-1, 3])).contains("-1"));
    assert!(text(&Tensor::from_slice(&[3i64])).contains("[B, T]"));
    assert!(
        text(&Tensor::zeros([1, 0], (Kind::Int64, Device::Cpu))).contains("at least one token")
    );
    assert!(text(&Tensor::zeros([1, 2], (Kind::Float, Device::Cpu))).contains("int64"));
    assert!(
        text(&Tensor::zeros([1, 257], (Kind::Int64, Device::Cpu)))
            .contains("max_position_embeddings = 256")
    );
    let longer = Decoder::from_folder(folder("llama-tied"))
        .unwrap()
        .with_longer_texts();
    assert!(
        longer
            .logits(
                &Tensor::zeros([1, 257], (Kind::Int64, Device::Cpu)),
                &mask,
                window
            )
            .is_ok()
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused_and_leave_the_cache_alone() {
    let fixture = Fixture::load("llama-tied");
    let (decoder, window) = (&fixture.decoder, Window::new(4, 0).unwrap());
    let mask = HeadMask::zeros(3, 2);
    let input = |error: Error| assert!(matches!(error, Error::Input { .. }), "{error}");
    input(
        decoder
            .logits(&fixture.ids, &HeadMask::zeros(2, 3), window)
            .unwrap_err(),
    );
    input(
        decoder
            .cache(&HeadMask::zeros(3, 3), window, 1)
            .unwrap_err(),
    );
    input(decoder.cache(&mask, window, 0).unwrap_err());
    let mut cache = decoder.cache(&mask, window, 2).unwrap();
    let before = decoder.extend(&mut cache, &[&[3, 4], &[5]]).unwrap();
    input(decoder.extend(&mut cache, &[&[3]]).unwrap_err());
    input(decoder.extend(&mut cache, &[&[], &[]]).unwrap_err());
    input(decoder.extend(&mut cache, &[&[3], &[96]]).unwrap_err());
    input(decoder.extend(&mut cache, &[&[3; 255], &[3]]).unwrap_err());
    assert_eq!(cache.lengths(), [2, 1]);
    input(cache.truncate(2, 0).unwrap_err());
    input(cache.truncate(0, 3).unwrap_err());
    let mut fresh = decoder.cache(&mask, window, 2).unwrap();
    assert_eq!(
        decoder.extend(&mut fresh, &[&[3, 4], &[5]]).unwrap(),
        before
    );

    let settings = Generation {
        max_new_tokens: 4,
        stop: vec![],
    };
    input(decoder.generate(&[], &mask, window, &settings).unwrap_err());
    input(
        decoder
            .generate(&[&[3], &[]], &mask, window, &settings)
            .unwrap_err(),
    );
    input(
        decoder
            .generate(&[&[3; 254]], &mask, window, &settings)
            .unwrap_err(),
    );

    let sample = |prompt: &[u32], answer: &[u32]| Sample {
        prompt: prompt.into(),
        answer: answer.into(),
    };
    for samples in [
        vec![],
        vec![sample(&[], &[3])],
        vec![sample(&[3], &[])],
        vec![sample(&[3], &[96])],
        vec![sample(&[3; 256], &[3, 3])],
    ] {
        input(PrefixScorer::new(decoder, window, &samples, 0).unwrap_err());
    }
    let mut scorer = PrefixScorer::new(decoder, window, &[sample(&[3], &[4])], 0).unwrap();
    input(scorer.score(&HeadMask::zeros(1, 1)).unwrap_err());
    assert_eq!(scorer.score_batch(&[]).unwrap(), Vec::<Vec<f64>>::new());
}

#[test]
fn masks_and_windows_are_checked() {
    assert!(HeadMask::from_rows(&[vec![true], vec![true, false]]).is_err());
    assert!(HeadMask::from_rows::<Vec<bool>>(&[]).is_err());
    assert!(HeadMask::from_bits(2, 2, &[true; 3]).is_err());
    assert!(HeadMask::from_bits(usize::MAX, 2, &[true; 3]).is_err());
    assert!(HeadMask::zeros(2, 2).set(2, 0, true).is_err());
    assert!(
        Window::new(0, 1).is_err()
            && Window::new(usize::MAX, 1).is_err()
            && Window::new(1, usize::MAX).is_err()
    );
}
