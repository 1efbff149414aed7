//! ROUGE-L as the Python package rouge 1.0.1 computes it, without its recursion limit.

use std::collections::{HashMap, HashSet};

use super::chinese::segment;
use super::lcs::Matches;
use super::steps::Steps;
use crate::Result;
use crate::text::python_split;

/// Summary-level ROUGE-L over word sets, F measure, in 0..=1; 0 where a text has nothing but dots.
///
/// Sentences end at every ".". For each sentence of the ground truth, the words of the longest
/// common subsequences with all sentences of the prediction go into one set U; precision is |U| by
/// the number of different words of the prediction, recall by that of the ground truth, and the
/// score is `2pr / (p + r + 1e-8)`.
///
/// Cost: words of one text times words of the other, by 64; a thousandfold where sentences of a few
/// words have most of them in common, but in another order. [`Metric::score`](crate::Metric::score)
/// refuses what takes long.
///
/// ```
/// let score = bosch_eval::rouge_score("the cat sat", "the cat ran");
/// assert!((score - 2.0 / 3.0).abs() < 1e-8);
/// ```
pub fn rouge_score(prediction: &str, ground_truth: &str) -> f64 {
    rouge_within(prediction, ground_truth, &mut Steps::unlimited()).unwrap_or_default()
}

/// [`rouge_score`], or an error if it takes more than `steps`.
pub(crate) fn rouge_within(prediction: &str, ground_truth: &str, steps: &mut Steps) -> Result<f64> {
    let mut numbers = HashMap::new();
    let prediction = sentences(prediction, &mut numbers);
    let truth = sentences(ground_truth, &mut numbers);
    if prediction.is_empty() || truth.is_empty() {
        return Ok(0.0);
    }
    let different = |text: &[Vec<usize>]| text.iter().flatten().collect::<HashSet<_>>().len();
    let union = union_of_subsequences(&truth, &prediction, numbers.len(), steps)?;
    let precision = union as f64 / different(&prediction) as f64;
    let recall = union as f64 / different(&truth) as f64;
    Ok(2.0 * (precision * recall / (precision + recall + 1e-8)))
}

/// [`rouge_score`] over jieba tokens, for Chinese.
///
/// ```
/// assert!(bosch_eval::rouge_zh_score("我们去了西湖", "我们去了西湖") > 0.99);
/// ```
pub fn rouge_zh_score(prediction: &str, ground_truth: &str) -> f64 {
    rouge_zh_within(prediction, ground_truth, &mut Steps::unlimited()).unwrap_or_default()
}

/// [`rouge_zh_score`], or an error if it takes more than `steps`.
pub(crate) fn rouge_zh_within(
    prediction: &str,
    ground_truth: &str,
    steps: &mut Steps,
) -> Result<f64> {
    let spaced = |text| segment(text).join(" ");
    rouge_within(&spaced(prediction), &spaced(ground_truth), steps)
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
fn union_of_subsequences(
    truth: &[Vec<usize>],
    prediction: &[Vec<usize>],
    words: usize,
    steps: &mut Steps,
) -> Result<usize> {
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
        let local = LocalNumbers::new(sentence);
        // Only a pair that shares a word not found yet can add one.
        let missing = local.words.iter().filter(|&&word| !found[word]);
        let mut candidates: Vec<usize> = missing
            .flat_map(|&word| containing[word].iter().copied())
            .collect();
        steps.take(16 * (sentence.len() + candidates.len()))?;
        candidates.sort_unstable();
        candidates.dedup();
        for candidate in candidates {
            steps.take(16 * prediction[candidate].len())?;
            let columns = local.of(&prediction[candidate]);
            if columns.iter().all(|&symbol| found[local.words[symbol]]) {
                continue;
            }
            steps.take(500 + local.rows.len() * (8 + 4 * columns.len().div_ceil(64)))?;
            let matches = Matches::new(&columns, local.words.len());
            for symbol in matches.subsequence(&local.rows, &columns) {
                found[local.words[symbol]] = true;
            }
        }
    }
    Ok(found.into_iter().filter(|&found| found).count())
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

    /// Another sentence in these numbers, without its words that are not in this one: a column
    /// where nothing matches changes neither the table nor the walk back.
    fn of(&self, sentence: &[usize]) -> Vec<usize> {
        let numbers = sentence.iter().map(|word| self.numbers.get(word).copied());
        numbers.flatten().collect()
    }
}
