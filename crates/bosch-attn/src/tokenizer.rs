//! Texts as token ids and back.
//!
//! A [`Tokenizer`] is read from a Hugging Face folder ([`Tokenizer::from_folder`]) or from the metadata of a GGUF file
//! (`Tokenizer::from_gguf`, feature `gguf`) and brings the model's chat template and special tokens along.

mod folder;
#[cfg(feature = "gguf")]
mod gguf;
#[cfg(feature = "gguf")]
mod pre;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::chat::ChatTemplate;
use crate::error::Error;

/// Tokens that end a turn of a conversation, as chat models spell them.
const TURN_ENDS: [&str; 6] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<|eom_id|>",
    "<|END_OF_TURN_TOKEN|>",
];

/// Which tokens a decoded text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specials {
    /// Special tokens such as `<|im_end|>` are written out.
    Show,
    /// Special tokens are left out.
    Skip,
}

/// A model's tokenizer, with its special tokens and chat template.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    origin: String,
    bos: Option<u32>,
    eos: Option<u32>,
    eot: Option<u32>,
    /// The special tokens that chat templates may write, by the template's name for them (`eos_token`).
    named: BTreeMap<String, String>,
    /// The Jinja text.
    chat: Option<String>,
}

impl Tokenizer {
    /// Token ids of `text`.
    ///
    /// Special tokens that are spelled out in the text are recognised; none are added. The empty text has no tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the tokenizer cannot represent `text`.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, Error> {
        self.encoded(text, false)
    }

    /// Token ids of `text`, with the special tokens around it that the model's tokenizer adds to a text (often the token
    /// that starts it).
    ///
    /// # Errors
    ///
    /// As [`Tokenizer::encode`].
    pub fn encode_with_specials(&self, text: &str) -> Result<Vec<u32>, Error> {
        self.encoded(text, true)
    }

    fn encoded(&self, text: &str, add_specials: bool) -> Result<Vec<u32>, Error> {
        let encoding =
            guarded(|| self.inner.encode_fast(text, add_specials)).map_err(|reason| {
                let expected = format!("a text for the tokenizer of {}", self.origin);
                Error::input("text", expected, reason)
            })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Number of tokens of `text`, none added.
    ///
    /// # Errors
    ///
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: &str) -> Result<usize, Error> {
        self.encode(text).map(|ids| ids.len())
    }

    /// The text of `ids`. Bytes that are not UTF-8, such as half a character at the end, become U+FFFD.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for an id that is not in the vocabulary.
    pub fn decode(&self, ids: &[u32], specials: Specials) -> Result<String, Error> {
        if let Some(unknown) = ids.iter().find(|id| self.inner.id_to_token(**id).is_none()) {
            let expected = format!("ids of the {} tokens of {}", self.vocab_size(), self.origin);
            return Err(Error::input("token id", expected, unknown));
        }
        guarded(|| self.inner.decode(ids, specials == Specials::Skip)).map_err(|reason| {
            let expected = format!("ids for the tokenizer of {}", self.origin);
            Error::input("token ids", expected, reason)
        })
    }

    /// The id of the token that is spelled `token` in the vocabulary.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// Number of tokens, special ones included. The model's own vocabulary may be padded to more.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// The token that starts a text, where the files name one.
    pub fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// The token that ends a text, where the files name one.
    pub fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// The token that ends a turn of a conversation: the one that the file names, else the first that is in the
    /// vocabulary of `<|im_end|>`, `<|eot_id|>`, `<|end|>`, `<end_of_turn>`, `<|eom_id|>`, `<|END_OF_TURN_TOKEN|>`.
    pub fn eot(&self) -> Option<u32> {
        self.eot
            .or_else(|| TURN_ENDS.iter().find_map(|token| self.token_to_id(token)))
    }

    /// The tokens after which a generated answer ends: [`Tokenizer::eos`] and [`Tokenizer::eot`], each once.
    pub fn stops(&self) -> Vec<u32> {
        let mut stops: Vec<u32> = self.eos.into_iter().chain(self.eot()).collect();
        stops.dedup();
        stops
    }

    /// Whether the files bring a chat template.
    pub fn has_chat_template(&self) -> bool {
        self.chat.is_some()
    }

    /// The model's chat template, with the special tokens that it may write.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] where the files bring none; [`Error::Format`] where it is not a template.
    pub fn chat_template(&self) -> Result<ChatTemplate, Error> {
        let Some(source) = &self.chat else {
            return Err(Error::config(
                &self.origin,
                "chat_template",
                "a chat template",
                "nothing",
            ));
        };
        let template = ChatTemplate::new(source, &self.origin)?;
        Ok(self.named.iter().fold(template, |template, (name, token)| {
            template.with(name, token)
        }))
    }
}

/// Runs a call of the tokenizers library; a panic inside it, which some malformed files cause, becomes an error.
fn guarded<T>(call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("a panic of the tokenizers library".to_string()),
    }
}
