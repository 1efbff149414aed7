//! The decoder: embedding, layers, head, for any mask of heads.

mod load;
mod specialize;

use tch::{Device, Kind, Tensor};

use crate::attention::{Rule, Span};
use crate::block::Block;
use crate::cache::{KvCache, cached_span};
use crate::config::{ModelConfig, RopeScaling};
use crate::error::Error;
use crate::linear::Linear;
use crate::mask::{HeadMask, Window};
use crate::norm::RmsNorm;
use crate::plan::{Pass, Run, Stretch, layer_runs};

pub use load::LoadOptions;

/// A decoder whose KV groups can be told, pass by pass, to use sliding-window attention.
///
/// The weights never change; masks, windows and caches are arguments.
#[derive(Debug)]
pub struct Decoder {
    config: ModelConfig,
    kind: Kind,
    device: Device,
    longer_texts: bool,
    embedding: Tensor,
    layers: Vec<Block>,
    norm: RmsNorm,
    head: Linear,
}

impl Decoder {
    /// The configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The element type of weights and activations.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where the weights are.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The same decoder over the same memory, for another thread (a [`Tensor`] cannot be read from two).
    #[must_use]
    pub fn share(&self) -> Self {
        Self {
            config: self.config.clone(),
            kind: self.kind,
            device: self.device,
            longer_texts: self.longer_texts,
            embedding: self.embedding.shallow_clone(),
            layers: self.layers.iter().map(Block::share).collect(),
            norm: self.norm.share(),
            head: self.head.share(),
        }
    }

    /// Permits texts beyond `max_positions` also where the model has no rotary scaling.
    #[must_use]
    pub fn with_longer_texts(mut self) -> Self {
        self.longer_texts = true;
        self
    }

    /// Logits `[B, T, V]` in float32 for token ids `[B, T]` (int64), all texts of the same length and without padding.
    ///
    /// A mask of zeros is the model as it was trained.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for ids of another shape or type, none at all, or outside the vocabulary; for a mask of another
    /// shape; for texts longer than the model allows.
    pub fn logits(&self, ids: &Tensor, mask: &HeadMask, window: Window) -> Result<Tensor, Error> {
        let _guard = tch::no_grad_guard();
        let (batch, length) = self.check_ids(ids)?;
        mask.check(self.config.layers, self.config.groups)?;
        self.check_length(length)?;
        let layers = layer_runs(&self.config, mask, window);
        let pass = self.pass(&vec![Stretch::whole(length); batch], &layers);
        let mut hidden = self.embed(&ids.flatten(0, 1));
        for (block, runs) in self.layers.iter().zip(&layers) {
            hidden = block.forward(&hidden, runs, &pass, None);
        }
        Ok(self
            .project(&hidden)
            .unflatten(0, [batch as i64, length as i64].as_slice()))
    }

    /// An empty cache for `texts` texts, for use with [`Decoder::extend`].
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a mask of another shape or no texts.
    pub fn cache(&self, mask: &HeadMask, window: Window, texts: usize) -> Result<KvCache, Error> {
        mask.check(self.config.layers, self.config.groups)?;
        if texts == 0 {
            return Err(Error::input("number of texts", "1 or more", 0));
        }
        Ok(KvCache::new(
            &self.config,
            mask,
            window,
            texts,
            (self.kind, self.device),
        ))
    }

    /// Reads `tokens`, one list for each text of the cache, as the continuation of what the cache holds; returns the
    /// logits of every new token, `[ΣT, V]` in float32, text after text.
    ///
    /// A list may be empty: its text waits. Prefill, chunked prefill and token-by-token decoding are all this call.
    ///
    /// # Errors
    ///
    /// As [`Decoder::logits`]; also where the number of lists is not the number of texts, or all lists are empty. The
    /// cache is then as it was.
    pub fn extend(&self, cache: &mut KvCache, tokens: &[&[u32]]) -> Result<Tensor, Error> {
        let _guard = tch::no_grad_guard();
        Ok(self.project(&self.extend_hidden(cache, tokens)?))
    }

    /// As [`Decoder::extend`], but only the logits of the last new token of each text that has one, `[texts, V]`.
    ///
    /// # Errors
    ///
    /// As [`Decoder::extend`].
    pub fn extend_last(&self, cache: &mut KvCache, tokens: &[&[u32]]) -> Result<Tensor, Error> {
        let _guard = tch::no_grad_guard();
        let hidden = self.extend_hidden(cache, tokens)?;
        let mut end = 0;
        let ends = tokens.iter().filter(|list| !list.is_empty()).map(|list| {
            end += list.len() as i64;
            end - 1
        });
        let ends = Tensor::from_slice(&ends.collect::<Vec<i64>>()).to_device(self.device);
        Ok(self.project(&hidden.index_select(0, &ends)))
    }

