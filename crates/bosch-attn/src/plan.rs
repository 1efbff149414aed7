//! What one forward pass is about to compute: the tokens of each text, and which heads follow which rule.

use tch::{Device, Kind};

use crate::attention::{Pattern, Rule, Span};
use crate::config::ModelConfig;
use crate::mask::{HeadMask, Window};
use crate::rope::Rotation;

/// Neighbouring KV groups of one layer that follow one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// First group of the layer.
    pub(crate) first: usize,
    /// Number of groups.
    pub(crate) count: usize,
    /// What their heads see.
    pub(crate) rule: Rule,
    /// The mask's bit.
    pub(crate) swa: bool,
    /// Groups with the same bit before these.
    pub(crate) rank: usize,
}

/// Cuts a layer's row of the mask into runs. A set bit replaces the layer's own window.
pub(crate) fn runs(row: &[bool], own: Option<usize>, window: Window) -> Vec<Run> {
    // A window that the model's configuration gives was checked to be at least 1 when the model was read.
    let own = own.and_then(|window| Window::new(window, 0).ok());
    let mut runs: Vec<Run> = Vec::new();
    for (group, &swa) in row.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.swa == swa => run.count += 1,
            _ => {
                let rank = row[..group].iter().filter(|bit| **bit == swa).count();
                let rule = if swa { Some(window) } else { own };
                runs.push(Run {
                    first: group,
                    count: 1,
                    rule,
                    swa,
                    rank,
                });
            }
        }
    }
    runs
}

/// The runs of every layer.
pub(crate) fn layer_runs(config: &ModelConfig, mask: &HeadMask, window: Window) -> Vec<Vec<Run>> {
    mask.rows()
        .zip(&config.own_windows)
        .map(|(row, own)| runs(row, *own, window))
        .collect()
}

/// What a pass is to read of one text: `count` tokens from position `start` on. `length` is what the rotary embedding takes
/// for the text's length, where its frequencies depend on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: usize,
    pub(crate) count: usize,
    pub(crate) length: usize,
}

impl Stretch {
    /// A text of `length` tokens in one pass.
    pub(crate) fn whole(length: usize) -> Self {
        Self {
            start: 0,
            count: length,
            length,
        }
    }
}

/// The tokens of one text in a pass: `count` ≥ 1 tokens from position `start` on, at `offset` among all tokens of the
/// pass; `text` is the text's place in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) text: usize,
    pub(crate) offset: usize,
    pub(crate) start: usize,
    pub(crate) count: usize,
}

/// Everything about a pass that its layers share.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) rows: Vec<Row>,
    pub(crate) rotation: Rotation,
    /// The last tokens for which the layer's output is wanted; all where `None`. Only for a pass of one text.
    pub(crate) tail: Option<usize>,
    patterns: Vec<(Rule, Vec<Pattern>)>,
}

impl Pass {
    /// A pass over stretches of texts, for heads that follow any of `rules`; a text without tokens waits.
    ///
    /// `span` says which keys stand ready for a rule and a text: all of them, or what a cache keeps.
    pub(crate) fn new(
        config: &ModelConfig,
        texts: &[Stretch],
        rules: impl IntoIterator<Item = Rule>,
        span: impl Fn(Rule, usize, usize) -> Span,
        (kind, device): (Kind, Device),
    ) -> Self {
        let mut offset = 0;
        let rows = texts.iter().enumerate().map(|(text, stretch)| {
            let row = Row {
                text,
                offset,
                start: stretch.start,
                count: stretch.count,
            };
            offset += stretch.count;
            row
        });
        let rows: Vec<Row> = rows.filter(|row| row.count > 0).collect();
        let mut patterns: Vec<(Rule, Vec<Pattern>)> = Vec::new();
        for rule in rules {
            if patterns.iter().all(|(known, _)| *known != rule) {
                let of_row =
                    |row: &Row| Pattern::new(rule, span(rule, row.start, row.count), kind, device);
                patterns.push((rule, rows.iter().map(of_row).collect()));
            }
        }
        Self {
            rows,
            rotation: Rotation::new(&config.rope, config.head_dim, texts, kind, device),
            tail: None,
            patterns,
        }
    }

    /// A pass over one whole text of `length` tokens that computes outputs for its last `tail` tokens.
    pub(crate) fn tail(
        config: &ModelConfig,
        length: usize,
        tail: usize,
        rules: impl IntoIterator<Item = Rule>,
        options: (Kind, Device),
    ) -> Self {
        let span = |_, _, _| Span::tail(length, tail);
        Self {
            tail: Some(tail),
            ..Self::new(config, &[Stretch::whole(length)], rules, span, options)
        }
    }

    /// The pattern of `rule` for text `row`; `None` only for a rule that the pass was not made for.
    pub(crate) fn pattern(&self, rule: Rule, row: usize) -> Option<&Pattern> {
        self.patterns
            .iter()
            .find(|(known, _)| *known == rule)?
            .1
            .get(row)
    }
}
