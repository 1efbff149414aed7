//! No metric panics or leaves 0..=1: `cargo +nightly fuzz run metrics` in the folder of bosch-eval.
#![no_main]

use bosch_eval::{Metric, parse_json_line, ruler_postprocess};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (String, String, String)| {
    let (prediction, truth, class) = texts;
    for metric in Metric::ALL {
        for truth in [truth.as_str(), &prediction] {
            if let Ok(score) = metric.score(&prediction, &[truth], &[class.as_str(), truth]) {
                assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
            }
        }
    }
    let _ = ruler_postprocess(&prediction);
    let _ = parse_json_line::<String>(&prediction);
});
