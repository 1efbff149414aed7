//! Prefill attention on one core: full causal attention, the band path, and two ways that a user of libtorch would take.
//!
//! `cargo bench -p bosch-attn --bench prefill [-- T,…]` prints a Markdown table. Time is the smallest CPU time of the
//! calling thread (so that other processes count little); "of limit" is 4 · d · H · visible pairs over time, against the
//! rate of the best square matrix product of the same run. 4 query heads, 2 KV heads, float32.

use std::fs;
use std::time::Instant;

use bosch_attn::Window;
use bosch_attn::attention::{Pattern, Rule, Span};
use bosch_attn::tch::{self, Device, Kind, Tensor};

const OPTIONS: (Kind, Device) = (Kind::Float, Device::Cpu);
const HEADS: i64 = 4;
const GROUPS: i64 = 2;
const SINKS: usize = 4;

/// CPU time of this thread in seconds; wall time where the system does not tell.
fn clock(start: Instant) -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |value| value * 1e-9)
}

/// The smallest time of several calls.
fn time(mut call: impl FnMut() -> Tensor) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    for repetition in 0..100 {
        let before = clock(start);
        let _result = call();
        let spent = clock(start) - before;
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
    let _guard = tch::no_grad_guard();
    tch::set_num_threads(1);
    let argument = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let lengths: Vec<usize> = argument.map_or_else(
        || vec![2048, 4096, 8192],
        |list| {
            list.split(',')
                .filter_map(|length| length.parse().ok())
                .collect()
        },
    );
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
    for d in [64i64, 128] {
        for &length in &lengths {
            let random =
                |heads: i64| Tensor::randn([1, length as i64, heads, d], OPTIONS).transpose(1, 2);
            let (q, k, v) = (random(HEADS), random(GROUPS), random(GROUPS));
            let of_limit = |rule: Rule, time: f64| {
                4.0 * (d * HEADS) as f64 * visible(rule, length) / time / limit
            };
            let full = Pattern::new(None, Span::whole(length), OPTIONS.0, OPTIONS.1);
            let full_time = time(|| full.attend(&q, &k, &v));
            for w in [128, 512, 1024].into_iter().filter(|w| *w < length) {
                let Ok(window) = Window::new(w, SINKS) else {
                    continue;
                };
                let rule = Some(window);
                let band = Pattern::new(rule, Span::whole(length), OPTIONS.0, OPTIONS.1);
                let band_time = time(|| band.attend(&q, &k, &v));
                let masked = Pattern::masked(rule, Span::whole(length), OPTIONS.0, OPTIONS.1);
                let difference = (band.attend(&q, &k, &v) - masked.attend(&q, &k, &v))
                    .abs()
                    .max()
                    .double_value(&[]);
                let masked_time = time(|| masked.attend(&q, &k, &v));
                let chunked_time = time(|| chunked_with_boolean_masks(&q, &k, &v, window));
                let (of_full, of_band) = (of_limit(None, full_time), of_limit(rule, band_time));
                println!(
                    "| {d} | {length} | {w} | {:.2} | {:.2} | {of_full:.2} | {of_band:.2} | {:.2} | {:.2} | {:.2} | {difference:.0e} |",
                    full_time * 1e3,
                    band_time * 1e3,
                    of_band / of_full,
                    masked_time * 1e3,
                    chunked_time * 1e3,
                );
            }
        }
    }
}
