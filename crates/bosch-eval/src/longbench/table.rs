//! The official table: category, metric, length and rules of each data set.

use serde::{Deserialize, Serialize};

use crate::Metric;

/// The six categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Questions about one document.
    SingleDocQa,
    /// Questions about several documents.
    MultiDocQa,
    /// Summaries.
    Summarization,
    /// Examples in the prompt.
    FewShot,
    /// Counting and finding paragraphs.
    Synthetic,
    /// The next line of code.
    Code,
}

impl Category {
    /// All six, in the order of the paper.
    pub const ALL: [Self; 6] = [
        Self::SingleDocQa,
        Self::MultiDocQa,
        Self::Summarization,
        Self::FewShot,
        Self::Synthetic,
        Self::Code,
    ];
}

/// One of the 21 data sets.
#[derive(Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The official name, `hotpotqa` for example.
    pub name: &'static str,
    /// Its category.
    pub category: Category,
    /// Its metric.
    pub metric: Metric,
    /// Bound on the generated tokens.
    pub max_new_tokens: usize,
    /// Whether it is also in LongBench-E, whose scores are given by length.
    pub in_e: bool,
}

impl Dataset {
    /// All of them, by category.
    pub const ALL: [Self; 21] = {
        use Category::{Code, FewShot, MultiDocQa, SingleDocQa, Summarization, Synthetic};
        use Metric::{
            Classification, CodeSim, Count, QaF1, QaF1Zh, Retrieval, RetrievalZh, Rouge, RougeZh,
        };
        [
            row("narrativeqa", SingleDocQa, QaF1, 128, false),
            row("qasper", SingleDocQa, QaF1, 128, true),
            row("multifieldqa_en", SingleDocQa, QaF1, 64, true),
            row("multifieldqa_zh", SingleDocQa, QaF1Zh, 64, false),
            row("hotpotqa", MultiDocQa, QaF1, 32, true),
            row("2wikimqa", MultiDocQa, QaF1, 32, true),
            row("musique", MultiDocQa, QaF1, 32, false),
            row("dureader", MultiDocQa, RougeZh, 128, false),
            row("gov_report", Summarization, Rouge, 512, true),
            row("qmsum", Summarization, Rouge, 512, false),
            row("multi_news", Summarization, Rouge, 512, true),
            row("vcsum", Summarization, RougeZh, 512, false),
            row("trec", FewShot, Classification, 64, true),
            row("triviaqa", FewShot, QaF1, 32, true),
            row("samsum", FewShot, Rouge, 128, true),
            row("lsht", FewShot, Classification, 64, false),
            row("passage_count", Synthetic, Count, 32, true),
            row("passage_retrieval_en", Synthetic, Retrieval, 32, true),
            row("passage_retrieval_zh", Synthetic, RetrievalZh, 32, false),
            row("lcc", Code, CodeSim, 64, true),
            row("repobench-p", Code, CodeSim, 64, true),
        ]
    };

    /// The data set of that name; LongBench-E's names with `_e` at the end are the same ones.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        static ALL: [Dataset; 21] = Dataset::ALL;
        let find = |name| ALL.iter().find(|dataset| dataset.name == name);
        find(name).or_else(|| find(name.strip_suffix("_e")?))
    }

    /// Whether only the first line of a prediction counts: the few-shot tasks.
    pub fn first_line_only(&self) -> bool {
        self.category == Category::FewShot
    }

    /// Whether the prompt goes through the chat template of a chat model: neither few-shot nor code.
    pub fn is_chat(&self) -> bool {
        !matches!(self.category, Category::FewShot | Category::Code)
    }

    /// Whether a generation also ends at a line break, after at least one token: samsum alone.
    pub fn stops_at_newline(&self) -> bool {
        self.name == "samsum"
    }
}

const fn row(
    name: &'static str,
    category: Category,
    metric: Metric,
    max_new_tokens: usize,
    in_e: bool,
) -> Dataset {
    Dataset {
        name,
        category,
        metric,
        max_new_tokens,
        in_e,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_official_counts() {
        let count = |keep: fn(&Dataset) -> bool| Dataset::ALL.iter().filter(|d| keep(d)).count();
        assert_eq!(count(|d| d.in_e), 13);
        assert_eq!(count(|d| !d.is_chat()), 6);
        assert_eq!(count(|d| d.first_line_only()), 4);
        let sizes = Category::ALL.map(|c| Dataset::ALL.iter().filter(|d| d.category == c).count());
        assert_eq!(sizes, [4, 4, 4, 4, 3, 2]);
        assert_eq!(Dataset::from_name("qasper_e"), Dataset::from_name("qasper"));
        assert_eq!(Dataset::from_name("squad"), None);
    }
}
