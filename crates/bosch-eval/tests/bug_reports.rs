//! Public bug reports of other evaluation code, each with the right behaviour. Every test names its
//! report: owner/repository#number.
#![allow(clippy::unwrap_used, clippy::panic)]

use bosch_eval::gsm8k::{Gsm8k, Gsm8kFilter, Gsm8kQuestion, extract, gsm8k_score};
use bosch_eval::longbench::{
    Dataset, LongBench, LongBenchSample, Prediction, Report, Templates, Tokenizer, scorer,
};
use bosch_eval::niah::{Essay, Generator, NiahConfig, NiahSample, PromptForm, Subtask};
use bosch_eval::{
    BoxError, Case, CodeSimBackend, Error, Metric, Prompt, Task, code_sim_score, parse_json_line,
    qa_f1_score, rouge_score, string_match_all, string_match_part,
};

/// One token a character.
struct Characters;

impl Tokenizer for Characters {
    fn encode(&self, text: &str) -> Result<Vec<u32>, BoxError> {
        Ok(text.chars().map(u32::from).collect())
    }

    fn decode(&self, ids: &[u32]) -> Result<String, BoxError> {
        Ok(ids.iter().filter_map(|&id| char::from_u32(id)).collect())
    }
}

fn characters(prompt: &Prompt) -> Result<usize, BoxError> {
    Ok(prompt.to_text().chars().count())
}

fn words(prompt: &Prompt) -> Result<usize, BoxError> {
    Ok(prompt.to_text().split_whitespace().count())
}

fn dataset(name: &str) -> &'static Dataset {
    Dataset::from_name(name).unwrap()
}

fn sample(context: &str) -> LongBenchSample {
    serde_json::from_value(serde_json::json!({
        "input": "Q?", "context": context, "answers": ["A"], "length": 1, "all_classes": null
    }))
    .unwrap()
}

fn task(name: &str, context: &str) -> LongBench<'static> {
    LongBench::new(dataset(name), vec![sample(context)], Templates::built_in()).unwrap()
}

fn prediction(pred: &str, answers: &[&str]) -> Prediction {
    let answers = answers.iter().map(|&answer| answer.to_owned()).collect();
    Prediction {
        pred: pred.to_owned(),
        answers,
        all_classes: Vec::new(),
        length: 0,
    }
}

/// EleutherAI/lm-evaluation-harness#2890: a list of answers was scored as one text.
#[test]
fn lm_eval_2890_each_answer_is_scored_for_itself() {
    let score = Metric::QaF1
        .score("Paris", &["Paris", "the city of Paris"], &[])
        .unwrap();
    assert_eq!(score, 1.0);
    assert!(qa_f1_score("Paris", "['Paris', 'the city of Paris']") < 1.0);
}

/// EleutherAI/lm-evaluation-harness#2983: only the first answer was scored.
#[test]
fn lm_eval_2983_the_best_answer_counts_and_not_the_first() {
    assert_eq!(
        scorer(
            dataset("hotpotqa"),
            &[prediction("Rome", &["Paris", "Rome"])]
        )
        .unwrap(),
        100.0
    );
}

/// EleutherAI/lm-evaluation-harness#2983: prompts were cut at the left.
#[test]
fn lm_eval_2983_truncation_keeps_both_ends() {
    let context = format!("BEGIN {} END", "x".repeat(5000));
    let task = task("hotpotqa", &context)
        .truncate(&Characters, 1000, 100)
        .unwrap();
    let Prompt::Chat { user, .. } = task.item(0).unwrap().prompt else {
        panic!("no chat")
    };
    assert_eq!(user.chars().count(), 1000 - 100 - 32);
    assert!(user.starts_with("Several passages follow") && user.ends_with("Question: Q?\nAnswer:"));
}

/// EleutherAI/lm-evaluation-harness#3273: prompts had a backslash and an n instead of a line break.
#[test]
fn lm_eval_3273_prompts_have_line_breaks_and_no_backslash() {
    let question = Gsm8kQuestion {
        question: "1 + 1?".into(),
        answer: "two\n#### 2".into(),
    };
    let gsm8k = Gsm8k::new(vec![question.clone()], &[question], Gsm8kFilter::Strict);
    let generator = Generator::new(NiahConfig::new(Subtask::Single2, 500), Essay::built_in());
    let needle = generator.unwrap().samples(&words, 1, 0).unwrap();
    let mut prompts = vec![gsm8k.item(0).unwrap().prompt, needle[0].prompt()];
    for dataset in &Dataset::ALL {
        prompts.push(task(dataset.name, "C").item(0).unwrap().prompt);
    }
    for prompt in prompts {
        let text = prompt.to_text();
        assert!(text.contains('\n') && !text.contains('\\'), "{text}");
    }
}

