//! Prompt templates with the fields `{context}` and `{input}`.

use std::collections::HashMap;
use std::path::Path;

use super::read::LongBenchSample;
use super::table::Dataset;
use crate::{Error, Result, parse_json_line};

/// One template for each data set.
///
/// ```
/// use bosch_eval::longbench::Templates;
///
/// let templates = Templates::built_in();
/// assert!(templates.get("hotpotqa").is_some_and(|text| text.contains("{context}")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Templates(HashMap<String, String>);

impl Templates {
    /// Templates in this project's words, to the effect of the official ones. Scores that are to
    /// be compared with published ones need the official file, see [`from_path`](Self::from_path).
    pub fn built_in() -> Self {
        let templates = Dataset::ALL
            .iter()
            .map(|d| (d.name.to_owned(), built_in(d.name).to_owned()));
        Self(templates.collect())
    }

    /// A JSON object from data set to template, such as the official `dataset2prompt.json`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], or [`Error::Format`] if it is no object of texts.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        let templates =
            parse_json_line(&text).map_err(|error| Error::format(path, error.line(), error))?;
        Ok(Self(templates))
    }

    /// The template of a data set.
    pub fn get(&self, dataset: &str) -> Option<&str> {
        self.0.get(dataset).map(String::as_str)
    }

    /// The prompt of a sample, in the manner of Python's `str.format`: doubled braces are braces.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] without a template for the data set, or for one with other fields.
    pub fn render(&self, dataset: &str, sample: &LongBenchSample) -> Result<String> {
        let template = self.get(dataset).ok_or_else(|| {
            Error::input(
                "template",
                format!("one for the data set {dataset}"),
                "none",
            )
        })?;
        let mut text = String::with_capacity(template.len() + sample.context.len());
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let (value, used) = if rest.starts_with("{{") || rest.starts_with("}}") {
                (&rest[..1], 2)
            } else if rest.starts_with("{context}") {
                (sample.context.as_str(), "{context}".len())
            } else if rest.starts_with("{input}") {
                (sample.input.as_str(), "{input}".len())
            } else {
                let found: String = rest.chars().take(20).collect();
                let what = format!("template of {dataset}");
                return Err(Error::input(what, "{context}, {input}, {{ or }}", found));
            };
            text.push_str(value);
            rest = &rest[used..];
        }
        text.push_str(rest);
        Ok(text)
    }
}

fn built_in(dataset: &str) -> &'static str {
    match dataset {
        "narrativeqa" => {
            "Below is a story or a film script. Read it and reply to the question at the end with \
             a short phrase, without explaining.\n\n{context}\n\nReply with a short phrase only.\n\
             Question: {input}\nAnswer:"
        }
        "qasper" => {
            "Below is a scientific paper. Reply to the question at the end with a phrase or one \
             sentence, without explaining. Write \"yes\" or \"no\" where that answers it, and \
             \"unanswerable\" where the paper does not say.\n\n{context}\n\nReply as briefly as \
             possible; \"yes\", \"no\" and \"unanswerable\" are possible replies.\n\
             Question: {input}\nAnswer:"
        }
        "multifieldqa_en" => {
            "Here is a text.\n\n{context}\n\nUse it to reply to this question. Write the answer \
             and nothing else.\nQuestion: {input}\nAnswer:"
        }
        "multifieldqa_zh" => {
            "请先读下面这篇文章：\n\n{context}\n\n根据文章回答问题，只写出答案本身。\n问题：{input}\n回答："
        }
        "hotpotqa" | "2wikimqa" | "musique" => {
            "Several passages follow; a question about them comes at the end.\n\n{context}\n\n\
             Reply from these passages. Write the answer and nothing else.\n\
             Question: {input}\nAnswer:"
        }
        "dureader" => {
            "下面是几篇文章：\n\n{context}\n\n请根据这些文章回答问题。\n问题：{input}\n回答："
        }
        "gov_report" => {
            "This is a report by a public agency:\n\n{context}\n\nSum it up on about one page.\n\
             Summary:"
        }
        "qmsum" => {
            "This is the record of a meeting:\n\n{context}\n\nReply to the request below in one \
             or a few sentences, from the record.\nRequest: {input}\nAnswer:"
        }
        "multi_news" => {
            "These news articles belong together:\n\n{context}\n\nSum all of them up on about one \
             page.\nSummary:"
        }
        "vcsum" => "以下是一次会议的记录：\n\n{context}\n\n请写一段话总结会议内容。\n总结：",
        "trec" => "Name the type of the last question, as in the examples.\n\n{context}\n{input}",
        "triviaqa" => {
            "Answer the last question from its passage, with the answer alone, as in the \
             examples.\n\n{context}\n\n{input}"
        }
        "samsum" => {
            "Sum up the last dialogue in a few short sentences, as in the examples.\n\n\
             {context}\n\n{input}"
        }
        "lsht" => "仿照下面的例子，写出最后一条新闻的类别。\n\n{context}\n{input}",
        "passage_count" => {
            "Some of the following paragraphs occur more than once.\n\n{context}\n\nHow many \
             different paragraphs are there? Write the number alone.\nNumber: "
        }
        "passage_retrieval_en" => {
            "Here are numbered paragraphs.\n\n{context}\n\nOne of them is summed up like this:\n\n\
             {input}\n\nWhich one? Reply in the form \"Paragraph 1\".\nAnswer: "
        }
        "passage_retrieval_zh" => {
            "下面是若干编号的段落。\n\n{context}\n\n其中一段的摘要如下：\n\n{input}\n\n\
             摘要对应哪一段？请按\"段落1\"的格式回答。\n答案："
        }
        "lcc" => "Write the next line of this code.\n{context}Next line:\n",
        "repobench-p" => "Write the next line of this code.\n{context}{input}Next line:\n",
        _ => "{context}\n\n{input}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> LongBenchSample {
        serde_json::from_str(r#"{"context": "C{input}", "input": "I", "answers": ["A"]}"#).unwrap()
    }

    #[test]
    fn every_data_set_has_a_template_with_its_fields() {
        let templates = Templates::built_in();
        for dataset in &Dataset::ALL {
            let prompt = templates.render(dataset.name, &sample()).unwrap();
            assert!(prompt.contains("C{input}"), "{prompt}");
            let asks = !matches!(
                dataset.name,
                "gov_report" | "multi_news" | "vcsum" | "passage_count" | "lcc"
            );
            assert_eq!(
                templates.get(dataset.name).unwrap().contains("{input}"),
                asks
            );
        }
    }

    #[test]
    fn no_template_has_a_literal_backslash_n() {
        // lm-evaluation-harness PR 3273.
        let templates = Templates::built_in();
        for dataset in &Dataset::ALL {
            let text = templates.get(dataset.name).unwrap();
            assert!(!text.contains('\\') && text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn fields_are_filled_once_and_unknown_ones_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, r#"{"a": "{{{input}}} {context}", "b": "{answer}"}"#).unwrap();
        let templates = Templates::from_path(file.path()).unwrap();
        assert_eq!(templates.render("a", &sample()).unwrap(), "{I} C{input}");
        let error = templates.render("b", &sample()).unwrap_err().to_string();
        assert!(
            error.contains("template of b: expected {context}"),
            "{error}"
        );
        assert!(templates.render("c", &sample()).is_err());
        std::fs::write(&file, "[]").unwrap();
        assert!(matches!(
            Templates::from_path(file.path()),
            Err(Error::Format { .. })
        ));
    }
}
