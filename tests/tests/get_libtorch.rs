//! `scripts/get-libtorch` fails with one clear sentence, and does nothing when nothing is to be done.
#![allow(clippy::unwrap_used)] // in helpers of tests a panic is the message
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the script in an empty checkout, and a PATH that holds only what a test puts there.
struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/get-libtorch");
        fs::create_dir_all(folder.path().join("scripts")).unwrap();
        fs::create_dir_all(folder.path().join("bin")).unwrap();
        fs::copy(script, folder.path().join("scripts/get-libtorch")).unwrap();
        let checkout = Self { folder };
        for tool in [
            "bash", "dirname", "uname", "df", "awk", "cat", "du", "cut", "mkdir", "rm", "mv", "gcc",
        ] {
            if let Some(path) = find(tool) {
                symlink(path, checkout.folder.path().join("bin").join(tool)).unwrap();
            }
        }
        checkout
    }

    /// Puts a tool of our own in the place of the system's.
    fn tool(&self, name: &str, body: &str) -> &Self {
        let path = self.folder.path().join("bin").join(name);
        let _ = fs::remove_file(&path);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Success, and everything that was printed.
    fn run(&self, variables: &[(&str, &str)]) -> (bool, String) {
        let output = Command::new(self.folder.path().join("bin/bash"))
            .arg(self.folder.path().join("scripts/get-libtorch"))
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    fn fails_with(&self, variables: &[(&str, &str)], sentence: &str) {
        let (success, text) = self.run(variables);
        assert!(!success && text.contains(sentence), "{text}");
        assert!(!self.folder.path().join(".libtorch").exists());
    }
}

fn find(tool: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(tool))
        .find(|path| path.exists())
}

const LINUX: &str = r#"case "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac"#;

#[test]
fn no_python_is_said() {
    let checkout = Checkout::new();
    checkout
        .tool("uname", LINUX)
        .fails_with(&[], "Python 3 is needed");
}

#[test]
fn python_without_pip_is_said() {
    let checkout = Checkout::new();
    checkout
        .tool("uname", LINUX)
        .tool("python3", "exit 1")
        .fails_with(&[], "has no pip");
}

#[test]
fn a_full_disk_is_said_with_both_figures() {
    let checkout = Checkout::new();
    checkout
        .tool("uname", LINUX)
        .tool("python3", "exit 0")
        .tool("df", "echo header; echo disk 9 9 17 50% /")
        .fails_with(&[], "2500 MB are needed");
}

#[test]
fn another_platform_is_told_what_to_do() {
    let checkout = Checkout::new();
    checkout
        .tool(
            "uname",
            r#"case "$1" in -s) echo Plan9 ;; -m) echo mips ;; esac"#,
        )
        .fails_with(&[], "no recipe for Plan9 on mips: install PyTorch 2.13.0");
}

#[test]
fn a_failed_download_leaves_nothing_behind() {
    let checkout = Checkout::new();
    checkout
        .tool("uname", LINUX)
        .tool(
            "python3",
            r#"case "$3" in --version) exit 0 ;; *) exit 7 ;; esac"#,
        )
        .fails_with(&[], "pip could not download torch 2.13.0");
    let left: Vec<_> = fs::read_dir(checkout.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_libtorch_variable_that_points_nowhere_is_said() {
    Checkout::new().fails_with(
        &[("LIBTORCH", "/nowhere")],
        "LIBTORCH is set to /nowhere, which has no lib folder",
    );
}

#[test]
fn what_is_there_is_left_alone() {
    let checkout = Checkout::new();
    let libtorch = checkout.folder.path().join(".libtorch");
    fs::create_dir(&libtorch).unwrap();
    fs::write(libtorch.join("build-version"), "2.13.0\n").unwrap();
    let (success, text) = checkout.run(&[]);
    assert!(
        success && text.contains("libtorch 2.13.0 is in .libtorch"),
        "{text}"
    );
    let (success, text) = checkout.run(&[("LIBTORCH_USE_PYTORCH", "1")]);
    assert!(success && text.contains("nothing to do"), "{text}");
}
