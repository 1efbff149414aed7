//! The generator against RULER's numbers, and what must hold for every sample.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;

use bosch_eval::niah::{
    Depth, Essay, Generator, HaystackKind, NeedleKind, NiahConfig, PromptForm, Subtask,
};
use bosch_eval::{BoxError, Error, Prompt};

fn words(prompt: &Prompt) -> Result<usize, BoxError> {
    Ok(prompt.to_text().split_whitespace().count())
}

/// Roughly SmolLM2: 35 tokens of chat template, a token a digit and a mark, longer words in two.
fn like_a_small_model(prompt: &Prompt) -> Result<usize, BoxError> {
    let tokens = |word: &str| {
        let marks = word.chars().filter(|c| !c.is_alphabetic()).count();
        marks + 1 + (word.len() - marks.min(word.len())) / 8
    };
    Ok(35
        + prompt
            .to_text()
            .split_whitespace()
            .map(tokens)
            .sum::<usize>())
}

fn generator(config: NiahConfig) -> Generator {
    Generator::new(config, Essay::built_in()).unwrap()
}

#[test]
fn fits_as_many_units_as_ruler() {
    #[derive(serde::Deserialize)]
    struct Case {
        task: Subtask,
        max_seq_length: usize,
        tokens_to_generate: usize,
        length: usize,
    }
    let lines = include_str!("data/niah_fit.jsonl").lines();
    let mut count = 0;
    for case in lines.map(|line| serde_json::from_str::<Case>(line).unwrap()) {
        let config = NiahConfig::new(case.task, case.max_seq_length)
            .new_tokens(case.tokens_to_generate)
            .form(PromptForm::Text);
        let samples = generator(config).samples(&words, 2, 1).unwrap();
        for sample in samples {
            assert_eq!(
                sample.length, case.length,
                "{} {}",
                case.task, case.max_seq_length
            );
        }
        count += 1;
    }
    assert_eq!(count, 22);
}

#[test]
fn every_needle_of_every_subtask_is_whole_and_unique() {
    for subtask in Subtask::ALL {
        let config = NiahConfig::new(subtask, 2048);
        for sample in generator(config.clone()).samples(&words, 20, 3).unwrap() {
            assert!(sample.length <= 2048);
            let needle = " is: ";
            let shown = sample.input.matches(needle).count();
            match config.haystack {
                HaystackKind::Needles => assert!(shown > 50),
                _ => assert_eq!(shown, config.needles(), "{subtask}"),
            }
            for output in &sample.outputs {
                let hidden = format!("{needle}{output}.");
                assert_eq!(sample.input.matches(&hidden).count(), 1, "{subtask}");
            }
            let keys: Vec<&str> = sample
                .input
                .split("One of the special magic ")
                .skip(1)
                .filter_map(|rest| rest.split(needle).next())
                .collect();
            let different: HashSet<&&str> = keys.iter().collect();
            assert_eq!(different.len() * config.values, keys.len(), "{subtask}");
            assert_eq!(sample.depths.len(), config.queries * config.values);
        }
    }
}

#[test]
fn single_1_single_2_and_multikey_1_fit_into_256_tokens_of_a_chat_model() {
    for subtask in [Subtask::Single1, Subtask::Single2, Subtask::MultiKey1] {
        let config = NiahConfig::new(subtask, 256).new_tokens(16);
        let samples = generator(config)
            .samples(&like_a_small_model, 64, 0)
            .unwrap();
        let shortest = samples.iter().map(|sample| sample.length).min();
        assert!(shortest >= Some(220), "{subtask}: {shortest:?}");
    }
}

