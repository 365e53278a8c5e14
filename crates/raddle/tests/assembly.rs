//! Threads that wait for each other by what inline assembly reads go on under every strategy, and in a replay. What assembly
//! does to memory is compared with what programs say of themselves in `truth.rs`.

mod common;

use common::{exit, fresh_dir, program, run};

/// Runs a program a few times under a strategy, and each run a second time.
fn check(name: &str, strategies: &[&str], runs: u32) {
    for strategy in strategies {
        let out = fresh_dir(&format!(
            "assembly-{strategy}-{}",
            name.replace(['.', '/'], "-")
        ));
        let runs = runs.to_string();
        let args = [
            "--strategy",
            strategy,
            "--runs",
            &runs,
            "--timeout",
            "20",
            "--verify",
        ];
        run(&program(name), &out, &args)
            .expect(exit::CLEAN)
            .and_then(|said| {
                said.expect_line(&format!(
                    "{runs} runs, 0 failures, 0 data races, {runs} verified"
                ))
            })
            .unwrap_or_else(|error| panic!("{name}, {strategy}: {error}"));
    }
}

#[test]
fn spinners_see_what_assembly_writes() {
    let all = ["rr", "random", "pct", "pos", "surw", "dfs"];
    check("sync/assembly_barrier.c", &all, 5);
}

/// Nothing tells the scheduler that what these threads wait for has come.
#[test]
fn spinners_that_wait_for_what_no_event_shows_are_looked_at_again() {
    let all = ["rr", "random", "pct", "pos", "surw"];
    check("spins/assembly_unseen.c", &all, 5);
}
