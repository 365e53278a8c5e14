//! Every synchronisation primitive, used hard, under many schedules: the programs check themselves, so a failure, a hang
//! or a replay that is not the same is a mistake of Raddle's.

mod common;

use std::path::PathBuf;

use common::{exit, for_each, fresh_dir, programs, run, seeds};

/// Runs each program under `seeds` schedules of each strategy, and each run a second time.
fn check(name: &str, programs: &[PathBuf], seeds: u64) {
    let out = fresh_dir(name);
    let summary = format!(
        "{} runs, 0 failures, 0 data races, {} verified",
        3 * seeds,
        3 * seeds
    );
    for_each(programs, |program| {
        let args = [
            "--strategy",
            "random,pct,pos",
            "--runs",
            &seeds.to_string(),
            "--verify",
        ];
        run(program, &out, &args)
            .expect(exit::CLEAN)?
            .expect_line(&summary)?;
        Ok(())
    });
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
