//! The seam between the benchmarks and whatever runs the model.

use serde::{Deserialize, Serialize};

use crate::BoxError;

/// What a model is asked to continue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// Plain text, continued as it stands. The runtime adds only the special tokens with which its
    /// tokenizer begins every text.
    Text(String),
    /// A single user turn, rendered with the model's chat template, and the beginning of the
    /// assistant's turn.
    Chat {
        /// The user's message, without any template.
        user: String,
        /// How the assistant begins; it comes directly after the assistant header of the template
        /// and may be empty. It starts without white space.
        answer_prefix: String,
    },
}

impl Prompt {
    /// The prompt's own text, without template: what is left for a tokenizer that knows none.
    ///
    /// ```
    /// use bosch_eval::Prompt;
    ///
    /// let prompt = Prompt::Chat { user: "What is 1 + 1?".into(), answer_prefix: "It is".into() };
    /// assert_eq!(prompt.to_text(), "What is 1 + 1?\nIt is");
    /// ```
    pub fn to_text(&self) -> String {
        match self {
            Prompt::Text(text) => text.clone(),
            Prompt::Chat {
                user,
                answer_prefix,
            } if answer_prefix.is_empty() => user.clone(),
            Prompt::Chat {
                user,
                answer_prefix,
            } => format!("{user}\n{answer_prefix}"),
        }
    }
}

/// A prompt whose answer is known, for scoring by log-probability.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// What comes before the answer.
    pub prompt: Prompt,
    /// The answer as it continues the prompt, the leading space included: `" 1234567"`.
    pub answer: String,
}

/// How a text is generated. Decoding is always greedy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Generation {
    /// Bound on the generated tokens, at least 1.
    pub max_new_tokens: usize,
    /// The end of a sequence and the stop strings end a generation only after this many tokens.
    pub min_new_tokens: usize,
    /// Strings at which a generation ends; the text returned stops before the first of them.
    pub stop: Vec<String>,
}

impl Generation {
    /// At most `max_new_tokens` tokens, without stop strings.
    pub fn new(max_new_tokens: usize) -> Self {
        Self {
            max_new_tokens,
            min_new_tokens: 0,
            stop: Vec::new(),
        }
    }

    /// Adds a string at which the generation ends.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Sets how many tokens are generated before anything can end the generation.
    #[must_use]
    pub fn min_new_tokens(mut self, tokens: usize) -> Self {
        self.min_new_tokens = tokens;
        self
    }
}

/// A language model, as the benchmarks see it. Any runtime can implement it.
///
/// ```
/// use bosch_eval::{Generation, Prompt, Question, TextModel};
///
/// /// Knows one answer.
/// struct Parrot;
///
/// impl TextModel for Parrot {
///     type Error = std::convert::Infallible;
///
///     fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, Self::Error> {
///         Ok(prompts.iter().map(|_| " 1234567".to_owned()).collect())
///     }
///
///     fn answer_log_probabilities(&mut self, questions: &[Question]) -> Result<Vec<f64>, Self::Error> {
///         Ok(questions.iter().map(|q| if q.answer == " 1234567" { 0.0 } else { -9.0 }).collect())
///     }
/// }
///
/// let texts = Parrot.generate(&[Prompt::Text("Say a number:".into())], &Generation::new(8))?;
/// assert_eq!(texts, [" 1234567"]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub trait TextModel {
    /// What can go wrong in the runtime.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Continues each prompt greedily; one text a prompt, in order, without the prompt and without
    /// special tokens. Called with a batch of any size of at least 1.
    ///
    /// # Errors
    ///
    /// The runtime's own. A failing batch is asked again one prompt at a time.
    fn generate(
        &mut self,
        prompts: &[Prompt],
        settings: &Generation,
    ) -> Result<Vec<String>, Self::Error>;

    /// Mean over the answer's tokens of ln p(token | all before it), one value a question, in
    /// order; finite, at most 0. One forward pass a question is enough.
    ///
    /// # Errors
    ///
    /// The runtime's own.
    fn answer_log_probabilities(&mut self, questions: &[Question])
    -> Result<Vec<f64>, Self::Error>;
}

/// Counts the tokens of a prompt as the model will see it: chat template, special tokens and
/// answer prefix included.
///
/// Closures are counters:
///
/// ```
/// use bosch_eval::{BoxError, Prompt, TokenCounter};
///
/// fn words(prompt: &Prompt) -> Result<usize, BoxError> {
///     Ok(prompt.to_text().split_whitespace().count())
/// }
/// assert_eq!(words.count(&Prompt::Text("four words, no template".into()))?, 4);
/// # Ok::<(), BoxError>(())
/// ```
pub trait TokenCounter {
    /// The number of tokens of the rendered prompt. Fitting a prompt to a budget calls it a handful
    /// of times a sample and assumes that more text has more tokens.
    ///
    /// # Errors
    ///
    /// The tokenizer's own.
    fn count(&self, prompt: &Prompt) -> Result<usize, BoxError>;
}

impl<F: Fn(&Prompt) -> Result<usize, BoxError>> TokenCounter for F {
    fn count(&self, prompt: &Prompt) -> Result<usize, BoxError> {
        self(prompt)
    }
}
