//! Our libtorch decoder as a [`HybridModel`].

mod workers;

use std::path::Path;

use bosch_attn::{
    ChatEnd, ChatTemplate, Decoder, Error, HeadMask, LayerEvaluations, Message, Method,
    ModelConfig, Ranking, Sample, Specials, Tokenizer, Window,
};
use bosch_core::Mask;
use bosch_eval::{BoxError, Generation, Prompt, Question, TextModel, TokenCounter};

use self::workers::{Scorers, available_threads, deal, share};
use crate::{Grid, HybridModel};

/// Lists of questions that are kept prepared, each with its share of the reuse limit: a search may
/// score its samples in a few portions.
const PREPARED_LISTS: usize = 4;

/// Bytes that stored layer inputs may take unless [`DecoderModel::set_reuse_limit`] says otherwise.
const REUSE_LIMIT: usize = 1 << 30;

/// A decoder with its tokenizer and chat template, under a current mask.
///
/// Log-probabilities of the same questions under one mask after another reuse the inputs of the
/// layers below the first difference, to the same bits as without.
pub struct DecoderModel {
    decoder: Decoder,
    tokenizer: Tokenizer,
    chat: Option<ChatTemplate>,
    window: Window,
    mask: HeadMask,
    reuse_limit: usize,
    /// The questions of the last calls and their prepared samples, the latest last.
    prepared: Vec<Prepared>,
    /// Layer evaluations of the questions before.
    earlier: LayerEvaluations,
}

/// Questions, ready to be scored under any mask.
struct Prepared {
    questions: Vec<Question>,
    scorers: Scorers,
}

impl DecoderModel {
    /// Loads a Hugging Face folder, or (feature `gguf`) a GGUF file, with full attention everywhere.
    ///
    /// # Errors
    ///
    /// [`Error`]: a missing, truncated or unsupported file, and what it lacks.
    pub fn load(path: impl AsRef<Path>, window: Window) -> Result<Self, Error> {
        let path = path.as_ref();
        #[cfg(feature = "gguf")]
        if !path.is_dir() {
            let file = bosch_attn::GgufFile::open(path)?;
            let decoder = Decoder::load(
                ModelConfig::from_gguf(&file)?,
                &file,
                bosch_attn::LoadOptions::new(),
            )?;
            return Self::new(decoder, Tokenizer::from_gguf(&file)?, window);
        }
        Self::new(
            Decoder::from_folder(path)?,
            Tokenizer::from_folder(path)?,
            window,
        )
    }

    /// Joins a decoder and its tokenizer, with full attention everywhere.
    ///
    /// # Errors
    ///
    /// [`Error`] when the tokenizer brings a chat template that cannot be read.
    pub fn new(decoder: Decoder, tokenizer: Tokenizer, window: Window) -> Result<Self, Error> {
        let chat = if tokenizer.has_chat_template() {
            Some(tokenizer.chat_template()?)
        } else {
            None
        };
        let mask = HeadMask::zeros(decoder.config().layers, decoder.config().groups);
        Ok(Self {
            decoder,
            tokenizer,
            chat,
            window,
            mask,
            reuse_limit: REUSE_LIMIT,
            prepared: Vec::new(),
            earlier: LayerEvaluations::default(),
        })
    }

    /// The model's configuration.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        self.decoder.config()
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Sets how many bytes of layer inputs may be kept for reuse; 1 GiB at first. What was kept is
    /// dropped.
    pub fn set_reuse_limit(&mut self, bytes: usize) {
        self.reuse_limit = bytes;
        while !self.prepared.is_empty() {
            self.forget_first();
        }
    }

    /// Layer evaluations computed and saved by reuse since the model was loaded; one layer for one
    /// question is 1.
    #[must_use]
    pub fn layer_evaluations(&self) -> LayerEvaluations {
        let mut sum = self.earlier;
        for prepared in &self.prepared {
            let part = prepared.scorers.layer_evaluations();
            sum.done += part.done;
            sum.saved += part.saved;
        }
        sum
    }

    /// The token ids of a prompt, as the model sees it.
    ///
    /// # Errors
    ///
    /// [`Error`] for a chat prompt when the model has no chat template, and when the tokenizer fails.
    pub fn prompt_ids(&self, prompt: &Prompt) -> Result<Vec<u32>, Error> {
        match prompt {
            Prompt::Text(text) => self.tokenizer.encode_with_specials(text),
            Prompt::Chat {
                user,
                answer_prefix,
            } => {
                let Some(chat) = &self.chat else {
                    // The tokenizer's own error says which files were searched.
                    return Err(self
                        .tokenizer
                        .chat_template()
                        .err()
                        .unwrap_or(Error::Input {
                            what: "chat prompt",
                            expected: "a model with a chat template".into(),
                            found: "none".into(),
                        }));
                };
                let header = chat.render(&[Message::user(user)], ChatEnd::OpenAnswer)?;
                self.tokenizer.encode(&(header + answer_prefix))
            }
        }
    }

    fn forget_first(&mut self) {
        let part = self.prepared.remove(0).scorers.layer_evaluations();
        self.earlier.done += part.done;
        self.earlier.saved += part.saved;
    }

    /// Ranks the KV groups by a static method over questions and their answers, whatever mask is applied.
    ///
    /// # Errors
    ///
    /// As [`Decoder::rank`], and as [`prompt_ids`](Self::prompt_ids).
    pub fn rank(&self, method: Method, questions: &[Question]) -> Result<Ranking, Error> {
        self.decoder
            .rank(method, &self.samples(questions)?, self.window)
    }

