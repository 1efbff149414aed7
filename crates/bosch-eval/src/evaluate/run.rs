//! The loop: batches of items, generation, scores, records.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::results::{Record, ResultsFile};
use crate::{Error, Generation, Item, Prompt, Result, Task, TextModel};

/// How [`evaluate`] goes about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluateSettings {
    /// Samples given to the model at a time, at least 1.
    pub batch: usize,
    /// Only the first so many samples of the task.
    pub limit: Option<usize>,
    /// File of results, appended sample by sample. Samples with a score in it are not asked again;
    /// failed ones are.
    pub results: Option<PathBuf>,
}

impl Default for EvaluateSettings {
    /// One sample at a time, all samples, no file.
    fn default() -> Self {
        Self {
            batch: 1,
            limit: None,
            results: None,
        }
    }
}

impl EvaluateSettings {
    /// Sets the batch size.
    #[must_use]
    pub fn batch(mut self, samples: usize) -> Self {
        self.batch = samples;
        self
    }

    /// Sets how many samples of the task are taken.
    #[must_use]
    pub fn limit(mut self, samples: usize) -> Self {
        self.limit = Some(samples);
        self
    }

    /// Sets the results file.
    #[must_use]
    pub fn results(mut self, path: impl Into<PathBuf>) -> Self {
        self.results = Some(path.into());
        self
    }
}

/// What an observer of [`evaluate`] hears.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The file of results has been read.
    Started {
        /// Samples in all.
        total: usize,
        /// Of these, how many already have a score.
        recorded: usize,
    },
    /// One more sample is done, or has failed.
    Sample {
        /// Samples done so far, recorded and failed ones included.
        done: usize,
        /// Samples in all.
        total: usize,
        /// What became of it.
        record: &'a Record,
    },
}

/// The records of a task, in the order of the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The task's name.
    pub task: String,
    /// One for each sample that was asked.
    pub records: Vec<Record>,
    /// Samples that were not asked, as the observer stopped the evaluation.
    pub missing: usize,
}

impl Evaluation {
    /// How many samples failed: their records have an error and no score.
    pub fn failed(&self) -> usize {
        self.records
            .iter()
            .filter(|record| record.score.is_none())
            .count()
    }

    /// Mean score of the samples that have one, 0..=100 and not rounded; None without any. Look at
    /// [`failed`](Self::failed) and [`missing`](Self::missing) too: they are left out, not 0.
    pub fn score(&self) -> Option<f64> {
        let scores: Vec<f64> = self
            .records
            .iter()
            .filter_map(|record| record.score)
            .collect();
        (!scores.is_empty()).then(|| 100.0 * scores.iter().sum::<f64>() / scores.len() as f64)
    }
}

/// Asks the model all samples of a task and scores its answers.
///
/// A batch whose generation fails is asked again one sample at a time; a sample that fails alone is
/// recorded with its error, counted, and the others go on. `observer` hears of each sample and can
/// stop the evaluation, which keeps what is done.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use bosch_eval::gsm8k::{Gsm8k, Gsm8kFilter, Gsm8kQuestion};
/// use bosch_eval::{EvaluateSettings, Generation, Prompt, Question, TextModel, evaluate};
///
/// struct Always(&'static str);
///
/// impl TextModel for Always {
///     type Error = std::convert::Infallible;
///
///     fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, Self::Error> {
///         Ok(vec![self.0.to_owned(); prompts.len()])
///     }
///
///     fn answer_log_probabilities(&mut self, questions: &[Question]) -> Result<Vec<f64>, Self::Error> {
///         Ok(vec![0.0; questions.len()])
///     }
/// }
///
/// let question = |question: &str, answer: &str| Gsm8kQuestion {
///     question: question.to_owned(),
///     answer: answer.to_owned(),
/// };
/// let questions = vec![question("What is 1 + 1?", "#### 2"), question("And 2 + 2?", "#### 4")];
/// let task = Gsm8k::new(questions, &[], Gsm8kFilter::Strict);
/// let settings = EvaluateSettings::default().batch(8);
/// let evaluation =
///     evaluate(&mut Always("#### 4"), &task, &settings, |_| ControlFlow::Continue(()))?;
/// assert_eq!((evaluation.score(), evaluation.failed()), (Some(50.0), 0));
/// # Ok::<(), bosch_eval::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Input`] for a batch of 0, [`Error::Io`] and [`Error::Format`] for the results file,
/// the latter also if it has results of another task or of other prompts.
pub fn evaluate<M: TextModel>(
    model: &mut M,
    task: &dyn Task,
    settings: &EvaluateSettings,
    mut observer: impl FnMut(&Event<'_>) -> ControlFlow<()>,
) -> Result<Evaluation> {
    if settings.batch == 0 {
        return Err(Error::input("EvaluateSettings::batch", "at least 1", 0));
    }
    let total = settings
        .limit
        .map_or(task.samples(), |limit| limit.min(task.samples()));
    let (mut file, mut records) = match &settings.results {
        Some(path) => {
            let (file, records) = ResultsFile::open(path, task.name())?;
            (Some(file), records)
        }
        None => (None, BTreeMap::new()),
    };
    records.retain(|&index, record| index < total && record.score.is_some());
    check_prompts(task, &records, file.as_ref())?;

    let mut stopped = observer(&Event::Started {
        total,
        recorded: records.len(),
    })
    .is_break();
    let open: Vec<usize> = (0..total)
        .filter(|index| !records.contains_key(index))
        .collect();
    for indices in open.chunks(settings.batch) {
        if stopped {
            break;
        }
        for record in batch(model, task, indices) {
            if let Some(file) = &mut file {
                file.append(&record)?;
            }
            let done = records.len() + 1;
            stopped |= observer(&Event::Sample {
                done,
                total,
                record: &record,
            })
            .is_break();
            records.insert(record.index, record);
        }
    }
    let missing = total - records.len();
    Ok(Evaluation {
        task: task.name().to_owned(),
        records: records.into_values().collect(),
        missing,
    })
}

/// Refuses a file with results of other prompts.
fn check_prompts(
    task: &dyn Task,
    records: &BTreeMap<usize, Record>,
    file: Option<&ResultsFile>,
) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    for (&index, record) in records {
        if Record::new(task.name(), index, &task.item(index)?).prompt != record.prompt {
            let problem = format!("expected results of these prompts, sample {index} had another");
            return Err(Error::format(file.path(), 0, problem));
        }
    }
    Ok(())
}

