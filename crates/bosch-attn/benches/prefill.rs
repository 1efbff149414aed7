//! Prefill attention of one layer on one core: full, sliding, and three of four groups sliding.
//!
//! `cargo bench -p bosch-attn --bench prefill`. The example `prefill_speed` sets these against the machine's limit and other
//! ways.

use bosch_attn::Window;
use bosch_attn::attention::{Pattern, Rule, Span};
use bosch_attn::tch::{self, Device, Kind, Tensor};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const OPTIONS: (Kind, Device) = (Kind::Float, Device::Cpu);
const LENGTH: usize = 4096;
const HEAD_DIM: i64 = 64;

/// Groups with one query head each, and their rule.
fn layer(parts: &[(i64, Rule)]) -> impl Fn() -> Vec<Tensor> + use<> {
    let parts: Vec<(Pattern, Tensor)> = parts
        .iter()
        .map(|(groups, rule)| {
            let pattern = Pattern::new(*rule, Span::whole(LENGTH), OPTIONS.0, OPTIONS.1);
            let heads = Tensor::randn([1, LENGTH as i64, *groups, HEAD_DIM], OPTIONS);
            (pattern, heads.transpose(1, 2))
        })
        .collect();
    move || {
        parts
            .iter()
            .map(|(pattern, heads)| pattern.attend(heads, heads, heads))
            .collect()
    }
}

fn prefill(criterion: &mut Criterion) {
    let _guard = tch::no_grad_guard();
    tch::set_num_threads(1);
    let mut group = criterion.benchmark_group("prefill");
    group.sample_size(10);
    let full = layer(&[(4, None)]);
    group.bench_function("full", |bencher| bencher.iter(&full));
    for window in [128, 512, 1024] {
        let rule = Window::new(window, 4).ok();
        let (sliding, hybrid) = (layer(&[(4, rule)]), layer(&[(1, None), (3, rule)]));
        group.bench_function(BenchmarkId::new("sliding", window), |bencher| {
            bencher.iter(&sliding);
        });
        group.bench_function(BenchmarkId::new("hybrid", window), |bencher| {
            bencher.iter(&hybrid);
        });
    }
    group.finish();
}

criterion_group!(benches, prefill);
criterion_main!(benches);
