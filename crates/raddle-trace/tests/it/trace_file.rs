//! The trace file: what is written is read back, cut files are read as far as they go, damaged
//! ones are refused.

use crate::common;

use std::io::Cursor;

use proptest::option;
use proptest::prelude::*;

use raddle_trace::diff::{Difference, first_difference};
use raddle_trace::event::Event;
use raddle_trace::file::{Header, ReadError, TRACE_VERSION, TraceReader, TraceWriter, Trailer};
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::names::Names;
use raddle_trace::outcome::{ThreadInfo, Wait};
use raddle_trace::packages::Packages;
use raddle_trace::position::{CodePosition, SiteInfo, SourcePosition, Variable};
use raddle_trace::sites::SiteShape;
use raddle_trace::wire::{Mark, Ordering, Role, SiteKind, ThreadState};

fn write(header: &Header, events: &[Event], trailer: &Trailer) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, header).unwrap();
    for event in events {
        writer.push(event).unwrap();
    }
    let summary = writer.finish(trailer).unwrap();
    assert_eq!(
        (summary.events, summary.bytes),
        (events.len() as u64, bytes.len() as u64)
    );
    bytes
}

fn open(bytes: &[u8]) -> Result<TraceReader<Cursor<&[u8]>>, ReadError> {
    TraceReader::new(Cursor::new(bytes))
}

fn position(line: u32) -> SourcePosition {
    SourcePosition {
        function: "f".to_owned(),
        file: "src/x.rs".to_owned(),
        line,
        column: 3,
    }
}

