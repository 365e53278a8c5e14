//! The trace tells the truth: programs log what they do, and the trace of the same run says the same.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use common::{exit, fresh_dir, program, run};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockChange, LockMode};
use raddle_trace::file::TraceReader;
use raddle_trace::ids::ThreadId;

/// One operation: `read left.first 5`, in the words of the programs' logs.
type Operation = String;

/// A run of a program that logs.
struct Recorded {
    log: Log,
    trace: PathBuf,
}

/// What the program says that it did.
#[derive(Default)]
struct Log {
    /// Addresses of variables and locks.
    objects: Vec<(String, Range<u64>)>,
    /// By lock: operations on it and on what it protects, in their real order.
    ordered: BTreeMap<String, Vec<(ThreadId, Operation)>>,
    /// By thread: its operations in its own order.
    by_thread: BTreeMap<ThreadId, Vec<Operation>>,
}

impl Log {
    fn read(path: &Path) -> Self {
        let mut log = Self::default();
        for line in fs::read_to_string(path).unwrap().lines() {
            let (kind, rest) = line.split_once(' ').unwrap();
            let mut words = rest.split(' ');
            let first = words.next().unwrap();
            let thread = |text: &str| ThreadId(text.parse().unwrap());
            match kind {
                "object" => {
                    let address =
                        u64::from_str_radix(words.next().unwrap().trim_start_matches("0x"), 16)
                            .unwrap();
                    let size: u64 = words.next().unwrap().parse().unwrap();
                    log.objects
                        .push((first.to_owned(), address..address + size));
                }
                "ordered" => {
                    let by = thread(words.next().unwrap());
                    let operation = words.collect::<Vec<_>>().join(" ");
                    log.ordered
                        .entry(first.to_owned())
                        .or_default()
                        .push((by, operation));
                }
                "thread" => {
                    let operation = words.collect::<Vec<_>>().join(" ");
                    log.by_thread
                        .entry(thread(first))
                        .or_default()
                        .push(operation);
                }
                other => panic!("a log line begins with {other}"),
            }
        }
        assert!(!log.objects.is_empty());
        log
    }

    /// The smallest object around an address: a variable rather than the lock that it lies in.
    fn object(&self, address: u64) -> Option<&str> {
        let around = self
            .objects
            .iter()
            .filter(|(_, range)| range.contains(&address));
        around
            .min_by_key(|(_, range)| range.end - range.start)
            .map(|(name, _)| name.as_str())
    }
}

/// Runs a program once under a random schedule, with its log and its trace kept.
fn record(name: &str, seed: u64) -> Recorded {
    let dir = fresh_dir(&format!("truth-{}-{seed}", name.replace('.', "-")));
    let (log, trace) = (dir.join("log"), dir.join("trace"));
    let seed = seed.to_string();
    let args = [
        "--strategy",
        "random",
        "--runs",
        "1",
        "--seed",
        &seed,
        "--no-races",
        "--trace",
        trace.to_str().unwrap(),
        "--",
        log.to_str().unwrap(),
    ];
    run(&program(&format!("log/{name}")), &dir, &args)
        .expect(exit::CLEAN)
        .unwrap();
    Recorded {
        log: Log::read(&log),
        trace,
    }
}

