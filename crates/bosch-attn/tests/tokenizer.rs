//! Tokenizers read from a folder and from GGUF metadata; broken files give errors.
#![allow(clippy::unwrap_used)] // helpers beside the test functions

mod gguf_writer;

use std::fs;
use std::path::Path;

use bosch_attn::{ChatEnd, Error, Message, Specials, Tokenizer};
use serde_json::{Value, json};

/// GPT-2's characters for the bytes 0 to 255: printable Latin-1 as it is, the others from U+0100 on.
fn byte_characters() -> Vec<String> {
    let printable = |byte: u32| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let mut next = 0x100;
    (0..256)
        .map(|byte| {
            let code = if printable(byte) {
                byte
            } else {
                next += 1;
                next - 1
            };
            char::from_u32(code).unwrap().to_string()
        })
        .collect()
}

const MERGES: [&str; 4] = ["h e", "l l", "he ll", "Ġ w"];

/// The bytes, the merges' results, then three special tokens.
fn tokens() -> Vec<String> {
    let mut tokens = byte_characters();
    tokens.extend(MERGES.map(|merge| merge.replace(' ', "")));
    tokens.extend(["<s>", "</s>", "<|im_end|>"].map(String::from));
    tokens
}

fn definition() -> Value {
    let tokens = tokens();
    let vocab: serde_json::Map<String, Value> = tokens
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), json!(id)))
        .collect();
    let special = |id: usize| {
        json!({"id": id, "content": tokens[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "!"},
        "added_tokens": [special(260), special(261), special(262)],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [260], "tokens": ["<s>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": MERGES},
    })
}

fn config() -> Value {
    json!({"bos_token": "<s>", "eos_token": {"content": "</s>", "special": true}, "pad_token": null,
        "chat_template": [{"name": "tools", "template": "no"},
            {"name": "default", "template": "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"}]})
}

