//! Logits of a Hugging Face model under a mask of sliding-window KV groups.
//!
//! `hybrid_logits --model DIR --ids IDS.json --mask MASK.json --window W --sinks S --out OUT.safetensors`
//!
//! `IDS.json` is a list of texts, each a list of token ids, all of one length; `MASK.json` is a list of layers, each a
//! list of one 0 (the model as it is) or 1 (sliding window) for each KV group. The file written holds one tensor,
//! `logits` `[B, T, V]` in float32.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use bosch::attn::tch::Tensor;
use bosch::attn::{Decoder, HeadMask, Window};
use clap::Parser;
use serde_json::Value;

#[derive(Parser)]
#[command(about = "Logits of a Hugging Face model under a mask of sliding-window KV groups")]
struct Arguments {
    /// The model's folder.
    #[arg(long)]
    model: PathBuf,
    /// A JSON list of lists of token ids.
    #[arg(long)]
    ids: PathBuf,
    /// A JSON list of layers, each a list of 0 or 1 for each KV group.
    #[arg(long)]
    mask: PathBuf,
    /// Keys that a sliding query sees, itself included.
    #[arg(long)]
    window: usize,
    /// First positions that every query sees.
    #[arg(long, default_value_t = 0)]
    sinks: usize,
    /// Where the logits are written.
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let decoder = Decoder::from_folder(&arguments.model)?;
    let window = Window::new(arguments.window, arguments.sinks)?;
    let path = arguments.ids.display();
    let texts: Vec<Vec<i64>> =
        serde_json::from_str(&read(&arguments.ids)?).map_err(|error| format!("{path}: {error}"))?;
    let length = texts.first().map_or(0, Vec::len);
    if let Some(text) = texts.iter().find(|text| text.len() != length) {
        return Err(format!(
            "{path}: expected texts of one length, found {length} and {} ids",
            text.len()
        )
        .into());
    }
    let ids = Tensor::from_slice(&texts.concat()).reshape([texts.len() as i64, length as i64]);
    let logits = decoder.logits(&ids, &read_mask(&arguments.mask)?, window)?;
    Tensor::write_safetensors(&[("logits", logits)], &arguments.out)?;
    Ok(())
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn read_mask(path: &Path) -> Result<HeadMask, Box<dyn Error>> {
    let rows: Vec<Vec<Value>> = serde_json::from_str(&read(path)?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let bit = |value: &Value| match value {
        Value::Bool(bit) => Ok(*bit),
        value if value == 0 => Ok(false),
        value if value == 1 => Ok(true),
        value => Err(format!(
            "{}: expected 0 or 1, found {value}",
            path.display()
        )),
    };
    let rows = rows
        .iter()
        .map(|row| row.iter().map(bit).collect())
        .collect::<Result<Vec<Vec<bool>>, _>>()?;
    Ok(HeadMask::from_rows(&rows)?)
}