    fn samples(&self, questions: &[Question]) -> Result<Vec<Sample>, Error> {
        let sample = |question: &Question| {
            Ok(Sample {
                prompt: self.prompt_ids(&question.prompt)?,
                answer: self.tokenizer.encode(&question.answer)?,
            })
        };
        questions.iter().map(sample).collect()
    }

    fn prepare(&self, questions: &[Question]) -> Result<Prepared, Error> {
        let samples = self.samples(questions)?;
        let limit = self.reuse_limit / PREPARED_LISTS;
        let scorers = Scorers::new(&self.decoder, self.window, &samples, limit)?;
        Ok(Prepared {
            questions: questions.to_vec(),
            scorers,
        })
    }

    /// Greedy continuations of at most `count` tokens, ended by the model's stop tokens if `stops`.
    fn continue_ids(
        &self,
        prompts: &[Vec<u32>],
        count: usize,
        stops: bool,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let stop = if stops { self.stop_ids() } else { Vec::new() };
        let settings = bosch_attn::Generation {
            max_new_tokens: count,
            stop,
        };
        let (mask, window) = (&self.mask, self.window);
        let parts = available_threads().min(prompts.len()).max(1);
        let mut decoders: Vec<Decoder> = (0..parts).map(|_| self.decoder.share()).collect();
        deal(&mut decoders, |decoder, index| {
            let share = share(prompts, index, parts);
            let share: Vec<&[u32]> = share.iter().map(Vec::as_slice).collect();
            decoder.generate(&share, mask, window, &settings)
        })
    }

    fn stop_ids(&self) -> Vec<u32> {
        let mut stop = self.tokenizer.stops();
        stop.extend(
            self.decoder
                .config()
                .eos
                .iter()
                .filter(|id| !stop.contains(id))
                .copied()
                .collect::<Vec<_>>(),
        );
        stop
    }
}

impl TextModel for DecoderModel {
    type Error = Error;

    fn generate(
        &mut self,
        prompts: &[Prompt],
        settings: &Generation,
    ) -> Result<Vec<String>, Error> {
        let ids = prompts
            .iter()
            .map(|p| self.prompt_ids(p))
            .collect::<Result<Vec<_>, _>>()?;
        let least = settings.min_new_tokens.min(settings.max_new_tokens);
        // Nothing ends the first `least` tokens; the rest continues from them.
        let heads = if least > 0 {
            self.continue_ids(&ids, least, false)?
        } else {
            vec![Vec::new(); ids.len()]
        };
        let longer: Vec<Vec<u32>> = ids
            .iter()
            .zip(&heads)
            .map(|(ids, head)| [&ids[..], head].concat())
            .collect();
        let tails = self.continue_ids(&longer, settings.max_new_tokens - least, true)?;
        heads
            .iter()
            .zip(&tails)
            .map(|(head, tail)| {
                let protected = self.tokenizer.decode(head, Specials::Skip)?;
                let text = self
                    .tokenizer
                    .decode(&[&head[..], tail].concat(), Specials::Skip)?;
                Ok(cut_at_stop(&text, protected.len(), &settings.stop).to_owned())
            })
            .collect()
    }

    fn answer_log_probabilities(&mut self, questions: &[Question]) -> Result<Vec<f64>, Error> {
        match self
            .prepared
            .iter()
            .position(|prepared| prepared.questions == questions)
        {
            Some(known) => self.prepared[known..].rotate_left(1),
            None => {
                let prepared = self.prepare(questions)?;
                if self.prepared.len() == PREPARED_LISTS {
                    self.forget_first();
                }
                self.prepared.push(prepared);
            }
        }
        match self.prepared.last_mut() {
            Some(prepared) => prepared.scorers.score(&self.mask),
            None => Ok(Vec::new()),
        }
    }
}

impl HybridModel for DecoderModel {
    fn grid(&self) -> Grid {
        let config = self.decoder.config();
        Grid {
            layers: config.layers,
            groups: config.groups,
            query_heads: config.query_heads,
            window: self.window.window(),
            sinks: self.window.sinks(),
        }
    }

    fn apply(&mut self, mask: &Mask) -> Result<(), Error> {
        let bits: Vec<bool> = mask.iter().collect();
        self.mask = HeadMask::from_bits(self.mask.layers(), self.mask.groups(), &bits)?;
        Ok(())
    }
}

impl TokenCounter for DecoderModel {
    fn count(&self, prompt: &Prompt) -> Result<usize, BoxError> {
        Ok(self.prompt_ids(prompt)?.len())
    }
}

/// `text` up to the first stop string that starts at or after byte `from`.
fn cut_at_stop<'t>(text: &'t str, from: usize, stops: &[String]) -> &'t str {
    let from = (from..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let end = stops
        .iter()
        .filter(|stop| !stop.is_empty())
        .filter_map(|stop| text[from..].find(stop.as_str()))
        .min()
        .map_or(text.len(), |at| from + at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::cut_at_stop;

    #[test]
    fn a_stop_string_ends_the_text_after_the_protected_part() {
        let stops = ["\n".to_string(), "###".to_string()];
        assert_eq!(cut_at_stop("a###b\nc", 0, &stops), "a");
        assert_eq!(cut_at_stop("\na\nb", 1, &stops), "\na");
        assert_eq!(cut_at_stop("é\n", 1, &stops), "é");
        assert_eq!(cut_at_stop("abc", 9, &stops), "abc");
        assert_eq!(cut_at_stop("abc", 0, &[String::new()]), "abc");
    }
}
