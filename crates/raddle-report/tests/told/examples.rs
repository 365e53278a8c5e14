//! Findings to tell of, and the programs they are about.

use raddle_report::{
    Access, Consequence, Finding, Instrumented, Kind, Location, Moment, Report, Status, merge,
};
use raddle_trace::ids::ThreadId;
use raddle_trace::position::SourcePosition;

pub const BANK: &str = r#"use std::sync::{Arc, Mutex};

static mut BALANCE: u64 = 100;

fn deposit(amount: u64) {
    unsafe {
        let seen = BALANCE;
        BALANCE = seen + amount;
    }
}

fn audit() {
    let seen = unsafe { BALANCE };
    assert_eq!(seen, 100, "money is gone");
}

fn transfer(from: &Mutex<u64>, to: &Mutex<u64>) {
    let mut source = from.lock().unwrap();
    let mut target = to.lock().unwrap();
    *source -= 1;
    *target += 1;
}
"#;

pub const LIST: &str = r#"#include <stdlib.h>

struct node { struct node *next; int value; };
static struct node *head;

void *reader(void *unused) {
	struct node *node = head;
	return (void *)(long)node->value;
}

void *remover(void *unused) {
	struct node *node = head;
	head = node->next;
	free(node);
	return 0;
}
"#;

pub fn at(file: &str, line: u32, column: u32, function: &str) -> SourcePosition {
    SourcePosition {
        function: function.into(),
        file: file.into(),
        line,
        column,
    }
}

pub fn location(thread: u32, access: Access, position: SourcePosition) -> Location {
    Location::new(ThreadId(thread), access, position)
}

pub fn named(mut location: Location, variable: &str) -> Location {
    location.variable = Some(variable.into());
    location
}

pub fn called_from(mut location: Location, callers: &[SourcePosition]) -> Location {
    location.stack = [location.position.clone()]
        .into_iter()
        .chain(callers.iter().cloned())
        .collect();
    location
}

pub fn moment(thread: u32, position: SourcePosition, what: &str) -> Moment {
    Moment {
        thread: ThreadId(thread),
        position,
        what: what.into(),
        value: None,
        event: None,
    }
}

/// A confirmed bug with a clip.
pub fn bug(kind: Kind, locations: Vec<Location>) -> Finding {
    let clip = format!(".raddle/clips/{}.clip", kind.letter());
    Finding {
        status: Status::Confirmed,
        proved_by: "sync-preserving reordering".into(),
        locations,
        replay: Some(format!("raddle replay {clip}")),
        clip: Some(clip.into()),
        ..Finding::new(kind)
    }
}

pub fn report(findings: Vec<Finding>) -> Report {
    Report {
        program: "./bank".into(),
        instrumented: Instrumented {
            functions: 12,
            sites: 345,
        },
        runs: 4,
        events: 12_345,
        offline: false,
        interrupted: false,
        unsteady: false,
        findings: merge(findings),
        unconfirmed: 0,
        notes: Vec::new(),
    }
}

pub fn race() -> Finding {
    let spawned = at("bank.rs", 40, 9, "bank::main::{closure#0}");
    let library = at(
        "/rustc/1a2b/library/std/src/thread.rs",
        500,
        1,
        "std::thread::spawn",
    );
    let main = at("bank.rs", 44, 5, "bank::main");
    let write = at("bank.rs", 8, 9, "bank::deposit");
    let read = at("bank.rs", 13, 25, "bank::audit");
    Finding {
        consequence: Consequence::Panic,
        outcome_text: Some("money is gone\n  left: 150\n right: 100".into()),
        instances: 3,
        story: vec![
            moment(
                1,
                at("bank.rs", 7, 20, "bank::deposit"),
                "reads `BALANCE` (100)",
            ),
            moment(1, write.clone(), "writes `BALANCE` (150)"),
            moment(2, read.clone(), "reads `BALANCE` (150)"),
            moment(2, at("bank.rs", 14, 5, "bank::audit"), "panics"),
        ],
        ..bug(
            Kind::DataRace,
            vec![
                named(
                    called_from(location(1, Access::Write, write), &[library, spawned]),
                    "BALANCE",
                ),
                named(
                    called_from(location(2, Access::Read, read), &[main]),
                    "BALANCE",
                ),
            ],
        )
    }
}

pub fn atomicity() -> Finding {
    let read = at("bank.rs", 7, 20, "bank::deposit");
    let write = at("bank.rs", 8, 9, "bank::deposit");
    let caller = at("bank.rs", 40, 9, "bank::main::{closure#0}");
    let access = |thread, access, position: &SourcePosition| {
        let location = location(thread, access, position.clone());
        named(
            called_from(location, std::slice::from_ref(&caller)),
            "BALANCE",
        )
    };
    Finding {
        story: vec![
            moment(1, read.clone(), "reads `BALANCE` (100)"),
            moment(2, read.clone(), "reads `BALANCE` (100)"),
            moment(2, write.clone(), "writes `BALANCE` (150)"),
            moment(1, write.clone(), "writes `BALANCE` (150)"),
        ],
        ..bug(
            Kind::AtomicityViolation,
            vec![
                access(1, Access::Read, &read),
                access(2, Access::Write, &write),
                access(1, Access::Write, &write),
            ],
        )
    }
}

pub fn deadlock() -> Finding {
    let first = at("bank.rs", 18, 27, "bank::transfer");
    let second = at("bank.rs", 19, 25, "bank::transfer");
    let stuck = |thread, lock: &str, held: &str| {
        let mut location = named(location(thread, Access::Request, second.clone()), lock);
        location.note = Some(format!("holds {held}"));
        called_from(location, &[at("bank.rs", 50 + thread, 9, "bank::main")])
    };
    Finding {
        consequence: Consequence::Deadlock,
        story: vec![
            moment(1, first.clone(), "locks mutex 0x10"),
            moment(2, first, "locks mutex 0x20"),
            moment(1, second.clone(), "waits for mutex 0x20, held by T2"),
            moment(2, second.clone(), "waits for mutex 0x10, held by T1"),
        ],
        ..bug(
            Kind::Deadlock,
            vec![stuck(1, "to", "mutex 0x10"), stuck(2, "to", "mutex 0x20")],
        )
    }
}
