//! STD text: published traces import and export unchanged, directly and through a trace file.

use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use raddle_trace::event::{Event, EventKind, LockChange, LockMode};
use raddle_trace::file::{Header, TraceReader, TraceWriter, Trailer};
use raddle_trace::ids::ThreadId;
use raddle_trace::names::Names;
use raddle_trace::std_format::{StdError, StdExport, StdImport};

fn import(text: &[u8]) -> Result<(Vec<Event>, Names), StdError> {
    let mut import = StdImport::new(text);
    let events = import.by_ref().collect::<Result<_, _>>()?;
    Ok((events, import.into_names()))
}

fn export(events: &[Event], names: Option<&Names>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut export = StdExport::new(names);
    events
        .iter()
        .for_each(|event| export.write(event, &mut out).unwrap());
    export.finish(&mut out).unwrap();
    out
}

/// Through memory, and through a trace file.
fn check_unchanged(text: &[u8]) {
    let (events, names) = import(text).unwrap();
    assert!(export(&events, Some(&names)) == text);

    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, &Header::default()).unwrap();
    events.iter().for_each(|event| writer.push(event).unwrap());
    writer
        .finish(&Trailer {
            names: Some(names),
            ..Trailer::default()
        })
        .unwrap();
    let mut reader = TraceReader::new(Cursor::new(bytes)).unwrap();
    let read: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
    assert!(read == events);
    assert!(export(&read, reader.trailer().unwrap().names.as_ref()) == text);
}

#[test]
fn published_traces_come_back_byte_for_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut seen = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "std") {
            check_unchanged(&std::fs::read(&path).unwrap());
            seen += 1;
        }
    }
    assert_eq!(seen, 6);
}

#[test]
fn odd_texts_come_back_too() {
    check_unchanged(b"");
    check_unchanged(b"T1|r(V1)|3");
    check_unchanged(b"T1|r(V1)|3\r\nT1|w(V1)|\r\n");
    check_unchanged(
        b"main|begin(x)|1\nmain|fork(T9)|1\nT9|end()|2\nT09|join(main)|2\nT99999|r(a b)|x y\n",
    );
}