fn written(place: &Path, tokenizer: &Value, config: &Value) -> Result<Tokenizer, Error> {
    fs::write(place.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(place.join("tokenizer_config.json"), config.to_string()).unwrap();
    Tokenizer::from_folder(place)
}

fn tokenizer() -> Tokenizer {
    let place = tempfile::tempdir().unwrap();
    written(place.path(), &definition(), &config()).unwrap()
}

#[test]
fn texts_become_ids_and_back() {
    let tokenizer = tokenizer();
    let ids = tokenizer.encode("hello wé").unwrap();
    assert_eq!(ids, [258, u32::from(b'o'), 259, 0xc3, 0xa9]);
    assert_eq!(tokenizer.decode(&ids, Specials::Skip).unwrap(), "hello wé");
    assert_eq!(tokenizer.encode("").unwrap(), [0_u32; 0]);
    assert_eq!(tokenizer.decode(&[], Specials::Show).unwrap(), "");
    assert_eq!(tokenizer.count("hello world").unwrap(), 7);
    assert_eq!(tokenizer.vocab_size(), 263);
    let half = tokenizer.decode(&[0xc3], Specials::Show).unwrap();
    assert_eq!(half, "\u{fffd}");
}

#[test]
fn specials_are_recognised_added_and_left_out_as_asked() {
    let tokenizer = tokenizer();
    let ids = tokenizer.encode("<s>h</s>").unwrap();
    assert_eq!(ids, [260, u32::from(b'h'), 261]);
    assert_eq!(tokenizer.decode(&ids, Specials::Show).unwrap(), "<s>h</s>");
    assert_eq!(tokenizer.decode(&ids, Specials::Skip).unwrap(), "h");
    assert_eq!(
        tokenizer.encode_with_specials("h").unwrap(),
        [260, u32::from(b'h')]
    );
    assert_eq!(
        (tokenizer.bos(), tokenizer.eos(), tokenizer.eot()),
        (Some(260), Some(261), Some(262))
    );
    assert_eq!(tokenizer.stops(), [261, 262]);
    assert_eq!(tokenizer.token_to_id("hell"), Some(258));
    assert_eq!(tokenizer.token_to_id("hello"), None);
}

#[test]
fn an_id_beyond_the_vocabulary_is_an_error() {
    let error = tokenizer().decode(&[1, 263], Specials::Show).unwrap_err();
    assert!(matches!(error, Error::Input { .. }));
    assert!(error.to_string().contains("263 tokens") && error.to_string().ends_with("found 263"));
}

#[test]
fn the_template_is_the_default_one_unless_a_file_has_another() {
    let place = tempfile::tempdir().unwrap();
    let rendered = |tokenizer: Tokenizer| {
        let template = tokenizer.chat_template().unwrap();
        template
            .render(&[Message::user("h")], ChatEnd::LastMessage)
            .unwrap()
    };
    let tokenizer = written(place.path(), &definition(), &config()).unwrap();
    assert_eq!(rendered(tokenizer), "<s>h</s>");
    fs::write(
        place.path().join("chat_template.jinja"),
        "[{{ messages[0].role }}]",
    )
    .unwrap();
    assert_eq!(
        rendered(Tokenizer::from_folder(place.path()).unwrap()),
        "[user]"
    );

    let without = tempfile::tempdir().unwrap();
    let plain = written(without.path(), &definition(), &json!({})).unwrap();
    assert!(!plain.has_chat_template() && plain.bos().is_none());
    assert!(matches!(plain.chat_template(), Err(Error::Config { .. })));
}

#[test]
fn broken_files_are_errors_that_name_them() {
    let place = tempfile::tempdir().unwrap();
    let missing = Tokenizer::from_folder(place.path()).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }) && missing.to_string().contains("tokenizer.json"));
    let error = |tokenizer: &Value, config: &Value| {
        written(place.path(), tokenizer, config)
            .unwrap_err()
            .to_string()
    };
    assert!(
        error(&json!({"version": "1.0"}), &json!({}))
            .contains("tokenizer.json: expected a tokenizer")
    );
    assert!(
        error(&definition(), &json!([])).contains("tokenizer_config.json: expected a JSON object")
    );
    let stranger = error(&definition(), &json!({"eos_token": "<end>"}));
    assert!(
        stranger.contains("eos_token: expected a token of") && stranger.ends_with("found <end>")
    );
}

#[test]
fn what_makes_the_library_panic_is_an_error() {
    // A merge whose result is longer than every token, and a template of a token that is not described.
    let place = tempfile::tempdir().unwrap();
    let mut merge = definition();
    merge["model"]["merges"] = json!(["<|im_end|> <|im_end|>"]);
    let error = written(place.path(), &merge, &json!({})).unwrap_err();
    assert!(matches!(error, Error::Format { .. }), "{error}");
    let mut template = definition();
    template["post_processor"]["special_tokens"] = json!({});
    if let Ok(tokenizer) = written(place.path(), &template, &json!({})) {
        let error = tokenizer.encode_with_specials("h").unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error}");
    }
}

#[test]
fn a_damaged_tokenizer_json_is_an_error_or_another_tokenizer() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("tokenizer.json");
    let bytes = definition().to_string().into_bytes();
    for at in (0..bytes.len()).step_by(5) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        for damaged in [&bytes[..at], &flipped[..]] {
            fs::write(&path, damaged).unwrap();
            if let Ok(tokenizer) = Tokenizer::from_folder(place.path()) {
                let _ = tokenizer.encode_with_specials("hello <s>");
                let _ = tokenizer.decode(&[0, 200, 262], Specials::Show);
            }
        }
    }
}

#[cfg(feature = "gguf")]
mod gguf {
    use bosch_attn::GgufFile;

    use super::gguf_writer::Writer;
    use super::*;

    fn metadata(pre: &str) -> Writer {
        let tokens = tokens();
        let types: Vec<i32> = (0..tokens.len())
            .map(|id| if id < 260 { 1 } else { 3 })
            .collect();
        Writer::default()
            .text("tokenizer.ggml.model", "gpt2")
            .text("tokenizer.ggml.pre", pre)
            .texts("tokenizer.ggml.tokens", &tokens)
            .i32s("tokenizer.ggml.token_type", &types)
            .texts("tokenizer.ggml.merges", &MERGES)
            .u32("tokenizer.ggml.bos_token_id", 260)
            .u32("tokenizer.ggml.eos_token_id", 261)
    }