/// EleutherAI/lm-evaluation-harness#2963: fitting a haystack to a length did not end.
#[test]
fn lm_eval_2963_fitting_ends_whatever_the_tokenizer_says() {
    for subtask in Subtask::ALL {
        for length in [0, 1, 2000, 5000] {
            let calls = std::cell::Cell::new(0);
            let constant = |_: &Prompt| -> Result<usize, BoxError> {
                calls.set(calls.get() + 1);
                Ok(length)
            };
            let generator = Generator::new(NiahConfig::new(subtask, 2500), Essay::built_in());
            let samples = generator.unwrap().samples(&constant, 1, 0);
            assert_eq!(samples.is_ok(), length + 128 <= 2500, "{subtask}");
            assert!(calls.get() < 40, "{subtask}: {}", calls.get());
        }
    }
}

/// NVIDIA/RULER#108: the answer prefix was written to the file and never sent.
#[test]
fn ruler_108_the_answer_prefix_is_sent_and_counted() {
    for form in [PromptForm::Chat, PromptForm::Text] {
        let config = NiahConfig::new(Subtask::MultiQuery, 3000).form(form);
        let generator = Generator::new(config, Essay::built_in()).unwrap();
        let sample = generator.samples(&characters, 1, 0).unwrap().remove(0);
        let text = sample.prompt().to_text();
        assert!(
            text.ends_with("mentioned in the provided text are"),
            "{text}"
        );
        assert!(text.ends_with(sample.answer_prefix.trim_start()), "{text}");
        assert_eq!(sample.length, text.chars().count() + 128);
    }
}

/// NVIDIA/RULER#30: a text where a list belongs was taken for a list of its characters.
#[test]
fn ruler_30_a_single_text_is_a_list_of_one() {
    let line = r#"{"metric": "string_match_all", "prediction": "12", "ground_truths": "1234567"}"#;
    let case: Case = parse_json_line(line).unwrap();
    assert_eq!(case.ground_truths, ["1234567"]);
    assert_eq!(case.score().unwrap(), 0.0); // a list of its characters would match "1" and "2"
}

/// NVIDIA/RULER#8, NVIDIA/RULER#15: samples were longer than the length that was asked for.
#[test]
fn ruler_8_and_15_lengths_include_prefix_and_new_tokens() {
    let config = NiahConfig::new(Subtask::Single2, 3000);
    let generator = Generator::new(config, Essay::built_in()).unwrap();
    for sample in generator.samples(&characters, 5, 0).unwrap() {
        assert_eq!(sample.length, characters(&sample.prompt()).unwrap() + 128);
        assert!(sample.length <= 3000);
    }
}

/// NVIDIA/RULER (`string_match_all`): "12" in "123" counts there too.
#[test]
fn ruler_substrings_count_on_purpose() {
    assert_eq!(string_match_all("123", &["12"]), 1.0);
    assert_eq!(string_match_part("123", &["12", "9"]), 1.0);
}

/// THUDM/LongBench#36: which data sets get a chat template.
#[test]
fn longbench_36_code_and_few_shot_prompts_get_no_chat_template() {
    for name in ["trec", "triviaqa", "samsum", "lsht", "lcc", "repobench-p"] {
        assert!(
            matches!(task(name, "C").item(0).unwrap().prompt, Prompt::Text(_)),
            "{name}"
        );
    }
    assert!(matches!(
        task("qasper", "C").item(0).unwrap().prompt,
        Prompt::Chat { .. }
    ));
}

/// open-compass/opencompass#623: few-shot predictions were scored with all their lines.
#[test]
fn opencompass_623_few_shot_predictions_are_cut_at_their_first_line() {
    let babble = "\nParis\nQuestion: the next\nAnswer: Rome";
    assert_eq!(
        scorer(dataset("triviaqa"), &[prediction(babble, &["Paris"])]).unwrap(),
        100.0
    );
    assert!(scorer(dataset("hotpotqa"), &[prediction(babble, &["Paris"])]).unwrap() < 100.0);
}

