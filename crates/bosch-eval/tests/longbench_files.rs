//! Reading official files: plain, in a folder, in a zip, both spellings, and what is wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;

use bosch_eval::Error;
use bosch_eval::gsm8k;
use bosch_eval::longbench::{
    Dataset, Prediction, Templates, read_predictions, read_samples, scorer, scorer_e,
};

const LINES: &str = r#"{"input": "Q", "context": "C", "answers": ["A", "B"], "length": 7, "dataset": "qasper", "language": "en", "all_classes": null, "_id": "x"}
{"question": "Q", "context": "C", "answer": "A", "all_classes": ["City"]}
"#;

#[test]
fn plain_files_folders_and_zips_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("qasper.jsonl");
    std::fs::write(&plain, LINES).unwrap();
    let archive = folder.path().join("data.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&archive).unwrap());
    zip.start_file(
        "data/qasper.jsonl",
        zip::write::SimpleFileOptions::default(),
    )
    .unwrap();
    zip.write_all(LINES.as_bytes()).unwrap();
    zip.finish().unwrap();

    let samples = read_samples(&plain, "qasper").unwrap();
    assert_eq!(samples[0].answers, ["A", "B"]);
    assert_eq!((samples[0].length, samples[0].id.as_str()), (7, "x"));
    assert_eq!(
        (samples[1].input.as_str(), samples[1].answers.as_slice()),
        ("Q", ["A".into()].as_slice())
    );
    assert_eq!(samples[1].all_classes, ["City"]);
    assert_eq!(read_samples(folder.path(), "qasper").unwrap(), samples);
    assert_eq!(read_samples(&archive, "qasper").unwrap(), samples);
    let missing = read_samples(&archive, "trec").unwrap_err().to_string();
    assert!(
        missing.contains("expected a member trec.jsonl"),
        "{missing}"
    );
    assert!(matches!(
        read_samples(folder.path(), "trec"),
        Err(Error::Io { .. })
    ));
}

#[test]
fn bad_lines_are_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        &file,
        "{\"context\": \"C\", \"answers\": [\"A\"]}\n\n{\"context\": 1}\n",
    )
    .unwrap();
    let error = read_samples(file.path(), "qasper").unwrap_err().to_string();
    assert!(error.contains(", line 3: invalid type: integer"), "{error}");
    std::fs::write(&file, "{\"context\": \"C\"}\n").unwrap();
    let error = read_samples(file.path(), "qasper").unwrap_err().to_string();
    assert!(
        error.contains("line 1: expected at least one answer"),
        "{error}"
    );
    std::fs::write(&file, "no json").unwrap();
    assert!(matches!(
        read_predictions(file.path()),
        Err(Error::Format { line: 1, .. })
    ));
}

#[test]
fn lines_are_counted_with_blank_ones_and_marks_of_other_systems_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let good = r#"{"context": "C", "answers": ["A"], "question": "Q", "answer": "so\n#### 1", "pred": "A"}"#;
    std::fs::write(&file, format!("\u{feff}{good}\r\n\r\n")).unwrap();
    assert_eq!(read_samples(file.path(), "qasper").unwrap().len(), 1);
    assert_eq!(read_predictions(file.path()).unwrap().len(), 1);
    assert_eq!(gsm8k::read(file.path()).unwrap().len(), 1);
    let bad = r#"{"context": "C", "answers": [], "question": "Q", "answer": []}"#;
    std::fs::write(&file, format!("{good}\n\n\n{bad}\n")).unwrap();
    let error = read_samples(file.path(), "qasper").unwrap_err();
    assert!(matches!(error, Error::Format { line: 4, .. }), "{error}");
    std::fs::write(
        &file,
        format!("{good}\n\n{{\"question\": \"Q\", \"answer\": \"1\"}}\n"),
    )
    .unwrap();
    let error = gsm8k::read(file.path()).unwrap_err();
    assert!(matches!(error, Error::Format { line: 3, .. }), "{error}");
    std::fs::write(&file, "\u{feff}{\"a\": \"{input}\"}").unwrap();
    assert!(Templates::from_path(file.path()).is_ok());
}

#[test]
fn odd_zip_files_and_text_that_is_none_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.ZIP");
    for bytes in [b"".as_slice(), b"no zip", b"PK\x05\x06"] {
        std::fs::write(&path, bytes).unwrap();
        let error = read_samples(&path, "qasper").unwrap_err();
        assert!(matches!(error, Error::Format { line: 0, .. }), "{error}");
    }
    let options = zip::write::SimpleFileOptions::default();
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    zip.add_directory("trec.jsonl", options).unwrap();
    zip.start_file("../../qasper.jsonl", options).unwrap();
    zip.write_all(b"\xff\xfe{}").unwrap();
    zip.start_file("lcc.jsonl", options).unwrap();
    zip.write_all(LINES.as_bytes()).unwrap();
    zip.finish().unwrap();
    assert!(read_samples(&path, "trec").is_err());
    assert!(matches!(
        read_samples(&path, "qasper"),
        Err(Error::Io { .. })
    ));
    assert_eq!(read_samples(&path, "lcc").unwrap().len(), 2);
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(read_samples(&path, "lcc").is_err(), "cut at {cut}");
    }
    std::fs::write(
        &path,
        whole.iter().map(|byte| byte ^ 0x20).collect::<Vec<u8>>(),
    )
    .unwrap();
    assert!(read_samples(&path, "lcc").is_err());
    let plain = folder.path().join("lcc.jsonl");
    std::fs::write(&plain, b"\xff\xfe{}").unwrap();
    assert!(matches!(read_samples(&plain, "lcc"), Err(Error::Io { .. })));
}

#[test]
fn a_prediction_without_a_score_is_named_and_not_a_zero() {
    let lines = [
        r#"{"pred": "City", "answers": ["City"], "all_classes": ["City"], "length": 1}"#,
        r#"{"pred": "City", "answers": ["City"], "all_classes": null, "length": 1}"#,
    ];
    let predictions = lines.map(|line| serde_json::from_str::<Prediction>(line).unwrap());
    let trec = Dataset::from_name("trec").unwrap();
    assert_eq!(scorer(trec, &predictions[..1]).unwrap(), 100.0);
    let expected = "prediction 2: all_classes: expected a list of classes, found none";
    assert_eq!(
        scorer(trec, &predictions).unwrap_err().to_string(),
        expected
    );
    assert_eq!(
        scorer_e(trec, &predictions).unwrap_err().to_string(),
        expected
    );
}
