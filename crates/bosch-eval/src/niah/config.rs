//! [`NiahConfig`]: what a sample is made of. RULER's six parameters, the budget and the form.

use serde::{Deserialize, Serialize};

use super::words::WORD_KEYS;
use crate::{Error, Result};

/// RULER's named subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subtask {
    /// Noise, word → number.
    #[serde(rename = "niah_single_1")]
    Single1,
    /// Essay, word → number.
    #[serde(rename = "niah_single_2")]
    Single2,
    /// Essay, word → uuid.
    #[serde(rename = "niah_single_3")]
    Single3,
    /// Essay, word → number, four keys of which one is asked.
    #[serde(rename = "niah_multikey_1")]
    MultiKey1,
    /// A haystack of needles, word → number.
    #[serde(rename = "niah_multikey_2")]
    MultiKey2,
    /// A haystack of needles, uuid → uuid.
    #[serde(rename = "niah_multikey_3")]
    MultiKey3,
    /// Essay, word → number, one key with four values.
    #[serde(rename = "niah_multivalue")]
    MultiValue,
    /// Essay, word → number, four keys, all asked.
    #[serde(rename = "niah_multiquery")]
    MultiQuery,
}

impl Subtask {
    /// All eight, in RULER's order.
    pub const ALL: [Self; 8] = [
        Self::Single1,
        Self::Single2,
        Self::Single3,
        Self::MultiKey1,
        Self::MultiKey2,
        Self::MultiKey3,
        Self::MultiValue,
        Self::MultiQuery,
    ];

    /// The six that the paper most plausibly averages over (it names none): our default set.
    pub const PAPER: [Self; 6] = [
        Self::Single1,
        Self::Single2,
        Self::Single3,
        Self::MultiKey1,
        Self::MultiValue,
        Self::MultiQuery,
    ];

    /// RULER's name, such as `niah_single_1`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single1 => "niah_single_1",
            Self::Single2 => "niah_single_2",
            Self::Single3 => "niah_single_3",
            Self::MultiKey1 => "niah_multikey_1",
            Self::MultiKey2 => "niah_multikey_2",
            Self::MultiKey3 => "niah_multikey_3",
            Self::MultiValue => "niah_multivalue",
            Self::MultiQuery => "niah_multiquery",
        }
    }

    /// The subtask of RULER's name, with or without the leading `niah_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |subtask: &Self| {
            subtask.name() == name || subtask.name().strip_prefix("niah_") == Some(name)
        };
        Self::ALL.into_iter().find(is_named)
    }
}

impl std::fmt::Display for Subtask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What surrounds the needles (RULER's `type_haystack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaystackKind {
    /// One line of short sentences, over and over.
    Noise,
    /// Running text, measured in words; needles stand between sentences.
    Essay,
    /// Needles for other keys.
    #[serde(rename = "needle", alias = "needles")]
    Needles,
}

/// What a key or a value is (RULER's `type_needle_k` and `type_needle_v`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedleKind {
    /// An adjective and a noun, `quiet-harbor`.
    Words,
    /// Seven digits, the first not 0.
    Numbers,
    /// A version 4 UUID.
    Uuids,
}

impl NeedleKind {
    /// RULER's word for it, in the plural: it stands in the prompt.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Numbers => "numbers",
            Self::Uuids => "uuids",
        }
    }
}

/// Where the needles of the asked keys stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// As RULER draws it: in an essay different ones of 40 evenly spaced depths, else different
    /// lines.
    #[default]
    Random,
    /// At this depth in percent, 0 the beginning and 100 the end; needles that nobody asks for are
    /// still drawn. For depth × length grids.
    Percent(f64),
}

/// Where in the essay a sample's text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EssayStart {
    /// At a sentence drawn for each sample; the text goes round. Ours: short samples would
    /// otherwise all be about the same few sentences.
    #[default]
    Random,
    /// At the first word, as in RULER.
    Beginning,
}

/// How the prompt is put to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptForm {
    /// A user turn, and the answer prefix as the beginning of the assistant's: for chat models.
    #[default]
    Chat,
    /// Input and answer prefix as one text: for base models.
    Text,
}

/// All that a sample's form depends on. As JSON it also takes RULER's names, in brackets below.
///
/// ```
/// use bosch_eval::niah::{NiahConfig, Subtask};
///
/// let config = NiahConfig::new(Subtask::MultiKey1, 4096).new_tokens(32);
/// assert_eq!((config.keys, config.values, config.queries), (4, 1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NiahConfig {
    /// What surrounds the needles (`type_haystack`).
    #[serde(alias = "type_haystack")]
    pub haystack: HaystackKind,
    /// What a key is (`type_needle_k`).
    #[serde(alias = "type_needle_k")]
    pub key: NeedleKind,
    /// What a value is (`type_needle_v`).
    #[serde(alias = "type_needle_v")]
    pub value: NeedleKind,
    /// Keys in the text (`num_needle_k`), at least `queries`.
    #[serde(alias = "num_needle_k")]
    pub keys: usize,
    /// Values of each key (`num_needle_v`), at least 1.
    #[serde(alias = "num_needle_v")]
    pub values: usize,
    /// Keys asked for (`num_needle_q`), at least 1.
    #[serde(alias = "num_needle_q")]
    pub queries: usize,
    /// Bound on the tokens of the rendered prompt and `new_tokens` together (`max_seq_length`).
    #[serde(alias = "max_seq_length")]
    pub max_tokens: usize,
    /// Tokens kept free for the answer (`tokens_to_generate`). RULER's value, 128, is the default.
    #[serde(alias = "tokens_to_generate")]
    pub new_tokens: usize,
    /// Where the asked needles stand. [`Depth::Random`] is the default.
    #[serde(default)]
    pub depth: Depth,
    /// Where the essay begins. [`EssayStart::Random`] is the default.
    #[serde(default)]
    pub essay_start: EssayStart,
    /// How the prompt is put. [`PromptForm::Chat`] is the default.
    #[serde(default)]
    pub form: PromptForm,
}

