//! Bugs of the usual kinds: each is found, each clip replays every time, and the corrected twin of each program passes.

mod common;

use std::path::{Path, PathBuf};

use common::{Said, exit, expectation, for_each, fresh_dir, program, programs, raddle, run, say};

/// Runs within which pct or pos has to find a bug.
const RUNS: &str = "200";

/// Times that a clip is replayed.
const REPLAYS: u32 = 100;

fn is_smallest(source: &Path) -> bool {
    expectation(source, "smallest").is_some_and(|value| value == "yes")
}

/// Complains unless the failure is of a kind that the program's head names.
fn check_kind(source: &Path, said: &Said) -> Result<(), String> {
    let expected = expectation(source, "expect").ok_or("no line `// expect: …`")?;
    match said.failure() {
        Some(kind) if expected.split('|').any(|it| *it == kind) => Ok(()),
        kind => Err(format!(
            "expected {expected}, came {kind:?}: {}",
            said.all()
        )),
    }
}

/// Replays a finding's clip. A hang has no end that its events could be compared up to: it is the same if the program is
/// still running after its time.
fn check_clip(said: &Said) -> Result<(), String> {
    let clip = said
        .clip()
        .ok_or_else(|| format!("no clip: {}", said.all()))?;
    let (timeout, sameness) = match said.failure().as_deref() {
        Some("hang") => ("0.5", "same outcome"),
        _ => ("20", "same outcome, same"),
    };
    let times = REPLAYS.to_string();
    let mut replay = raddle(["replay", "--quiet", "--times", &times, "--timeout", timeout]);
    say(replay.arg(&clip))
        .expect(exit::FOUND)?
        .expect_line(&format!("replayed {REPLAYS} of {REPLAYS}: {sameness}"))?;
    Ok(())
}

#[test]
fn bugs_are_found_and_replayed() {
    let out = fresh_dir("bugs");
    for_each(&programs("fail"), |source| {
        let search = |strategy| {
            let args = ["--strategy", strategy, "--runs", RUNS, "--timeout", "5"];
            run(source, &out, &args)
        };
        let by_pct = search("pct");
        let found = match by_pct.failure() {
            None => search("pos"),
            Some(_) => by_pct,
        };
        let found = found.expect(exit::FOUND)?;
        check_kind(source, &found)?;
        check_clip(&found)
    });
}

#[test]
fn points_are_learned_from_every_run() {
    let out = fresh_dir("bugs-learned");
    let source = program("fail/late_point.c");
    for strategy in ["pct", "pos", "random", "surw"] {
        let found = run(&source, &out, &["--strategy", strategy, "--runs", RUNS]);
        let found = found.expect(exit::FOUND).unwrap();
        check_kind(&source, &found).unwrap();
    }
}

#[test]
fn runs_are_judged_against_the_exit_status_of_the_undisturbed_one() {
    let out = fresh_dir("bugs-exit");
    let source = program("pass/odd_exit.c");
    let search = |more: &[&str]| run(&source, &out, &[&["--runs", "5"], more].concat());
    let said = search(&[]).expect(exit::CLEAN).unwrap();
    assert!(said.stderr.contains("exit status 6"), "{}", said.all());
    let said = search(&["--expect-exit", "6"]).expect(exit::CLEAN).unwrap();
    assert!(!said.stderr.contains("exit status 6"), "{}", said.all());
    let said = search(&["--expect-exit", "0"]).expect(exit::FOUND).unwrap();
    assert_eq!(said.failure().as_deref(), Some("exit"), "{}", said.all());
}

#[test]
fn running_until_a_thread_blocks_does_not_show_them() {
    let out = fresh_dir("bugs-rr");
    for_each(&programs("fail"), |source| {
        // A data race shows all the same.
        run(source, &out, &["--strategy", "rr", "--runs", "1"])
            .expect_line("1 runs, 0 failures, ")
            .map(drop)
    });
}

#[test]
fn corrected_twins_pass() {
    let out = fresh_dir("twins");
    let twins = programs("pass");
    let names = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| path.file_name().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&programs("fail")),
        names(&twins),
        "every program has a twin"
    );
    for_each(&twins, |source| {
        run(source, &out, &["--strategy", "pct,pos", "--runs", RUNS])
            .expect(exit::CLEAN)?
            .expect_line("400 runs, 0 failures, 0 data races")?;
        Ok(())
    });
}

#[test]
fn exhaustive_search_finds_the_smallest() {
    let out = fresh_dir("dfs-fail");
    let mut sources = programs("fail");
    sources.retain(|source| is_smallest(source));
    assert!(sources.len() >= 5);
    for_each(&sources, |source| {
        let found = run(source, &out, &["--strategy", "dfs"]).expect(exit::FOUND)?;
        check_kind(source, &found)
    });
}

#[test]
fn exhaustive_search_exhausts_the_corrected_smallest() {
    let out = fresh_dir("dfs-pass");
    let mut sources = programs("pass");
    sources.retain(|source| is_smallest(source));
    assert!(sources.len() >= 5);
    for_each(&sources, |source| {
        run(source, &out, &["--strategy", "dfs"])
            .expect(exit::CLEAN)?
            .expect_line("note: exhausted: ")?;
        Ok(())
    });
}

#[test]
fn every_failure_of_a_program_is_told_with_keep_going() {
    let out = fresh_dir("keep-going");
    let source = program("fail/race.c");
    let said = run(
        &source,
        &out,
        &["--strategy", "pct", "--runs", "100", "--keep-going"],
    )
    .expect(exit::FOUND)
    .unwrap();
    assert!(said.stdout.contains("100 runs, "), "{}", said.all());
}

#[test]
fn an_oracle_judges_runs() {
    let out = fresh_dir("oracle");
    let source = program("pass/race.c");
    let args = |oracle| ["--runs", "3", "--oracle", oracle];
    run(&source, &out, &args("true"))
        .expect(exit::CLEAN)
        .unwrap();
    let said = run(&source, &out, &args("false"))
        .expect(exit::FOUND)
        .unwrap();
    assert_eq!(said.failure().as_deref(), Some("exit"), "{}", said.all());
}

#[test]
fn bundled_examples_fail_as_they_say() {
    let out = fresh_dir("examples");
    let examples = [("bank.rs", "panic"), ("queue.c", "deadlock")];
    for (name, kind) in examples {
        let source = common::root().join("examples").join(name);
        let said = run(&source, &out, &[]).expect(exit::FOUND).unwrap();
        assert_eq!(said.failure().as_deref(), Some(kind), "{}", said.all());
        check_clip(&said).unwrap();
    }
}
