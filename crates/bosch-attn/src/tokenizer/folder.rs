//! Reading a tokenizer from a Hugging Face folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Tokenizer, guarded};
use crate::error::Error;

impl Tokenizer {
    /// Reads `tokenizer.json` of a Hugging Face folder.
    ///
    /// Where they exist, `tokenizer_config.json` gives the special tokens and the chat template, and
    /// `chat_template.jinja` wins over the latter, as in transformers. Truncation and padding that the file may ask for
    /// are left off: all tokens of a text are returned, and no others.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where a file cannot be read; [`Error::Format`] where it is not of its format; [`Error::Config`]
    /// where a special token is not in the vocabulary.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let path = folder.as_ref().join("tokenizer.json");
        let bytes = fs::read(&path).map_err(|source| Error::io(&path, source))?;
        let inner = guarded(|| {
            let mut inner = tokenizers::Tokenizer::from_bytes(&bytes)?;
            inner.with_truncation(None)?.with_padding(None);
            Ok(inner)
        });
        let inner = inner.map_err(|reason| {
            Error::format(&path, "a tokenizer of the tokenizers library", reason)
        })?;
        let config_path = folder.as_ref().join("tokenizer_config.json");
        let config = read_config(&config_path)?;
        let named = named_tokens(&config);
        let id = |name: &str| -> Result<Option<u32>, Error> {
            let Some(token) = named.get(name) else {
                return Ok(None);
            };
            match inner.token_to_id(token) {
                Some(id) => Ok(Some(id)),
                None => {
                    let expected = format!("a token of {}", path.display());
                    Err(Error::config(config_path.display(), name, expected, token))
                }
            }
        };
        let (bos, eos) = (id("bos_token")?, id("eos_token")?);
        let chat = match optional(&folder.as_ref().join("chat_template.jinja"))? {
            Some(template) => Some(template),
            None => chat_template(&config),
        };
        Ok(Self {
            inner,
            origin: folder.as_ref().display().to_string(),
            bos,
            eos,
            eot: None,
            named,
            chat,
        })
    }
}

/// The text of a file that may be absent.
fn optional(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

fn read_config(path: &Path) -> Result<Map<String, Value>, Error> {
    let Some(text) = optional(path)? else {
        return Ok(Map::new());
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(config)) => Ok(config),
        Ok(_) => Err(Error::format(path, "a JSON object", "another JSON value")),
        Err(error) => Err(Error::format(path, "JSON", error)),
    }
}

/// The entries `…_token`; each is the token or an object with its `content`.
fn named_tokens(config: &Map<String, Value>) -> BTreeMap<String, String> {
    let token = |value: &Value| {
        let text = value.as_str().or_else(|| value.get("content")?.as_str())?;
        Some(text.to_string())
    };
    config
        .iter()
        .filter(|(name, _)| name.ends_with("_token"))
        .filter_map(|(name, value)| Some((name.clone(), token(value)?)))
        .collect()
}

/// The template, or the one named `default` of a list.
fn chat_template(config: &Map<String, Value>) -> Option<String> {
    let template = match config.get("chat_template")? {
        Value::Array(templates) => templates
            .iter()
            .find(|entry| entry.get("name").and_then(Value::as_str) == Some("default"))?
            .get("template")?,
        template => template,
    };
    template.as_str().map(str::to_string)
}