proptest! {
    #[test]
    fn any_lines_come_back(
        lines in proptest::collection::vec(
            "[a-zT][a-z0-9 ]{0,3}\\|(r|w|acq|rel|req|fork|join|begin|end)\\([^|\r\n]{0,4}\\)\\|[^|\r\n]{0,4}",
            0..30,
        ),
        terminated: bool,
    ) {
        // A thread that forks or joins itself is an error.
        let names_itself = |line: &String| {
            let (thread, rest) = line.split_once('|').unwrap();
            rest.contains(&format!("({thread})"))
        };
        prop_assume!(!lines.iter().any(names_itself));
        let mut text = lines.join("\n");
        if terminated && !text.is_empty() {
            text.push('\n');
        }
        check_unchanged(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_events_or_an_error(bytes: Vec<u8>) {
        let _ = import(&bytes);
    }
}

fn check_error(text: &[u8], message: &str) {
    assert_eq!(import(text).unwrap_err().to_string(), message);
}

#[test]
fn errors_name_the_line() {
    check_error(
        b"T1|r(V1)|3\nT1|r(V1)\n",
        "line 2: expected `thread|op(operand)|location`, found 2 fields between bars",
    );
    check_error(
        b"|r(V1)|3\n",
        "line 1: expected a thread before the first bar",
    );
    check_error(b"T1|r|3\n", "line 1: expected `op(operand)`, found `r`");
    check_error(
        b"T1|rd(V1)|3\n",
        "line 1: unknown operation `rd`; there are r, w, acq, rel, req, fork, join, begin, end",
    );
    check_error(b"T1|r(V1)|\xff\n", "line 1: the line is not UTF-8");
    check_error(
        b"T1|r(V1)|3\r\nT1|r(V1)|3\n",
        "line 2: this line ends otherwise than the first one (LF or CR LF)",
    );
}

/// The warnings of a text.
fn warnings(text: &str) -> Vec<String> {
    let mut import = StdImport::new(text.as_bytes());
    let events: Result<Vec<Event>, _> = import.by_ref().collect();
    events.expect("events, if odd ones");
    let (warnings, more) = import.warnings();
    assert_eq!(more, 0);
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_thread_that_forks_or_joins_itself_is_an_error() {
    check_error(
        b"T1|r(x)|1\n\nT1|fork(T1)|2\n",
        "line 3: thread T1 forks itself",
    );
    check_error(b"main|join(main)|2\n", "line 1: thread main joins itself");
}

#[test]
fn what_no_run_explains_is_a_warning_with_its_line() {
    for (text, expected) in [
        (
            "T1|acq(l)|1\nT2|acq(l)|2\nT1|rel(l)|3\nT2|rel(l)|4\n",
            "line 2: T2 acquires lock l, which T1 holds since line 1: no two threads can hold a mutex at the \
             same time",
        ),
        (
            "T1|acq(l)|1\nT1|rel(l)|2\nT1|rel(l)|3\n",
            "line 3: T1 releases lock l without having acquired it: nobody holds it",
        ),
        (
            "T1|acq(l)|1\nT2|rel(l)|2\nT1|rel(l)|3\n",
            "line 2: T2 releases lock l without having acquired it: T1 holds it since line 1",
        ),
        (
            "T1|r(x)|1\nT1|join(T7)|2\n",
            "line 2: join of thread T7, which was neither forked nor has any event",
        ),
        (
            "T1|fork(T2)|1\nT1|fork(T2)|2\nT2|r(x)|3\n",
            "line 2: thread T2 was forked at line 1 already",
        ),
        (
            "T2|r(x)|1\nT1|fork(T2)|2\n",
            "line 2: thread T2 is forked after its event at line 1",
        ),
        (
            "T2|r(x)|1\nT1|join(T2)|2\nT2|r(x)|3\nT2|r(x)|4\n",
            "line 3: thread T2 acts after it was joined at line 2",
        ),
        (
            "T2|end(0)|1\nT2|w(x)|2\n",
            "line 2: thread T2 acts after its end at line 1",
        ),
        (
            "T2|begin(0)|1\nT2|w(x)|2\nT2|begin(0)|3\n",
            "line 3: thread T2 begins after its event at line 2",
        ),
        (
            "T2|w(x)|1\nT2|begin(0)|2\n",
            "line 2: thread T2 begins after its event at line 1",
        ),
    ] {
        assert_eq!(warnings(text), [expected], "{text}");
    }
}

#[test]
fn ordinary_texts_give_no_warnings() {
    // Nested acquisitions of one lock, a thread without events, threads that all begin at first.
    let text =
        "T0|begin(0)|0\nT1|begin(0)|0\nT0|fork(T1)|1\nT0|fork(T2)|1\nT1|acq(l)|2\nT1|acq(l)|3
T1|rel(l)|4\nT1|rel(l)|5\nT0|acq(l)|6\nT1|end(0)|7\nT0|join(T1)|8\nT0|join(T2)|9\nT0|join(T2)|9\n";
    assert_eq!(warnings(text), [""; 0]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/std");
    let mut seen = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        // Some of them let threads act after their ends, and have nothing else that is odd.
        for warning in warnings(&text) {
            assert!(
                warning.contains("acts after its end"),
                "{}: {warning}",
                path.display()
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn too_many_warnings_are_counted() {
    let text = "T1|rel(l)|1\n".repeat(250);
    let mut import = StdImport::new(text.as_bytes());
    assert_eq!(import.by_ref().count(), 250);
    let (warnings, more) = import.warnings();
    assert_eq!((warnings.len(), more), (100, 150));
    assert_eq!(warnings[99].line, 100);
}

#[test]
fn blank_lines_are_passed_over() {
    let text = b"\nT1|begin(x)|1\n  \nT1|w(V)|2\n\t\nT1|end(y)|3\n\n";
    let (events, names) = import(text).unwrap();
    assert_eq!(events.len(), 3);
    let exported = export(&events, Some(&names));
    assert_eq!(exported, b"T1|begin(x)|1\nT1|w(V)|2\nT1|end(y)|3\n");
    check_error(b"\n\nT1|r|3\n", "line 3: expected `op(operand)`, found `r`");
}

#[test]
fn imported_events_are_ordinary_ones() {
    let (events, _) = import(b"T2|acq(L)|1\nT2|w(V)|2\nT1|r(V)|2\nT2|rel(L)|3\n").unwrap();
    let changes: Vec<_> = events
        .iter()
        .map(|event| event.lock_action().map(|a| a.change))
        .collect();
    let (acquire, release) = (
        LockChange::Acquire(LockMode::Exclusive),
        LockChange::Release(LockMode::Exclusive),
    );
    assert_eq!(changes, [Some(acquire), None, None, Some(release)]);
    assert_eq!(events[0].thread, ThreadId(2));
    assert_eq!(
        events[1].footprint().unwrap().addr,
        events[2].footprint().unwrap().addr
    );
    assert!(events[1].is_write() && !events[2].is_write());
    assert!(
        matches!(events[2].kind, EventKind::Read(access) if access.site == events[1].site().unwrap())
    );
    assert_eq!(events[3].tick.0, 3, "an action takes two slots");
}