    /// The most probable next token of each text that has new tokens; ties to the lower id.
    pub(crate) fn extend_greedy(
        &self,
        cache: &mut KvCache,
        tokens: &[&[u32]],
    ) -> Result<Vec<u32>, Error> {
        let best = self.extend_last(cache, tokens)?.argmax(-1, false);
        let best = Vec::<i64>::try_from(best.to_device(Device::Cpu))
            .map_err(Error::torch("the choice of a token"))?;
        Ok(best.into_iter().map(|id| id as u32).collect())
    }

    fn extend_hidden(&self, cache: &mut KvCache, tokens: &[&[u32]]) -> Result<Tensor, Error> {
        cache.mask().check(self.config.layers, self.config.groups)?;
        if tokens.len() != cache.lengths().len() {
            return Err(Error::input(
                "lists of tokens",
                format!("{}, one for each text", cache.lengths().len()),
                tokens.len(),
            ));
        }
        let counts: Vec<usize> = tokens.iter().map(|list| list.len()).collect();
        let ids = self.ids(&tokens.concat())?;
        let texts = cache.stretches(&counts);
        for text in &texts {
            self.check_length(text.start + text.count)?;
        }
        cache.grow(&counts)?;
        let rules = cache
            .layers
            .iter()
            .flat_map(|layer| &layer.runs)
            .map(|run| run.rule);
        let pass = Pass::new(
            &self.config,
            &texts,
            rules,
            cached_span,
            (self.kind, self.device),
        );
        let mut hidden = self.embed(&ids);
        for (block, layer) in self.layers.iter().zip(&mut cache.layers) {
            let runs = layer.runs.clone();
            hidden = block.forward(&hidden, &runs, &pass, Some(layer));
        }
        cache.advance(&counts);
        Ok(hidden)
    }

    /// A pass over whole texts, for the heads of `layers`.
    pub(crate) fn pass(&self, texts: &[Stretch], layers: &[Vec<Run>]) -> Pass {
        let rules = layers.iter().flatten().map(|run| run.rule);
        let span = |_: Rule, _, length| Span::whole(length);
        Pass::new(&self.config, texts, rules, span, (self.kind, self.device))
    }

    /// The input of layer 0, `[N, D]`, for ids `[N]`.
    pub(crate) fn embed(&self, ids: &Tensor) -> Tensor {
        self.embedding.index_select(0, &ids.to_device(self.device))
    }

    /// Layer `index`; `None` beyond the last.
    pub(crate) fn layer(&self, index: usize) -> Option<&Block> {
        self.layers.get(index)
    }

    /// Logits `[N, V]` in float32 from the last layer's output `[N, D]`.
    pub(crate) fn project(&self, hidden: &Tensor) -> Tensor {
        self.head
            .forward(&self.norm.forward(hidden))
            .to_kind(Kind::Float)
    }

    /// Token ids as an int64 tensor `[N]`, N ≥ 1, checked against the vocabulary.
    pub(crate) fn ids(&self, tokens: &[u32]) -> Result<Tensor, Error> {
        if tokens.is_empty() {
            return Err(Error::input("tokens", "at least one", "none"));
        }
        match tokens
            .iter()
            .find(|token| **token as usize >= self.config.vocab)
        {
            Some(token) => Err(self.out_of_vocabulary(i64::from(*token))),
            None => Ok(Tensor::from_slice(
                &tokens
                    .iter()
                    .map(|token| i64::from(*token))
                    .collect::<Vec<_>>(),
            )),
        }
    }

    fn check_ids(&self, ids: &Tensor) -> Result<(usize, usize), Error> {
        let shape = ids.size();
        let &[batch, length] = shape.as_slice() else {
            return Err(Error::input("ids", "shape [B, T]", format!("{shape:?}")));
        };
        if ids.kind() != Kind::Int64 {
            return Err(Error::input("ids", "int64", format!("{:?}", ids.kind())));
        }
        if batch == 0 || length == 0 {
            return Err(Error::input(
                "ids",
                "at least one token",
                format!("shape {shape:?}"),
            ));
        }
        for extreme in [ids.min(), ids.max()].map(|id| id.int64_value(&[])) {
            if extreme < 0 || extreme >= self.config.vocab as i64 {
                return Err(self.out_of_vocabulary(extreme));
            }
        }
        Ok((batch as usize, length as usize))
    }

    fn out_of_vocabulary(&self, token: i64) -> Error {
        Error::input(
            "token id",
            format!("0 to {}, the vocabulary", self.config.vocab - 1),
            token,
        )
    }

    /// Refuses texts beyond the trained length, unless the rotary scaling or the caller permits them.
    pub(crate) fn check_length(&self, length: usize) -> Result<(), Error> {
        let scaled = !matches!(self.config.rope.scaling, RopeScaling::None);
        if length <= self.config.max_positions || scaled || self.longer_texts {
            return Ok(());
        }
        let expected = format!(
            "at most max_position_embeddings = {} tokens (or Decoder::with_longer_texts)",
            self.config.max_positions
        );
        Err(Error::input("length of a text", expected, length))
    }
}
