//! Static rankings of the KV groups: one score for each, from the unmodified model, higher where the group looks further.
//!
//! These are the baselines of the paper's tables, after the sources that each file names. Where a source ranks query heads,
//! a group gets the greatest score of its query heads.

mod answer_lag;
mod attention_mass;
mod fisher;
mod gaussian;
mod heads;
mod pooled;
mod repeats;
mod scores;

use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

use crate::answer::Sample;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::{Stretch, layer_runs};

use heads::Heads;

pub use fisher::Gate;
pub use scores::Ranking;

/// How KV groups are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// DCAM: the distance within which a head finds nine tenths of its attention.
    AttentionMass,
    /// APL: how far back the key lies that gets the most attention while the answer is predicted.
    AnswerLag,
    /// PROXY: the share of blocks of 64 keys that make nine tenths of the attention between pooled queries and keys (after
    /// ProxyAttn, arXiv 2509.24745).
    Pooled,
    /// QADA: the share of queries whose attention is not local, the far keys taken as a Gaussian (arXiv 2502.09647).
    Gaussian,
    /// RAZOR: attention to earlier copies of a token and to what followed them, in repeated random tokens (RazorAttention,
    /// arXiv 2407.15891).
    Repeats {
        /// The seed of the random tokens.
        seed: u64,
    },
    /// FISHER: how much the probability of the answer depends on a gate of the group.
    Fisher(Gate),
}

impl Decoder {
    /// Ranks the KV groups by a method, over samples; `window` is what a group that is converted would see.
    ///
    /// Attention is spelled out in blocks of queries: T² scores for each head and layer, which costs about as much as
    /// full attention in a few passes. [`Method::Repeats`] reads no sample.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for no samples, empty prompts or answers, ids outside the vocabulary, or texts that are too long;
    /// also where a score is not a finite number, with the group named.
    pub fn rank(
        &self,
        method: Method,
        samples: &[Sample],
        window: Window,
    ) -> Result<Ranking, Error> {
        if samples.is_empty() && !matches!(method, Method::Repeats { .. }) {
            return Err(Error::input("samples", "at least one", "none"));
        }
        let groups = match method {
            Method::AttentionMass => self.mean_over(samples, window, &attention_mass::scores)?,
            Method::AnswerLag => self.mean_over(samples, window, &answer_lag::scores)?,
            Method::Pooled => self.mean_over(samples, window, &pooled::scores)?,
            Method::Gaussian => self.mean_over(samples, window, &gaussian::scores)?,
            Method::Repeats { seed } => repeats::scores(self, seed)?,
            Method::Fisher(gate) => fisher::scores(self, gate, samples, window)?,
        };
        Ranking::new(self.config().layers, self.config().groups, groups)
    }

    /// The mean over samples of a score of query heads, each group with the greatest of its heads.
    fn mean_over(
        &self,
        samples: &[Sample],
        window: Window,
        score: &dyn Fn(&Heads, &Text) -> Tensor,
    ) -> Result<Vec<f64>, Error> {
        let mut sums = vec![0.0; self.config().layers * self.config().query_heads];
        for sample in samples {
            let text = Text::new(sample, window)?;
            self.observe(&text.ids, |layer, heads| {
                let scores = values(&score(heads, &text))?;
                let first = layer * scores.len();
                for (sum, score) in sums[first..].iter_mut().zip(scores) {
                    *sum += score / samples.len() as f64;
                }
                Ok(())
            })?;
        }
        Ok(self.greatest_of_groups(&sums))
    }

    /// From one score for each (layer, query head) to one for each (layer, KV group).
    fn greatest_of_groups(&self, heads: &[f64]) -> Vec<f64> {
        let per_group = self.config().query_heads / self.config().groups;
        let greatest = |heads: &[f64]| heads.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        heads.chunks(per_group).map(greatest).collect()
    }

    /// Runs the unmodified model over a text and shows the heads of every layer.
    fn observe(
        &self,
        ids: &[u32],
        mut show: impl FnMut(usize, &Heads) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _guard = tch::no_grad_guard();
        let config = self.config();
        let ids = self.ids(ids)?;
        let length = ids.size()[0] as usize;
        self.check_length(length)?;
        let mask = HeadMask::zeros(config.layers, config.groups);
        // A mask without a bit leaves every layer its own rule; the window is not used.
        let layers = layer_runs(config, &mask, Window::new(1, 0)?);
        let pass = self.pass(&[Stretch::whole(length)], &layers);
        let mut hidden = self.embed(&ids);
        for (index, runs) in layers.iter().enumerate() {
            let Some(block) = self.layer(index) else {
                break;
            };
            let rule = runs.first().and_then(|run| run.rule);
            show(index, &Heads::new(block, &hidden, &pass, rule))?;
            hidden = block.forward(&hidden, runs, &pass, None);
        }
        Ok(())
    }
}

/// What a method knows of a text beside its attention.
struct Text {
    ids: Vec<u32>,
    /// The first position whose logits predict the answer.
    answer: usize,
    window: Window,
}

impl Text {
    /// Prompt and answer without the last token, which is predicted and never read.
    fn new(sample: &Sample, window: Window) -> Result<Self, Error> {
        for (what, tokens) in [("prompt", &sample.prompt), ("answer", &sample.answer)] {
            if tokens.is_empty() {
                return Err(Error::input(what, "at least one token", "none"));
            }
        }
        let mut ids = [&sample.prompt[..], &sample.answer].concat();
        ids.pop();
        Ok(Self {
            ids,
            answer: sample.prompt.len() - 1,
            window,
        })
    }
}

/// The elements of a tensor in their order.
fn values(tensor: &Tensor) -> Result<Vec<f64>, Error> {
    let flat = tensor
        .detach()
        .to_device(Device::Cpu)
        .to_kind(Kind::Double)
        .flatten(0, -1);
    Vec::try_from(flat).map_err(Error::torch("the reading of scores"))
}
