//! A long search by every strategy leaves nothing behind: no process, file, shared memory or descriptor, and the launcher
//! does not grow. `RADDLE_TEST_SOAK` is the number of runs; `scripts/soak.sh` makes ten thousand.

mod common;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{exit, fresh_dir, program, raddle, run, say};
use raddle_run::explore::{Explored, Search, explore};
use raddle_run::program::Program;
use raddle_trace::wire::StrategyKind;

/// Runs in an ordinary test.
const RUNS: u64 = 300;
/// No run of these programs takes longer, on whatever machine.
const TIMEOUT: Duration = Duration::from_secs(20);
/// By how much the launcher may have grown since the first part of the runs: what a run needs differs from run to run, and
/// the allocator keeps what it once had.
const GROWTH_BYTES: u64 = 4 << 20;

/// Strategies whose runs are all alike to the launcher.
const SAMPLING: &[StrategyKind] = &[
    StrategyKind::RoundRobin,
    StrategyKind::Random,
    StrategyKind::Pct,
    StrategyKind::Pos,
    StrategyKind::Surw,
];
/// Keeps the schedules that it has still to try, more and more of them.
const EXHAUSTIVE: &[StrategyKind] = &[StrategyKind::Dfs];

fn wanted_runs() -> u64 {
    std::env::var("RADDLE_TEST_SOAK").map_or(RUNS, |text| {
        text.parse().expect("RADDLE_TEST_SOAK is a number")
    })
}

fn names(dir: impl AsRef<Path>) -> BTreeSet<OsString> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|it| it.file_name()).collect()
}

/// Bytes of memory that this process occupies.
fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

fn search(program: &Program, strategies: &[StrategyKind], runs: u64, verify: bool) -> Explored {
    let search = Search {
        strategies: strategies.to_vec(),
        depth: 3,
        preemptions: 2,
        runs,
        seed: 1,
        keep_going: true,
        verify,
        compare: false,
        record: None,
        jobs: NonZeroUsize::new(2).unwrap(),
        most_ticks: None,
        hang_time: program.timeout,
    };
    let explored = explore(program, &search, None, &mut |_| {}).unwrap();
    assert!(explored.unsteady.is_none(), "{:?}", explored.unsteady);
    explored
}

#[test]
fn nothing_is_left_of_many_runs() {
    let dir = fresh_dir("soak");
    let binary = dir.join("program");
    let source = program("sync/condvar.rs");
    let scratch = dir.join("tmp");
    fs::create_dir(&scratch).unwrap();

    // Through the command line, with a temporary directory of its own.
    let out = dir.join("out");
    let mut command = raddle([
        "run", "--quiet", "--runs", "10", "--verify", "--jobs", "2", "--out",
    ]);
    let command = command.arg(&out).arg(&source).env("TMPDIR", &scratch);
    let said = say(command).expect(exit::CLEAN);
    said.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&scratch), BTreeSet::new(), "temporary files");
    assert_eq!(
        names(&out),
        BTreeSet::from(["build".into()]),
        "what is kept"
    );
    run(&program("fail/race.c"), &out, &["--runs", "100"])
        .expect(exit::FOUND)
        .unwrap();
    assert_eq!(
        names(&out),
        BTreeSet::from(["build".into(), "clips".into()])
    );
    // Of the data race that the failure comes of: the clip that shows the race alone is gone again.
    let clips = ["race-2.clip", "race-2.trace"];
    let clips = clips.into_iter().map(OsString::from).collect();
    assert_eq!(names(out.join("clips")), clips);
    let built = names(out.join("build"));
    let name = built
        .iter()
        .find(|it| it.to_string_lossy().starts_with("condvar"))
        .unwrap();
    fs::copy(out.join("build").join(name).join("condvar"), &binary).unwrap();

    // In this process.
    let mut program = Program::new(&binary, Vec::new()).unwrap();
    program.timeout = TIMEOUT;
    let each = wanted_runs().div_ceil((SAMPLING.len() + EXHAUSTIVE.len()) as u64);
    search(&program, SAMPLING, each.div_ceil(10), false);
    search(&program, SAMPLING, each.div_ceil(30), true);
    drop(program);

    let descriptors = names("/proc/self/fd").len();
    let shared = names("/dev/shm");
    let resident = resident_bytes();
    let start = Instant::now();
    let mut program = Program::new(&binary, Vec::new()).unwrap();
    program.timeout = TIMEOUT;
    let sampled = search(&program, SAMPLING, each, false);
    let grown = resident_bytes().saturating_sub(resident);
    let exhausted = search(&program, EXHAUSTIVE, each, false);
    let seconds = start.elapsed().as_secs_f64();
    let verified = search(&program, SAMPLING, each.div_ceil(10), true);
    drop(program);
    let runs = sampled.runs + exhausted.runs;
    println!(
        "{runs} runs in {seconds:.1} s, {:.0} a second, and {} verified; the launcher has grown by {} KiB",
        runs as f64 / seconds,
        verified.verified,
        grown >> 10,
    );
    for explored in [&sampled, &exhausted, &verified] {
        assert_eq!(explored.failures, 0, "{:?}", explored.findings);
    }
    assert_eq!(verified.verified, verified.runs);
    assert!(
        grown < GROWTH_BYTES,
        "the launcher has grown by {grown} bytes"
    );
    // One is the listing's own, in both counts.
    assert_eq!(names("/proc/self/fd").len(), descriptors, "descriptors");
    let new: Vec<_> = names("/dev/shm").difference(&shared).cloned().collect();
    let ours = new
        .iter()
        .filter(|it| it.to_string_lossy().contains("raddle"));
    assert_eq!(ours.count(), 0, "shared memory: {new:?}");
    assert_eq!(common::processes_of(&binary), [] as [u32; 0]);
}
