//! `raddle predict` stays within the memory and the time that it is given, whatever the trace: what is left out is told.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use common::{Said, exit, fresh_dir, peak, raddle, run, say};

const MEGABYTE: u64 = 1 << 20;

/// How a text of many events is made.
#[derive(Clone, Copy)]
struct Shape {
    /// Rounds of each of the eight threads.
    rounds: usize,
    /// Accesses to the thread's own memory in each.
    private: usize,
    /// Accesses under a lock in each.
    guarded: usize,
}

const THREADS: usize = 8;

/// Writes STD text: threads that work on their own and under locks in turn. Two of them race at the beginning, and two at the
/// end.
fn std_text(dir: &Path, shape: Shape) -> PathBuf {
    let mut text = String::new();
    for thread in 1..THREADS {
        writeln!(text, "T0|fork(T{thread})|1").unwrap();
    }
    let race = |text: &mut String, name: &str, place: usize| {
        writeln!(text, "T1|w({name})|{place}").unwrap();
        writeln!(text, "T2|r({name})|{}", place + 1).unwrap();
    };
    race(&mut text, "early", 10);
    for round in 0..shape.rounds {
        for thread in 0..THREADS {
            for step in 0..shape.private {
                let what = if step % 3 == 0 { "w" } else { "r" };
                writeln!(
                    text,
                    "T{thread}|{what}(P{thread}.{})|{}",
                    step % 16,
                    100 + step
                )
                .unwrap();
            }
            let lock = (round * 5 + thread) % 16;
            writeln!(text, "T{thread}|acq(L{lock})|{}", 200 + lock).unwrap();
            for step in 0..shape.guarded {
                let what = if step % 2 == 0 { "r" } else { "w" };
                let place = 300 + 100 * lock + step;
                writeln!(text, "T{thread}|{what}(V{lock}.{})|{place}", step % 8).unwrap();
            }
            writeln!(text, "T{thread}|rel(L{lock})|{}", 220 + lock).unwrap();
        }
    }
    race(&mut text, "late", 20);
    let path = dir.join("trace.std");
    fs::write(&path, text).unwrap();
    path
}

/// Standard output without the breaks of long lines.
fn unwrapped(said: &Said) -> String {
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    words.join(" ")
}

/// Predicts within so much memory, which suffices. Returns what was said, in one line, and the most that was taken.
fn within(trace: &Path, memory: &str, more: &[&str]) -> (String, u64) {
    let mut command = raddle(["predict", "--quiet", "--memory", memory]);
    let (said, most) = peak(command.args(more).arg(trace));
    let said = said.expect(exit::FOUND);
    let said = said.unwrap_or_else(|error| panic!("{error}"));
    (unwrapped(&said), most)
}

const PASSED_OVER: &str = "those that concern one thread only were passed over";
const WANT: &str = "for want of memory (--memory ";

/// Of a trace that does not fit, what concerns one thread only is passed over first: nothing is missed, and the proofs hold for
/// the whole trace.
#[test]
fn what_concerns_one_thread_is_passed_over_first() {
    let dir = fresh_dir("predict-bounds-sifted");
    let shape = Shape {
        rounds: 700,
        private: 60,
        guarded: 2,
    };
    let trace = std_text(&dir, shape);
    let file = dir.join("proofs.txt");
    let (whole, all) = within(&trace, "4G", &[]);
    assert!(!whole.contains(WANT), "{whole}");
    let (sifted, few) = within(&trace, "100M", &["--witness", file.to_str().unwrap()]);
    assert!(sifted.contains(PASSED_OVER), "{sifted}");
    assert!(sifted.contains(WANT), "{sifted}");
    assert!(!sifted.contains("only the first"), "{sifted}");
    assert!(few < 100 * MEGABYTE && few < all, "{few} of {all} bytes");
    let findings = |text: &str| text.split(" note: ").next().unwrap().to_owned();
    assert_eq!(findings(&whole), findings(&sifted));
    assert!(
        whole.contains("`early`") && whole.contains("`late`"),
        "{whole}"
    );
    let judged = say(raddle(["trace", "judge"]).arg(&trace).arg(&file));
    assert_eq!(judged.code, Some(exit::CLEAN), "{}", judged.all());
}

