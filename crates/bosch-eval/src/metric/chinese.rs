//! Chinese words as the Python package jieba 0.42 cuts them, new words by its HMM included.

mod model;

use std::sync::LazyLock;

use jieba_rs::Jieba;
use regex::Regex;

use crate::text::constant_regex;

static JIEBA: LazyLock<Jieba> = LazyLock::new(model::jieba);

/// The tokens of `text`; white space and punctuation are tokens of their own.
///
/// Of 100 000 random texts (9 million characters) none was cut otherwise than by jieba 0.42.1:
/// `scripts/compare-scorers --words --count 100000 --seed 1`.
///
/// ```
/// assert_eq!(bosch_eval::segment("我们去了西湖"), ["我们", "去", "了", "西湖"]);
/// ```
pub fn segment(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|c| !is_cut(c)) {
            Some(0) if rest.starts_with("\r\n") => 2,
            Some(0) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(length);
        if is_cut(first) {
            cut(piece, &mut tokens);
        } else {
            tokens.push(piece);
        }
        rest = after;
    }
    tokens
}

/// Whether jieba looks for words at `c`: the Han of its time and some ASCII. Any other character,
/// later Han too, is a token of its own.
fn is_cut(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fd5}' | '+' | '#' | '&' | '.' | '_' | '%' | '-'
    ) || c.is_ascii_alphanumeric()
}

/// The words of a run of such characters.
fn cut<'a>(run: &'a str, tokens: &mut Vec<&'a str>) {
    for token in JIEBA.cut(run, true) {
        let token = token.word;
        if token.len() > 1 && token.is_ascii() && !JIEBA.has_word(token) {
            split_ascii(token, tokens);
        } else {
            tokens.push(token);
        }
    }
}

/// jieba cuts runs of ASCII into numbers or words and what is between; jieba-rs keeps them whole.
fn split_ascii<'a>(token: &'a str, tokens: &mut Vec<&'a str>) {
    static PIECES: LazyLock<Regex> =
        LazyLock::new(|| constant_regex(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?"));
    let mut copied = 0;
    for piece in PIECES.find_iter(token) {
        tokens.extend(Some(&token[copied..piece.start()]).filter(|between| !between.is_empty()));
        tokens.push(piece.as_str());
        copied = piece.end();
    }
    tokens.extend(Some(&token[copied..]).filter(|rest| !rest.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jieba_does_not_know_is_cut_by_characters() {
        let tokens = segment("㐀㐀𠮷𠮷鿖鿖 한글\r\n\u{1c}é١٢");
        let characters = [
            "㐀", "㐀", "𠮷", "𠮷", "鿖", "鿖", " ", "한", "글", "\r\n", "\u{1c}", "é",
        ];
        assert_eq!(tokens[..12], characters);
        assert_eq!(tokens[12..], ["١", "٢"]);
    }
}
