//! What exact reuse saves in a staged search over a decoder of SmolLM2's shape (30 layers of 3 groups), with random weights.
#![allow(clippy::unwrap_used)] // in helpers of tests a panic is the message
#![cfg(feature = "torch")]

use bosch::attn::tch::{self, Tensor};
use bosch::attn::{
    Decoder, Error, HeadMask, LoadOptions, ModelConfig, PrefixScorer, Sample, WeightSource, Window,
};
use bosch::core::{Blocks, Evaluator, Mask, StagedSettings, from_fn, staged};

const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 24, "intermediate_size": 32, "vocab_size": 40,
    "num_hidden_layers": 30, "num_attention_heads": 3, "head_dim": 8}"#;

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

#[test]
fn a_staged_search_computes_1_6_times_fewer_layers_to_the_same_bits() {
    tch::manual_seed(1);
    tch::set_num_threads(1);
    let config = ModelConfig::from_json(CONFIG, "config.json").unwrap();
    let decoder = Decoder::load(config.clone(), &Random(config), LoadOptions::new()).unwrap();
    let sample = |first: u32| Sample {
        prompt: (0..40).map(|i| (first * i + i * i) % 40).collect(),
        answer: vec![7, 9],
    };
    let samples = [sample(3), sample(5)];
    let window = Window::new(4, 1).unwrap();
    for ratio in [0.5, 0.75] {
        let scorer = |memory| PrefixScorer::new(&decoder, window, &samples, memory).unwrap();
        let (mut reusing, mut fresh) = (scorer(64 << 20), scorer(0));
        let objective = from_fn(90, |mask: &Mask| {
            let bits: Vec<bool> = (0..90).map(|i| mask.get(i)).collect();
            let mask = HeadMask::from_bits(30, 3, &bits).unwrap();
            let (with, without) = (reusing.score(&mask).unwrap(), fresh.score(&mask).unwrap());
            assert!(
                with.iter()
                    .zip(&without)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );
            with.iter().sum::<f64>()
        });
        let blocks = Blocks::uniform(30, 3).unwrap();
        let settings = StagedSettings::new(ratio, 260);
        staged::search(&mut Evaluator::new(objective), &blocks, &settings).unwrap();
        let work = reusing.layer_evaluations();
        let times = (work.done + work.saved) / work.done;
        println!("ratio {ratio}: {times:.2} times fewer");
        assert!(times >= 1.6, "ratio {ratio}: {times}");
    }
}
