//! A hang that is told is the program's own: neither a schedule's that keeps a thread from running, nor the impatience of
//! the tool with a program that gets on.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Said, exit, fresh_dir, program, raddle, run, say};

fn source(name: &str, text: &str) -> PathBuf {
    let source = fresh_dir(name).join("program.c");
    fs::write(&source, text).unwrap();
    source
}

fn check(source: &PathBuf, options: &[&str]) -> Said {
    let out = source.with_file_name("out");
    let mut command = raddle(["check", "--out"]);
    say(command.arg(out).args(options).arg(source))
}

fn expect(said: Said, code: i32) -> Said {
    said.expect(code).unwrap_or_else(|error| panic!("{error}"))
}

/// Both threads wait for the flag after their race, in a loop that also writes. The order that shows the race comes before
/// the flag is set.
const WAITS_AFTER_A_RACE: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static int shared;
static atomic_int flag;
static long polls[2];
static void *waits(void *arg) {
    long *own = arg;
    shared++;
    while (!atomic_load(&flag))
        ++*own;
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waits, &polls[0]);
    pthread_create(&b, 0, waits, &polls[1]);
    atomic_store(&flag, 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_guide_makes_no_hang() {
    let source = source("guided", WAITS_AFTER_A_RACE);
    let said = expect(check(&source, &["--time", "20"]), exit::FOUND);
    assert!(said.stdout.contains("bug[R1]: data race"), "{}", said.all());
    assert!(!said.stdout.contains("consequence: hang"), "{}", said.all());
}

/// Gets on all the time, for as long as it may.
const WORKS_FOR_LONG: &str = r#"
#include <pthread.h>
static unsigned long tables[2][1024];
static void *works(void *arg) {
    unsigned long *table = arg;
    for (unsigned long i = 0; i < 1ul << 40; i++)
        table[i % 1024] = table[(i + 7) % 1024] * 3 + i;
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, works, tables[0]);
    pthread_create(&b, 0, works, tables[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

#[test]
fn a_program_that_gets_on_is_slow() {
    let source = source("slow", WORKS_FOR_LONG);
    let out = source.with_file_name("out");
    for strategy in ["rr", "pos"] {
        let options = ["--strategy", strategy, "--timeout", "2"];
        let said = expect(run(&source, &out, &options), exit::CLEAN);
        let told = said.line("note: 1 run was too slow here, and does not count: ");
        assert!(
            told.is_some_and(|it| it.contains(" events in ")),
            "{}",
            said.all()
        );
        assert!(said.line("0 runs, 0 failures").is_some(), "{}", said.all());
    }
    let said = expect(check(&source, &["--timeout", "2"]), exit::CLEAN);
    assert!(said.stdout.contains("too slow here"), "{}", said.all());
}

/// Where each thread of a hang is, and what it waits for.
#[test]
fn a_hang_tells_where_its_threads_are() {
    const HANGS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *spins(void *arg) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&never))
        ;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *waits(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, spins, 0);
    pthread_create(&b, 0, waits, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;
    let source = source("hang-told", HANGS);
    let options = ["--strategy", "rr", "--runs", "1", "--timeout", "2"];
    let said = run(&source, &source.with_file_name("out"), &options);
    let said = expect(said, exit::FOUND);
    assert_eq!(said.failure().as_deref(), Some("hang"), "{}", said.all());
    for told in [
        "  T0 waits, for T1 to end\n",
        "  T1 waits, in a loop, for values that no thread changes\n",
        "program.c:8:13 (spins)",
        ", held by T1\n",
    ] {
        assert!(said.stdout.contains(told), "no `{told}` in {}", said.all());
    }
    let said = expect(
        check(&source, &["--timeout", "2", "--time", "12"]),
        exit::FOUND,
    );
    assert!(said.stdout.contains("bug[F1]: hang"), "{}", said.all());
}

/// Nothing can come through the pipe: every thread is asleep, outside the scheduler.
#[test]
fn a_process_that_sleeps_for_ever_hangs() {
    const READS: &str = r#"
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *reads(void *arg) {
    char byte;
    return read(ends[0], &byte, 1) == 1 ? arg : 0;
}
int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 1;
    pthread_create(&thread, 0, reads, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;
    let source = source("sleeps-for-ever", READS);
    let options = ["--runs", "1", "--timeout", "2"];
    let said = expect(
        run(&source, &source.with_file_name("out"), &options),
        exit::FOUND,
    );
    assert_eq!(said.failure().as_deref(), Some("hang"), "{}", said.all());
}

#[test]
fn a_spin_in_which_nothing_changes_hangs() {
    let out = fresh_dir("spin-hangs").join("out");
    let mut command = raddle(["check", "--time", "20", "--out"]);
    let said = expect(
        say(command.arg(out).arg(program("fail/spin_hang.rs"))),
        exit::FOUND,
    );
    assert!(said.stdout.contains(": hang: "), "{}", said.all());
}
