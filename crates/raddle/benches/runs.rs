//! How many short runs a second: started one by one or forked from one start, one at a time or two.
//!
//! `cargo bench -p raddle --bench runs`. The program is one of about ten events (`runs/ten.c`, and the same in Rust).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use raddle_run::explore::{Search, explore};
use raddle_run::launch::{Detail, Plan, Record, launch};
use raddle_run::parallel;
use raddle_run::program::Program;
use raddle_trace::wire::StrategyKind;

/// How long each way is measured, at least.
const LEAST: Duration = Duration::from_secs(2);
/// Runs between two looks at the clock.
const BATCH: u64 = 100;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    println!("{:<28} {:>8} {:>8}   runs a second", "", "1 job", "2 jobs");
    for source in ["ten.c", "ten.rs"] {
        let binary = build(source, dir.path());
        let program = Program::new(&binary, Vec::new()).expect("the program was just built");
        let plan = Plan::new(StrategyKind::RoundRobin, 1);
        let first = launch(&program, &plan).expect("the program runs");
        println!(
            "{source}: {} slots, {} threads",
            first.head.ticks,
            first.threads.len()
        );
        for forks in [false, true] {
            let mut program = program.clone();
            program.forks = forks;
            let way = if forks { "forked" } else { "started" };
            for recorded in [false, true] {
                let rates = [1, 2].map(|jobs| rate(&program, jobs, recorded.then_some(dir.path())));
                let name = if recorded {
                    format!("{way}, recorded")
                } else {
                    way.to_owned()
                };
                println!("  {name:<26} {:>8.0} {:>8.0}", rates[0], rates[1]);
            }
        }
    }
}

/// Builds a program of this benchmark with the tool itself.
fn build(source: &str, dir: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches/runs")
        .join(source);
    let out = dir.join("out");
    let built = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["run", "--runs", "1", "--quiet", "--out"])
        .arg(&out)
        .arg(path)
        .output()
        .expect("raddle runs");
    assert!(built.status.success(), "{built:?}");
    let stem = Path::new(source).file_stem().expect("a name");
    let built = std::fs::read_dir(out.join("build")).expect("a build directory");
    let binary = built
        .flatten()
        .map(|it| it.path().join(stem))
        .find(|it| it.exists());
    let binary = binary.expect("an executable");
    let kept = dir.join(source.replace('.', "_"));
    std::fs::copy(&binary, &kept).expect("room for the executable");
    std::fs::remove_dir_all(&out).expect("the directory can go");
    kept
}

/// Runs a second, as `raddle run --runs N` makes them or, with a directory for traces, as `raddle check` does.
fn rate(program: &Program, jobs: usize, traces: Option<&Path>) -> f64 {
    let jobs = NonZeroUsize::new(jobs).expect("a number of jobs");
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < LEAST {
        match traces {
            None => search(program, jobs),
            Some(dir) => record(program, jobs, dir),
        }
        runs += BATCH;
    }
    runs as f64 / start.elapsed().as_secs_f64()
}

fn search(program: &Program, jobs: NonZeroUsize) {
    let search = Search {
        strategies: vec![StrategyKind::Pos],
        depth: 3,
        preemptions: 2,
        runs: BATCH,
        seed: 1,
        keep_going: true,
        verify: false,
        compare: false,
        record: None,
        jobs,
        most_ticks: None,
        hang_time: program.timeout,
    };
    let explored = explore(program, &search, None, &mut |_| {}).expect("the program runs");
    assert_eq!((explored.runs, explored.failures), (BATCH, 0));
}

fn record(program: &Program, jobs: NonZeroUsize, dir: &Path) {
    let plans: Vec<_> = (0..BATCH)
        .map(|number| {
            let mut plan = Plan::new(StrategyKind::RoundRobin, number);
            let path = dir.join(format!("{}.trace", number % 16));
            plan.record = Some(Record {
                path,
                detail: Detail::Events,
            });
            plan
        })
        .collect();
    for result in parallel::launch_all(program, &plans, jobs) {
        assert!(result.expect("the program runs").failure.is_none());
    }
}