/// open-compass/opencompass#1373: truncated prompts left no room for the output.
#[test]
fn opencompass_1373_room_for_the_output_is_left_or_refused() {
    let error = task("gov_report", "C")
        .truncate(&Characters, 560, 50)
        .err()
        .unwrap();
    assert!(
        matches!(
            error,
            Error::Budget {
                budget: 560,
                needed: 564,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        task("gov_report", "C")
            .truncate(&Characters, 564, 50)
            .is_ok()
    );
}

/// open-compass/opencompass#2648: "8,000" was read as "000".
#[test]
fn opencompass_2648_thousands_are_not_cut_at_the_comma() {
    let solution = "all\n#### 8,000";
    assert_eq!(extract(Gsm8kFilter::Flexible, "It is 8,000"), Some("8,000"));
    assert!(gsm8k_score(Gsm8kFilter::Flexible, "It is 8,000", solution));
    assert!(!gsm8k_score(Gsm8kFilter::Flexible, "It is 000", solution));
}

/// EleutherAI/lm-evaluation-harness#3254: ".00" after a number.
#[test]
fn lm_eval_3254_two_decimals_of_zero_are_another_text() {
    // The reference compares texts; 72.00 is not 72 there, and not here.
    assert!(!gsm8k_score(Gsm8kFilter::Strict, "#### 72.00", "#### 72"));
    assert!(gsm8k_score(Gsm8kFilter::Strict, "#### 72.", "#### 72"));
}

/// EleutherAI/lm-evaluation-harness#3438: a marker that was recited from the prompt counted as the answer.
#[test]
fn lm_eval_3438_a_recited_next_question_is_cut_off() {
    let question = Gsm8kQuestion {
        question: "1 + 1?".into(),
        answer: "#### 2".into(),
    };
    let task = Gsm8k::new(vec![question.clone()], &[question], Gsm8kFilter::Strict);
    let item = task.item(0).unwrap();
    assert!(item.generation.stop.iter().any(|stop| stop == "Question:"));
    // Within one answer the first marker counts, as in the reference.
    assert_eq!(task.score(&item, "so #### 3\nno, #### 2").unwrap(), 0.0);
}

/// huggingface/lighteval#649: generations ended at "=".
#[test]
fn lighteval_649_calculations_are_not_stopped_at_their_equals_sign() {
    let question = Gsm8kQuestion {
        question: "1 + 1?".into(),
        answer: "#### 2".into(),
    };
    let generation = Gsm8k::new(vec![question], &[], Gsm8kFilter::Strict)
        .item(0)
        .unwrap()
        .generation;
    assert!(
        !generation
            .stop
            .iter()
            .any(|stop| stop.contains('=') || stop == "\n")
    );
}

/// Zefan-Cai/KVCache-Factory#13: a line break ended the generations of every data set.
#[test]
fn kvcache_factory_13_a_line_break_stops_samsum_alone() {
    for dataset in &Dataset::ALL {
        let item = task(dataset.name, "C").item(0).unwrap();
        let stops = item.generation.stop == ["\n"];
        assert_eq!(stops, dataset.name == "samsum", "{}", dataset.name);
        assert_eq!(item.generation.min_new_tokens, usize::from(stops));
    }
}

/// Zefan-Cai/KVCache-Factory#62: a needle was encoded with BOS. skylight-research PR 90: prompts had three BOS.
#[test]
fn kvcache_factory_62_and_skylight_90_prompts_are_text_without_special_tokens() {
    // The runtime adds BOS once; neither needles nor prompts bring one.
    let generator = Generator::new(NiahConfig::new(Subtask::MultiKey1, 3000), Essay::built_in());
    for sample in generator.unwrap().samples(&characters, 3, 0).unwrap() {
        let text = sample.prompt().to_text();
        assert!(!text.contains("<s>") && !text.contains("<|"), "{text}");
    }
}

/// ShadowKV#12: scores of 0..1 and of 0..100 in one table.
#[test]
fn shadowkv_12_scales_do_not_mix() {
    let mut report = Report::default();
    assert!(report.insert("qasper", 4000.0).is_err());
    assert_eq!(
        scorer(dataset("qasper"), &[prediction("Paris", &["Paris"])]).unwrap(),
        100.0
    );
    assert_eq!(Metric::QaF1.score("Paris", &["Paris"], &[]).unwrap(), 1.0);
}

/// pltrdy/rouge#14, pltrdy/rouge#75: "" or "." raised an error.
#[test]
fn rouge_14_and_75_texts_without_sentences_score_0() {
    for (prediction, truth) in [("", "a"), ("a", ""), (".", "a"), ("...", "..."), ("", "")] {
        assert_eq!(rouge_score(prediction, truth), 0.0);
    }
}

/// pltrdy/rouge#19, pltrdy/rouge#67: long texts hit the recursion limit.
#[test]
fn rouge_19_and_67_long_texts_need_no_recursion() {
    let text = (0..5000)
        .map(|i| format!("w{i}"))
        .collect::<Vec<_>>()
        .join(" ");
    assert!(rouge_score(&text, &text) > 0.999_999);
}

/// seatgeek/fuzzywuzzy#128, seatgeek/fuzzywuzzy#271: scores depended on what was installed.
#[test]
fn fuzzywuzzy_128_and_271_the_back_end_is_chosen_and_not_found() {
    let (a, b) = ("ab".repeat(150), format!("b{}", "ab".repeat(150)));
    assert_eq!(code_sim_score(&a, &b, CodeSimBackend::Difflib), 0.0);
    assert_eq!(code_sim_score(&a, &b, CodeSimBackend::Levenshtein), 1.0);
}

#[test]
fn niah_files_of_ruler_are_read() {
    let line =
        r#"{"index": 3, "input": "I", "outputs": ["1"], "length": 9, "answer_prefix": " P"}"#;
    let sample: NiahSample = parse_json_line(line).unwrap();
    assert_eq!(sample.prompt().to_text(), "I\nP");
}