/// The records of some samples, in their order. Items with other settings are asked separately.
fn batch<M: TextModel>(model: &mut M, task: &dyn Task, indices: &[usize]) -> Vec<Record> {
    let mut records = Vec::with_capacity(indices.len());
    let mut asked: Vec<(usize, Item)> = Vec::with_capacity(indices.len());
    for &index in indices {
        match task.item(index) {
            Ok(item) => asked.push((index, item)),
            Err(error) => records.push(unasked(task.name(), index, &error)),
        }
    }
    for same in asked.chunk_by(|(_, a), (_, b)| a.generation == b.generation) {
        let prompts: Vec<Prompt> = same.iter().map(|(_, item)| item.prompt.clone()).collect();
        let texts = texts(model, &prompts, &same[0].1.generation);
        records.extend(same.iter().zip(texts).map(|((index, item), text)| {
            let mut record = Record::new(task.name(), *index, item);
            match text {
                Ok(text) => {
                    let text = until_stop(&text, &item.generation).to_owned();
                    match task.score(item, &text) {
                        Ok(score) if (0.0..=1.0).contains(&score) => record.score = Some(score),
                        Ok(score) => {
                            record.error =
                                Some(format!("expected a score in 0..=1, found {score}"));
                        }
                        Err(error) => record.error = Some(with_sources(&error)),
                    }
                    record.pred = Some(text);
                }
                Err(error) => record.error = Some(error),
            }
            record
        }));
    }
    records.sort_by_key(|record| record.index);
    records
}

/// One generation or error a prompt; prompt by prompt where all together fail.
fn texts<M: TextModel>(
    model: &mut M,
    prompts: &[Prompt],
    generation: &Generation,
) -> Vec<std::result::Result<String, String>> {
    let error = match model.generate(prompts, generation) {
        Ok(texts) if texts.len() == prompts.len() => return texts.into_iter().map(Ok).collect(),
        Ok(texts) => format!(
            "expected {} texts, the model gave {}",
            prompts.len(),
            texts.len()
        ),
        Err(error) => with_sources(&error),
    };
    if let [_] = prompts {
        return vec![Err(error)];
    }
    prompts
        .chunks(1)
        .flat_map(|prompt| texts(model, prompt, generation))
        .collect()
}

/// The text before the first stop string, for runtimes that return more. With a minimum of new
/// tokens the first character is taken to be within it.
fn until_stop<'a>(text: &'a str, generation: &Generation) -> &'a str {
    let protected = match generation.min_new_tokens {
        0 => 0,
        _ => text.chars().next().map_or(0, char::len_utf8),
    };
    let stops = generation.stop.iter().filter(|stop| !stop.is_empty());
    let ends = stops.filter_map(|stop| text[protected..].find(stop.as_str()));
    ends.min().map_or(text, |end| &text[..protected + end])
}

fn unasked(task: &str, index: usize, error: &Error) -> Record {
    Record {
        task: task.to_owned(),
        index,
        pred: None,
        answers: Vec::new(),
        all_classes: None,
        length: None,
        score: None,
        error: Some(with_sources(error)),
        prompt: String::new(),
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