/// A trailer with something in every table, its rows not in order.
fn full_trailer() -> Trailer {
    let site = |number| SiteInfo {
        site: SiteId(number),
        module: u64::MAX,
        index: 3,
        shape: SiteShape {
            kind: SiteKind::Cas,
            order: Ordering::SeqCst,
            size: 8,
            role: Role::Downgrade,
        },
        positions: vec![position(number), position(2)],
        variable: Some(Variable {
            name: "it.x".to_owned(),
            owner: Some("Point".to_owned()),
            is_global: true,
        }),
    };
    let thread = ThreadInfo {
        thread: ThreadId(1),
        state: ThreadState::Blocked,
        ticks: Tick(77),
        visible: 5,
        wait: Some(Wait {
            wants: Mark::Lock,
            object: Address(64),
            held_by: Some(ThreadId(0)),
        }),
        stack: vec![Address(1), Address(2)],
    };
    let names = Names {
        threads: [(ThreadId(1), "main".to_owned())].into(),
        operands: vec!["V0".to_owned(), "V1".to_owned()],
        locations: vec!["12".to_owned()],
        exceptions: [(EventIndex(4), "odd".to_owned())].into(),
        crlf: true,
        unterminated: true,
    };
    Trailer {
        sites: vec![site(9), site(4)],
        code: vec![CodePosition {
            pc: Address(5),
            positions: vec![position(1)],
            object: Some(Variable::default()),
        }],
        switches: Vec::new(),
        outcome: None,
        threads: vec![thread],
        names: Some(names),
        packages: Packages::parse("own /ws\ndependency /ws/vendor/a\n"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_trace_comes_back(
        run in common::run(),
        events in common::events(60),
        outcome in option::of(common::outcome()),
        switches in proptest::collection::vec(common::switch(), 0..9),
    ) {
        let header = Header::new(run);
        let trailer = Trailer { outcome, switches, ..full_trailer() };
        let bytes = write(&header, &events, &trailer);
        prop_assert_eq!(&bytes, &write(&header, &events, &trailer));

        let mut reader = open(&bytes).unwrap();
        prop_assert_eq!(reader.header(), &header);
        prop_assert_eq!(reader.truncated(), None);
        let mut sorted = trailer;
        sorted.sites.reverse();
        prop_assert_eq!(reader.trailer().map(AsRef::as_ref), Some(&sorted));
        for _pass in 0..2 {
            let read: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(&read, &events);
            prop_assert_eq!(reader.next_index(), EventIndex(events.len() as u64));
            reader.rewind().unwrap();
        }
    }

    #[test]
    fn a_flipped_bit_is_seen_or_harmless(
        events in common::events(10),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..4),
    ) {
        let bytes = write(&Header::default(), &events, &full_trailer());
        let mut damaged = bytes;
        for (at, bit) in flips {
            let at = at.index(damaged.len());
            damaged[at] ^= 1 << bit;
        }
        if let Ok(reader) = open(&damaged) {
            let read: Vec<Event> = reader.map_while(Result::ok).collect();
            prop_assert!(events.starts_with(&read));
        }
    }

    #[test]
    fn a_block_with_a_right_checksum_and_wrong_contents_does_no_harm(raw: Vec<u8>, kind in 1..10_u8) {
        let mut bytes = write(&Header::default(), &[], &Trailer::default());
        bytes.truncate(bytes.len() - 24);
        let mut head = b"RBLK".to_vec();
        head.extend([kind, 0, 0, 0]);
        head.extend((raw.len() as u32).to_le_bytes());
        head.extend((raw.len() as u32).to_le_bytes());
        head.extend(0_u64.to_le_bytes());
        let checksum = xxhash_rust::xxh3::xxh3_64(&[&head[..], &raw].concat());
        head.extend(checksum.to_le_bytes());
        // In front of the end block, which is the only one there.
        let end = bytes.len() - 33;
        bytes.splice(end..end, head.into_iter().chain(raw));
        if let Ok(reader) = open(&bytes) {
            for event in reader {
                let _ = event;
            }
        }
    }
}

/// Events for three blocks of the sizes that matter.
fn blocks() -> [Vec<Event>; 3] {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    [(); 3].map(|()| common::events(8).new_tree(&mut runner).unwrap().current())
}

/// A file of such blocks, with the writer told to close them.
fn in_blocks(blocks: &[Vec<Event>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, &Header::default()).unwrap();
    for block in blocks {
        block.iter().for_each(|event| writer.push(event).unwrap());
        writer.flush().unwrap();
    }
    writer.finish(&full_trailer()).unwrap();
    bytes
}

fn three_blocks() -> (Vec<Event>, Vec<u8>) {
    let blocks = blocks();
    (blocks.concat(), in_blocks(&blocks))
}

/// The first difference of two files whose common blocks are passed over, which begins with the event `passed`.
fn difference(one: &[Vec<Event>], other: &[Vec<Event>], passed: usize) -> Option<Difference> {
    let (one, other) = (in_blocks(one), in_blocks(other));
    let (mut expected, mut actual) = (open(&one).unwrap(), open(&other).unwrap());
    expected.pass_common(&mut actual).unwrap();
    let from = expected.next_index();
    assert_eq!((from.0, actual.next_index()), (passed as u64, from));
    first_difference(from, expected, actual).unwrap()
}

#[test]
fn common_blocks_are_passed_over() {
    let blocks = blocks();
    assert_eq!(difference(&blocks, &blocks, 0), None, "nothing comes next");
    for changed in 0..3 {
        let before: usize = blocks[..changed].iter().map(Vec::len).sum();
        let mut others = blocks.clone();
        others[changed].last_mut().unwrap().thread = ThreadId(77);
        let found = difference(&blocks, &others, before).expect("they differ");
        assert_eq!(found.index.0 as usize, before + blocks[changed].len() - 1);
        assert_eq!(found.expected.as_ref(), blocks[changed].last());
        assert_eq!(found.actual.as_ref(), others[changed].last());
        // One of them ends here.
        let found = difference(&blocks, &blocks[..changed], before).expect("they differ");
        assert_eq!((found.index.0 as usize, found.actual), (before, None));
        let found = difference(&blocks[..changed], &blocks, before).expect("they differ");
        assert_eq!((found.index.0 as usize, found.expected), (before, None));
    }
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_its_last_whole_block() {
    let (events, bytes) = three_blocks();
    let whole = open(&bytes).unwrap();
    let start = bytes.len() as u64 - 24;
    let (mut opened, mut lengths) = (0, Vec::new());
    for cut in 0..bytes.len() {
        let Ok(mut reader) = open(&bytes[..cut]) else {
            assert_eq!(opened, 0, "a longer file is not less readable");
            continue;
        };
        opened += 1;
        let note = reader.truncated().expect("a cut file says so").clone();
        assert!(note.offset + note.lost == cut as u64 && !note.to_string().is_empty());
        assert_eq!(note.has_tables, cut as u64 >= start);
        assert_eq!(
            reader.trailer(),
            whole.trailer().filter(|_| note.has_tables)
        );
        let read: Vec<Event> = reader.by_ref().map(Result::unwrap).collect();
        assert!(events.starts_with(&read));
        lengths.push(read.len());
    }
    assert!(opened > bytes.len() / 2);
    assert!(lengths.is_sorted());
    lengths.dedup();
    assert_eq!(lengths.len(), 4, "none, one, two or three blocks");
    assert_eq!(lengths[3], events.len());
}

#[test]
fn another_version_is_named_with_ours() {
    let mut bytes = write(&Header::default(), &[], &Trailer::default());
    bytes[8] = 9;
    let error = open(&bytes).unwrap_err();
    let expected = format!(
        "this trace has format version 9 and this Raddle reads version {TRACE_VERSION}; read it \
         with the Raddle that wrote it, or record it again"
    );
    assert_eq!(error.to_string(), expected);
    assert!(matches!(
        open(b"T1|r(V1)|3\n\n\n"),
        Err(ReadError::NotATrace)
    ));
    assert!(matches!(open(b""), Err(ReadError::NotATrace)));
}

#[test]
fn a_length_that_was_read_is_not_believed() {
    let bytes = write(&Header::default(), &[], &Trailer::default());
    for at in [20, 24] {
        let mut damaged = bytes.clone();
        damaged[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(
            open(&damaged),
            Err(ReadError::Corrupt { offset: 12, .. })
        ));
    }
}

/// A loop over an array by two threads, with a lock, as a program would be recorded.
#[test]
fn a_typical_event_takes_few_bytes() {
    use raddle_trace::action::Action;
    use raddle_trace::event::{Access, EventKind, Outcomes};
    let mut events = Vec::new();
    let mut ticks = [Tick(0); 2];
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    for round in 0..20_000_u64 {
        let thread = (round / 500 % 2) as usize;
        let mut push = |kind| {
            let event = Event {
                thread: ThreadId(thread as u32),
                tick: ticks[thread],
                kind,
            };
            ticks[thread] = event.next_tick();
            events.push(event);
        };
        let access = |site, addr, value| Access {
            site: SiteId(site),
            addr: Address(addr),
            size: 8,
            value,
        };
        let (pc, lock) = (Address(0x5555_0000_1234), Address(0x5555_0010_0000));
        let bucket = random() % 4096;
        push(EventKind::Read(access(
            10,
            0x7fff_0000_0000 + round * 8,
            random(),
        )));
        push(EventKind::Action {
            pc,
            action: Action::Lock { lock, tried: false },
        });
        push(EventKind::Read(access(
            12,
            0x7ffe_0000_0000 + bucket * 16,
            random() % 100,
        )));
        push(EventKind::Write(access(
            13,
            0x7ffe_0000_0000 + bucket * 16,
            random() % 100,
        )));
        push(EventKind::Write(access(14, 0x5555_0010_0040, round)));
        push(EventKind::Action {
            pc,
            action: Action::Unlock { lock },
        });
        if round % 12 == 0 {
            push(EventKind::Branches(
                Outcomes::from_sentinel(1 << 63 | random()).unwrap(),
            ));
        }
    }
    let bytes = write(&Header::default(), &events, &Trailer::default());
    let per_event = bytes.len() as f64 / events.len() as f64;
    assert!(per_event < 3.5, "{per_event} bytes an event");
    let read: Vec<Event> = open(&bytes).unwrap().map(Result::unwrap).collect();
    assert!(read == events);
}
