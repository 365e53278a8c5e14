//! Every synchronisation primitive, used hard, under many schedules: the programs check themselves, so a failure, a hang
//! or a replay that is not the same is a mistake of Raddle's.

mod common;

use std::path::{Path, PathBuf};

use common::{Said, exit, expectation, for_each, fresh_dir, programs, run, seeds};

/// Runs each program under `seeds` schedules of each strategy, and each run a second time.
fn check(name: &str, programs: &[PathBuf], seeds: u64) {
    let out = fresh_dir(name);
    for_each(programs, |program| {
        let args = [
            "--strategy",
            "random,pct,pos",
            "--runs",
            &seeds.to_string(),
            "--verify",
        ];
        check_summary(program, run(program, &out, &args), 3 * seeds)
    });
}

/// Complains unless all runs went well and were the same again, and there are data races only where the program's head
/// says `// races: yes`, or `maybe`.
fn check_summary(program: &Path, said: Said, runs: u64) -> Result<(), String> {
    let count = said.line(&format!("{runs} runs, 0 failures, "));
    let count = count.and_then(|it| it.strip_suffix(&format!(" data races, {runs} verified")));
    let has_races = count.ok_or_else(|| said.all())? != "0";
    match (expectation(program, "races").as_deref(), has_races) {
        (None, false) | (Some("maybe"), false) => said.expect(exit::CLEAN).map(drop),
        (Some(_), true) => said.expect(exit::FOUND).map(drop),
        (expected, _) => Err(format!("races: {expected:?}, but {}", said.all())),
    }
}

fn with_extension(extension: &str) -> Vec<PathBuf> {
    let mut all = programs("sync");
    all.retain(|path| path.extension().is_some_and(|it| it == extension));
    assert!(all.len() >= 14, "programs with .{extension} are missing");
    all
}

#[test]
fn c_primitives() {
    check("sync-c", &with_extension("c"), seeds(100));
}

#[test]
fn cpp_primitives() {
    check("sync-cpp", &with_extension("cpp"), seeds(100));
}

#[test]
fn rust_primitives() {
    check("sync-rust", &with_extension("rs"), seeds(100));
}
