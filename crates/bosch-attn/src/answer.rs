//! The log-probability of an answer after a prompt, in one pass.

use tch::{Kind, Tensor};

use crate::decoder::Decoder;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::{Pass, Run, Stretch, layer_runs};

/// A prompt and the answer that should follow it, as token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// What the model reads; at least one token.
    pub prompt: Vec<u32>,
    /// What it is asked about; at least one token.
    pub answer: Vec<u32>,
}

impl Decoder {
    /// ln p of each answer token given the prompt and the answer tokens before it.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for an empty prompt or answer, ids outside the vocabulary, a mask of another shape, or a text that is
    /// too long.
    pub fn answer_log_probabilities(
        &self,
        sample: &Sample,
        mask: &HeadMask,
        window: Window,
    ) -> Result<Vec<f64>, Error> {
        let _guard = tch::no_grad_guard();
        mask.check(self.config().layers, self.config().groups)?;
        let prepared = Prepared::new(self, sample, window)?;
        let layers = layer_runs(self.config(), mask, window);
        let mut hidden = prepared.input.shallow_clone();
        for (index, runs) in layers.iter().enumerate().take(layers.len() - 1) {
            hidden = prepared.layer(self, index, &hidden, runs);
        }
        Ok(layers
            .last()
            .map_or_else(Vec::new, |runs| prepared.answer(self, &hidden, runs)))
    }
}

/// A sample ready to be scored under any mask: what does not depend on the mask.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Input of layer 0, `[T, D]`, T = prompt + answer − 1: the last answer token is predicted, never read.
    pub(crate) input: Tensor,
    answer: Tensor,
    pass: Pass,
    last_pass: Pass,
}

impl Prepared {
    pub(crate) fn new(decoder: &Decoder, sample: &Sample, window: Window) -> Result<Self, Error> {
        let config = decoder.config();
        for (what, tokens) in [("prompt", &sample.prompt), ("answer", &sample.answer)] {
            if tokens.is_empty() {
                return Err(Error::input(what, "at least one token", "none"));
            }
        }
        let ids = decoder.ids(&[&sample.prompt[..], &sample.answer].concat())?;
        let (length, answer) = (
            sample.prompt.len() + sample.answer.len() - 1,
            sample.answer.len(),
        );
        decoder.check_length(length)?;
        let layers: Vec<Vec<Run>> = [false, true]
            .into_iter()
            .flat_map(|swa| {
                let bits = vec![swa; config.layers * config.groups];
                HeadMask::from_bits(config.layers, config.groups, &bits)
                    .map(|mask| layer_runs(config, &mask, window))
            })
            .flatten()
            .collect();
        let rules = layers.iter().flatten().map(|run| run.rule);
        Ok(Self {
            input: decoder.embed(&ids.narrow(0, 0, length as i64)),
            answer: ids
                .narrow(0, sample.prompt.len() as i64, answer as i64)
                .to_device(decoder.device()),
            pass: decoder.pass(&[Stretch::whole(length)], &layers),
            last_pass: Pass::tail(
                config,
                length,
                answer,
                rules,
                (decoder.kind(), decoder.device()),
            ),
        })
    }

    /// Output of layer `index`, `[T, D]`.
    pub(crate) fn layer(
        &self,
        decoder: &Decoder,
        index: usize,
        hidden: &Tensor,
        runs: &[Run],
    ) -> Tensor {
        match decoder.layer(index) {
            Some(block) => block.forward(hidden, runs, &self.pass, None),
            None => hidden.shallow_clone(), // callers count layers from the configuration
        }
    }

    /// ln p of each answer token from the last layer's input `[T, D]`: only the positions that predict the answer go
    /// through the last layer's queries, its MLP and the head.
    pub(crate) fn answer(&self, decoder: &Decoder, hidden: &Tensor, runs: &[Run]) -> Vec<f64> {
        let Some(block) = decoder.layer(decoder.config().layers - 1) else {
            return Vec::new();
        };
        let logits = decoder.project(&block.forward(hidden, runs, &self.last_pass, None)); // [answer, V]
        let chosen =
            logits
                .log_softmax(-1, Kind::Float)
                .gather(1, &self.answer.unsqueeze(1), false);
        (0..chosen.size()[0])
            .map(|index| chosen.double_value(&[index, 0]))
            .collect()
    }
}
