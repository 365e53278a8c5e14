//! Whatever is wrong with source files and terminals, a report can be read.

use raddle_report::{Access, Finding, Kind, Location, Options, terminal};

use crate::examples::*;
use crate::{check_terminal, directory, options};

fn race_at(positions: [(&str, u32, u32); 2]) -> Finding {
    let location = |thread, access, (file, line, column)| -> Location {
        named(location(thread, access, at(file, line, column, "f")), "x")
    };
    let [one, other] = positions;
    bug(
        Kind::DataRace,
        vec![
            location(1, Access::Write, one),
            location(2, Access::Read, other),
        ],
    )
}

#[track_caller]
fn check_files(name: &str, files: &[(&str, &[u8])], positions: [(&str, u32, u32); 2]) {
    let directory = directory(files);
    let options = options(directory.path());
    check_terminal(name, &report(vec![race_at(positions)]), &options);
}

#[test]
fn two_files_are_two_snippets() {
    check_files(
        "two_files.txt",
        &[
            ("src/a/mod.rs", b"x = 1;\n"),
            ("src/b/mod.rs", b"\ny = x;\n"),
        ],
        [("src/a/mod.rs", 1, 1), ("src/b/mod.rs", 2, 5)],
    );
}

#[test]
fn a_thread_looks_the_same_in_every_file() {
    let directory = directory(&[
        ("a.c", b"x = 1;\n"),
        ("b.c", b"x = 2;\n"),
        ("c.c", b"y = x;\n"),
    ]);
    let access = |thread, access, file, column| location(thread, access, at(file, 1, column, "f"));
    let finding = bug(
        Kind::AtomicityViolation,
        vec![
            access(1, Access::Write, "a.c", 1),
            access(2, Access::Write, "b.c", 1),
            access(1, Access::Read, "c.c", 5),
        ],
    );
    let options = options(directory.path());
    check_terminal("three_files.txt", &report(vec![finding]), &options);
}

#[test]
fn far_apart_lines_are_folded() {
    let mut text = b"x = 1;\n".to_vec();
    text.extend(b"// nothing\n".repeat(3000));
    text.extend(b"y = x;\n");
    check_files(
        "far_apart.txt",
        &[("a.rs", &text)],
        [("a.rs", 1, 1), ("a.rs", 3002, 5)],
    );
}

#[test]
fn files_are_named_from_the_current_directory_and_found_around_it() {
    let directory = directory(&[("crate/src/a.rs", b"x = 1;\n"), ("b.rs", b"y = x;\n")]);
    let options = options(&directory.path().join("crate"));
    let inside = directory.path().join("crate/src/a.rs");
    let race = race_at([(inside.to_str().unwrap(), 1, 1), ("b.rs", 1, 5)]);
    check_terminal("around.txt", &report(vec![race]), &options);
}

#[test]
fn a_missing_file_leaves_positions() {
    check_files(
        "no_source.txt",
        &[("b.rs", b"x\n")],
        [("/no/such/a.rs", 7, 3), ("b.rs", 4, 0)],
    );
}

#[test]
fn unknown_places_are_said_to_be() {
    check_files("unknown.txt", &[], [("", 0, 0), ("a.rs", 0, 0)]);
}

#[test]
fn unicode_tabs_and_line_ends() {
    check_files(
        "unicode.txt",
        &[(
            "größe.rs",
            "\t/* 银行 é */ größe = 1;\r\n\ty = größe;\r\n".as_bytes(),
        )],
        [("größe.rs", 1, 18), ("größe.rs", 2, 6)],
    );
}

#[test]
fn other_encodings() {
    check_files(
        "latin.txt",
        &[("a.c", b"/* Gr\xf6\xdfe \x1b[31m */ x = 1;\n\0y = x;\n")],
        [("a.c", 1, 19), ("a.c", 2, 6)],
    );
}

#[test]
fn long_lines_are_trimmed() {
    let line = format!("{} x = 1; {}\n", "a + ".repeat(200), "+ b".repeat(200));
    let directory = directory(&[("a.c", line.as_bytes())]);
    let options = options(directory.path());
    let report = report(vec![race_at([("a.c", 1, 802), ("a.c", 1, 1)])]);
    check_terminal("long_line.txt", &report, &options);
}

#[test]
fn a_narrow_terminal() {
    let directory = directory(&[("bank.rs", BANK.as_bytes())]);
    let options = Options {
        width: 40,
        ..options(directory.path())
    };
    check_terminal("narrow.txt", &report(vec![race()]), &options);
}

#[test]
fn hostile_texts_do_not_reach_the_terminal() {
    let mut finding = race();
    let evil = "\x1b]0;title\x07\n\rx".to_owned();
    for location in &mut finding.locations {
        location.variable = Some(evil.clone());
        location.note = Some(evil.clone());
        location.position.function = evil.clone();
        location.position.file = evil.clone();
    }
    for moment in &mut finding.story {
        moment.what = evil.clone();
        moment.position.file = evil.clone();
    }
    finding.outcome_text = Some(evil.clone());
    finding.proved_by = evil.clone();
    let mut report = report(vec![finding]);
    report.notes.push(evil);
    let text = terminal::render(&report, &options("/nowhere".as_ref()));
    assert!(!text.contains("\x1b]"), "{text:?}");
    assert!(!text.contains(['\x07', '\r']), "{text:?}");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let directory = directory(&[("bank.rs", BANK.as_bytes())]);
    let options = options(directory.path());
    let report = report(vec![race()]);
    assert!(terminal::render(&report, &options).contains("\x1b["));
    assert!(!terminal::plain(&report, &options).contains('\x1b'));
}
