//! FISHER: the mean over samples of (∂ ln p(answer) / ∂m)², m a gate of each (layer, KV group).

use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use super::Text;
use crate::answer::Sample;
use crate::attention::{Pattern, Span};
use crate::block::Block;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::mask::{HeadMask, Window};
use crate::plan::{Pass, Stretch, layer_runs};

/// What the gate of a group does, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The group's output is multiplied by m, at m = 1.
    Output,
    /// The group's output is (1 − m) full + m SWA, at m = 0.
    Mix,
}

/// One score for each (layer, KV group), at least 0.
pub(super) fn scores(
    decoder: &Decoder,
    gate: Gate,
    samples: &[Sample],
    window: Window,
) -> Result<Vec<f64>, Error> {
    let config = decoder.config();
    let mut sums = vec![0.0; config.layers * config.groups];
    for sample in samples {
        let text = Text::new(sample, window)?;
        let gradient = gradient(decoder, gate, sample, &text)?;
        for (sum, slope) in sums.iter_mut().zip(gradient) {
            *sum += slope * slope / samples.len() as f64;
        }
    }
    Ok(sums)
}

/// ∂ ln p(answer) / ∂m of each (layer, KV group).
fn gradient(
    decoder: &Decoder,
    gate: Gate,
    sample: &Sample,
    text: &Text,
) -> Result<Vec<f64>, Error> {
    let config = decoder.config();
    let shape = [config.layers as i64, config.groups as i64];
    let at = match gate {
        Gate::Output => 1.0,
        Gate::Mix => 0.0,
    };
    let gates = Tensor::full(shape, at, (Kind::Float, decoder.device())).set_requires_grad(true);
    let log_p = tch::with_grad(|| log_probability(decoder, gate, sample, text, &gates))?;
    let slopes = Tensor::f_run_backward(&[log_p], &[&gates], false, false);
    super::values(&slopes.map_err(Error::torch("the gradient of the gates"))?[0])
}

/// ln p(answer) of the model with its groups gated, m in `gates` `[L, G]`.
fn log_probability(
    decoder: &Decoder,
    gate: Gate,
    sample: &Sample,
    text: &Text,
    gates: &Tensor,
) -> Result<Tensor, Error> {
    let config = decoder.config();
    let ids = decoder.ids(&text.ids)?;
    decoder.check_length(text.ids.len())?;
    let mask = HeadMask::zeros(config.layers, config.groups);
    let layers = layer_runs(config, &mask, text.window);
    let pass = decoder.pass(&[Stretch::whole(text.ids.len())], &layers);
    let mut hidden = decoder.embed(&ids);
    for (index, runs) in layers.iter().enumerate() {
        let Some(block) = decoder.layer(index) else {
            break;
        };
        let rule = runs.first().and_then(|run| run.rule);
        let rules = match gate {
            Gate::Output => (rule, rule),
            Gate::Mix => (rule, Some(text.window)),
        };
        let m = gates.get(index as i64); // [G]
        hidden = gated(block, &hidden, &pass, (gate, rules, &m));
    }
    let answer = sample.answer.len() as i64;
    let last = hidden.narrow(0, hidden.size()[0] - answer, answer);
    let expected: Vec<i64> = sample.answer.iter().map(|&id| i64::from(id)).collect();
    let expected = Tensor::from_slice(&expected).to_device(decoder.device());
    let log_p = decoder.project(&last).log_softmax(-1, Kind::Float);
    Ok(log_p
        .gather(1, &expected.unsqueeze(1), false)
        .sum(Kind::Float))
}

/// The output of a layer whose groups are gated.
fn gated(
    block: &Block,
    hidden: &Tensor,
    pass: &Pass,
    (gate, (rule, window), m): (Gate, (Option<Window>, Option<Window>), &Tensor),
) -> Tensor {
    let attention = &block.attention;
    let (q, k, v) = attention.heads(&block.attention_norm.forward(hidden), pass);
    let batch = |x: &Tensor| x.transpose(0, 1).unsqueeze(0); // [1, heads, T, d]
    let (q, k, v) = (batch(&q), batch(&k), batch(&v));
    let span = Span::whole(q.size()[2] as usize);
    // Spelled out as a mask: the faster ways have no gradient.
    let attend = |rule| Pattern::masked(rule, span, q.kind(), q.device()).attend(&q, &k, &v);
    let per_group = attention.query_heads / attention.groups;
    let m = m
        .repeat_interleave_self_int(per_group, 0, None)
        .reshape([1, -1, 1, 1])
        .to_kind(q.kind());
    let heads = match gate {
        Gate::Output => attend(rule) * m,
        Gate::Mix => {
            let full = attend(rule);
            &full + (attend(window) - &full) * m
        }
    };
    let attended = attention
        .output
        .forward(&heads.squeeze_dim(0).transpose(0, 1).flatten(1, 2));
    let hidden = hidden + attended;
    &hidden + block.mlp.forward(&block.mlp_norm.forward(&hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_the_slopes_of_the_answers_log_probability() {
        let models = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/models");
        let decoder = Decoder::from_folder(format!("{models}/qwen3")).unwrap();
        let sample = Sample {
            prompt: (1..40).map(|i| i * 7 % 50).collect(),
            answer: vec![3, 9],
        };
        let text = Text::new(&sample, Window::new(5, 2).unwrap()).unwrap();
        for (gate, at) in [(Gate::Output, 1.0), (Gate::Mix, 0.0)] {
            let slopes = gradient(&decoder, gate, &sample, &text).unwrap();
            let shape = [
                decoder.config().layers as i64,
                decoder.config().groups as i64,
            ];
            for (group, slope) in slopes.iter().enumerate() {
                let value = |step: f64| {
                    let gates = Tensor::full(shape, at, (Kind::Float, decoder.device()));
                    let _ = gates.view([-1]).get(group as i64).fill_(at + step);
                    let log_p = log_probability(&decoder, gate, &sample, &text, &gates);
                    log_p.unwrap().double_value(&[])
                };
                let measured = (value(0.02) - value(-0.02)) / 0.04;
                let error = (slope - measured).abs();
                assert!(
                    error < 2e-3 + 0.02 * measured.abs(),
                    "{gate:?} {group}: {slope} {measured}"
                );
            }
        }
    }
}
