//! [`Generator`]: draws the choices of each sample and fits its haystack to the budget.

use super::assemble::{NOISE, Query, depth, essay_context, lines_context, needle, position};
use super::config::{DEPTHS, Depth, EssayStart, HaystackKind, NiahConfig};
use super::essay::Essay;
use super::fit::largest_that_fits;
use super::needle::NeedleSource;
use super::sample::NiahSample;
use crate::rng::Rng;
use crate::{Error, Result, TokenCounter};

/// Makes samples of one configuration.
///
/// ```
/// use bosch_eval::niah::{Essay, Generator, NiahConfig, Subtask};
/// use bosch_eval::{BoxError, Prompt};
///
/// let words = |prompt: &Prompt| -> Result<usize, BoxError> {
///     Ok(prompt.to_text().split_whitespace().count())
/// };
/// let config = NiahConfig::new(Subtask::Single2, 256).new_tokens(16);
/// let samples = Generator::new(config, Essay::built_in())?.samples(&words, 4, 7)?;
/// assert_eq!(samples.len(), 4);
/// assert!(samples.iter().all(|sample| sample.length == 256));
/// assert!(samples[0].input.contains(&samples[0].outputs[0]));
/// # Ok::<(), bosch_eval::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    config: NiahConfig,
    essay: Essay,
}

impl Generator {
    /// A generator; `essay` is used only where the haystack is an essay.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for settings no sample can be made of.
    pub fn new(config: NiahConfig, essay: Essay) -> Result<Self> {
        config.check()?;
        Ok(Self { config, essay })
    }

    /// The settings.
    pub fn config(&self) -> &NiahConfig {
        &self.config
    }

    /// `count` samples of the family that `seed` selects, each as long as the budget allows.
    ///
    /// A sample depends on settings, seed and its own index alone: the first samples of a larger
    /// set are those of a smaller one. All keys and values of a sample are different.
    ///
    /// # Errors
    ///
    /// [`Error::Budget`] names the smallest budget for these samples, [`Error::Tokenizer`] is the
    /// counter's, and [`Error::Input`] says that a haystack of needles has no more words for keys.
    pub fn samples(
        &self,
        counter: &impl TokenCounter,
        count: usize,
        seed: u64,
    ) -> Result<Vec<NiahSample>> {
        let mut samples = Vec::with_capacity(count);
        for index in 0..count {
            match self.sample(counter, index, seed)? {
                Some(sample) => samples.push(sample),
                None => return Err(self.too_small(counter, count, seed)?),
            }
        }
        Ok(samples)
    }

    fn sample(
        &self,
        counter: &impl TokenCounter,
        index: usize,
        seed: u64,
    ) -> Result<Option<NiahSample>> {
        let mut draft = Draft::new(self, index, seed)?;
        let measure = |size| Ok(draft.sample(size, counter)?.length);
        let sizes = (self.smallest(), self.config.max_tokens.max(self.smallest()));
        let Some((size, _)) = largest_that_fits(sizes, self.config.max_tokens, measure)? else {
            return Ok(None);
        };
        Ok(Some(draft.sample(size, counter)?))
    }

    /// The error for a budget that is too small for the first `count` samples.
    fn too_small(&self, counter: &impl TokenCounter, count: usize, seed: u64) -> Result<Error> {
        let mut needed = 0;
        for index in 0..count {
            let shortest = Draft::new(self, index, seed)?.sample(self.smallest(), counter)?;
            needed = needed.max(shortest.length);
        }
        let what = "needle-in-a-haystack samples".to_owned();
        Ok(Error::Budget {
            what,
            budget: self.config.max_tokens,
            needed,
        })
    }

    /// The smallest haystack: a word, or as many lines as there are needles.
    fn smallest(&self) -> usize {
        match self.config.haystack {
            HaystackKind::Essay => 1,
            HaystackKind::Noise | HaystackKind::Needles => self.config.needles(),
        }
    }
}

/// The random choices of a sample, before its size is known.
struct Draft<'a> {
    generator: &'a Generator,
    index: usize,
    keys: Vec<String>,
    /// The values of each key.
    values: Vec<Vec<String>>,
    /// Order of the needles in the text; needle `key · values + value`.
    order: Vec<usize>,
    /// The keys asked for.
    queries: Vec<usize>,
    /// Word with which the essay begins.
    start: usize,
    /// Depths in percent, for essays.
    depths: Vec<f64>,
    /// For the positions among lines, which depend on their number.
    lines: Rng,
    distractors: Vec<String>,
    source: NeedleSource,
}

