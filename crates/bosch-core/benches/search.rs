//! The optimiser's own time for an evaluation, on an objective that costs next to nothing.

#![allow(missing_docs, clippy::unwrap_used)] // criterion's macros and a bench's helpers

use bosch_core::{Blocks, Evaluator, Mask, Portfolio, Space, from_fn, maximize};
use criterion::{Criterion, criterion_group, criterion_main};

fn search(layers: usize, size: usize, budget: usize) -> f64 {
    let blocks = Blocks::uniform(layers, size).unwrap();
    let dim = blocks.dim();
    let objective = from_fn(dim, |mask: &Mask| {
        -mask.iter_ones().map(|i| (i * 37 % 101) as f64).sum::<f64>()
    });
    let space = Space::exactly(dim, dim / 2).unwrap();
    let mut solver = Portfolio::new(space.clone(), &blocks, budget, 1).unwrap();
    maximize(&mut Evaluator::new(objective), &mut solver, &space, budget)
        .unwrap()
        .score
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search of 1000 evaluations");
    group.sample_size(10);
    group.bench_function("90 variables", |b| b.iter(|| search(30, 3, 1000)));
    group.bench_function("1000 variables", |b| b.iter(|| search(40, 25, 1000)));
    group.finish();
}

criterion_group!(search_benches, benches);
criterion_main!(search_benches);
