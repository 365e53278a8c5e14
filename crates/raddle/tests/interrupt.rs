//! Ctrl-C in every phase: the command ends soon, tells what was found, and leaves nothing over; and progress in logs.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Said, cargo_raddle, fresh_dir, processes_of, raddle, say};

/// A command ends within this time; the machine may be busy.
const SOON: Duration = Duration::from_secs(5);

/// Exit code of an interrupted command.
const INTERRUPTED: i32 = 130;

/// Many events under many locks: the first run takes a moment, predictions from it take minutes.
const LARGE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#define LOCKS 64
static long a[LOCKS], b[LOCKS];
static pthread_mutex_t locks[LOCKS];
static int rounds;
static void *work(void *argument) {
    unsigned seed = (unsigned)(long)argument * 7919 + 1;
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        int k = (seed >> 8) % LOCKS, j = (seed >> 16) % LOCKS;
        pthread_mutex_lock(&locks[k]);
        a[k]++;
        if (a[k] % 3 == 0) b[k] = a[k];
        pthread_mutex_unlock(&locks[k]);
        pthread_mutex_lock(&locks[j]);
        a[j] += b[j];
        pthread_mutex_unlock(&locks[j]);
    }
    return NULL;
}
int main(int count, char **words) {
    rounds = atoi(words[1]);
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&locks[i], NULL);
    pthread_t threads[8];
    for (long i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return count != 2;
}
"#;

/// Its threads meet in memory, and every run takes the same path.
const SMALL: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return count != 2;
}
"#;

/// The same, where each run takes one of many paths.
fn many_paths() -> String {
    let cases = (0..4000).map(|it| format!("case {it}: paths[{it}]++; break;\n"));
    let switch = format!("switch (chosen) {{\n{}}}\n", cases.collect::<String>());
    SMALL
        .replace("count++;", &format!("count++;\n{switch}"))
        .replace(
            "static int count;",
            "#include <sys/random.h>\nstatic int count, paths[4000];\nstatic unsigned chosen;",
        )
        .replace(
            "pthread_t threads[2];",
            "pthread_t threads[2];\nif (getrandom(&chosen, sizeof chosen, 0) < 0) return 1;\nchosen %= 4000;",
        )
}

/// Builds the program of many events into a directory of its own.
fn large(name: &str) -> PathBuf {
    build(name, LARGE)
}

/// Builds a program into a directory of its own.
fn build(name: &str, text: &str) -> PathBuf {
    let dir = fresh_dir(name);
    let (source, binary) = (dir.join("large.c"), dir.join("large"));
    std::fs::write(&source, text).unwrap();
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(&source));
    assert_eq!(built.code, Some(0), "{}", built.all());
    binary
}

/// Starts a command, with temporary files in a directory of its own, and interrupts it after a time.
fn interrupt(command: &mut Command, scratch: &Path, after: Duration) -> Said {
    std::fs::create_dir_all(scratch).unwrap();
    let command = command.env("TMPDIR", scratch);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(after);
    let said = end(child);
    let left: Vec<_> = std::fs::read_dir(scratch).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    said
}

fn end(mut child: Child) -> Said {
    assert_eq!(child.try_wait().unwrap(), None, "it has ended by itself");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::SIGINT).unwrap();
    let start = Instant::now();
    let said = Said::from(child.wait_with_output().unwrap());
    assert!(
        start.elapsed() < SOON,
        "it took {:?}: {}",
        start.elapsed(),
        said.all()
    );
    said
}

fn expect_interrupted(said: &Said, binary: &Path) {
    assert_eq!(said.code, Some(INTERRUPTED), "{}", said.all());
    let is_gone = || processes_of(binary).is_empty();
    let start = Instant::now();
    while !is_gone() && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(is_gone(), "the program has outlived its launcher");
}

#[test]
fn a_check_that_records_or_predicts_ends_soon() {
    let binary = large("interrupt-check");
    let out = binary.with_file_name("out");
    for (rounds, seconds) in [("100000000", 2), ("20000", 3), ("20000", 8)] {
        let mut command = raddle(["check", "--timeout", "100", "--out"]);
        command.arg(&out).arg("--").arg(&binary).arg(rounds);
        let scratch = binary.with_file_name("scratch");
        let said = interrupt(&mut command, &scratch, Duration::from_secs(seconds));
        expect_interrupted(&said, &binary);
        assert!(said.stdout.contains("interrupted"), "{}", said.all());
        assert!(said.stdout.contains("nothing found"), "{}", said.all());
        // Standard error is no terminal: it has lines.
        let is_told = |it: &str| it.starts_with("raddle: recording") || it.contains("predicting");
        assert!(said.stderr.lines().any(is_told), "{}", said.all());
    }
}

