//! Building a tokenizer from GGUF metadata.

use std::collections::{BTreeMap, HashMap};

use tokenizers::AddedToken;
use tokenizers::decoders::byte_level::ByteLevel;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::processors::template::TemplateProcessing;

use super::pre::PreKind;
use super::{Tokenizer, guarded};
use crate::error::Error;
use crate::gguf::{GgufFile, Metadata};

const TOKENS: &str = "tokenizer.ggml.tokens";
const MERGES: &str = "tokenizer.ggml.merges";
const TYPES: &str = "tokenizer.ggml.token_type";

/// llama.cpp's types of tokens that are matched in a text as they are: control tokens, and tokens that a user added.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

impl Tokenizer {
    /// Builds the tokenizer that a GGUF file describes.
    ///
    /// Byte-level BPE (`tokenizer.ggml.model` = `gpt2`) with the word rules `gpt-2`, `smollm`, `qwen2`, `llama-bpe` and
    /// their other names; a file that names none has llama.cpp's rule for such files (`default`).
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the first key that is missing, contradictory or not supported: other kinds of tokenizer
    /// are named, not approximated.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, Error> {
        let metadata = file.metadata();
        match metadata.text("tokenizer.ggml.model")? {
            Some("gpt2") => {}
            other => {
                let found = other.unwrap_or("nothing");
                return Err(metadata.error("tokenizer.ggml.model", "gpt2 (byte-level BPE)", found));
            }
        }
        let tokens = metadata.required(TOKENS, "a list of strings", metadata.texts(TOKENS)?)?;
        let special = special_tokens(metadata, tokens)?;
        let id = |key: &str| token_id(metadata, tokens, key);
        let (bos, eos) = (id("bos")?, id("eos")?);
        let inner = build(metadata, tokens, special, bos, eos)?;
        let named = [
            ("bos_token", bos),
            ("eos_token", eos),
            ("unk_token", id("unknown")?),
            ("pad_token", id("padding")?),
        ]
        .into_iter()
        .filter_map(|(name, id)| Some((name.to_string(), tokens.get(id? as usize)?.clone())))
        .collect::<BTreeMap<_, _>>();
        Ok(Self {
            inner,
            origin: file.path().display().to_string(),
            bos,
            eos,
            eot: id("eot")?,
            named,
            chat: metadata
                .text("tokenizer.chat_template")?
                .map(str::to_string),
        })
    }
}

/// The id under `tokenizer.ggml.{name}_token_id`, checked against the vocabulary.
fn token_id(metadata: &Metadata, tokens: &[String], name: &str) -> Result<Option<u32>, Error> {
    let key = format!("tokenizer.ggml.{name}_token_id");
    match metadata.token(&key)? {
        Some(id) if id as usize >= tokens.len() => {
            Err(metadata.error(&key, format!("an id below {}", tokens.len()), id))
        }
        id => Ok(id),
    }
}

/// The tokens that are recognised in a text as they are.
fn special_tokens(metadata: &Metadata, tokens: &[String]) -> Result<Vec<AddedToken>, Error> {
    let Some(types) = metadata.integers(TYPES)? else {
        return Ok(Vec::new());
    };
    if types.len() != tokens.len() {
        return Err(metadata.error(
            TYPES,
            format!("{} types, one for each token", tokens.len()),
            types.len(),
        ));
    }
    let added = |(token, kind): (&String, &i64)| match *kind {
        CONTROL => Some(AddedToken::from(token.clone(), true)),
        USER_DEFINED => Some(AddedToken::from(token.clone(), false).normalized(false)),
        _ => None,
    };
    Ok(tokens.iter().zip(types).filter_map(added).collect())
}

