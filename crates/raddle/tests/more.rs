//! `raddle check` on more programs whose heads say what it has to find (`common/head.rs`), of kinds that are hard:
//! orderings that are too weak, failures on paths that the first run does not take, many threads, the order of whole
//! lock regions, the end of the process, sleeps, inline assembly.
//!
//! What is not yet as the heads say is listed here, and has to be taken off the lists as the tool gets better.

mod common;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use common::head::{check, expect_first_run_passes, expect_twins};
use common::{for_each, fresh_dir, program, programs};

/// Times that each clip is replayed.
const REPLAYS: u32 = 3;

const BUG: &str = "check/more/bug";
const OK: &str = "check/more/ok";

/// Buggy programs in which not all that their heads expect is found today.
const MISSED_TODAY: &[&str] = &[];

/// Correct programs in which something is reported today.
const FALSE_ALARMS_TODAY: &[&str] = &[];

/// Held by the test that runs programs, so that tests don't get into each other's way.
static RUNNING: Mutex<()> = Mutex::new(());

/// Checks all programs of a folder: those of the list have to fall short of their heads, and all others may not.
fn check_all(folder: &str, falling_short: &[&str]) {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir(&folder.replace('/', "-"));
    for_each(&programs(folder), |source| {
        let name = name(source);
        let out = out.join(name);
        expect_first_run_passes(source, &out)?;
        let checked = check(source, &out, REPLAYS);
        match falling_short.contains(&name) {
            false => checked,
            true if checked.is_err() => Ok(()),
            true => Err("is as its head says: to be taken off the list".to_owned()),
        }
    });
}

fn name(source: &Path) -> &str {
    source.file_name().unwrap().to_str().unwrap()
}

#[test]
fn bugs_are_found_except_those_that_are_listed() {
    check_all(BUG, MISSED_TODAY);
}

#[test]
fn nothing_is_found_in_correct_programs_except_those_that_are_listed() {
    check_all(OK, FALSE_ALARMS_TODAY);
}

#[test]
fn every_buggy_program_has_a_correct_twin() {
    assert!(programs(BUG).len() >= 60);
    expect_twins(BUG, OK);
}

#[test]
fn listed_programs_are_there() {
    for (folder, names) in [(BUG, MISSED_TODAY), (OK, FALSE_ALARMS_TODAY)] {
        assert!(names.is_sorted());
        for name in names {
            let source = program(folder).join(name);
            assert!(source.is_file(), "{}", source.display());
        }
    }
}