#[test]
fn the_answer_prefix_is_part_of_every_prompt() {
    // RULER PR 108: the prefix was written to the file and never sent.
    let config = NiahConfig::new(Subtask::Single1, 512);
    let sample = generator(config.clone())
        .samples(&words, 1, 0)
        .unwrap()
        .remove(0);
    let Prompt::Chat {
        user,
        answer_prefix,
    } = sample.prompt()
    else {
        panic!("not a chat")
    };
    assert_eq!(user, sample.input);
    assert!(answer_prefix.starts_with("The special magic number for "));
    assert!(answer_prefix.ends_with(" mentioned in the provided text is"));
    assert_eq!(sample.question().answer, format!(" {}", sample.outputs[0]));

    let sample = generator(config.form(PromptForm::Text))
        .samples(&words, 1, 0)
        .unwrap()
        .remove(0);
    let Prompt::Text(text) = sample.prompt() else {
        panic!("not a text")
    };
    assert_eq!(text, format!("{}{}", sample.input, sample.answer_prefix));
    assert!(text.contains("text? The special magic number"));
}

#[test]
fn too_small_a_budget_names_the_smallest_that_works() {
    let config = NiahConfig::new(Subtask::MultiKey1, 100);
    let error = generator(config.clone())
        .samples(&like_a_small_model, 8, 0)
        .unwrap_err();
    let Error::Budget {
        budget: 100,
        needed,
        ..
    } = error
    else {
        panic!("{error}")
    };
    let with = |max_tokens| {
        let config = NiahConfig {
            max_tokens,
            ..config.clone()
        };
        generator(config).samples(&like_a_small_model, 8, 0)
    };
    assert!(with(needed).is_ok());
    assert!(matches!(with(needed - 1), Err(Error::Budget { needed: n, .. }) if n == needed));
}

#[test]
fn a_sample_depends_on_seed_and_index_alone() {
    let generator = generator(NiahConfig::new(Subtask::MultiQuery, 1024));
    let few = generator.samples(&words, 2, 5).unwrap();
    let many = generator.samples(&words, 6, 5).unwrap();
    assert_eq!(few[..], many[..2]);
    let other = generator.samples(&words, 2, 6).unwrap();
    assert_ne!(few[0].input, other[0].input);
    assert_ne!(many[0].input, many[1].input);
}

#[test]
fn a_fixed_depth_is_kept_and_random_depths_spread() {
    for subtask in Subtask::ALL {
        for percent in [0.0, 50.0, 100.0] {
            let config = NiahConfig::new(subtask, 4096).depth(Depth::Percent(percent));
            for sample in generator(config).samples(&words, 3, 1).unwrap() {
                assert!(
                    sample
                        .depths
                        .iter()
                        .all(|depth| (depth - percent).abs() < 3.0)
                );
            }
        }
        let samples = generator(NiahConfig::new(subtask, 4096))
            .samples(&words, 40, 1)
            .unwrap();
        let depths: Vec<f64> = samples
            .iter()
            .flat_map(|sample| sample.depths.clone())
            .collect();
        let mean = depths.iter().sum::<f64>() / depths.len() as f64;
        assert!((35.0..65.0).contains(&mean), "{subtask}: {mean}");
    }
}

#[test]
fn samples_are_json_lines_with_rulers_keys() {
    let generator = generator(NiahConfig::new(Subtask::MultiValue, 512));
    let sample = generator.samples(&words, 1, 0).unwrap().remove(0);
    let value = serde_json::to_value(&sample).unwrap();
    for key in ["index", "input", "outputs", "length", "answer_prefix"] {
        assert!(value.get(key).is_some(), "{key}");
    }
    assert_eq!(
        serde_json::from_value::<bosch_eval::niah::NiahSample>(value).unwrap(),
        sample
    );
}

#[test]
fn a_tokenizers_error_is_passed_on() {
    let broken = |_: &Prompt| -> Result<usize, BoxError> { Err("no vocabulary".into()) };
    let error = generator(NiahConfig::new(Subtask::Single1, 512)).samples(&broken, 1, 0);
    assert!(
        matches!(error, Err(Error::Tokenizer(source)) if source.to_string() == "no vocabulary")
    );
}

/// The six parameters of RULER's `synthetic.yaml` in its own words.
fn ruler(
    haystack: &str,
    key: &str,
    value: &str,
    [keys, values, queries]: [usize; 3],
) -> NiahConfig {
    serde_json::from_value(serde_json::json!({
        "type_haystack": haystack, "type_needle_k": key, "type_needle_v": value,
        "num_needle_k": keys, "num_needle_v": values, "num_needle_q": queries,
        "max_seq_length": 4096, "tokens_to_generate": 128,
    }))
    .unwrap()
}

