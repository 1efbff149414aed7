//! How a text is cut into words before byte-pair merging: GGUF's `tokenizer.ggml.pre`.
//!
//! The file gives only a name; the rules are those of the models' own `tokenizer.json`, named as in llama.cpp
//! (`src/llama-vocab.cpp`).

use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

/// GPT-2's words: contractions, then letters, digits or other signs with one space before them, then spaces.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Llama 3's words: digits by threes, line ends with the signs before them.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Qwen2's words: as Llama 3's, but every digit alone.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// llama.cpp's rule for files that name none, applied one after the other: signs, GPT-2's words, digits by threes.
const UNNAMED: [&str; 4] = [
    r"[\p{P}\$\+<=>\^~\|]+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    r"\p{N}+",
    r"[0-9][0-9][0-9]",
];

/// The rules that are known, by GGUF's names for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreKind {
    Gpt2,
    SmolLm,
    Qwen2,
    Llama3,
    Unnamed,
}

impl PreKind {
    /// The names that [`PreKind::from_name`] knows, for messages.
    pub(super) const NAMES: &str =
        "gpt-2, smollm, qwen2, deepseek-r1-qwen, llama-bpe, llama3, llama-v3 or default";

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "gpt-2" => Self::Gpt2,
            "smollm" => Self::SmolLm,
            "qwen2" | "deepseek-r1-qwen" => Self::Qwen2,
            "llama-bpe" | "llama3" | "llama-v3" => Self::Llama3,
            "default" => Self::Unnamed,
            _ => return None,
        })
    }

    /// Whether a word that is a token as a whole is not merged from its bytes.
    pub(super) fn ignores_merges(self) -> bool {
        self == Self::Llama3
    }

    /// Whether `encode_with_specials` starts with the first token of a text unless the file says otherwise.
    pub(super) fn adds_bos(self) -> bool {
        self == Self::Llama3
    }

    pub(super) fn normalizer(self) -> Option<NormalizerWrapper> {
        (self == Self::Qwen2).then(|| tokenizers::normalizers::unicode::NFC.into())
    }

    pub(super) fn pre_tokenizer(self) -> tokenizers::Result<PreTokenizerWrapper> {
        let mut steps: Vec<PreTokenizerWrapper> = Vec::new();
        if self == Self::SmolLm {
            steps.push(Digits::new(true).into());
        }
        let patterns: &[&str] = match self {
            Self::Gpt2 | Self::SmolLm => &[GPT2],
            Self::Qwen2 => &[QWEN2],
            Self::Llama3 => &[LLAMA3],
            Self::Unnamed => &UNNAMED,
        };
        for pattern in patterns {
            let pattern = SplitPattern::Regex((*pattern).to_string());
            steps.push(Split::new(pattern, SplitDelimiterBehavior::Isolated, false)?.into());
        }
        steps.push(ByteLevel::new(false, true, false).into());
        Ok(Sequence::new(steps).into())
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

    use super::*;

    fn words(kind: PreKind, text: &str) -> Vec<String> {
        let mut cut = PreTokenizedString::from(text);
        kind.pre_tokenizer()
            .unwrap()
            .pre_tokenize(&mut cut)
            .unwrap();
        cut.get_splits(OffsetReferential::Original, OffsetType::Byte)
            .into_iter()
            .map(|(_, (start, end), _)| text[start..end].to_string())
            .collect()
    }

    #[test]
    fn digits_are_cut_as_each_family_cuts_them() {
        let text = "a 12345";
        assert_eq!(words(PreKind::Gpt2, text), ["a", " 12345"]);
        assert_eq!(
            words(PreKind::SmolLm, text),
            ["a", " ", "1", "2", "3", "4", "5"]
        );
        assert_eq!(
            words(PreKind::Qwen2, text),
            ["a", " ", "1", "2", "3", "4", "5"]
        );
        assert_eq!(words(PreKind::Llama3, text), ["a", " ", "123", "45"]);
        assert_eq!(words(PreKind::Unnamed, text), ["a", " ", "123", "45"]);
    }

    #[test]
    fn contractions_signs_and_line_ends_are_cut_as_each_family_cuts_them() {
        let text = "I'LL (go)!\n\n  ok";
        assert_eq!(
            words(PreKind::Gpt2, text),
            ["I", "'", "LL", " (", "go", ")!", "\n\n ", " ok"]
        );
        assert_eq!(
            words(PreKind::Qwen2, text),
            ["I", "'LL", " (", "go", ")!\n\n", " ", " ok"]
        );
        assert_eq!(words(PreKind::Llama3, text), words(PreKind::Qwen2, text));
    }

    #[test]
    fn no_kind_loses_a_character() {
        let text = "  naïve\t\tx²½ ٣٤٥٦ 你好，世界 🙂\r\n—“q” $1,234.50 e\u{301} \u{a0} end ";
        for name in ["gpt-2", "smollm", "qwen2", "llama-bpe", "default"] {
            let kind = PreKind::from_name(name).unwrap();
            assert_eq!(words(kind, text).concat(), text, "{name}");
        }
    }
}
