//! Correct programs of real shape: nothing is found in them. They use what Raddle has to understand to stay quiet:
//! condition-variable protocols, locks and queues made of atomics, memory reclaimed by epochs and hazard pointers,
//! executors, timeouts that are handled, waiting loops that write, and output whose order is free.

mod common;

use common::head::parse;
use common::{exit, for_each, fresh_dir, program, programs, raddle, run, say};

const FOLDER: &str = "quiet";

/// Bounds a check, for the sake of the whole test's time.
const CHECK: [&str; 4] = ["--runs", "20", "--time", "4"];

/// Runs of each strategy.
const RUNS: &str = "10";

const STRATEGIES: &str = "rr,random,pct,pos,surw,dfs";

#[test]
fn no_run_of_a_correct_program_fails_or_shows_a_race() {
    let out = fresh_dir("quiet-runs");
    for_each(&programs(FOLDER), |source| {
        let options = ["--strategy", STRATEGIES, "--runs", RUNS];
        let said = run(source, &out, &options).expect(exit::CLEAN)?;
        let summary = said.stdout.lines().last().unwrap_or_default();
        match summary.ends_with(" runs, 0 failures, 0 data races") {
            true => Ok(()),
            false => Err(said.all()),
        }
    });
}

#[test]
fn no_bug_is_told_of_a_correct_program() {
    let out = fresh_dir("quiet-checks");
    for_each(&programs(FOLDER), |source| {
        let mut command = raddle(["check", "--quiet", "--format", "json", "--out"]);
        let said = say(command.arg(&out).args(CHECK).arg(source)).expect(exit::CLEAN)?;
        let report = parse(&said)?;
        match report.findings.iter().find(|it| it.is_bug()) {
            Some(bug) => Err(format!("{bug}\n{}", said.all())),
            None => Ok(()),
        }
    });
}

#[test]
fn a_guide_passes_over_a_thread_that_polls_for_another_one() {
    for source in ["quiet/pipe_workers.c", "quiet/epoll_loop.c"] {
        let mut command = raddle(["check", "--runs", "20", "--out"]);
        let said = say(command.arg(fresh_dir("quiet-polls")).arg(program(source)));
        assert!(!said.stdout.contains("want of time"), "{}", said.all());
    }
}

#[test]
fn there_are_programs_in_each_language() {
    let sources = programs(FOLDER);
    for extension in ["rs", "c", "cpp"] {
        let of_it = sources
            .iter()
            .filter(|it| it.extension().is_some_and(|it| it == extension));
        assert!(of_it.count() >= 15, "too few programs in .{extension}");
    }
}