#[test]
fn the_subtasks_are_rulers_six_parameters_and_six_of_them_the_papers() {
    let table = [
        (
            "niah_single_1",
            ruler("noise", "words", "numbers", [1, 1, 1]),
        ),
        (
            "niah_single_2",
            ruler("essay", "words", "numbers", [1, 1, 1]),
        ),
        ("niah_single_3", ruler("essay", "words", "uuids", [1, 1, 1])),
        (
            "niah_multikey_1",
            ruler("essay", "words", "numbers", [4, 1, 1]),
        ),
        (
            "niah_multikey_2",
            ruler("needle", "words", "numbers", [1, 1, 1]),
        ),
        (
            "niah_multikey_3",
            ruler("needle", "uuids", "uuids", [1, 1, 1]),
        ),
        (
            "niah_multivalue",
            ruler("essay", "words", "numbers", [1, 4, 1]),
        ),
        (
            "niah_multiquery",
            ruler("essay", "words", "numbers", [4, 1, 4]),
        ),
    ];
    for (subtask, (name, config)) in Subtask::ALL.into_iter().zip(table) {
        assert_eq!(subtask.name(), name);
        assert_eq!(NiahConfig::new(subtask, 4096), config, "{name}");
    }
    let paper = Subtask::PAPER.map(Subtask::name);
    let expected = [
        "single_1",
        "single_2",
        "single_3",
        "multikey_1",
        "multivalue",
        "multiquery",
    ];
    assert_eq!(paper, expected.map(|name| format!("niah_{name}")));
}

#[test]
fn every_combination_of_the_six_parameters_is_what_it_says() {
    let is = |kind: &str, text: &str| match kind {
        "words" => text.split('-').count() == 2 && !text.contains(char::is_numeric),
        "numbers" => text.len() == 7 && text.parse::<u32>().is_ok(),
        _ => text.len() == 36 && text.split('-').count() == 5,
    };
    for haystack in ["noise", "essay", "needle"] {
        for key in ["words", "numbers", "uuids"] {
            for value in ["words", "numbers", "uuids"] {
                for counts in [[1, 1, 1], [3, 2, 2], [5, 1, 3], [2, 3, 1]] {
                    let config = ruler(haystack, key, value, counts);
                    let [keys, values, queries] = counts;
                    let sample = generator(config).samples(&words, 1, 2).unwrap().remove(0);
                    let parts = sample.input.split("One of the special magic ").skip(1);
                    let needles: Vec<(&str, &str)> = parts
                        .map(|part| {
                            let part = part.strip_prefix(&format!("{value} for ")).unwrap();
                            let (found, rest) = part.split_once(" is: ").unwrap();
                            (found, rest.split('.').next().unwrap())
                        })
                        .collect();
                    assert!(needles.iter().all(|(k, v)| is(key, k) && is(value, v)));
                    match haystack {
                        "needle" => assert!(needles.len() > 100),
                        _ => assert_eq!(needles.len(), keys * values),
                    }
                    assert_eq!(sample.outputs.len(), queries * values);
                    let hidden =
                        |output: &String| needles.iter().filter(|(_, v)| v == output).count();
                    assert!(sample.outputs.iter().all(|output| hidden(output) == 1));
                    let asked = sample.input.rsplit('\n').next().unwrap();
                    let named: HashSet<&str> = needles
                        .iter()
                        .map(|&(k, _)| k)
                        .filter(|k| asked.contains(k))
                        .collect();
                    assert_eq!(named.len(), queries);
                    assert_eq!(
                        sample.input.contains("The grass is green"),
                        haystack == "noise"
                    );
                }
            }
        }
    }
    let kinds = ruler("essay", "numbers", "words", [1, 1, 1]);
    assert_eq!(
        (kinds.key, kinds.value),
        (NeedleKind::Numbers, NeedleKind::Words)
    );
}
