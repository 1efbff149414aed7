//! Token F1 of answers to questions, English and Chinese (LongBench, `metrics.py`).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::LazyLock;

use regex::Regex;

use super::chinese::segment;
use crate::text::{constant_regex, is_python_space, python_split};

/// Multiset F1 over the words of the two normalised answers, in 0..=1.
///
/// ```
/// use bosch_eval::qa_f1_score;
///
/// assert_eq!(qa_f1_score("The Eiffel Tower.", "eiffel tower"), 1.0);
/// assert_eq!(qa_f1_score("Paris", "Rome"), 0.0);
/// ```
pub fn qa_f1_score(prediction: &str, ground_truth: &str) -> f64 {
    let (prediction, truth) = (normalize_answer(prediction), normalize_answer(ground_truth));
    let words = |text| python_split(text).collect::<Vec<_>>();
    f1(&words(&prediction), &words(&truth))
}

/// Multiset F1 over the jieba tokens of two Chinese answers, punctuation aside, in 0..=1.
///
/// ```
/// assert_eq!(bosch_eval::qa_f1_zh_score("北京。", "北京"), 1.0);
/// ```
pub fn qa_f1_zh_score(prediction: &str, ground_truth: &str) -> f64 {
    let tokens = |text| -> Vec<String> {
        let tokens = segment(text).into_iter().map(normalize_zh_answer);
        tokens.filter(|token| !token.is_empty()).collect()
    };
    f1(&tokens(prediction), &tokens(ground_truth))
}

/// F1 of two multisets; 0 without a common element.
fn f1<T: Hash + Eq>(prediction: &[T], truth: &[T]) -> f64 {
    let mut left: HashMap<&T, usize> = HashMap::new();
    for token in truth {
        *left.entry(token).or_default() += 1;
    }
    let mut common = 0;
    for token in prediction {
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    if common == 0 {
        return 0.0;
    }
    let precision = f64::from(common) / prediction.len() as f64;
    let recall = f64::from(common) / truth.len() as f64;
    2.0 * precision * recall / (precision + recall)
}

/// Lower case, without ASCII punctuation and articles, single spaces.
///
/// ```
/// assert_eq!(bosch_eval::normalize_answer(" The U.S.A., a  land"), "usa land");
/// ```
pub fn normalize_answer(text: &str) -> String {
    // Python's `\b`: a word is a run of letters, numbers and underscores, without marks.
    static WORDS: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"[\p{L}\p{N}_]+"));
    let lower = text.to_lowercase();
    let bare: String = lower
        .chars()
        .filter(|c| !c.is_ascii_punctuation())
        .collect();
    let mut without_articles = String::with_capacity(bare.len());
    let mut copied = 0;
    for word in WORDS.find_iter(&bare) {
        if matches!(word.as_str(), "a" | "an" | "the") {
            without_articles.push_str(&bare[copied..word.start()]);
            without_articles.push(' ');
            copied = word.end();
        }
    }
    without_articles.push_str(&bare[copied..]);
    python_split(&without_articles)
        .collect::<Vec<_>>()
        .join(" ")
}

/// LongBench's list of CJK punctuation; ASCII's comes on top.
const CJK_PUNCTUATION: &str = "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏.";

/// Lower case, without white space, ASCII and CJK punctuation.
///
/// ```
/// assert_eq!(bosch_eval::normalize_zh_answer("《西湖》， A"), "《西湖a");
/// ```
pub fn normalize_zh_answer(text: &str) -> String {
    let lower = text.to_lowercase();
    let dropped =
        |c: char| c.is_ascii_punctuation() || is_python_space(c) || CJK_PUNCTUATION.contains(c);
    lower.chars().filter(|&c| !dropped(c)).collect()
}
