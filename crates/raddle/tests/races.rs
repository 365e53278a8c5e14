//! Data races that `raddle run` sees in runs that do not fail: each is told once, its clip replays, and nothing is told of
//! the corrected twin.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Said, exit, for_each, fresh_dir, program, programs, raddle, run, say};

const STRATEGIES: [&str; 6] = ["rr", "random", "pct", "pos", "surw", "dfs"];

/// The line of a source that ends in a mark.
fn line(source: &Path, mark: &str) -> usize {
    let text = fs::read_to_string(source).unwrap();
    let found = text.lines().position(|line| line.ends_with(mark));
    found.unwrap_or_else(|| panic!("{}: no line {mark}", source.display())) + 1
}

/// What a report says of the race between the marked lines.
fn headline(source: &Path) -> String {
    let name = source.file_name().unwrap().to_string_lossy();
    let [write, read] = ["@write", "@read"].map(|mark| line(source, mark));
    format!("bug[R1]: data race: {name}:{write} writes ")
        + &match source.extension().and_then(|it| it.to_str()) {
            Some("rs") => format!("`PAYLOAD.0` while {name}:{read} reads it"),
            _ => format!("`payload` while {name}:{read} reads it"),
        }
}

/// The clips of what was told.
fn clips(said: &Said) -> Vec<PathBuf> {
    let replays = said.stdout.lines().filter_map(|line| {
        let (_, clip) = line.split_once("replay:")?;
        clip.trim()
            .strip_prefix("raddle replay ")
            .map(PathBuf::from)
    });
    replays.collect()
}

/// Complains unless exactly the marked race is told, with a clip that shows it again.
fn check_race(source: &Path, said: &Said) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what}: {}", said.all()));
    if said.line(&headline(source)).is_none() || said.stdout.matches("bug[").count() != 1 {
        return wrong("one race is there");
    }
    if !said
        .stdout
        .contains("happens-before, confirmed by a run: no step orders them")
    {
        return wrong("nothing orders it");
    }
    if !said.stdout.contains("first seen:  in ")
        || !said.stdout.contains(", 0 failures, 1 data races")
    {
        return wrong("it is counted");
    }
    let [clip] = &clips(said)[..] else {
        return wrong("one clip is told");
    };
    let mut replay = raddle(["replay", "--quiet", "--times", "10"]);
    say(replay.arg(clip))
        .expect(exit::CLEAN)?
        .expect_line("it shows: data race: ")?
        .expect_line("replayed 10 of 10: same outcome, same")?;
    Ok(())
}

#[test]
fn every_strategy_shows_what_no_run_fails_by() {
    let out = fresh_dir("races-bug");
    for_each(&programs("races/bug"), |source| {
        for strategy in STRATEGIES {
            let said = run(source, &out, &["--strategy", strategy, "--runs", "20"]);
            check_race(source, &said.expect(exit::FOUND)?)
                .map_err(|error| format!("{strategy}: {error}"))?;
        }
        Ok(())
    });
}

#[test]
fn nothing_is_told_of_the_corrected_twins() {
    let out = fresh_dir("races-ok");
    for_each(&programs("races/ok"), |source| {
        for strategy in STRATEGIES {
            let said = run(source, &out, &["--strategy", strategy, "--runs", "20"]);
            let said = said.expect(exit::CLEAN)?;
            let summary = said.stdout.lines().last().unwrap_or_default();
            if !summary.ends_with(" runs, 0 failures, 0 data races") || said.stdout.contains("bug[")
            {
                return Err(format!("{strategy}: {}", said.all()));
            }
        }
        Ok(())
    });
    assert!(!out.join("clips").exists(), "no clip is left");
}

#[test]
fn runs_that_are_recorded_or_verified_are_looked_at() {
    let dir = fresh_dir("races-recorded");
    let trace = dir.join("last.trace");
    let source = program("races/bug/publication.c");
    for options in [
        &["--verify"][..],
        &["--trace", trace.to_str().unwrap()],
        &["--verify", "--strategy", "dfs", "--jobs", "2"],
        &["--trace", trace.to_str().unwrap(), "--jobs", "2"],
    ] {
        let options = [options, &["--runs", "10"]].concat();
        let said = run(&source, &dir.join("out"), &options);
        check_race(&source, &said.expect(exit::FOUND).unwrap()).unwrap();
    }
}

#[test]
fn several_jobs_tell_what_one_tells() {
    for name in [
        "races/bug/publication.c",
        "races/bug/publication.rs",
        "fail/race.c",
    ] {
        let told = ["1", "2"].map(|jobs| {
            let out = fresh_dir("races-jobs");
            let options = ["--strategy", "random,pct", "--runs", "30", "--keep-going"];
            let options = [&options[..], &["--jobs", jobs]].concat();
            let said = run(&program(name), &out, &options);
            let said = said.expect(exit::FOUND).unwrap();
            let clips = clips(&said).into_iter().map(|it| fs::read(it).unwrap());
            (clips.collect::<Vec<_>>(), said.stdout)
        });
        assert!(
            told[0] == told[1],
            "{name}: {} and {}",
            told[0].1,
            told[1].1
        );
    }
}

#[test]
fn races_are_not_looked_for_if_the_user_says_so() {
    let out = fresh_dir("races-none");
    for source in programs("races/bug") {
        let said = run(&source, &out, &["--runs", "10", "--no-races"]);
        said.expect(exit::CLEAN)
            .and_then(|it| it.expect_line("10 runs, 0 failures, data races not looked for"))
            .unwrap();
    }
}

#[test]
fn a_race_does_not_end_the_search_and_is_told_beside_failures() {
    let out = fresh_dir("races-failing");
    let said = run(&program("fail/race.c"), &out, &["--runs", "100"]);
    let said = said.expect(exit::FOUND).unwrap();
    assert_eq!(
        said.failure().as_deref(),
        Some("assertion"),
        "{}",
        said.all()
    );
    assert!(
        said.line("bug[R1]: data race: race.c:").is_some(),
        "{}",
        said.all()
    );
    assert!(
        said.stdout.ends_with(", 1 failures, 1 data races\n"),
        "{}",
        said.all()
    );
}

/// Two threads that race once each, after so many accesses that scheduling points are not learned.
const LONG: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static int payload;
static atomic_int ready;
static volatile int own[2][1000];
static void work(int me) {
    for (int round = 0; round < 600; round++)
        for (int at = 0; at < 1000; at++) own[me][at] += at;
}
static void *publish(void *arg) {
    work(0);
    payload = 42; // @write
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}
int main(void) {
    pthread_t publisher;
    pthread_create(&publisher, 0, publish, 0);
    work(1);
    while (atomic_load_explicit(&ready, memory_order_relaxed) == 0) {}
    int value = payload; // @read
    pthread_join(publisher, 0);
    return value != 42;
}
"#;

#[test]
fn long_runs_are_looked_at() {
    let dir = fresh_dir("races-long");
    let source = dir.join("long.c");
    fs::write(&source, LONG).unwrap();
    for strategy in ["rr", "pos"] {
        let said = run(
            &source,
            &dir.join("out"),
            &["--strategy", strategy, "--runs", "2"],
        );
        check_race(&source, &said.expect(exit::FOUND).unwrap()).unwrap();
    }
}
