//! What a hybrid cache saves: bytes and milliseconds of a decoding step against the length of the text.
//!
//! `cache_savings [--lengths 1024,2048,4096,8192] [--window 1024] [--sinks 4] [--ratio 0.75] [--head-dim 64] [--plot FILE.svg]`
//!
//! The model is one layer with random weights whose residual stream is so narrow that a step is its attention: the
//! projections of all heads, the cache, and the attention itself. It is specialised for the mask. Float32, one thread. The table
//! shows the bytes that are allocated and those of the formula; "ms / bytes" is the step's share of the full
//! step's time over its share of the full cache's bytes.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use bosch::attn::tch::{self, Tensor};
use bosch::attn::{Decoder, HeadMask, KvCache, LoadOptions, ModelConfig, WeightSource, Window};
use bosch::plots::{Saving, savings_svg};
use clap::Parser;

#[derive(Parser)]
#[command(
    about = "What a hybrid cache saves: bytes and milliseconds against the length of the text"
)]
struct Arguments {
    /// Tokens stored before the steps that are timed.
    #[arg(long, value_delimiter = ',', default_values_t = [1024, 2048, 4096, 8192])]
    lengths: Vec<usize>,
    /// Keys that a sliding query sees, itself included.
    #[arg(long, default_value_t = 1024)]
    window: usize,
    /// First positions that every query sees.
    #[arg(long, default_value_t = 4)]
    sinks: usize,
    /// Share of the groups that slide.
    #[arg(long, default_value_t = 0.75)]
    ratio: f64,
    /// KV groups, with one query head each.
    #[arg(long, default_value_t = 8)]
    groups: usize,
    /// Size of a head.
    #[arg(long, default_value_t = 64)]
    head_dim: usize,
    /// Where a picture is written.
    #[arg(long)]
    plot: Option<PathBuf>,
}

/// Weights drawn at random.
struct Random(ModelConfig);

impl WeightSource for Random {
    fn origin(&self) -> String {
        "random weights".into()
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        let spec = self.0.tensors().into_iter().find(|spec| spec.name == name);
        spec.map(|spec| spec.shape)
    }

    fn read_into(&self, _name: &str, target: &Tensor) -> Result<(), bosch::attn::Error> {
        let _ = target.shallow_clone().normal_(0.0, 0.2);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    tch::set_num_threads(1);
    let config = config(&arguments)?;
    let decoder = Decoder::load(config.clone(), &Random(config), LoadOptions::new())?;
    let window = Window::new(arguments.window, arguments.sinks)?;
    let swa = (arguments.ratio * arguments.groups as f64).round() as usize;
    // As a search may leave them: sliding and full groups by turns.
    let bits: Vec<bool> = (0..arguments.groups)
        .map(|group| (group + 1) * swa / arguments.groups > group * swa / arguments.groups)
        .collect();
    let full = HeadMask::zeros(1, arguments.groups);
    let (decoder, hybrid) = decoder.specialize(&HeadMask::from_rows(&[bits])?)?;
    println!("| T | full MiB | hybrid MiB | formula MiB | full ms | hybrid ms | ms / bytes |");
    println!("|---|---|---|---|---|---|---|");
    let mut savings = Vec::new();
    for &tokens in &arguments.lengths {
        let (full_bytes, full_ms) = measure(&decoder, &full, window, tokens)?;
        let (hybrid_bytes, hybrid_ms) = measure(&decoder, &hybrid, window, tokens)?;
        let kept = (arguments.groups - swa) * tokens + swa * tokens.min(window.slots());
        let saving = Saving {
            tokens,
            full_bytes,
            hybrid_bytes,
            formula_bytes: 2 * arguments.head_dim * 4 * kept,
            full_ms,
            hybrid_ms,
        };
        print_row(&saving);
        savings.push(saving);
    }
    if let Some(path) = &arguments.plot {
        let title = format!(
            "W = {}, {swa} of {} groups slide",
            arguments.window, arguments.groups
        );
        fs::write(path, savings_svg(&title, &savings)?)?;
    }
    Ok(())
}

fn config(arguments: &Arguments) -> Result<ModelConfig, bosch::attn::Error> {
    let longest = arguments.lengths.iter().max().copied().unwrap_or(0) + STEPS;
    let text = format!(
        r#"{{"model_type": "llama", "hidden_size": 16, "intermediate_size": 16, "vocab_size": 16, "num_hidden_layers": 1,
            "num_attention_heads": {0}, "num_key_value_heads": {0}, "head_dim": {1}, "max_position_embeddings": {longest}}}"#,
        arguments.groups, arguments.head_dim
    );
    ModelConfig::from_json(&text, "the example's model")
}

/// Steps that are timed at one length.
const STEPS: usize = 30;

/// Bytes of a cache with room for `tokens`, and milliseconds of the fastest step after them.
fn measure(
    decoder: &Decoder,
    mask: &HeadMask,
    window: Window,
    tokens: usize,
) -> Result<(usize, f64), bosch::attn::Error> {
    let mut cache = decoder.cache(mask, window, 1)?;
    cache.reserve(tokens)?;
    let bytes = cache.bytes();
    cache.reserve(tokens + STEPS)?;
    let text: Vec<u32> = (0..tokens).map(|index| (index * 7 % 16) as u32).collect();
    let _ = decoder.extend_last(&mut cache, &[&text])?;
    let step = |cache: &mut KvCache| -> Result<f64, bosch::attn::Error> {
        let start = Instant::now();
        let _ = decoder.extend_last(cache, &[&[3]])?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let mut best = f64::INFINITY;
    for _ in 0..STEPS {
        best = best.min(step(&mut cache)?);
    }
    Ok((bytes, best))
}

fn print_row(saving: &Saving) {
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let share = saving.hybrid_bytes as f64 / saving.full_bytes as f64;
    println!(
        "| {} | {:.2} | {:.2} | {:.2} | {:.3} | {:.3} | {:.2} |",
        saving.tokens,
        mib(saving.full_bytes),
        mib(saving.hybrid_bytes),
        mib(saving.formula_bytes),
        saving.full_ms,
        saving.hybrid_ms,
        saving.hybrid_ms / saving.full_ms / share,
    );
}
