//! The end of the process: threads that are alive then come before it, in part, or not at all, in every strategy.

mod common;

use common::{exit, fresh_dir, program, run, runs_and_failures};

const STRATEGIES: [&str; 5] = ["random", "pct", "pos", "surw", "dfs"];

/// Runs within which a strategy has to see a thread run at the end.
const RUNS: &str = "200";

/// Every strategy sees the program fail and not fail, and the failing run repeats.
fn happens_and_does_not(name: &str, source: &str, arguments: &[&str]) {
    let out = fresh_dir(name);
    for strategy in STRATEGIES {
        let mut args = vec!["--strategy", strategy, "--runs", RUNS, "--keep-going", "--"];
        args.extend(arguments);
        let said = run(&program(source), &out, &args);
        let said = said
            .expect(exit::FOUND)
            .unwrap_or_else(|error| panic!("{strategy} {arguments:?}: {error}"));
        let (runs, failures) = runs_and_failures(&said);
        assert!(
            0 < failures && failures < runs,
            "{strategy} {arguments:?}: {}",
            said.all()
        );
    }
}

#[test]
fn threads_run_before_the_process_ends() {
    for way in ["return", "exit", "_exit", "quick_exit", "thread"] {
        happens_and_does_not(&format!("ends-{way}"), "ends/ways.c", &[way]);
    }
}

#[test]
fn threads_run_between_handlers_and_after_them() {
    for way in ["exit", "on_exit", "quick_exit"] {
        for place in ["between", "after"] {
            let name = format!("ends-{way}-{place}");
            happens_and_does_not(&name, "ends/handlers.c", &[way, place]);
        }
    }
}

#[test]
fn threads_run_after_static_destructors() {
    happens_and_does_not("ends-static", "ends/static_object.cpp", &[]);
}

/// Without a strategy's doing a thread that ends the process goes on, but each thread has run by then.
#[test]
fn undisturbed_runs_start_every_thread() {
    let out = fresh_dir("ends-rr");
    let args = ["--strategy", "rr", "--runs", "1"];
    let started = run(&program("ends/ways.c"), &out, &args);
    started.expect(exit::CLEAN).unwrap();
    let new = run(&program("ends/never_ran.c"), &out, &args);
    new.expect(exit::FOUND).unwrap();
}

#[test]
fn an_endless_thread_does_not_keep_the_process_from_ending() {
    let out = fresh_dir("ends-endless");
    let sampled = [
        "--strategy",
        "random,pct,pos,surw",
        "--runs",
        "20",
        "--verify",
    ];
    run(&program("ends/endless.c"), &out, &sampled)
        .expect(exit::CLEAN)
        .and_then(|it| it.expect_line("80 runs, 0 failures, 0 data races, 80 verified"))
        .unwrap();
    let exhaustive = ["--strategy", "dfs", "--runs", "10"];
    run(&program("ends/endless.c"), &out, &exhaustive)
        .expect(exit::CLEAN)
        .unwrap();
}

/// A first run whose events nothing reads is not recorded, but where it crashed is told all the same.
#[test]
fn a_crash_of_the_only_run_is_told_with_its_place() {
    let out = fresh_dir("ends-crash");
    let source = out.join("crash.c");
    let code = "#include <pthread.h>
int *nowhere;
void *work(void *unused) { *nowhere = 1; return unused; }
int main() {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
";
    std::fs::write(&source, code).unwrap();
    let args = ["--strategy", "rr", "--runs", "1", "--no-races"];
    let said = run(&source, &out, &args);
    let said = said.expect(exit::FOUND).unwrap();
    let place = "crash.c:3: SIGSEGV, invalid memory access";
    assert!(said.all().contains(place), "{}", said.all());
}
