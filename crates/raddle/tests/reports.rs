//! What `raddle check` tells of each kind of finding, as text and as JSON, held against the files beside the programs:
//! `lock_order.rs.txt`, `lock_order.rs.json`. `UPDATE_EXPECTED=1` writes them anew. What varies from machine to machine
//! or with the time that a check has is left out.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{exit, for_each, fresh_dir, program, raddle, root, say};

/// A program for each kind of finding, and for what memory and locks are called.
const PROGRAMS: &[&str] = &[
    "fail/race.c",
    "check/bug/weak_publication.rs",
    "check/bug/bank_transfer.rs",
    "check/bug/setters_checkers.c",
    "fail/channel_order.rs",
    "fail/lock_order.c",
    "fail/lock_order.rs",
    "fail/recursive_read.rs",
    "fail/lost_wakeup.c",
    "fail/lost_wakeup.rs",
    "fail/use_after_free.c",
    "fail/double_free.c",
    "fail/order_null.c",
    "fail/unseen_panic.rs",
    "fail/exit_status.cpp",
    "fail/late_point.c",
    "check/bug/volatile_flag.c",
    "reports/null_dereference.c",
    "reports/assertion.c",
    "reports/crash.cpp",
    "reports/abort.c",
    "reports/exit_status.rs",
    "reports/main_status.c",
    "reports/hang.rs",
    "reports/named_locks.c",
    "reports/named_locks.cpp",
    "reports/one_name.c",
];

#[test]
fn reports_are_as_expected() {
    let out = fresh_dir("reports");
    let programs: Vec<PathBuf> = PROGRAMS.iter().map(|it| program(it)).collect();
    for_each(&programs, |source| {
        let out = out.join(source.file_name().unwrap());
        for (format, extension) in [("text", "txt"), ("json", "json")] {
            let mut command = raddle(["check", "--time", "30", "--format", format, "--out"]);
            // Places are named from the current directory, so that lines have the same length in every checkout.
            command.current_dir(common::root()).arg(&out);
            let said = say(command.arg(source)).expect(exit::FOUND)?;
            let told = match format {
                "json" => findings(&said.stdout)?,
                _ => said.stdout.clone(),
            };
            compare(source, extension, &steady(&told))?;
        }
        Ok(())
    });
}

#[test]
fn a_deadlock_of_tasks_names_them_and_their_awaits() {
    let out = fresh_dir("reports-async");
    let mut command = raddle(["check", "--time", "30", "--out"]);
    let source = program("reports/async_deadlock.rs");
    let said = say(command.arg(&out).arg(source))
        .expect(exit::FOUND)
        .unwrap();
    for expected in [
        "deadlock: async_deadlock.rs:121 and async_deadlock.rs:128 wait for each other",
        "task `async_deadlock::credit` is suspended at this await",
        "task `async_deadlock::debit` is suspended at this await",
    ] {
        assert!(
            said.stdout.contains(expected),
            "{expected}: {}",
            said.stdout
        );
    }
    assert!(!said.stdout.contains("futex.rs"), "{}", said.stdout);
}

#[test]
fn a_deadlock_of_locks_is_told_by_them_though_tasks_are_suspended() {
    let out = fresh_dir("reports-beside-tasks");
    let mut command = raddle(["check", "--time", "30", "--out"]);
    let source = program("reports/locks_beside_tasks.rs");
    let said = say(command.arg(&out).arg(source))
        .expect(exit::FOUND)
        .unwrap();
    let expected = "waits to lock `LEFT`, held by T1 since locks_beside_tasks.rs:30";
    assert!(said.stdout.contains(expected), "{}", said.stdout);
    assert!(!said.stdout.contains("is suspended"), "{}", said.stdout);
}

/// Holds a report against the file beside its program.
fn compare(source: &Path, extension: &str, told: &str) -> Result<(), String> {
    let name = source.file_name().unwrap().to_string_lossy();
    let expected = source.with_file_name(format!("{name}.{extension}"));
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        return fs::write(&expected, told).map_err(|error| error.to_string());
    }
    let known = fs::read_to_string(&expected).unwrap_or_default();
    match known == told {
        true => Ok(()),
        false => Err(format!(
            "{} differs (UPDATE_EXPECTED=1 writes it anew); now:\n{told}",
            expected.display()
        )),
    }
}

/// Keys of findings that vary, or follow from the versions of compilers and libraries.
const VARYING: &[&str] = &[
    "clip",
    "event",
    "first_run",
    "found_by",
    "instances",
    "replay",
    "siblings",
    "stack",
    "trace",
    "value",
];

/// The findings of a report alone.
fn findings(json: &str) -> Result<String, String> {
    let mut report: serde_json::Value =
        serde_json::from_str(json).map_err(|error| error.to_string())?;
    let findings = &mut report["findings"];
    prune(findings);
    serde_json::to_string_pretty(findings)
        .map(|it| it + "\n")
        .map_err(|error| error.to_string())
}

/// Leaves out what varies.
fn prune(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.retain(|name, _| !VARYING.contains(&name.as_str()));
            members.values_mut().for_each(prune);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}

/// A report without what varies: counts, notes, addresses, the place of the files.
fn steady(told: &str) -> String {
    let root = format!("{}/", root().display());
    let mut text = String::new();
    let mut is_note = false;
    for line in told.lines() {
        is_note = line.starts_with("note: ") || (is_note && line.starts_with("      "));
        let varies = ["  instances:", "  first seen:", "  replay:"];
        let is_summary = line.contains(" runs, ") && line.contains(" events");
        if is_note || is_summary || varies.iter().any(|it| line.starts_with(it)) {
            continue;
        }
        let words = line.replace(&root, "");
        let words: Vec<String> = words.split(' ').map(steady_word).collect();
        text.push_str(words.join(" ").trim_end());
        text.push('\n');
    }
    text
}

/// A word without addresses, and without the number of a clip.
fn steady_word(word: &str) -> String {
    if let Some((start, rest)) = word.split_once("0x") {
        let end = rest.trim_start_matches(|it: char| it.is_ascii_hexdigit());
        return format!("{start}ADDRESS{end}");
    }
    match word.contains("/clips/") {
        true => "CLIP".to_owned(),
        false => word.to_owned(),
    }
}
