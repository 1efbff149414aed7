//! The rotary settings in both forms: `rope_theta` + `rope_scaling`, and `rope_parameters` of transformers 5.
//!
//! Rules and defaults: transformers, `modeling_rope_utils.py`.

use super::fields::Fields;
use crate::config::{RopeConfig, RopeScaling};
use crate::error::Error;

const KNOWN: &str = "one of default, linear, dynamic, yarn, llama3, longrope";

pub(super) fn read(top: &Fields, max_positions: usize) -> Result<RopeConfig, Error> {
    // Where a file has both forms, transformers takes the old one.
    let chosen = match top.inner("rope_scaling")? {
        Some(scaling) if !scaling.is_empty() => Some(scaling),
        _ => top.inner("rope_parameters")?,
    };
    let inner = |key: &str| match &chosen {
        Some(fields) => fields.number(key),
        None => Ok(None),
    };
    let theta = inner("rope_theta")?.or(top.number("rope_theta")?);
    let partial = inner("partial_rotary_factor")?.or(top.number("partial_rotary_factor")?);
    if let Some(part) = partial.filter(|part| *part != 1.0) {
        return Err(top.error("partial_rotary_factor", "1", part));
    }
    Ok(RopeConfig {
        theta: theta.unwrap_or(10_000.0),
        scaling: match &chosen {
            Some(fields) => read_scaling(top, fields, max_positions)?,
            None => RopeScaling::None,
        },
    })
}

fn read_scaling(top: &Fields, fields: &Fields, max_positions: usize) -> Result<RopeScaling, Error> {
    let kind = fields.text("rope_type")?.or(fields.text("type")?);
    let key = "original_max_position_embeddings";
    let original = top.size(key)?.or(fields.size(key)?);
    let original = original.unwrap_or(max_positions);
    let required = |key: &str| {
        fields
            .number(key)?
            .ok_or_else(|| fields.error(key, "a number", "nothing"))
    };
    match kind {
        Some("default") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear {
            factor: required("factor")?,
        }),
        Some("dynamic") => Ok(RopeScaling::Dynamic {
            factor: required("factor")?,
            original: max_positions,
        }),
        Some("yarn") => {
            let stretched = max_positions as f64 / original.max(1) as f64;
            read_yarn(
                fields,
                fields.number("factor")?.unwrap_or(stretched),
                original,
            )
        }
        Some("llama3") => Ok(RopeScaling::Llama3 {
            factor: required("factor")?,
            low: required("low_freq_factor")?,
            high: required("high_freq_factor")?,
            original,
        }),
        Some("longrope") => read_longrope(fields, max_positions, original),
        Some(other) => Err(fields.error("rope_type", KNOWN, other)),
        None if !fields.has("factor") => Ok(RopeScaling::None),
        None => Err(fields.error("rope_type", KNOWN, "nothing")),
    }
}

fn read_yarn(fields: &Fields, factor: f64, original: usize) -> Result<RopeScaling, Error> {
    // DeepSeek's form gives two multipliers whose quotient is the attention factor.
    let scale = |multiplier: f64| {
        if factor <= 1.0 {
            1.0
        } else {
            0.1 * multiplier * factor.ln() + 1.0
        }
    };
    let attention_factor = match (
        fields.number("attention_factor")?,
        fields.number("mscale")?,
        fields.number("mscale_all_dim")?,
    ) {
        (Some(given), _, _) => given,
        (None, Some(one), Some(all)) if one != 0.0 && all != 0.0 => scale(one) / scale(all),
        _ => scale(1.0),
    };
    Ok(RopeScaling::Yarn {
        factor,
        original,
        beta_fast: fields.number("beta_fast")?.unwrap_or(32.0),
        beta_slow: fields.number("beta_slow")?.unwrap_or(1.0),
        attention_factor,
        truncate: fields.flag("truncate")?.unwrap_or(true),
    })
}

fn read_longrope(
    fields: &Fields,
    max_positions: usize,
    original: usize,
) -> Result<RopeScaling, Error> {
    let list = |key: &str| {
        fields
            .numbers(key)?
            .ok_or_else(|| fields.error(key, "a list of numbers", "nothing"))
    };
    let stretched = max_positions as f64 / original.max(1) as f64;
    let factor = fields.number("factor")?.unwrap_or(stretched);
    let default = if factor <= 1.0 {
        1.0
    } else {
        (1.0 + factor.ln() / (original.max(2) as f64).ln()).sqrt()
    };
    Ok(RopeScaling::LongRope {
        short: list("short_factor")?,
        long: list("long_factor")?,
        original,
        attention_factor: fields.number("attention_factor")?.unwrap_or(default),
    })
}
