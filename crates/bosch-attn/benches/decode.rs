//! Decoding 32 tokens with one layer on one core, after 8192 tokens: all groups full, and three of four sliding over 1024.
//!
//! `cargo bench -p bosch-attn --bench decode`. The example `cache_savings` sets the times against the bytes.

use bosch_attn::tch::{self, Tensor};
use bosch_attn::{
    Decoder, Error, HeadMask, KvCache, LoadOptions, ModelConfig, WeightSource, Window,
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

const TOKENS: usize = 8192;
const STEPS: usize = 32;
/// The residual stream is narrow, so that a step is its attention.
const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 16, "intermediate_size": 16, "vocab_size": 16,
    "num_hidden_layers": 1, "num_attention_heads": 8, "head_dim": 64, "max_position_embeddings": 1000000}"#;

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

    fn read_into(&self, _name: &str, target: &Tensor) -> Result<(), Error> {
        let _ = target.shallow_clone().normal_(0.0, 0.2);
        Ok(())
    }
}

fn filled(decoder: &Decoder, mask: &HeadMask) -> Result<KvCache, Error> {
    let mut cache = decoder.cache(mask, Window::new(1024, 4)?, 1)?;
    cache.reserve(TOKENS + STEPS)?; // no growth while it is measured
    let text: Vec<u32> = (0..TOKENS).map(|index| (index * 7 % 16) as u32).collect();
    let _ = decoder.extend_last(&mut cache, &[&text])?;
    Ok(cache)
}

fn steps(criterion: &mut Criterion) -> Result<(), Error> {
    let config = ModelConfig::from_json(CONFIG, "the bench's model")?;
    let decoder = Decoder::load(config.clone(), &Random(config), LoadOptions::new())?;
    let row: Vec<bool> = (0..8).map(|group| group >= 2).collect(); // specialised: full groups first
    let hybrid = HeadMask::from_rows(&[row])?;
    let mut group = criterion.benchmark_group("decode");
    group.sample_size(10);
    for (name, mask) in [("full", HeadMask::zeros(1, 8)), ("hybrid", hybrid)] {
        let document = filled(&decoder, &mask)?;
        let step = |mut cache: KvCache| {
            for _ in 0..STEPS {
                let _ = decoder.extend_last(&mut cache, &[&[3]]);
            }
            cache // dropped outside the measurement
        };
        group.bench_function(name, |bencher| {
            bencher.iter_batched(|| document.fork(), step, BatchSize::PerIteration);
        });
    }
    group.finish();
    Ok(())
}

fn decode(criterion: &mut Criterion) {
    let _guard = tch::no_grad_guard();
    tch::set_num_threads(1);
    if let Err(error) = steps(criterion) {
        eprintln!("{error}");
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
