//! Any texts in any metric: an error, or a score in 0..=1.
//!
//! The last line is a class, the one before it the right answer, and the rest the prediction.
#![no_main]

use bosch_eval::{Metric, parse_json_line, ruler_postprocess};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.rsplitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (class, truth, prediction) = (part(), part(), part());
    for metric in Metric::ALL {
        for truth in [truth, prediction] {
            if let Ok(score) = metric.score(prediction, &[truth], &[class, truth]) {
                assert!((0.0..=1.0).contains(&score), "{metric}: {score}");
            }
        }
    }
    let _ = ruler_postprocess(prediction);
    let _ = parse_json_line::<serde_json::Value>(text);
});
