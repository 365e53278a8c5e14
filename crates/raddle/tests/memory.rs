//! A check stays within the memory that it is given: of a run that is too long the beginning is looked at, and the report
//! says so.

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

#[test]
fn a_check_stays_within_the_memory_that_it_is_given() {
    let dir = fresh_dir("memory");
    let (source, binary) = (dir.join("long.c"), dir.join("long"));
    std::fs::write(&source, LONG).unwrap();
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(&source));
    assert_eq!(built.code, Some(0), "{}", built.all());

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
