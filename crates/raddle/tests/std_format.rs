//! Published traces in RAPID's STD text go in and come out unchanged.

mod common;

use std::fs;

use common::{exit, fresh_dir, raddle, root, say};

#[test]
fn published_traces_survive_import_and_export() {
    let dir = fresh_dir("std-format");
    let mut traces: Vec<_> = fs::read_dir(root().join("tests/data/std"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    traces.sort();
    assert!(traces.len() >= 6);
    for text in traces {
        let trace = dir.join("imported.trace");
        say(raddle(["trace", "import", "--std", "-o"])
            .arg(&trace)
            .arg(&text))
        .expect(exit::CLEAN)
        .unwrap();
        let exported = say(raddle(["trace", "export", "--std"]).arg(&trace))
            .expect(exit::CLEAN)
            .unwrap();
        assert!(
            exported.stdout == fs::read_to_string(&text).unwrap(),
            "{} came out changed",
            text.display()
        );
        let stats = say(raddle(["trace", "stats"]).arg(&trace))
            .expect(exit::CLEAN)
            .unwrap();
        let events = fs::read_to_string(&text).unwrap().lines().count();
        assert!(
            stats.stdout.contains(&events.to_string()),
            "{}",
            stats.all()
        );
    }
}

#[test]
fn a_malformed_line_is_named() {
    let dir = fresh_dir("std-malformed");
    for (text, word) in [
        ("T0|fork(T1)|1\nT0|jump(x)|2\n", "2"),
        ("T0|r(x)\n", "1"),
        ("T0;r(x);1\n", "1"),
    ] {
        let path = dir.join("bad.std");
        fs::write(&path, text).unwrap();
        let said = say(raddle(["trace", "import", "--std", "-o"])
            .arg(dir.join("x.trace"))
            .arg(&path))
        .expect(exit::USAGE)
        .unwrap();
        assert!(
            said.stderr.contains("bad.std") && said.stderr.contains(word),
            "{}",
            said.all()
        );
    }
}
