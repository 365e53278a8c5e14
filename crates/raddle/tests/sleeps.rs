//! Short sleeps and timeouts order nothing, in every strategy; long ones protect.

mod common;

use common::{exit, fresh_dir, program, raddle, run, runs_and_failures, say};

const STRATEGIES: [&str; 5] = ["random", "pct", "pos", "surw", "dfs"];

/// Every strategy sees the program fail and not fail, and the failing run repeats.
fn may_fail(name: &str, source: &str, arguments: &[&str]) {
    let out = fresh_dir(name);
    for strategy in STRATEGIES {
        let mut args = vec![
            "--strategy",
            strategy,
            "--runs",
            "200",
            "--keep-going",
            "--",
        ];
        args.extend(arguments);
        let said = run(&program(source), &out, &args)
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

/// No strategy sees the program fail with these options, and dfs says that it has seen all.
fn never_fails(name: &str, source: &str, options: &[&str], arguments: &[&str]) {
    let out = fresh_dir(name);
    for strategy in STRATEGIES {
        let mut args = vec!["--strategy", strategy, "--runs", "500"];
        args.extend(options);
        args.push("--");
        args.extend(arguments);
        let said = run(&program(source), &out, &args)
            .expect(exit::CLEAN)
            .unwrap_or_else(|error| panic!("{strategy} {options:?}: {error}"));
        assert_eq!(runs_and_failures(&said).1, 0);
    }
}

#[test]
fn short_sleeps_order_nothing() {
    for way in ["usleep", "nanosleep", "select", "poll"] {
        may_fail(&format!("sleeps-{way}"), "sleeps/short.c", &[way]);
    }
}

#[test]
fn short_timeouts_may_expire() {
    may_fail("sleeps-semaphore", "sleeps/timeout.c", &[]);
    may_fail("sleeps-condition", "sleeps/timeout.c", &["condition"]);
}

#[test]
fn long_sleeps_protect() {
    never_fails("sleeps-long", "sleeps/long.c", &[], &[]);
}

#[test]
fn many_short_sleeps_protect_like_a_long_one() {
    never_fails("sleeps-polling", "sleeps/long.c", &[], &["polling"]);
}

#[test]
fn the_limit_is_the_users() {
    never_fails(
        "sleeps-never",
        "sleeps/short.c",
        &["--preempted-for", "0"],
        &[],
    );
    never_fails(
        "sleeps-less",
        "sleeps/short.c",
        &["--preempted-for", "400us"],
        &[],
    );
    let out = fresh_dir("sleeps-more");
    let args = ["--preempted-for", "2s", "--strategy", "dfs"];
    let said = run(&program("sleeps/long.c"), &out, &args);
    said.expect(exit::FOUND).unwrap();
    let wrong = run(
        &program("sleeps/long.c"),
        &out,
        &["--preempted-for", "soon"],
    );
    wrong.expect(exit::USAGE).unwrap();
}

/// A clip of a run in which a sleeper overtook another thread repeats; `check` takes the option, too.
#[test]
fn clips_repeat_and_check_knows_the_limit() {
    let out = fresh_dir("sleeps-clip");
    let source = program("sleeps/short.c");
    let found = run(&source, &out, &["--strategy", "random"])
        .expect(exit::FOUND)
        .unwrap();
    let clip = found.clip().expect("a clip was written");
    let mut replay = raddle(["replay", "--quiet", "--times", "50"]);
    say(replay.arg(clip))
        .expect(exit::FOUND)
        .and_then(|it| it.expect_line("replayed 50 of 50: same outcome, same"))
        .unwrap();
    let mut check = raddle([
        "check",
        "--quiet",
        "--preempted-for",
        "10ms",
        "--runs",
        "30",
        "--out",
    ]);
    let said = say(check.arg(&out).arg(&source));
    said.expect(exit::FOUND).unwrap();
}
