//! Scores of one prediction, each named as in the official code.

mod case;
mod chinese;
mod classification;
mod code_sim;
mod difflib;
mod f1;
mod lcs;
mod numbers;
mod rouge;
mod steps;
mod string_match;

pub use case::{Case, score_all};
pub use chinese::segment;
pub use classification::classification_score;
pub use code_sim::{CodeSimBackend, code_sim_score};
pub use f1::{normalize_answer, normalize_zh_answer, qa_f1_score, qa_f1_zh_score};
pub use numbers::{count_score, retrieval_score, retrieval_zh_score};
pub use rouge::{rouge_score, rouge_zh_score};
pub use string_match::{ruler_postprocess, string_match_all, string_match_part};

use code_sim::code_sim_within;
use rouge::{rouge_within, rouge_zh_within};
use serde::{Deserialize, Serialize};
use steps::Steps;

use crate::gsm8k::{Gsm8kFilter, gsm8k_score};
use crate::{Error, Result};

/// A metric by its official name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&str")]
#[non_exhaustive]
pub enum Metric {
    /// `qa_f1_score`, see [`qa_f1_score`].
    QaF1,
    /// `qa_f1_zh_score`, see [`qa_f1_zh_score`].
    QaF1Zh,
    /// `rouge_score`, see [`rouge_score`].
    Rouge,
    /// `rouge_zh_score`, see [`rouge_zh_score`].
    RougeZh,
    /// `classification_score`, see [`classification_score`].
    Classification,
    /// `code_sim_score`, see [`code_sim_score`] with [`CodeSimBackend::Difflib`].
    CodeSim,
    /// `code_sim_score_levenshtein`, see [`code_sim_score`] with [`CodeSimBackend::Levenshtein`].
    CodeSimLevenshtein,
    /// `count_score`, see [`count_score`].
    Count,
    /// `retrieval_score`, see [`retrieval_score`].
    Retrieval,
    /// `retrieval_zh_score`, see [`retrieval_zh_score`].
    RetrievalZh,
    /// `string_match_all`, see [`string_match_all`].
    StringMatchAll,
    /// `string_match_part`, see [`string_match_part`].
    StringMatchPart,
    /// `gsm8k_strict_match`, see [`gsm8k_score`].
    Gsm8kStrict,
    /// `gsm8k_flexible_extract`, see [`gsm8k_score`].
    Gsm8kFlexible,
    /// `gsm8k_cot_strict_match`, see [`gsm8k_score`].
    Gsm8kCotStrict,
    /// `lm_eval_code_sim_score`: lm-evaluation-harness's copy of [`Metric::CodeSim`].
    LmEvalCodeSim,
    /// `lm_eval_string_match_all`: lm-evaluation-harness's copy of [`Metric::StringMatchAll`].
    LmEvalStringMatchAll,
    /// `lm_eval_string_match_part`: for a single sample the same as [`Metric::StringMatchAll`],
    /// as it takes the greatest over samples and the mean over a sample's references.
    LmEvalStringMatchPart,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 18] = [
        Self::QaF1,
        Self::QaF1Zh,
        Self::Rouge,
        Self::RougeZh,
        Self::Classification,
        Self::CodeSim,
        Self::CodeSimLevenshtein,
        Self::Count,
        Self::Retrieval,
        Self::RetrievalZh,
        Self::StringMatchAll,
        Self::StringMatchPart,
        Self::Gsm8kStrict,
        Self::Gsm8kFlexible,
        Self::Gsm8kCotStrict,
        Self::LmEvalCodeSim,
        Self::LmEvalStringMatchAll,
        Self::LmEvalStringMatchPart,
    ];

    /// The official name, `qa_f1_score` for example.
    pub fn name(self) -> &'static str {
        match self {
            Self::QaF1 => "qa_f1_score",
            Self::QaF1Zh => "qa_f1_zh_score",
            Self::Rouge => "rouge_score",
            Self::RougeZh => "rouge_zh_score",
            Self::Classification => "classification_score",
            Self::CodeSim => "code_sim_score",
            Self::CodeSimLevenshtein => "code_sim_score_levenshtein",
            Self::Count => "count_score",
            Self::Retrieval => "retrieval_score",
            Self::RetrievalZh => "retrieval_zh_score",
            Self::StringMatchAll => "string_match_all",
            Self::StringMatchPart => "string_match_part",
            Self::Gsm8kStrict => "gsm8k_strict_match",
            Self::Gsm8kFlexible => "gsm8k_flexible_extract",
            Self::Gsm8kCotStrict => "gsm8k_cot_strict_match",
            Self::LmEvalCodeSim => "lm_eval_code_sim_score",
            Self::LmEvalStringMatchAll => "lm_eval_string_match_all",
            Self::LmEvalStringMatchPart => "lm_eval_string_match_part",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// The score of a prediction, in 0..=1 and not rounded: the greatest over all ground truths
    /// and 0. RULER's two metrics see the ground truths together.
    ///
    /// `all_classes` matters to [`Metric::Classification`] alone.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] without ground truths, for a ground truth that names no paragraph where
    /// one must, and for texts whose score takes more than some five seconds
    /// ([`rouge_score`] and [`code_sim_score`] say what it costs).
    pub fn score<S: AsRef<str>>(
        self,
        prediction: &str,
        ground_truths: &[S],
        all_classes: &[S],
    ) -> Result<f64> {
        if ground_truths.is_empty() {
            return Err(Error::input("ground truths", "at least one", "none"));
        }
        match self {
            Self::StringMatchAll | Self::LmEvalStringMatchAll | Self::LmEvalStringMatchPart => {
                return Ok(string_match_all(prediction, ground_truths));
            }
            Self::StringMatchPart => return Ok(string_match_part(prediction, ground_truths)),
            _ => {}
        }
        let mut best: f64 = 0.0;
        for truth in ground_truths {
            best = best.max(self.single(prediction, truth.as_ref(), all_classes)?);
        }
        Ok(best)
    }

    fn single<S: AsRef<str>>(self, prediction: &str, truth: &str, classes: &[S]) -> Result<f64> {
        let named = |name, score: Option<f64>| {
            score.ok_or_else(|| {
                Error::input("ground truth", format!("\"{name}\" and a number"), truth)
            })
        };
        let code_sim = |backend| code_sim_within(prediction, truth, backend, &mut Steps::limited());
        let gsm8k = |filter| f64::from(u8::from(gsm8k_score(filter, prediction, truth)));
        Ok(match self {
            Self::QaF1 => qa_f1_score(prediction, truth),
            Self::QaF1Zh => qa_f1_zh_score(prediction, truth),
            Self::Rouge => rouge_within(prediction, truth, &mut Steps::limited())?,
            Self::RougeZh => rouge_zh_within(prediction, truth, &mut Steps::limited())?,
            Self::Classification => classification_score(prediction, truth, classes),
            Self::CodeSim | Self::LmEvalCodeSim => code_sim(CodeSimBackend::Difflib)?,
            Self::CodeSimLevenshtein => code_sim(CodeSimBackend::Levenshtein)?,
            Self::Count => count_score(prediction, truth),
            Self::Retrieval => named("Paragraph ", retrieval_score(prediction, truth))?,
            Self::RetrievalZh => named("段落", retrieval_zh_score(prediction, truth))?,
            Self::StringMatchAll | Self::LmEvalStringMatchAll | Self::LmEvalStringMatchPart => {
                string_match_all(prediction, &[truth])
            }
            Self::StringMatchPart => string_match_part(prediction, &[truth]),
            Self::Gsm8kStrict => gsm8k(Gsm8kFilter::Strict),
            Self::Gsm8kFlexible => gsm8k(Gsm8kFilter::Flexible),
            Self::Gsm8kCotStrict => gsm8k(Gsm8kFilter::CotStrict),
        })
    }
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Metric> for &str {
    fn from(metric: Metric) -> Self {
        metric.name()
    }
}

impl TryFrom<String> for Metric {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::from_name(&name).ok_or_else(|| Error::input("metric", known(), name))
    }
}