fn build(
    metadata: &Metadata,
    tokens: &[String],
    special: Vec<AddedToken>,
    bos: Option<u32>,
    eos: Option<u32>,
) -> Result<tokenizers::Tokenizer, Error> {
    let pre = metadata.text("tokenizer.ggml.pre")?.unwrap_or("default");
    let Some(pre) = PreKind::from_name(pre) else {
        return Err(metadata.error("tokenizer.ggml.pre", PreKind::NAMES, pre));
    };
    let vocabulary = vocabulary(metadata, tokens)?;
    let merges = merges(metadata, &vocabulary)?;
    let affixes = [("bos", bos, pre.adds_bos()), ("eos", eos, false)]
        .map(|(name, id, default)| affix(metadata, tokens, name, id, default));
    let [before, after] = affixes;
    let template = Affixes {
        before: before?,
        after: after?,
    };
    guarded(|| {
        let model = BPE::builder()
            .vocab_and_merges(
                vocabulary
                    .into_iter()
                    .map(|(token, id)| (token.to_string(), id))
                    .collect::<Vocab>(),
                merges,
            )
            .ignore_merges(pre.ignores_merges())
            .build()?;
        let mut inner = tokenizers::Tokenizer::new(model);
        inner.with_normalizer(pre.normalizer())?;
        inner.with_pre_tokenizer(Some(pre.pre_tokenizer()?));
        inner.with_decoder(Some(ByteLevel::default()));
        inner.with_post_processor(template.processor()?);
        inner.add_tokens(special)?;
        Ok(inner)
    })
    .map_err(|reason| metadata.error(TOKENS, "a vocabulary of the tokenizers library", reason))
}

fn vocabulary<'a>(
    metadata: &Metadata,
    tokens: &'a [String],
) -> Result<HashMap<&'a str, u32>, Error> {
    let mut vocabulary = HashMap::with_capacity(tokens.len());
    for (id, token) in (0_u32..).zip(tokens) {
        if let Some(first) = vocabulary.insert(token.as_str(), id) {
            let found = format!("{token:?} as {first} and as {id}");
            return Err(metadata.error(TOKENS, "each token once", found));
        }
    }
    Ok(vocabulary)
}

/// The merges as pairs. Each part and each result must be a token; the library panics on some that are not.
fn merges(
    metadata: &Metadata,
    vocabulary: &HashMap<&str, u32>,
) -> Result<Vec<(String, String)>, Error> {
    let merges = metadata.required(MERGES, "a list of strings", metadata.texts(MERGES)?)?;
    let pair = |merge: &String| {
        let (left, right) = merge.split_once(' ')?;
        let known = [left, right, &format!("{left}{right}")]
            .iter()
            .all(|token| vocabulary.contains_key(token));
        known.then(|| (left.to_string(), right.to_string()))
    };
    merges
        .iter()
        .map(|merge| {
            let expected = "two tokens with a space between, which together are a token";
            pair(merge).ok_or_else(|| metadata.error(MERGES, expected, format!("{merge:?}")))
        })
        .collect()
}

/// A special token that `encode_with_specials` puts around a text: its name and id.
type Affix = Option<(String, u32)>;

fn affix(
    metadata: &Metadata,
    tokens: &[String],
    name: &str,
    id: Option<u32>,
    default: bool,
) -> Result<Affix, Error> {
    let asked = metadata.flag(&format!("tokenizer.ggml.add_{name}_token"))?;
    match id {
        Some(id) if asked.unwrap_or(default) => Ok(Some((tokens[id as usize].clone(), id))),
        None if asked == Some(true) => {
            let key = format!("tokenizer.ggml.{name}_token_id");
            Err(metadata.error(
                &key,
                "a token id, which add_bos_token or add_eos_token asks for",
                "nothing",
            ))
        }
        _ => Ok(None),
    }
}

struct Affixes {
    before: Affix,
    after: Affix,
}

impl Affixes {
    fn processor(self) -> tokenizers::Result<Option<TemplateProcessing>> {
        if self.before.is_none() && self.after.is_none() {
            return Ok(None);
        }
        let piece = |affix: &Affix| {
            affix
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        let single = [
            piece(&self.before),
            vec!["$A".to_string()],
            piece(&self.after),
        ]
        .concat();
        let processor = TemplateProcessing::builder()
            .try_single(single)?
            .special_tokens(
                self.before
                    .into_iter()
                    .chain(self.after)
                    .collect::<Vec<_>>(),
            )
            .build()?;
        Ok(Some(processor))
    }
}
