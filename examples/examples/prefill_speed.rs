//! Prefill attention on one core: full causal attention, the band path, and two ways that a user of libtorch would take.
//!
//! `prefill_speed [--lengths 2048,4096,8192] [--windows 128,512,1024] [--head-dims 64,128] [--only-band]`
//!
//! Prints a Markdown table. Time is the smallest CPU time of the calling thread (so that other processes count little); "of
//! limit" is 4 · d · H · visible pairs over time, against the rate of the best square matrix product of the same run.
//! 4 query heads, 2 KV heads, float32, 4 sinks.

use bosch::attn::Window;
use bosch::attn::attention::{Pattern, Rule, Span};
use bosch::attn::tch::{self, Device, Kind, Tensor};
use clap::Parser;
use rustix::time::{ClockId, clock_gettime};

#[derive(Parser)]
#[command(about = "Prefill attention on one core against full attention and other ways")]
struct Arguments {
    /// Lengths of the text.
    #[arg(long, value_delimiter = ',', default_values_t = [2048, 4096, 8192])]
    lengths: Vec<usize>,
    /// Keys that a sliding query sees, itself included.
    #[arg(long, value_delimiter = ',', default_values_t = [128, 512, 1024])]
    windows: Vec<usize>,
    /// Sizes of a head.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 128])]
    head_dims: Vec<i64>,
    /// Leaves out the two other ways.
    #[arg(long)]
    only_band: bool,
}

const OPTIONS: (Kind, Device) = (Kind::Float, Device::Cpu);
const HEADS: i64 = 4;
const GROUPS: i64 = 2;
const SINKS: usize = 4;

/// CPU time of this thread in seconds.
fn clock() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The smallest time of several calls.
fn time(mut call: impl FnMut() -> Tensor) -> f64 {
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    for repetition in 0..100 {
        let before = clock();
        let _result = call();
        let spent = clock() - before;
        best = best.min(spent);
        total += spent;
        if repetition >= 4 && total > 0.4 {
            break;
        }
    }
    best
}

fn visible(rule: Rule, length: usize) -> f64 {
    (0..length)
        .map(|i| match rule {
            None => i + 1,
            Some(window) => {
                (i + 1).min(window.window())
                    + window.sinks().min((i + 1).saturating_sub(window.window()))
            }
        })
        .sum::<usize>() as f64
}

/// Blocks of queries against their keys with a boolean mask each, as `peer_attention.py` does it.
fn chunked_with_boolean_masks(q: &Tensor, k: &Tensor, v: &Tensor, window: Window) -> Tensor {
    let length = q.size()[2];
    let (w, s) = (window.window() as i64, window.sinks() as i64);
    let block = (w / 4).clamp(64, 256);
    let mut parts = Vec::new();
    for start in (0..length).step_by(block as usize) {
        let end = length.min(start + block);
        let reach = (start - w + 1).max(0);
        let apart = reach > s;
        let low = if apart { reach } else { 0 };
        let keys = |x: &Tensor| {
            let near = x.narrow(2, low, end - low);
            if apart && s > 0 {
                Tensor::cat(&[x.narrow(2, 0, s), near], 2)
            } else {
                near
            }
        };
        let i = Tensor::arange_start(start, end, (Kind::Int64, Device::Cpu)).unsqueeze(1);
        let mut j = Tensor::arange_start(low, end, (Kind::Int64, Device::Cpu));
        if apart {
            j = Tensor::cat(&[Tensor::arange(s, (Kind::Int64, Device::Cpu)), j], 0);
        }
        let near = (&i - &j).lt(w).logical_or(&j.lt(s));
        let mask = j.le_tensor(&i).logical_and(&near);
        parts.push(Tensor::scaled_dot_product_attention(
            &q.narrow(2, start, end - start),
            &keys(k),
            &keys(v),
            Some(&mask),
            0.0,
            false,
            None,
            true,
        ));
    }
    Tensor::cat(&parts, 2)
}

fn main() {
    let arguments = Arguments::parse();
    let _guard = tch::no_grad_guard();
    tch::set_num_threads(1);
    let square = Tensor::randn([1024, 1024], OPTIONS);
    let limit = 2.0 * 1024f64.powi(3) / time(|| square.mm(&square));
    println!(
        "One core, {:.0} GFLOP/s in a matrix product of 1024³.\n",
        limit / 1e9
    );
    println!(
        "| d | T | W | full ms | band ms | full, of limit | band, of limit | band / full, of limit | one masked call ms | chunked boolean ms | difference |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for &d in &arguments.head_dims {
        for &length in &arguments.lengths {
            row_of_windows(&arguments, d, length, limit);
        }
    }
}

/// The rows of one head size and length.
fn row_of_windows(arguments: &Arguments, d: i64, length: usize, limit: f64) {
    let random = |heads: i64| Tensor::randn([1, length as i64, heads, d], OPTIONS).transpose(1, 2);
    let (q, k, v) = (random(HEADS), random(GROUPS), random(GROUPS));
    let of_limit =
        |rule: Rule, time: f64| 4.0 * (d * HEADS) as f64 * visible(rule, length) / time / limit;
    let full = Pattern::new(None, Span::whole(length), OPTIONS.0, OPTIONS.1);
    let full_time = time(|| full.attend(&q, &k, &v));
    for w in arguments.windows.iter().filter(|w| **w < length) {
        let Ok(window) = Window::new(*w, SINKS) else {
            continue;
        };
        let rule = Some(window);
        let band = Pattern::new(rule, Span::whole(length), OPTIONS.0, OPTIONS.1);
        let band_time = time(|| band.attend(&q, &k, &v));
        let (of_full, of_band) = (of_limit(None, full_time), of_limit(rule, band_time));
        print!(
            "| {d} | {length} | {w} | {:.2} | {:.2} | {of_full:.2} | {of_band:.2} | {:.2} |",
            full_time * 1e3,
            band_time * 1e3,
            of_band / of_full,
        );
        if arguments.only_band {
            println!(" | | |");
            continue;
        }
        let masked = Pattern::masked(rule, Span::whole(length), OPTIONS.0, OPTIONS.1);
        let difference = (band.attend(&q, &k, &v) - masked.attend(&q, &k, &v))
            .abs()
            .max()
            .double_value(&[]);
        let masked_time = time(|| masked.attend(&q, &k, &v));
        let chunked_time = time(|| chunked_with_boolean_masks(&q, &k, &v, window));
        println!(
            " {:.2} | {:.2} | {difference:.0e} |",
            masked_time * 1e3,
            chunked_time * 1e3
        );
    }
}