impl NiahConfig {
    /// The configuration of a subtask for prompts that, with the answer, have at most `max_tokens`
    /// tokens.
    pub fn new(subtask: Subtask, max_tokens: usize) -> Self {
        use HaystackKind::{Essay, Needles, Noise};
        use NeedleKind::{Numbers, Uuids, Words};
        let (haystack, key, value, [keys, values, queries]) = match subtask {
            Subtask::Single1 => (Noise, Words, Numbers, [1, 1, 1]),
            Subtask::Single2 => (Essay, Words, Numbers, [1, 1, 1]),
            Subtask::Single3 => (Essay, Words, Uuids, [1, 1, 1]),
            Subtask::MultiKey1 => (Essay, Words, Numbers, [4, 1, 1]),
            Subtask::MultiKey2 => (Needles, Words, Numbers, [1, 1, 1]),
            Subtask::MultiKey3 => (Needles, Uuids, Uuids, [1, 1, 1]),
            Subtask::MultiValue => (Essay, Words, Numbers, [1, 4, 1]),
            Subtask::MultiQuery => (Essay, Words, Numbers, [4, 1, 4]),
        };
        Self {
            haystack,
            key,
            value,
            keys,
            values,
            queries,
            max_tokens,
            new_tokens: 128,
            depth: Depth::Random,
            essay_start: EssayStart::Random,
            form: PromptForm::Chat,
        }
    }

    /// Sets the tokens kept free for the answer.
    #[must_use]
    pub fn new_tokens(mut self, tokens: usize) -> Self {
        self.new_tokens = tokens;
        self
    }

    /// Sets where the asked needles stand.
    #[must_use]
    pub fn depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }

    /// Sets where the essay begins.
    #[must_use]
    pub fn essay_start(mut self, start: EssayStart) -> Self {
        self.essay_start = start;
        self
    }

    /// Sets how the prompt is put.
    #[must_use]
    pub fn form(mut self, form: PromptForm) -> Self {
        self.form = form;
        self
    }

    /// The needles of a sample: `keys` · `values`.
    pub fn needles(&self) -> usize {
        self.keys.saturating_mul(self.values)
    }

    /// Refuses what no sample can be made of.
    pub(crate) fn check(&self) -> Result<()> {
        let at_least_one = |what, value| match value {
            0 => Err(Error::input(what, "at least 1", value)),
            _ => Ok(()),
        };
        at_least_one("NiahConfig::values", self.values)?;
        at_least_one("NiahConfig::queries", self.queries)?;
        at_least_one("NiahConfig::max_tokens", self.max_tokens)?;
        if self.queries > self.keys {
            let expected = format!("at least the {} queries", self.queries);
            return Err(Error::input("NiahConfig::keys", expected, self.keys));
        }
        let most = match (self.haystack, self.key) {
            (HaystackKind::Essay, _) => DEPTHS,
            (_, NeedleKind::Words) => WORD_KEYS / 2,
            _ => 1_000_000,
        };
        if self.needles() > most {
            let what = "NiahConfig::keys times values";
            return Err(Error::input(
                what,
                format!("at most {most}"),
                self.needles(),
            ));
        }
        match self.depth {
            Depth::Percent(percent) if !(0.0..=100.0).contains(&percent) => Err(Error::input(
                "NiahConfig::depth",
                "0 to 100 percent",
                percent,
            )),
            _ => Ok(()),
        }
    }
}

/// How many depths RULER draws from.
pub(crate) const DEPTHS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for subtask in Subtask::ALL {
            assert_eq!(Subtask::from_name(subtask.name()), Some(subtask));
            assert_eq!(serde_json::to_value(subtask).unwrap(), subtask.name());
        }
        assert_eq!(Subtask::from_name("multikey_2"), Some(Subtask::MultiKey2));
        assert_eq!(Subtask::from_name("niah"), None);
    }

    #[test]
    fn impossible_settings_are_refused() {
        let base = || NiahConfig::new(Subtask::MultiQuery, 1024);
        let cases = [
            (
                NiahConfig {
                    values: 0,
                    ..base()
                },
                "values: expected at least 1, found 0",
            ),
            (
                NiahConfig {
                    queries: 0,
                    ..base()
                },
                "queries: expected at least 1, found 0",
            ),
            (
                NiahConfig {
                    max_tokens: 0,
                    ..base()
                },
                "max_tokens",
            ),
            (
                NiahConfig {
                    queries: 5,
                    ..base()
                },
                "at least the 5 queries, found 4",
            ),
            (NiahConfig { keys: 41, ..base() }, "at most 40, found 41"),
            (
                NiahConfig {
                    keys: usize::MAX,
                    ..base()
                },
                "at most 40",
            ),
            (
                base().depth(Depth::Percent(f64::NAN)),
                "0 to 100 percent, found NaN",
            ),
            (base().depth(Depth::Percent(100.1)), "found 100.1"),
        ];
        for (config, message) in cases {
            let error = config.check().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(base().check().is_ok());
    }
}