impl<'a> Draft<'a> {
    fn new(generator: &'a Generator, index: usize, seed: u64) -> Result<Self> {
        let config = &generator.config;
        let stream = |part| Rng::stream(seed, &format!("niah/{index}/{part}"));
        let mut source = NeedleSource::new(stream("needles"));
        let mut keys = Vec::with_capacity(config.keys);
        let mut values = Vec::with_capacity(config.keys);
        for _ in 0..config.keys {
            keys.push(source.draw(config.key)?);
            let drawn = (0..config.values).map(|_| source.draw(config.value));
            values.push(drawn.collect::<Result<Vec<String>>>()?);
        }
        let mut order: Vec<usize> = (0..config.needles()).collect();
        stream("order").shuffle(&mut order);
        let mut depths: Vec<f64> = match config.haystack {
            HaystackKind::Essay => {
                let drawn = stream("depths").distinct(config.needles(), DEPTHS);
                drawn.into_iter().map(depth).collect()
            }
            HaystackKind::Noise | HaystackKind::Needles => Vec::new(),
        };
        depths.sort_by(f64::total_cmp);
        let start = match config.essay_start {
            EssayStart::Random => generator
                .essay
                .start(stream("start").below(generator.essay.sentences())),
            EssayStart::Beginning => 0,
        };
        Ok(Self {
            generator,
            index,
            keys,
            values,
            order,
            queries: stream("queries").distinct(config.queries, config.keys),
            start,
            depths,
            lines: stream("lines"),
            distractors: Vec::new(),
            source,
        })
    }

    /// The sample with a haystack of `size` words or lines.
    fn sample(&mut self, size: usize, counter: &impl TokenCounter) -> Result<NiahSample> {
        let config = &self.generator.config;
        if config.haystack == HaystackKind::Needles {
            while self.distractors.len() < size {
                let (key, value) = (
                    self.source.draw(config.key)?,
                    self.source.draw(config.value)?,
                );
                self.distractors.push(needle(config.value, &key, &value));
            }
        }
        let essay = match config.haystack {
            HaystackKind::Essay => self.generator.essay.excerpt(self.start, size),
            HaystackKind::Noise | HaystackKind::Needles => Vec::new(),
        };
        let units: Vec<&str> = match config.haystack {
            HaystackKind::Essay => essay.iter().map(String::as_str).collect(),
            HaystackKind::Noise => vec![NOISE; size],
            HaystackKind::Needles => self.distractors[..size]
                .iter()
                .map(String::as_str)
                .collect(),
        };
        let placed = self.placed(units.len());
        let texts: Vec<String> = placed
            .iter()
            .map(|&(_, which)| self.needle(which))
            .collect();
        let needles: Vec<(usize, &str)> = placed
            .iter()
            .zip(&texts)
            .map(|(&(at, _), text)| (at, text.as_str()))
            .collect();
        let context = match config.haystack {
            HaystackKind::Essay => essay_context(&units, &needles),
            HaystackKind::Noise | HaystackKind::Needles => lines_context(&units, &needles),
        };
        let query = Query {
            kind: config.value,
            keys: self
                .queries
                .iter()
                .map(|&key| self.keys[key].as_str())
                .collect(),
            single: config.queries * config.values == 1,
        };
        let mut sample = NiahSample {
            index: self.index,
            input: query.input(&context),
            outputs: self
                .queries
                .iter()
                .flat_map(|&key| self.values[key].clone())
                .collect(),
            length: 0,
            answer_prefix: query.answer_prefix(),
            depths: self.output_depths(&placed, units.len()),
            form: config.form,
        };
        let tokens = counter.count(&sample.prompt()).map_err(Error::Tokenizer)?;
        sample.length = tokens.saturating_add(config.new_tokens);
        Ok(sample)
    }

    /// Position and number of each needle, in the order of the text, among `length` sentences or
    /// lines.
    fn placed(&self, length: usize) -> Vec<(usize, usize)> {
        let config = &self.generator.config;
        let mut positions: Vec<usize> = match config.haystack {
            HaystackKind::Essay => self.depths.iter().map(|&d| position(length, d)).collect(),
            HaystackKind::Noise | HaystackKind::Needles => {
                self.lines.clone().distinct(config.needles(), length)
            }
        };
        positions.sort_unstable();
        let mut placed: Vec<(usize, usize)> = positions
            .into_iter()
            .zip(self.order.iter().copied())
            .collect();
        if let Depth::Percent(percent) = config.depth {
            for (at, which) in &mut placed {
                if self.queries.contains(&(*which / config.values)) {
                    *at = position(length, percent);
                }
            }
            placed.sort_by_key(|&(at, _)| at); // stable: drawn order within a position
        }
        placed
    }

    fn needle(&self, which: usize) -> String {
        let values = self.generator.config.values;
        let (key, value) = (which / values, which % values);
        needle(
            self.generator.config.value,
            &self.keys[key],
            &self.values[key][value],
        )
    }

    fn output_depths(&self, placed: &[(usize, usize)], length: usize) -> Vec<f64> {
        let values = self.generator.config.values;
        let asked = self
            .queries
            .iter()
            .flat_map(|&key| key * values..(key + 1) * values);
        asked
            .filter_map(|needle| placed.iter().find(|&&(_, which)| which == needle))
            .map(|&(at, _)| 100.0 * at as f64 / length.max(1) as f64)
            .collect()
    }
}
