//! Logits of a Hugging Face model under a mask of sliding-window KV groups.
//!
//! `hybrid_logits --model DIR --ids IDS.json --mask MASK.json --window W --sinks S --out OUT.safetensors [--chunk N]`
//!
//! `IDS.json` is a list of texts, each a list of token ids; `MASK.json` is a list of layers, each a list of one 0 (the
//! model as it is, its own window included) or 1 (sliding window) for each KV group. The file written holds one tensor,
//! `logits` `[B, T, V]` in float32, T the longest text: a shorter text's logits stand at the beginning of its row, and
//! zeros follow. Each text is computed as if it were alone. With `--chunk` it is read through the cache in pieces of N
//! tokens, which changes nothing but rounding.
//!
//! A model's own window (mistral, qwen) holds where the mask is 0; `--without-own-windows` computes those groups with full
//! attention. The reference logits of this repository's fixture `mistral-sliding` were made that way.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use bosch::attn::tch::Tensor;
use bosch::attn::{Decoder, HeadMask, LoadOptions, ModelConfig, SafetensorsFolder, Window};
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
    /// Tokens that the cache reads at once; the whole text in one pass without a cache if not given.
    #[arg(long)]
    chunk: Option<usize>,
    /// Permits texts beyond the positions that the model was made for.
    #[arg(long)]
    longer_texts: bool,
    /// Ignores the sliding windows of the model's own configuration.
    #[arg(long)]
    without_own_windows: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut config = ModelConfig::from_file(arguments.model.join("config.json"))?;
    if arguments.without_own_windows {
        config.own_windows.fill(None);
    }
    let source = SafetensorsFolder::open(&arguments.model)?;
    let mut decoder = Decoder::load(config, &source, LoadOptions::new())?;
    if arguments.longer_texts {
        decoder = decoder.with_longer_texts();
    }
    let mask = read_mask(&arguments.mask)?;
    let window = Window::new(arguments.window, arguments.sinks)?;
    let texts: Vec<Vec<u32>> = serde_json::from_str(&read(&arguments.ids)?)
        .map_err(|error| format!("{}: {error}", arguments.ids.display()))?;
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    let rows = texts
        .iter()
        .map(|text| {
            let logits = match arguments.chunk {
                None => whole(&decoder, text, &mask, window)?,
                Some(chunk) => in_pieces(&decoder, text, &mask, window, chunk)?,
            };
            let missing = (longest - text.len()) as i64;
            Ok(logits.constant_pad_nd([0, 0, 0, missing])) // [T, V]
        })
        .collect::<Result<Vec<Tensor>, Box<dyn Error>>>()?;
    if rows.is_empty() {
        return Err(format!("{}: no texts", arguments.ids.display()).into());
    }
    Tensor::write_safetensors(&[("logits", Tensor::stack(&rows, 0))], &arguments.out)?;
    Ok(())
}

/// Logits `[T, V]` of a text in one pass.
fn whole(
    decoder: &Decoder,
    text: &[u32],
    mask: &HeadMask,
    window: Window,
) -> Result<Tensor, Box<dyn Error>> {
    let ids: Vec<i64> = text.iter().map(|id| i64::from(*id)).collect();
    let ids = Tensor::from_slice(&ids).unsqueeze(0);
    Ok(decoder.logits(&ids, mask, window)?.squeeze_dim(0))
}

/// Logits `[T, V]` of a text that a cache reads piece by piece.
fn in_pieces(
    decoder: &Decoder,
    text: &[u32],
    mask: &HeadMask,
    window: Window,
    chunk: usize,
) -> Result<Tensor, Box<dyn Error>> {
    if chunk == 0 {
        return Err("--chunk: expected 1 or more, found 0".into());
    }
    let mut cache = decoder.cache(mask, window, 1)?;
    cache.expect_length(0, text.len())?;
    let pieces = text
        .chunks(chunk)
        .map(|piece| decoder.extend(&mut cache, &[piece]))
        .collect::<Result<Vec<Tensor>, _>>()?;
    if pieces.is_empty() {
        return Err("a text without tokens".into());
    }
    Ok(Tensor::cat(&pieces, 0))
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
