//! Reports against the texts beside this file. `UPDATE_EXPECTED=1` writes them anew.

mod examples;
mod json;
mod kinds;
mod sources;
mod together;

use std::fs;
use std::path::{Path, PathBuf};

use raddle_report::{Options, Report, Told, terminal};
use raddle_trace::position::SourcePosition;

/// Compares a text with `expected/name`.
#[track_caller]
fn check(name: &str, text: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/told/expected");
    let path = directory.join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == expected,
        "{} differs; now it is\n{text}",
        path.display()
    );
}

/// Compares what the terminal shows with `expected/name`, without colours.
#[track_caller]
fn check_terminal(name: &str, report: &Report, options: &Options) {
    let text = terminal::plain(report, options);
    for line in text.lines() {
        assert_eq!(line, line.trim_end(), "no blanks at the end of a line");
    }
    check(name, &text);
}

fn options(directory: &Path) -> Options {
    Options {
        told: Told::Bugs,
        width: 80,
        directory: directory.to_owned(),
        library: |it: &SourcePosition| it.file.starts_with("/rustc/"),
    }
}

/// A directory with these files in it.
fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path: PathBuf = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    directory
}
