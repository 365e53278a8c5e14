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