/// If the rest does not fit either, its beginning is looked at.
#[test]
fn of_what_does_not_fit_the_beginning_is_looked_at() {
    let dir = fresh_dir("predict-bounds-beginning");
    let shape = Shape {
        rounds: 10_000,
        private: 0,
        guarded: 6,
    };
    let trace = std_text(&dir, shape);
    let file = dir.join("proofs.txt");
    let (text, most) = within(&trace, "100M", &["--witness", file.to_str().unwrap()]);
    assert!(text.contains("only the first"), "{text}");
    assert!(text.contains(WANT), "{text}");
    assert!(
        text.contains("`early`") && !text.contains("`late`"),
        "{text}"
    );
    assert!(most < 100 * MEGABYTE, "{} MB", most / MEGABYTE);
    let judged = say(raddle(["trace", "judge"]).arg(&trace).arg(&file));
    assert_eq!(judged.code, Some(exit::CLEAN), "{}", judged.all());
    // With all of the trace in memory it is more, or the limit above says nothing.
    let (text, most) = within(&trace, "4G", &[]);
    assert!(!text.contains(WANT), "{text}");
    assert!(text.contains("`late`"), "{text}");
    assert!(most > 110 * MEGABYTE, "{} MB", most / MEGABYTE);
}

/// Two threads that work on their own for so many rounds, and race at the end.
const RECORDED: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static volatile int own[2][64];
static void *work(void *argument) {
    for (int i = 0; i < 60000; i++)
        own[(long)argument][i % 64] = i;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    shared++;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn a_recorded_trace_is_narrowed_in_the_same_way() {
    let dir = fresh_dir("predict-bounds-recorded");
    let (source, trace) = (dir.join("long.c"), dir.join("long.trace"));
    fs::write(&source, RECORDED).unwrap();
    let path = trace.to_str().unwrap();
    let recording = [
        "--strategy",
        "rr",
        "--runs",
        "1",
        "--no-races",
        "--trace",
        path,
    ];
    run(&source, &dir, &recording).expect(exit::CLEAN).unwrap();
    let file = dir.join("proofs.txt");
    let (text, _) = within(&trace, "80M", &["--witness", file.to_str().unwrap()]);
    assert!(text.contains(PASSED_OVER), "{text}");
    assert!(!text.contains("only the first"), "{text}");
    assert!(text.contains("`shared`"), "{text}");
    let judged = say(raddle(["trace", "judge"]).arg(&trace).arg(&file));
    assert_eq!(judged.code, Some(exit::CLEAN), "{}", judged.all());
}

/// A trace that takes a while to read, and longer to predict from.
fn long_trace(name: &str) -> PathBuf {
    let shape = Shape {
        rounds: 24_000,
        private: 1,
        guarded: 6,
    };
    std_text(&fresh_dir(name), shape)
}

#[test]
fn a_prediction_ends_when_its_time_is_over() {
    let trace = long_trace("predict-bounds-time");
    for seconds in [1, 3] {
        let time = Duration::from_secs(seconds);
        let mut command = raddle(["predict", "--quiet", "--time"]);
        command.arg(seconds.to_string()).arg(&trace);
        let start = Instant::now();
        let said = say(&mut command);
        let took = start.elapsed();
        assert!(
            matches!(said.code, Some(exit::CLEAN | exit::FOUND)),
            "{}",
            said.all()
        );
        let text = unwrapped(&said);
        // A machine may be fast enough to be done before.
        let is_told = text.contains("for want of time (--time gives more)");
        assert!(is_told || took < time, "{took:?} of {time:?}: {text}");
        // Other tests run beside it.
        let most = time + time / 10 + Duration::from_secs(1);
        assert!(took < most, "{took:?} of {time:?}: {text}");
    }
}

/// Whatever it is doing.
#[test]
fn a_prediction_that_is_interrupted_ends_soon() {
    const INTERRUPTED: i32 = 130;
    let trace = long_trace("predict-bounds-interrupt");
    let start = Instant::now();
    let said = say(raddle(["predict"]).arg(&trace));
    assert_eq!(said.code, Some(exit::FOUND), "{}", said.all());
    let mut whole = start.elapsed();
    for percent in [2, 10, 20, 30, 40, 50] {
        let child = loop {
            let mut command = raddle(["predict"]);
            let command = command.arg(&trace).stdout(Stdio::piped());
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(whole * percent / 100);
            if child.try_wait().unwrap().is_none() {
                break child;
            }
            // The machine was busier before.
            whole /= 2;
        };
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::SIGINT).unwrap();
        let start = Instant::now();
        let said = Said::from(child.wait_with_output().unwrap());
        let took = start.elapsed();
        assert!(took < Duration::from_secs(2), "{took:?}: {}", said.all());
        assert_eq!(said.code, Some(INTERRUPTED), "{}", said.all());
        assert!(said.stderr.contains("interrupted"), "{}", said.all());
    }
}
