//! ROUGE-L as the Python package rouge 1.0.1 computes it, without its recursion limit.

use std::collections::{HashMap, HashSet};

use super::chinese::segment;
use super::lcs::Matches;
use crate::text::python_split;
use crate::{Error, Result};

/// Summary-level ROUGE-L over word sets, F measure, in 0..=1; 0 where a text has nothing but dots.
///
/// Sentences end at every ".". For each sentence of the ground truth, the words of the longest
/// common subsequences with all sentences of the prediction go into one set U; precision is |U| by
/// the number of different words of the prediction, recall by that of the ground truth, and the
/// score is `2pr / (p + r + 1e-8)`.
///
/// Cost: words of one text times words of the other, by 64.
///
/// ```
/// let score = bosch_eval::rouge_score("the cat sat", "the cat ran");
/// assert!((score - 2.0 / 3.0).abs() < 1e-8);
/// ```
pub fn rouge_score(prediction: &str, ground_truth: &str) -> f64 {
    let mut numbers = HashMap::new();
    let prediction = sentences(prediction, &mut numbers);
    let truth = sentences(ground_truth, &mut numbers);
    if prediction.is_empty() || truth.is_empty() {
        return 0.0;
    }
    let different = |text: &[Vec<usize>]| text.iter().flatten().collect::<HashSet<_>>().len();
    let union = union_of_subsequences(&truth, &prediction, numbers.len());
    let precision = union as f64 / different(&prediction) as f64;
    let recall = union as f64 / different(&truth) as f64;
    2.0 * (precision * recall / (precision + recall + 1e-8))
}

/// [`rouge_score`] over jieba tokens, for Chinese.
///
/// ```
/// assert!(bosch_eval::rouge_zh_score("我们去了西湖", "我们去了西湖") > 0.99);
/// ```
pub fn rouge_zh_score(prediction: &str, ground_truth: &str) -> f64 {
    let spaced = |text| segment(text).join(" ");
    rouge_score(&spaced(prediction), &spaced(ground_truth))
}

/// The sentences of a text, each as its words' numbers. A sentence of white space is one word "".
fn sentences<'a>(text: &'a str, numbers: &mut HashMap<&'a str, usize>) -> Vec<Vec<usize>> {
    let mut number = |word| {
        let next = numbers.len();
        *numbers.entry(word).or_insert(next)
    };
    let pieces = text.split('.').filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| {
            let words: Vec<usize> = python_split(piece).map(&mut number).collect();
            if words.is_empty() {
                vec![number("")]
            } else {
                words
            }
        })
        .collect()
}

/// Number of different words in the longest common subsequences of all pairs of sentences.
fn union_of_subsequences(truth: &[Vec<usize>], prediction: &[Vec<usize>], words: usize) -> usize {
    let mut containing: Vec<Vec<usize>> = vec![Vec::new(); words]; // sentences with a word
    for (i, sentence) in prediction.iter().enumerate() {
        for &word in sentence {
            if containing[word].last() != Some(&i) {
                containing[word].push(i);
            }
        }
    }
    let mut found = vec![false; words];
    for sentence in truth {
        // Only a pair that shares a word not found yet can add one.
        let missing: Vec<usize> = sentence
            .iter()
            .copied()
            .filter(|&word| !found[word])
            .collect();
        let mut candidates: Vec<usize> = missing
            .iter()
            .flat_map(|&word| containing[word].iter().copied())
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.is_empty() {
            continue;
        }
        let mut local = LocalNumbers::new(sentence);
        for candidate in candidates {
            let columns = local.of(&prediction[candidate]);
            let may_add = columns
                .iter()
                .any(|&symbol| local.word(symbol).is_some_and(|word| !found[word]));
            if may_add {
                let matches = Matches::new(&columns, local.count());
                for symbol in matches.subsequence(&local.rows, &columns) {
                    if let Some(word) = local.word(symbol) {
                        found[word] = true;
                    }
                }
            }
        }
    }
    found.into_iter().filter(|&found| found).count()
}

/// The words of one sentence of the truth numbered from 0, so that bit masks stay few.
struct LocalNumbers {
    numbers: HashMap<usize, usize>,
    words: Vec<usize>,
    rows: Vec<usize>,
}

impl LocalNumbers {
    fn new(sentence: &[usize]) -> Self {
        let mut numbers = HashMap::new();
        let mut words = Vec::new();
        let mut rows = Vec::with_capacity(sentence.len());
        for &word in sentence {
            let number = *numbers.entry(word).or_insert_with(|| {
                words.push(word);
                words.len() - 1
            });
            rows.push(number);
        }
        Self {
            numbers,
            words,
            rows,
        }
    }

    fn count(&self) -> usize {
        self.words.len()
    }

    fn word(&self, symbol: usize) -> Option<usize> {
        self.words.get(symbol).copied()
    }

    /// Another sentence in these numbers; words that are not in this one get a number without word.
    fn of(&mut self, sentence: &[usize]) -> Vec<usize> {
        sentence
            .iter()
            .map(|word| *self.numbers.get(word).unwrap_or(&usize::MAX))
            .collect()
    }
}

/// Refuses texts whose score would take more than some ten seconds.
pub(crate) fn check_cost(prediction: &str, truth: &str) -> Result<()> {
    let words = |text| python_split(text).count();
    check_words(words(prediction), words(truth))
}

/// [`check_cost`] where almost every character may be a word.
pub(crate) fn check_cost_zh(prediction: &str, truth: &str) -> Result<()> {
    let words = |text: &str| text.chars().filter(|c| !c.is_ascii_alphanumeric()).count();
    check_words(words(prediction), words(truth))
}

fn check_words(prediction: usize, truth: usize) -> Result<()> {
    const MOST: usize = 20_000_000_000;
    match prediction.saturating_mul(truth) {
        0..=MOST => Ok(()),
        product => Err(Error::input(
            "words of prediction times words of ground truth",
            format!("at most {MOST} for ROUGE"),
            product,
        )),
    }
}
