//! Runs a program in four ways, and takes the time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use raddle_trace::file::TraceReader;

use crate::builds::{RADDLE, Subject};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time on the clock.
    Wall,
    /// Processor time of all processes.
    Processor,
}

/// How long a program took, in seconds.
pub struct Times {
    pub native: f64,
    pub sanitized: f64,
    pub run: f64,
    pub recorded: f64,
    pub events: u64,
    /// Bytes of the trace.
    pub bytes: u64,
}

impl Times {
    /// How many times longer it takes under ThreadSanitizer.
    pub fn tsan_ratio(&self) -> f64 {
        self.sanitized / self.native
    }

    /// How many times longer without a trace.
    pub fn run_ratio(&self) -> f64 {
        self.run / self.native
    }

    /// How many times longer with a trace.
    pub fn record_ratio(&self) -> f64 {
        self.recorded / self.native
    }

    /// Bytes on disk an event.
    pub fn bytes_an_event(&self) -> f64 {
        self.bytes as f64 / self.events.max(1) as f64
    }
}

/// Measures a program; the ways take turns, so that a busy moment of the machine meets all of them.
pub fn measure(subject: &Subject, clock: Clock, times: u32, dir: &Path) -> Times {
    let trace = dir.join("measured.trace");
    let mut least = [f64::INFINITY; 4];
    for _ in 0..times {
        let [native, sanitized, run, recorded] = &mut least;
        keep(
            native,
            clock,
            Command::new(&subject.native).args(&subject.args),
        );
        let mut under_tsan = Command::new(&subject.sanitized);
        // The toolchain's libraries are not instrumented, so what it reports is not to be trusted.
        under_tsan.env("TSAN_OPTIONS", "report_bugs=0");
        keep(sanitized, clock, under_tsan.args(&subject.args));
        keep(run, clock, &mut raddle(subject, None));
        keep(recorded, clock, &mut raddle(subject, Some(&trace)));
    }
    let [native, sanitized, run, recorded] = least;
    let reader = TraceReader::open(&trace).expect("the trace was just written");
    Times {
        native,
        sanitized,
        run,
        recorded,
        events: reader.count() as u64,
        bytes: fs::metadata(&trace).map_or(0, |file| file.len()),
    }
}

fn raddle(subject: &Subject, trace: Option<&Path>) -> Command {
    let mut command = Command::new(RADDLE);
    command.args(["run", "--quiet", "--strategy", "rr", "--runs", "1"]);
    command.args(["--no-races", "--timeout", "600"]);
    if let Some(trace) = trace {
        command.arg("--trace").arg(trace);
    }
    command
        .arg("--")
        .arg(&subject.instrumented)
        .args(&subject.args);
    command
}

fn keep(least: &mut f64, clock: Clock, command: &mut Command) {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let (start, used) = (Instant::now(), processor_time());
    let status = command
        .status()
        .expect("a program that was just built can be started");
    let taken = match clock {
        Clock::Wall => start.elapsed(),
        Clock::Processor => processor_time() - used,
    };
    assert!(status.success(), "{command:?}: {status}");
    *least = least.min(taken.as_secs_f64());
}

/// Of all children that have ended, and their children.
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel knows");
    let time = |it: nix::sys::time::TimeVal| {
        Duration::from_micros(it.tv_sec() as u64 * 1_000_000 + it.tv_usec() as u64)
    };
    time(usage.user_time()) + time(usage.system_time())
}
