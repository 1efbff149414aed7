//! Chinese words as the Python package jieba 0.42 cuts them, new words by its HMM included.

use std::sync::LazyLock;

use jieba_rs::Jieba;
use regex::Regex;

use crate::text::constant_regex;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// The tokens of `text`; white space and punctuation are tokens of their own.
///
/// ```
/// assert_eq!(bosch_eval::segment("我们去了西湖"), ["我们", "去", "了", "西湖"]);
/// ```
pub fn segment(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for token in JIEBA.cut(text, true) {
        let token = token.word;
        if token.len() > 1 && token.is_ascii() && !JIEBA.has_word(token) {
            split_ascii(token, &mut tokens);
        } else {
            tokens.push(token);
        }
    }
    tokens
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
