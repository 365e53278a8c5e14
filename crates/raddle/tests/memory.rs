//! A command and the programs that it runs stay within the memory that it is given: of a run that is too long the beginning is
//! looked at, and the report says so.

mod common;

use std::path::{Path, PathBuf};

use common::{Said, exit, fresh_dir, peak, raddle, say};

/// Two threads that race at once, and then add under a lock for so many rounds.
const LONG: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long started, sum[64];
static int rounds;
static void *add(void *argument) {
    started++;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        sum[i % 64] += i;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
int main(int count, char **words) {
    rounds = atoi(words[1]);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return count != 2;
}
"#;

const MEGABYTE: u64 = 1 << 20;

fn check(binary: &Path, rounds: &str, options: &[&str]) -> (Said, u64) {
    let mut command = raddle(["check", "--quiet", "--runs", "1", "--out"]);
    command.arg(binary.with_file_name("out")).args(options);
    let (said, most) = peak(command.arg("--").arg(binary).arg(rounds));
    let said = said.expect(exit::FOUND);
    (said.unwrap_or_else(|error| panic!("{error}")), most)
}

/// Builds a program in a directory of its own.
fn build(name: &str, text: &str) -> PathBuf {
    let dir = fresh_dir(name);
    let (source, binary) = (dir.join("long.c"), dir.join("long"));
    std::fs::write(&source, text).unwrap();
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(&source));
    assert_eq!(built.code, Some(0), "{}", built.all());
    binary
}

#[test]
fn a_check_stays_within_the_memory_that_it_is_given() {
    let binary = build("memory", LONG);
    let is_cut = |said: &Said| said.stdout.contains("for want of memory");
    let (said, most) = check(&binary, "60000", &["--memory", "100M"]);
    assert!(is_cut(&said), "{}", said.all());
    assert!(most < 110 * MEGABYTE, "{} MB", most / MEGABYTE);
    // With all of the run in memory it is more, or the limit above says nothing.
    let (said, most) = check(&binary, "60000", &["--memory", "4G"]);
    assert!(!is_cut(&said), "{}", said.all());
    assert!(most > 150 * MEGABYTE, "{} MB", most / MEGABYTE);
    let (said, _) = check(&binary, "100", &["--memory", "100M"]);
    assert!(!is_cut(&said), "{}", said.all());
}

/// A thread writes to all of a large piece of memory, so many bytes from one another. Two others read a little of it under a
/// lock; nothing is wrong with them.
const LARGE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static char *large;
static void *add(void *argument) {
    pthread_mutex_lock(&lock);
    sum += large[0];
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(int count, char **words) {
    long size = atol(words[1]) << 20, step = atol(words[2]);
    large = malloc(size);
    for (long at = 0; at < size; at += step) large[at] = 1;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    free(large);
    return count != 3;
}
"#;

/// Runs a command on that program. Returns what it said, in one line, and the most memory of all.
fn peak_of_large(binary: &Path, command: &[&str], arguments: [&str; 2]) -> (String, u64) {
    let mut raddle = raddle(command);
    raddle.arg("--quiet").arg("--out");
    raddle.arg(binary.with_file_name("out")).arg("--");
    let (said, most) = peak(raddle.arg(binary).args(arguments));
    let said = said
        .expect(exit::CLEAN)
        .unwrap_or_else(|error| panic!("{error}"));
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    (text, most / MEGABYTE)
}

/// What is remembered of each word of memory is bounded, too.
#[test]
fn programs_with_much_memory_are_checked_within_what_is_given() {
    let binary = build("memory-large", LARGE);
    let check = ["check", "--runs", "1", "--memory", "200M"];
    let (text, most) = peak_of_large(&binary, &check, ["64", "16"]);
    assert!(most < 220, "{most} MB: {text}");
    let run = ["run", "--strategy", "rr", "--runs", "1", "--memory", "200M"];
    let (text, most) = peak_of_large(&binary, &run, ["64", "16"]);
    assert!(most < 220, "{most} MB: {text}");
    let short = "touch too much memory to be looked through for data races to their ends";
    assert!(text.contains(short), "{text}");
    let run = ["run", "--strategy", "rr", "--runs", "1", "--memory", "2G"];
    let (text, _) = peak_of_large(&binary, &run, ["64", "16"]);
    assert!(!text.contains(short), "{text}");
}

/// What the program takes is not there for events, and if it takes all that is said.
#[test]
fn a_program_that_takes_all_of_the_memory_is_told() {
    let binary = build("memory-all", LARGE);
    let check = |memory| ["check", "--runs", "1", "--memory", memory];
    let (text, most) = peak_of_large(&binary, &check("100M"), ["150", "4096"]);
    assert!(most > 150, "{most} MB: {text}");
    let (_, note) = text
        .split_once("the program and what its runs leave take ")
        .unwrap();
    assert!(note.contains("too much for --memory 100M"), "{text}");
    let taken: u64 = note.split(' ').next().unwrap().parse().unwrap();
    // The launcher misses what the program takes right before its end.
    assert!((130..180).contains(&taken), "{text}");
    let (text, most) = peak_of_large(&binary, &check("400M"), ["150", "4096"]);
    assert!(!text.contains("too much for"), "{text}");
    assert!(most < 440, "{most} MB: {text}");
}

/// Builds the program of the scaling benchmark in a directory of its own.
fn build_scaling(name: &str) -> PathBuf {
    let binary = fresh_dir(name).join("scaling");
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let source = common::root().join("scripts/bench/scaling.c");
    let built = say(cc.arg(&binary).arg(source));
    assert_eq!(built.code, Some(0), "{}", built.all());
    binary
}

/// Checks it within so much memory. Returns what was said, in one line; the seeded bug was found.
fn check_scaling(binary: &Path, memory: &str, arguments: [&str; 5]) -> String {
    let mut command = raddle(["check", "--quiet", "--runs", "1", "--memory", memory]);
    command.arg("--out").arg(binary.with_file_name("out"));
    let said = say(command.arg("--").arg(binary).args(arguments));
    let said = said
        .expect(exit::FOUND)
        .unwrap_or_else(|error| panic!("{error}"));
    let bug = "scaling.c:23 in another thread writes `total` between the read at scaling.c:16";
    assert!(said.stdout.contains(bug), "{memory}: {}", said.all());
    said.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Of a run that does not fit, what concerns one thread only is passed over first: a bug at its end is found all the same.
#[test]
fn what_concerns_one_thread_is_passed_over_first() {
    let binary = build_scaling("memory-sifted");
    for (memory, is_sifted) in [("4G", false), ("90M", true)] {
        let text = check_scaling(&binary, memory, ["4", "4", "300", "60", "2"]);
        let passed_over = "those that concern one thread only were passed over";
        assert_eq!(text.contains(passed_over), is_sifted, "{text}");
        assert!(!text.contains("only the first"), "{text}");
    }
}

/// If the rest does not fit either, what its threads do again and again is passed over next: a bug near the end, which
/// the beginning does not show, is found all the same.
#[test]
fn what_threads_do_again_and_again_is_passed_over_next() {
    let binary = build_scaling("memory-thinned");
    let text = check_scaling(&binary, "70M", ["4", "4", "2000", "0", "8"]);
    let passed_over = "times that a thread did the same, wherever in the run";
    assert!(text.contains(passed_over), "{text}");
    // What is missing may order threads, so nothing is called proved.
    let guesses = ["proved by: abridged,", "proved by: hybrid,"];
    assert!(guesses.iter().any(|it| text.contains(it)), "{text}");
}