    fn read(writer: &Writer) -> Result<Tokenizer, Error> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("model.gguf");
        fs::write(&path, writer.bytes()).unwrap();
        Tokenizer::from_gguf(&GgufFile::open(path).unwrap())
    }

    #[test]
    fn metadata_describe_the_same_tokenizer_as_a_folder() {
        let (folder, file) = (tokenizer(), read(&metadata("gpt-2")).unwrap());
        for text in [
            "hello wé",
            "  hell\n\n<s>x</s> 'll 12",
            "naïve — 你好 🙂\u{0}",
            "",
        ] {
            let ids = folder.encode(text).unwrap();
            assert_eq!(file.encode(text).unwrap(), ids, "{text:?}");
            assert_eq!(file.decode(&ids, Specials::Show).unwrap(), text);
        }
        assert_eq!(file.stops(), folder.stops());
    }

    #[test]
    fn the_file_says_which_tokens_surround_a_text() {
        let ids = |writer: Writer| read(&writer).unwrap().encode_with_specials("h").unwrap();
        let h = u32::from(b'h');
        assert_eq!(ids(metadata("gpt-2")), [h]);
        assert_eq!(
            ids(metadata("gpt-2").flag("tokenizer.ggml.add_bos_token", true)),
            [260, h]
        );
        assert_eq!(
            ids(metadata("gpt-2").flag("tokenizer.ggml.add_eos_token", true)),
            [h, 261]
        );
        assert_eq!(ids(metadata("llama-bpe")), [260, h]);
        assert_eq!(
            ids(metadata("llama-bpe").flag("tokenizer.ggml.add_bos_token", false)),
            [h]
        );
    }

    #[test]
    fn a_tokenizer_that_cannot_be_reproduced_is_named() {
        let error = |writer: Writer| {
            let error = read(&writer).unwrap_err();
            assert!(matches!(error, Error::Config { .. }), "{error}");
            error.to_string()
        };
        let sentencepiece = Writer::default().text("tokenizer.ggml.model", "llama");
        assert!(error(sentencepiece).contains("expected gpt2 (byte-level BPE), found llama"));
        assert!(
            error(metadata("tekken")).contains("smollm")
                && error(metadata("tekken")).ends_with("found tekken")
        );
        let gpt2 = || Writer::default().text("tokenizer.ggml.model", "gpt2");
        assert!(
            error(gpt2())
                .contains("tokenizer.ggml.tokens: expected a list of strings, found nothing")
        );
        let vocabulary = |tokens: &[&str]| gpt2().texts("tokenizer.ggml.tokens", tokens);
        let merges =
            |merges: &[&str]| vocabulary(&["a", "b", "ab"]).texts("tokenizer.ggml.merges", merges);
        assert!(error(vocabulary(&["a", "b", "a"])).contains("\"a\" as 0 and as 2"));
        assert!(error(vocabulary(&["a"])).contains("tokenizer.ggml.merges"));
        for merge in ["ab", "a c", "ab a", "b a", ""] {
            assert!(
                error(merges(&[merge])).ends_with(&format!("found {merge:?}")),
                "{merge}"
            );
        }
        let types = merges(&["a b"]).i32s("tokenizer.ggml.token_type", &[1]);
        assert!(error(types).contains("3 types, one for each token, found 1"));
        let id = merges(&["a b"]).u32("tokenizer.ggml.eos_token_id", 3);
        assert!(error(id).contains("tokenizer.ggml.eos_token_id: expected an id below 3, found 3"));
        let bos = merges(&["a b"]).flag("tokenizer.ggml.add_bos_token", true);
        assert!(error(bos).contains("tokenizer.ggml.bos_token_id"));
    }
}
