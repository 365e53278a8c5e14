//! Libraries that bring threads of their own and are not instrumented, OpenMP's and oneTBB: runs on them repeat, and
//! `check` says the same each time.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{
    Said, exit, expectation, for_each, fresh_dir, program, raddle, run, runs_and_failures, say,
};

const CORRECT: [&str; 2] = ["libraries/openmp.c", "libraries/tbb.cpp"];

/// The program's own options for the compiler, as one of raddle's.
fn build_arg(source: &Path) -> String {
    let options = expectation(source, "build").expect("the head says how it is built");
    format!("--build-arg={options}")
}

fn check(source: &Path, out: &Path, options: &[&str]) -> Said {
    let mut check = raddle(["check", "--quiet", "--jobs", "1", "--out"]);
    say(check
        .arg(out)
        .args(options)
        .arg(build_arg(source))
        .arg(source))
}

#[test]
fn runs_repeat() {
    let out = fresh_dir("libraries");
    for_each(&CORRECT.map(program), |source| {
        let build = build_arg(source);
        let args = ["--strategy", "random,pct,pos,surw", "--runs", "50"];
        let args = [&args[..], &["--verify", &build]].concat();
        run(source, &out, &args)
            .expect(exit::CLEAN)?
            .expect_line("200 runs, 0 failures, 0 data races, 200 verified")?;
        Ok(())
    });
}

/// A thread that spins in the library lends its turn to the thread that it waits for. The two then run at the same time, in
/// code that shows no event, so these runs need not repeat.
#[test]
fn waits_that_show_no_event_end() {
    let out = fresh_dir("libraries-tasks");
    let source = program("libraries/openmp_tasks.c");
    let build = build_arg(&source);
    let args = ["--strategy", "random,pos", "--runs", "20", &build];
    run(&source, &out, &args)
        .expect(exit::CLEAN)
        .and_then(|it| it.expect_line("40 runs, 0 failures"))
        .unwrap();
}

/// A file that is gone with its owner.
struct Leftover(PathBuf);

impl Drop for Leftover {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// OpenMP's library registers itself in shared memory by the process's id; what a run with the same seed has left behind
/// there, or one that goes on at the same time, is not its own.
#[test]
fn registrations_of_other_runs_do_not_matter() {
    let out = fresh_dir("libraries-registered");
    let source = program("libraries/openmp.c");
    // The id that runs with this seed are shown.
    let seed = 654_321;
    let names = (0..8).map(|at| format!("/dev/shm/__KMP_REGISTERED_LIB_{}_0", 100_000 + seed + at));
    let left: Vec<_> = names.map(|name| Leftover(name.into())).collect();
    for file in &left {
        fs::write(&file.0, "0x7ffff7ff0000-cafe1234-libomp.so\0".repeat(40)).unwrap();
    }
    let (seed, build) = (seed.to_string(), build_arg(&source));
    let args = ["--seed", &seed, "--runs", "8", "--verify", &build];
    run(&source, &out, &args)
        .expect(exit::CLEAN)
        .and_then(|it| it.expect_line("8 runs, 0 failures, 0 data races, 8 verified"))
        .unwrap();
}

/// `check` over `times` calls ends in the same way and says the same, word by word.
fn says_the_same(name: &str, options: &[&str], times: usize, code: i32) {
    let source = program(name);
    let mut first = None;
    for time in 0..times {
        let out = fresh_dir(&format!("libraries-{}", name.replace('/', "-")));
        let said = check(&source, &out, options).expect(code).unwrap();
        match &first {
            None => first = Some(said.stdout),
            Some(first) => assert_eq!(&said.stdout, first, "call {time}"),
        }
    }
}

#[test]
fn races_in_openmp_are_found_each_time() {
    says_the_same("libraries/openmp_race.c", &[], 10, exit::FOUND);
}

#[test]
fn correct_openmp_raises_no_alarm() {
    says_the_same(
        "libraries/openmp.c",
        &["--most-tries", "10"],
        2,
        exit::CLEAN,
    );
}

#[test]
fn races_in_tbb_are_found_each_time() {
    let options = ["--runs", "5", "--most-tries", "20"];
    says_the_same("libraries/tbb_race.cpp", &options, 5, exit::FOUND);
}

#[test]
fn openmp_races_fail_in_runs() {
    let out = fresh_dir("libraries-race");
    let source = program("libraries/openmp_race.c");
    let build = build_arg(&source);
    for strategy in ["random", "pct", "pos", "surw"] {
        let args = [
            "--strategy",
            strategy,
            "--runs",
            "200",
            "--keep-going",
            &build,
        ];
        let said = run(&source, &out, &args).expect(exit::FOUND).unwrap();
        assert!(runs_and_failures(&said).1 > 0, "{}", said.all());
    }
}