fn events(trace: &Path) -> Vec<Event> {
    TraceReader::open(trace)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// An event in the words of a log, if it concerns one of the log's objects.
fn in_words(event: &Event, log: &Log) -> Option<Operation> {
    if let Some(action) = event.lock_action() {
        let name = log.object(action.lock.0)?;
        let word = match action.change {
            LockChange::Acquire(LockMode::Exclusive) => "acquire",
            LockChange::Release(LockMode::Exclusive) => "release",
            LockChange::Acquire(LockMode::Shared) => "acquire-read",
            LockChange::Release(LockMode::Shared) => "release-read",
            LockChange::Downgrade => "downgrade",
        };
        return Some(format!("{word} {name} 0"));
    }
    let name = |address: u64| log.object(address);
    Some(match event.kind {
        EventKind::Read(access) => format!("read {} {}", name(access.addr.0)?, access.value),
        EventKind::Write(access) => format!("write {} {}", name(access.addr.0)?, access.value),
        EventKind::AtomicLoad(access, _) => {
            format!("load {} {}", name(access.addr.0)?, access.value)
        }
        EventKind::AtomicStore(access, _) => {
            format!("store {} {}", name(access.addr.0)?, access.value)
        }
        EventKind::Rmw { access, new, .. }
        | EventKind::Cas {
            access,
            new,
            success: true,
            ..
        } => {
            format!("rmw {} {} {new}", name(access.addr.0)?, access.value)
        }
        EventKind::Cas {
            access,
            success: false,
            ..
        } => format!("cas-failed {} {}", name(access.addr.0)?, access.value),
        EventKind::RangeRead { addr, len, .. } => format!("read-range {} {len}", name(addr.0)?),
        EventKind::RangeWrite { addr, len, .. } => format!("write-range {} {len}", name(addr.0)?),
        _ => return None,
    })
}

/// The operations of all threads but main, which only prepares and prints.
fn operations(recorded: &Recorded) -> Vec<(ThreadId, Operation)> {
    let all = events(&recorded.trace).into_iter();
    let words = all.filter_map(|event| Some((event.thread, in_words(&event, &recorded.log)?)));
    words.filter(|(thread, _)| *thread != ThreadId(0)).collect()
}

/// Whether an operation takes or gives back the lock, or accesses what it protects. What lies beside the lock's own
/// word and has no name in the log, such as the log itself, does not count.
fn concerns(operation: &str, lock: &str) -> bool {
    let mut words = operation.split(' ');
    let (word, object) = (words.next().unwrap(), words.next().unwrap());
    match object.strip_prefix(lock) {
        Some("") => ["acquire", "release"].contains(&word),
        Some(rest) => rest.starts_with('.'),
        None => false,
    }
}

fn check_ordered(name: &str) {
    for seed in 1..=5 {
        let recorded = record(name, seed);
        let all = operations(&recorded);
        assert_eq!(recorded.log.ordered.len(), 2);
        for (lock, expected) in &recorded.log.ordered {
            let found = all
                .iter()
                .filter(|(_, operation)| concerns(operation, lock));
            let found: Vec<_> = found.cloned().collect();
            assert_eq!(&found, expected, "{name}, seed {seed}, {lock}");
        }
    }
}

fn check_by_thread(name: &str, rename: impl Fn(Operation) -> Operation) {
    for seed in 1..=5 {
        let recorded = record(name, seed);
        let mut found: BTreeMap<ThreadId, Vec<Operation>> = BTreeMap::new();
        for (thread, operation) in operations(&recorded) {
            found.entry(thread).or_default().push(operation);
        }
        let expected = recorded.log.by_thread.clone();
        let expected = expected
            .into_iter()
            .map(|(thread, log)| (thread, log.into_iter().map(&rename).collect()));
        assert_eq!(found, expected.collect(), "{name}, seed {seed}");
    }
}

/// Complains if a read of the objects gives another value than the last write before it.
fn check_coherent(recorded: &Recorded) {
    let mut memory: BTreeMap<u64, u64> = BTreeMap::new();
    let mut reads = 0;
    for event in events(&recorded.trace) {
        let (read, written) = match event.kind {
            EventKind::Read(access)
            | EventKind::AtomicLoad(access, _)
            | EventKind::Cas {
                access,
                success: false,
                ..
            } => (Some(access), None),
            EventKind::Write(access) | EventKind::AtomicStore(access, _) => {
                (None, Some((access, access.value)))
            }
            EventKind::Rmw { access, new, .. }
            | EventKind::Cas {
                access,
                new,
                success: true,
                ..
            } => (Some(access), Some((access, new))),
            _ => continue,
        };
        if let Some(access) = read.filter(|access| recorded.log.object(access.addr.0).is_some()) {
            reads += 1;
            if let Some(value) = memory.get(&access.addr.0) {
                assert_eq!(access.value, *value, "{event:?}");
            }
        }
        if let Some((access, value)) = written {
            memory.insert(access.addr.0, value);
        }
    }
    assert!(reads > 0);
}

#[test]
fn mutex_regions_and_the_accesses_in_them() {
    check_ordered("locks.c");
}

#[test]
fn regions_of_inlined_rust_guards() {
    check_ordered("guards.rs");
}

#[test]
fn read_and_write_regions() {
    let rename = |operation: Operation| {
        operation
            .replace("acquire-write", "acquire")
            .replace("release-write", "release")
    };
    check_by_thread("rwlock.c", rename);
}

#[test]
fn atomic_operations() {
    check_by_thread("atomics.cpp", |operation| operation);
}

#[test]
fn accesses_of_assembly() {
    check_by_thread("assembly.cpp", |operation| operation);
}

#[test]
fn accesses_of_every_width() {
    check_by_thread("widths.c", |operation| operation);
}

#[test]
fn reads_see_the_last_write() {
    for name in ["locks.c", "atomics.cpp", "guards.rs", "assembly.cpp"] {
        check_coherent(&record(name, 6));
    }
}

/// What the runtime recorded of a run of a program that uses synchronisation.
fn actions(name: &str) -> Vec<Action> {
    let dir = fresh_dir(&format!("truth-{}", name.replace('.', "-")));
    let trace = dir.join("trace");
    let args = [
        "--strategy",
        "random",
        "--runs",
        "1",
        "--trace",
        trace.to_str().unwrap(),
    ];
    run(&program(&format!("sync/{name}")), &dir, &args)
        .expect(exit::CLEAN)
        .unwrap();
    let kinds = events(&trace).into_iter().map(|event| event.kind);
    let action = |kind| match kind {
        EventKind::Action { action, .. } => Some(action),
        _ => None,
    };
    kinds.filter_map(action).collect()
}

#[test]
fn tries_and_waits_are_told_apart() {
    let found = actions("mutex_trylock.c");
    let succeeds = |action: &Action| matches!(action, Action::Lock { tried: true, .. });
    let fails = |action: &Action| matches!(action, Action::Request { tried: true, .. });
    assert!(found.iter().any(succeeds) && found.iter().any(fails));
    assert!(!actions("mutex_normal.c").iter().any(Action::is_try));
}

#[test]
fn signals_and_broadcasts_are_told_apart() {
    let found = actions("cond_queue.c");
    let notified = |broadcast: bool| {
        let is_it =
            |action: &Action| matches!(action, Action::CondNotify { all, .. } if *all == broadcast);
        found.iter().any(is_it)
    };
    assert!(notified(true) && notified(false));
}

#[test]
fn values_of_semaphores() {
    let mut values: BTreeMap<u64, u64> = BTreeMap::new();
    for action in actions("semaphore.c") {
        let (semaphore, value, before) = match action {
            Action::SemPost { semaphore, value } => (semaphore.0, value, value.checked_sub(1)),
            Action::SemWait { semaphore, value } => (semaphore.0, value, value.checked_add(1)),
            _ => continue,
        };
        let known = values.insert(semaphore, value);
        assert!(known.is_none() || known == before, "{action}");
    }
    assert!(!values.is_empty());
}

#[test]
fn barriers_tell_whom_they_wait_for() {
    let mut arrivals: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let found = actions("barrier.c");
    for action in &found {
        if let Action::BarrierArrive { barrier, round, .. } = action {
            *arrivals.entry((barrier.0, *round)).or_default() += 1;
        }
    }
    assert!(!arrivals.is_empty());
    for action in &found {
        if let Action::BarrierArrive {
            barrier,
            round,
            count,
        } = action
        {
            assert_eq!(arrivals[&(barrier.0, *round)], *count, "{action}");
        }
    }
}

#[test]
fn what_libc_copies_and_the_kernel_fills() {
    let found = actions("heap.c");
    let copies = found.windows(2).filter(|pair| match *pair {
        [
            Action::CopyFrom { len: read, .. },
            Action::CopyTo { len, .. },
        ] => read == len,
        _ => false,
    });
    assert!(copies.count() > 0);
    let is_input = |action: &Action| matches!(action, Action::Input { .. });
    let found = actions("blocking_calls.c");
    let mut inputs = found.iter().filter(|action| is_input(action)).peekable();
    assert!(inputs.peek().is_some());
    assert!(inputs.all(|input| input.footprint().is_some_and(|it| it.writes)));
}

#[test]
fn a_vector_that_grows() {
    let recorded = record("vector.rs", 8);
    let (_, words) = recorded.log.objects[0].clone();
    let mut written = BTreeMap::new();
    let mut read = BTreeMap::new();
    for event in events(&recorded.trace) {
        let access = event.footprint().filter(|it| words.contains(&it.addr.0));
        let Some(access) = access else { continue };
        let by_thread = match event.is_write() {
            true => &mut written,
            false => &mut read,
        };
        let addresses: &mut BTreeSet<u64> = by_thread.entry(event.thread).or_default();
        addresses.insert(access.addr.0);
    }
    let all: BTreeSet<u64> = words.step_by(8).collect();
    assert_eq!(written[&ThreadId(1)], all, "words written by who fills");
    assert_eq!(read[&ThreadId(2)], all, "words read by who looks");
    assert!(!written.contains_key(&ThreadId(2)));
    check_coherent(&recorded);
}

#[test]
fn accesses_of_the_standard_library_are_there() {
    let recorded = record("guards.rs", 7);
    let reader = TraceReader::open(&recorded.trace).unwrap();
    let trailer = reader.trailer().unwrap().clone();
    let files = trailer.sites.iter().flat_map(|site| site.positions.first());
    let files: Vec<_> = files.map(|position| position.file.as_str()).collect();
    for library in ["library/std/src", "library/alloc/src", "library/core/src"] {
        assert!(
            files.iter().any(|file| file.contains(library)),
            "no access in {library}"
        );
    }
    let own_scope = trailer.sites.iter().any(|site| {
        let function = site
            .positions
            .first()
            .map(|position| position.function.as_str());
        function.is_some_and(|it| it.starts_with("std::thread") || it.contains("std::thread::"))
    });
    assert!(own_scope, "std's own functions for threads have no sites");
}
