//! Recordings that are cut off: what is on the disk is read up to its last whole block.
//!
//! Launcher and program are killed together, the launcher alone, the program alone, at moments spread over a
//! recording; and the disk is full.

mod common;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::{exit, fresh_dir, processes_of, raddle, say};
use raddle_trace::file::{ReadError, TraceReader};
use raddle_trace::ids::EventIndex;

/// Two threads that write events until somebody ends them.
const SOURCE: &str = r#"
#include <pthread.h>
#include <stdint.h>

static volatile uint64_t counts[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    uint64_t me = (uint64_t)argument;
    for (uint64_t round = 0;; round++) {
        counts[me] += round;
        if (round % 100 == 0) {
            pthread_mutex_lock(&lock);
            counts[0] ^= round;
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, work, (void *)1);
    work((void *)0);
}
"#;

/// Moments at which a recording is killed.
const KILLS: u64 = 100;

/// A recording is killed before it is longer than this, some blocks.
const LONGEST_FILE: u64 = 500_000;

/// A recording is killed within this time.
const LONGEST: Duration = Duration::from_millis(450);

/// The program, built once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let dir = fresh_dir("killed-program");
        let (source, binary) = (dir.join("endless.c"), dir.join("endless"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
        let built = say(cc.arg(&binary).arg(&source));
        assert_eq!(built.code, Some(exit::CLEAN), "{}", built.all());
        binary
    })
}

/// A copy of the program, so that its processes are known from those of other tests.
fn program_in(dir: &Path) -> PathBuf {
    let binary = dir.join("endless");
    std::fs::copy(program(), &binary).unwrap();
    binary
}

/// Records the program to `trace`; it never ends by itself.
fn record(binary: &Path, trace: &Path) -> Command {
    let mut command = raddle(["run", "--quiet", "--runs", "1", "--strategy", "rr"]);
    command
        .args(["--timeout", "60", "--out"])
        .arg(binary.with_extension("state"))
        .arg("--trace")
        .arg(trace)
        .arg("--")
        .arg(binary);
    command
}

/// Starts to record the program.
fn start(binary: &Path, trace: &Path) -> Child {
    let mut command = record(binary, trace);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own: only who is named is killed.
    command.process_group(0).spawn().unwrap()
}

fn kill(pid: u32) {
    let pid = i32::try_from(pid).unwrap();
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL);
}

fn kill_program(binary: &Path) {
    processes_of(binary).into_iter().for_each(kill);
}

/// Waits for the launcher's end.
fn wait(mut launcher: Child) {
    launcher.wait().unwrap();
}

/// Waits until nothing executes the program any more.
fn wait_for_nobody(binary: &Path) {
    let start = Instant::now();
    while !processes_of(binary).is_empty() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "the program has outlived its launcher"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the trace is at least so long.
fn wait_for_length(trace: &Path, length: u64) {
    let start = Instant::now();
    while std::fs::metadata(trace).map_or(0, |it| it.len()) < length {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the recording does not grow"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads whatever there is, and says how many events that are and whether the file was whole.
fn read(trace: &Path) -> (u64, bool) {
    if !trace.exists() {
        return (0, false);
    }
    let mut reader = match TraceReader::open(trace) {
        Ok(reader) => reader,
        // Killed before the header was on the disk.
        Err(ReadError::NotATrace | ReadError::CutBlock { .. }) => return (0, false),
        Err(error) => panic!("{}: {error}", trace.display()),
    };
    let size = std::fs::metadata(trace).unwrap().len();
    let truncation = reader.truncated().cloned();
    let whole = truncation.is_none();
    if let Some(truncation) = truncation {
        assert_eq!(truncation.offset + truncation.lost, size);
    }
    let mut ticks = std::collections::BTreeMap::new();
    for event in reader.by_ref() {
        let event = event.expect("every whole block can be read");
        let before = ticks.insert(event.thread, event.next_tick());
        assert!(
            before.is_none_or(|before| before == event.tick),
            "no event is missing"
        );
    }
    let EventIndex(events) = reader.next_index();
    (events, whole)
}

/// Moments spread over a recording, closer at its start.
fn moments(count: u64) -> impl Iterator<Item = Duration> {
    (0..count).map(move |index| {
        let part = (index * 7919 % count) as f64 / count as f64;
        LONGEST.mul_f64(part * part)
    })
}

#[test]
fn a_recording_killed_at_any_moment_is_read_up_to_its_last_block() {
    let dir = fresh_dir("killed-both");
    let binary = program_in(&dir);
    let mut with_events = 0;
    for (index, moment) in moments(KILLS).enumerate() {
        let trace = dir.join(format!("{index}.rdt"));
        let launcher = start(&binary, &trace);
        // Half of them at a moment, half of them at a length, which a slow machine reaches as well.
        if index % 2 == 0 {
            std::thread::sleep(moment);
        } else {
            wait_for_length(&trace, index as u64 * LONGEST_FILE / KILLS);
        }
        kill(launcher.id());
        kill_program(&binary);
        wait(launcher);
        wait_for_nobody(&binary);
        let (events, whole) = read(&trace);
        assert!(!whole, "the program never ends by itself");
        with_events += u64::from(events > 0);
        std::fs::remove_file(&trace).ok();
    }
    assert!(
        with_events > KILLS / 10,
        "only {with_events} of {KILLS} recordings had got to an event block"
    );
}

#[test]
fn a_program_whose_launcher_was_killed_ends_too() {
    let dir = fresh_dir("killed-launcher");
    let binary = program_in(&dir);
    for (index, moment) in moments(6).enumerate() {
        let trace = dir.join(format!("{index}.rdt"));
        let launcher = start(&binary, &trace);
        std::thread::sleep(moment);
        kill(launcher.id());
        wait(launcher);
        wait_for_nobody(&binary);
        read(&trace);
    }
}

#[test]
fn a_recording_of_a_killed_program_is_whole() {
    let dir = fresh_dir("killed-program-alone");
    let binary = program_in(&dir);
    let mut most = 0;
    for (index, moment) in moments(6).enumerate() {
        let trace = dir.join(format!("{index}.rdt"));
        let mut launcher = start(&binary, &trace);
        let start = Instant::now();
        while processes_of(&binary).is_empty() {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "the program does not start"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(moment);
        kill_program(&binary);
        // What was found is repeated at once, and would never end by itself.
        while launcher.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(50));
            kill_program(&binary);
        }
        let (events, whole) = read(&trace);
        // A program that was killed before the runtime had it leaves no trace.
        assert!(whole || events == 0, "{events} events, and no end");
        most = most.max(events);
    }
    assert!(most > 0, "no recording had an event");
}

#[test]
fn a_full_disk_is_an_error_and_ends_the_program() {
    let dir = fresh_dir("killed-disk");
    let binary = program_in(&dir);
    let said = say(&mut record(&binary, Path::new("/dev/full")));
    assert_eq!(said.code, Some(exit::USAGE), "{}", said.all());
    let message = "cannot write the trace: No space left on device";
    assert!(said.stderr.contains(message), "{}", said.all());
    wait_for_nobody(&binary);
}
