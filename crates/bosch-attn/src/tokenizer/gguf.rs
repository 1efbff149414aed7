//! Reading a tokenizer from the metadata of a GGUF file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Tokenizer, guarded};
use crate::error::Error;
use crate::gguf::{GgufFile, Metadata};

/// llama.cpp's token types that a text may spell out: control and user-defined.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

impl Tokenizer {
    /// The byte-pair tokenizer that a GGUF file holds (`tokenizer.ggml.model` = `gpt2`), with its special tokens and chat
    /// template. How a text is split first follows `tokenizer.ggml.pre`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] where the file has no tokenizer, or one of a kind that cannot be reproduced exactly.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, Error> {
        let metadata = file.metadata();
        let key = "tokenizer.ggml.model";
        let model = metadata.required(key, "gpt2", metadata.text(key)?)?;
        if model != "gpt2" {
            return Err(metadata.error(key, "gpt2 (byte-pair encoding)", format!("{model:?}")));
        }
        let key = "tokenizer.ggml.tokens";
        let tokens = metadata.required(key, "a vocabulary", metadata.texts(key)?)?;
        let text = serde_json::to_vec(&definition(metadata, tokens)?)
            .map_err(|error| metadata.error(key, "a vocabulary", error))?;
        let inner = guarded(|| tokenizers::Tokenizer::from_bytes(&text)).map_err(|reason| {
            metadata.error(key, "a vocabulary and merges of byte-pair encoding", reason)
        })?;
        let id = |name: &str| -> Result<Option<u32>, Error> {
            let key = format!("tokenizer.ggml.{name}_token_id");
            let id = metadata.token(&key)?;
            match id {
                Some(id) if id as usize >= tokens.len() => {
                    Err(metadata.error(&key, format!("below {}", tokens.len()), id))
                }
                id => Ok(id),
            }
        };
        let (bos, eos, eot) = (id("bos")?, id("eos")?, id("eot")?);
        let spelled = |id: Option<u32>| tokens.get(id? as usize).cloned();
        let named: BTreeMap<String, String> =
            [("bos_token", spelled(bos)), ("eos_token", spelled(eos))]
                .into_iter()
                .filter_map(|(name, token)| Some((name.to_string(), token?)))
                .collect();
        Ok(Self {
            inner,
            origin: file.path().display().to_string(),
            bos,
            eos,
            eot,
            named,
            chat: metadata
                .text("tokenizer.chat_template")?
                .map(str::to_string),
        })
    }
}

/// The tokenizer in the form of `tokenizer.json`.
fn definition(metadata: &Metadata, tokens: &[String]) -> Result<Value, Error> {
    let key = "tokenizer.ggml.merges";
    let merges = metadata.required(key, "a list of merges", metadata.texts(key)?)?;
    let types = metadata
        .integers("tokenizer.ggml.token_type")?
        .unwrap_or(&[]);
    let added: Vec<Value> = tokens
        .iter()
        .enumerate()
        .filter(|(id, _)| matches!(types.get(*id), Some(&(CONTROL | USER_DEFINED))))
        .map(|(id, token)| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": types[id] == CONTROL,
            })
        })
        .collect();
    let vocab: serde_json::Map<String, Value> = tokens
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), json!(id)))
        .collect();
    Ok(json!({
        "version": "1.0",
        "added_tokens": added,
        "normalizer": normalizer(metadata)?,
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": pre_tokenizers(metadata)? },
        "post_processor": post_processor(metadata, tokens)?,
        "decoder": byte_level(false),
        "model": {
            "type": "BPE", "vocab": vocab, "merges": merges, "dropout": null, "unk_token": null,
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
            "byte_fallback": false, "ignore_merges": pre(metadata)? == "llama-bpe",
        },
    }))
}

fn pre(metadata: &Metadata) -> Result<&str, Error> {
    Ok(metadata.text("tokenizer.ggml.pre")?.unwrap_or("default"))
}

/// Qwen's tokenizers compose accents first.
fn normalizer(metadata: &Metadata) -> Result<Value, Error> {
    Ok(if pre(metadata)? == "qwen2" {
        json!({ "type": "NFC" })
    } else {
        Value::Null
    })
}

/// How a text is split before merging, as the model's own `tokenizer.json` has it.
fn pre_tokenizers(metadata: &Metadata) -> Result<Vec<Value>, Error> {
    let split = |pattern: &str| {
        json!({
            "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false,
        })
    };
    // The two differ in how many digits stay together.
    let words = |digits: &str| {
        format!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
    match pre(metadata)? {
        "default" | "gpt-2" | "gpt2" => Ok(vec![byte_level(true)]),
        "smollm" => Ok(vec![
            json!({ "type": "Digits", "individual_digits": true }),
            byte_level(true),
        ]),
        "qwen2" => Ok(vec![split(&words("")), byte_level(false)]),
        "llama-bpe" | "llama3" => Ok(vec![split(&words("{1,3}")), byte_level(false)]),
        other => {
            let expected = "default, gpt-2, smollm, qwen2 or llama-bpe";
            Err(metadata.error("tokenizer.ggml.pre", expected, format!("{other:?}")))
        }
    }
}

fn byte_level(use_regex: bool) -> Value {
    json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex,
    })
}

/// Adds the token that starts a text, where the file asks for it.
fn post_processor(metadata: &Metadata, tokens: &[String]) -> Result<Value, Error> {
    if !metadata
        .flag("tokenizer.ggml.add_bos_token")?
        .unwrap_or(false)
    {
        return Ok(Value::Null);
    }
    let key = "tokenizer.ggml.bos_token_id";
    let id = metadata.required(key, "a token id", metadata.token(key)?)?;
    let Some(token) = tokens.get(id as usize) else {
        return Err(metadata.error(key, format!("below {}", tokens.len()), id));
    };
    let start = json!({ "SpecialToken": { "id": token, "type_id": 0 } });
    let sequence = |id: &str| json!({ "Sequence": { "id": id, "type_id": 0 } });
    Ok(json!({
        "type": "TemplateProcessing",
        "single": [start, sequence("A")],
        "pair": [start, sequence("A"), sequence("B")],
        "special_tokens": { token: { "id": token, "ids": [id], "tokens": [token] } },
    }))
}
