//! One report for each kind of finding.

use raddle_report::{Access, Consequence, Finding, Kind, Severity, Status, Told};

use crate::examples::*;
use crate::{check_terminal, directory, options};

#[track_caller]
fn check_kind(name: &str, finding: Finding) {
    let files: [(&str, &[u8]); 2] = [("bank.rs", BANK.as_bytes()), ("list.c", LIST.as_bytes())];
    let directory = directory(&files);
    let options = raddle_report::Options {
        told: Told::Everything,
        ..options(directory.path())
    };
    check_terminal(name, &report(vec![finding]), &options);
}

#[test]
fn data_race() {
    check_kind("race.txt", race());
}

#[test]
fn data_race_of_one_line_with_itself() {
    let position = at("bank.rs", 8, 9, "bank::deposit");
    let locations = vec![
        named(location(1, Access::Write, position.clone()), "BALANCE"),
        named(location(2, Access::Write, position), "BALANCE"),
    ];
    check_kind("race_with_itself.txt", bug(Kind::DataRace, locations));
}

#[test]
fn data_race_without_names() {
    let locations = vec![
        location(1, Access::AtomicRead, at("bank.rs", 7, 20, "")),
        location(2, Access::ReadWrite, at("bank.rs", 8, 9, "")),
    ];
    check_kind("race_without_names.txt", bug(Kind::DataRace, locations));
}

#[test]
fn atomicity_violation() {
    check_kind("atomicity.txt", atomicity());
}

#[test]
fn atomic_set_violation() {
    let access = |thread, access, line, name| {
        named(
            location(thread, access, at("bank.rs", line, 5, "bank::transfer")),
            name,
        )
    };
    let locations = vec![
        access(1, Access::Write, 20, "source"),
        access(2, Access::Read, 13, "source"),
        access(2, Access::Read, 14, "target"),
        access(1, Access::Write, 21, "target"),
    ];
    check_kind("atomic_set.txt", bug(Kind::AtomicSetViolation, locations));
}

#[test]
fn deadlock_of_two() {
    check_kind("deadlock.txt", deadlock());
}

#[test]
fn deadlock_of_five() {
    let take = |thread| at("bank.rs", 18, 27, &format!("philosopher {thread}"));
    let wait = |thread| at("bank.rs", 19 + thread % 2, 5, "bank::transfer");
    let taken = (1..=5).map(|it| moment(it, take(it), &format!("locks fork {it}")));
    let waits = (1..=5).map(|it| moment(it, wait(it), &format!("waits for fork {}", it % 5 + 1)));
    let finding = Finding {
        consequence: Consequence::Deadlock,
        story: taken.chain(waits).collect(),
        ..bug(
            Kind::Deadlock,
            (1..=5)
                .map(|it| location(it, Access::Request, wait(it)))
                .collect(),
        )
    };
    check_kind("deadlock_of_five.txt", finding);
}

#[test]
fn use_after_free() {
    let free = at("list.c", 14, 2, "remover");
    let read = at("list.c", 8, 29, "reader");
    let finding = Finding {
        consequence: Consequence::Crash,
        outcome_text: Some("read of 4 bytes in a freed block".into()),
        story: vec![
            moment(1, at("list.c", 7, 22, "reader"), "reads `head`"),
            moment(2, free.clone(), "frees `node`"),
            moment(1, read.clone(), "reads `node->value`"),
        ],
        ..bug(
            Kind::UseAfterFree,
            vec![
                named(location(2, Access::Free, free), "node"),
                named(location(1, Access::Read, read), "node->value"),
            ],
        )
    };
    check_kind("use_after_free.txt", finding);
}

#[test]
fn double_free() {
    let free = at("list.c", 14, 2, "remover");
    let locations = vec![
        location(1, Access::Free, free.clone()),
        location(2, Access::Free, free),
    ];
    check_kind("double_free.txt", bug(Kind::DoubleFree, locations));
}

#[test]
fn null_dereference() {
    let locations = vec![
        named(
            location(1, Access::Read, at("list.c", 8, 29, "reader")),
            "node",
        ),
        named(
            location(2, Access::Write, at("list.c", 13, 7, "remover")),
            "head",
        ),
    ];
    let finding = Finding {
        consequence: Consequence::Crash,
        outcome_text: Some("segmentation fault".into()),
        ..bug(Kind::NullDereference, locations)
    };
    check_kind("null.txt", finding);
}

#[test]
fn panic() {
    let finding = Finding {
        consequence: Consequence::Panic,
        outcome_text: Some("money is gone\n  left: 150\n right: 100".into()),
        proved_by: String::new(),
        input: Some("inputs/3".into()),
        ..bug(
            Kind::Panic,
            vec![location(
                2,
                Access::Fail,
                at("bank.rs", 14, 5, "bank::audit"),
            )],
        )
    };
    check_kind("panic.txt", finding);
}

#[test]
fn failures_without_words() {
    for (kind, name) in [
        (Kind::Assertion, "assertion.txt"),
        (Kind::Crash, "crash.txt"),
        (Kind::Hang, "hang.txt"),
        (Kind::Exit, "exit.txt"),
    ] {
        let failing = location(2, Access::Fail, at("bank.rs", 14, 5, "bank::audit"));
        check_kind(name, bug(kind, vec![failing]));
    }
}

#[test]
fn branch() {
    let branch = location(2, Access::Branch, at("bank.rs", 14, 5, "bank::audit"));
    let finding = Finding {
        severity: Severity::Warning,
        ..bug(Kind::ScheduleSensitiveBranch, vec![branch])
    };
    check_kind("branch.txt", finding);
}

#[test]
fn pattern() {
    let finding = Finding {
        status: Status::Predicted,
        clip: None,
        replay: None,
        ..bug(Kind::Pattern("torn-config".into()), race().locations)
    };
    check_kind("pattern.txt", finding);
}
