//! Reading official files: plain, in a folder, in a zip, both spellings, and what is wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;

use bosch_eval::Error;
use bosch_eval::longbench::{read_predictions, read_samples};

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