/// A number in the summary of a check, before this word.
fn summed(said: &Said, word: &str) -> u64 {
    let last = said.stdout.lines().last().unwrap_or_default();
    let before = last.split(word).next().unwrap_or_default();
    let number = before.trim_end().rsplit(' ').next().unwrap_or_default();
    let number = number.replace(',', "").parse();
    number.unwrap_or_else(|_| panic!("no number of {word}: {}", said.all()))
}

#[test]
fn the_further_runs_and_the_last_search_of_a_check_end_soon() {
    let interrupted = |name: &str, text: &str| {
        let binary = build(name, text);
        let mut command = raddle(["check", "--time", "10000", "--search", "1000000", "--out"]);
        command.arg(binary.with_file_name("out"));
        command.arg("--").arg(&binary);
        let scratch = binary.with_file_name("scratch");
        let said = interrupt(&mut command, &scratch, Duration::from_secs(12));
        expect_interrupted(&said, &binary);
        assert!(said.stdout.contains("nothing found"), "{}", said.all());
        said
    };
    // Each run has some fifty events. Those of further runs count, those of the search do not.
    let further = interrupted("interrupt-further", &many_paths());
    assert!(summed(&further, "events") > 1000, "{}", further.all());
    let is_search = |line: &str| line.starts_with("raddle: run ") && line.contains(" of 4000000");
    assert!(!further.stderr.lines().any(is_search), "{}", further.all());
    let last = interrupted("interrupt-last", SMALL);
    assert!(last.stderr.lines().any(is_search), "{}", last.all());
    assert!(
        summed(&last, "events") < summed(&last, "runs") * 40,
        "{}",
        last.all()
    );
}

#[test]
fn a_search_ends_soon_with_every_strategy() {
    let binary = large("interrupt-run");
    let out = binary.with_file_name("out");
    for strategy in ["pos", "pct", "random", "surw", "rr", "dfs"] {
        let mut command = raddle(["run", "--runs", "1000000", "--strategy", strategy, "--out"]);
        command.arg(&out).arg("--").arg(&binary).arg("2000");
        let scratch = binary.with_file_name("scratch");
        let said = interrupt(&mut command, &scratch, Duration::from_secs(3));
        expect_interrupted(&said, &binary);
        assert!(said.stderr.contains("interrupted"), "{}", said.all());
        assert!(said.stdout.contains(" runs, 0 failures"), "{}", said.all());
    }
}

#[test]
fn a_build_ends_at_once_with_its_compilers() {
    let dir = fresh_dir("interrupt-build");
    let source = dir.join("small.rs");
    std::fs::write(
        &source,
        "fn main() { std::thread::spawn(|| {}).join().unwrap(); }",
    )
    .unwrap();
    let mut command = raddle(["check", "--out"]);
    // Without a cache the standard library is instrumented, which takes a while.
    command.arg(dir.join("out")).arg(&source);
    command.env("RADDLE_CACHE_DIR", dir.join("cache"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::sleep(Duration::from_secs(2));
    let said = end(child);
    assert_eq!(said.code, Some(INTERRUPTED), "{}", said.all());
    assert!(said.stderr.contains("raddle: building"), "{}", said.all());
    assert!(
        said.stderr.contains("raddle: interrupted"),
        "{}",
        said.all()
    );
}

const TESTS: &str = r#"
#[test]
fn a_small() { assert_eq!(1 + 1, 2); }
#[test]
fn b_endless() {
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(|| { for _ in 0..u64::MAX { std::thread::yield_now(); } }))
        .collect();
    for thread in threads { thread.join().unwrap(); }
}
#[test]
fn c_never_started() {}
"#;

#[test]
fn all_tests_of_a_package_end_with_one() {
    let dir = fresh_dir("interrupt-tests");
    std::fs::create_dir(dir.join("src")).unwrap();
    let manifest =
        "[package]\nname = \"interrupted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    std::fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(dir.join("src/lib.rs"), TESTS).unwrap();
    let mut command = cargo_raddle(["test", "--time", "100", "--timeout", "100"]);
    command.current_dir(&dir).env_remove("CARGO_TARGET_DIR");
    let log = dir.join("log");
    let written = std::fs::File::create(&log).unwrap();
    command.stdout(written.try_clone().unwrap()).stderr(written);
    let child = command.spawn().unwrap();
    let text = || std::fs::read_to_string(&log).unwrap();
    let start = Instant::now();
    while !text().contains("b_endless") {
        assert!(start.elapsed() < Duration::from_secs(300), "{}", text());
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_secs(2));
    let said = end(child);
    let text = text();
    assert_eq!(said.code, Some(INTERRUPTED), "{text}");
    let small = "test interrupted/interrupted a_small ... ok, ";
    assert!(text.lines().any(|it| it.starts_with(small)), "{text}");
    // It starts no thread, so there is one run of it.
    assert!(text.contains("nothing found; 1 run,"), "{text}");
    assert!(text.contains("1 tests, 0 failed"), "{text}");
    assert!(!text.contains("c_never_started"), "{text}");
}
