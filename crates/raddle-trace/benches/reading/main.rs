//! How fast traces are written and read, and how many bytes an event takes.
//!
//! ```text
//! cargo bench -p raddle-trace --bench reading -- [--events N] [--best-of N] [TRACE …]
//! ```
//!
//! - `--events N`: length of the made-up streams, and most events taken of each trace (1,000,000);
//! - `--best-of N`: how often everything is measured, (7);
//! - `TRACE …`: recorded traces, which are measured in the same way.
//!
//! *Reading* is what analyses do: from the bytes of a file, which lie in memory, to events one after
//! another, checksums and unpacking included. *Writing* is the way back, into memory; *recording* is the way
//! from the slots of a program that runs to packed blocks. Each uses one thread,
//! and the work is timed in pieces of which each one's fastest time counts, so that other work on the machine
//! counts little. The median over the recorded traces, or over the streams if there are none, comes last.

mod slots;
mod streams;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Cursor};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use raddle_trace::event::Event;
use raddle_trace::file::{Header, ReadError, TraceReader, TraceWriter, Trailer, WriteError};

use slots::Recording;

/// Events timed at once.
const PIECE: usize = 4096;

/// The targets that the last lines are held against.
const MILLIONS_A_SECOND: f64 = 20.0;
const BYTES_AN_EVENT: f64 = 6.0;

struct Options {
    events: usize,
    best_of: usize,
    traces: Vec<PathBuf>,
}

/// What a stream costs.
struct Cost {
    read_ns: f64,
    write_ns: f64,
    record_ns: f64,
    bytes: f64,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    println!(
        "{:28} {:>9} {:>10} {:>9} {:>9} {:>10} {:>10}",
        "stream", "events", "read M/s", "ns/event", "write ns", "record ns", "bytes/ev"
    );
    let mut costs = Vec::new();
    for (name, events) in streams::all(options.events) {
        costs.push(measure(name, &events, options.best_of));
    }
    if !options.traces.is_empty() {
        costs.clear();
    }
    for path in &options.traces {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match load(path, options.events) {
            Ok(events) => costs.push(measure(&name, &events, options.best_of)),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    summarise(&costs);
    ExitCode::SUCCESS
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        events: 1_000_000,
        best_of: 7,
        traces: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let text = arguments.next().unwrap_or_default();
            let number = text.parse().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{argument} needs a number, not `{text}`"))
        };
        match argument.as_str() {
            // Cargo passes it to every benchmark.
            "--bench" => {}
            "--events" => options.events = number()?,
            "--best-of" => options.best_of = number()?,
            path if !path.starts_with('-') => options.traces.push(path.into()),
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    Ok(options)
}

fn load(path: &PathBuf, most: usize) -> Result<Vec<Event>, ReadError> {
    let file = BufReader::new(File::open(path)?);
    TraceReader::new(file)?.take(most).collect()
}

/// The shortest time that each piece of the work has taken so far, in nanoseconds.
#[derive(Default)]
struct Pieces {
    best: Vec<u64>,
    next: usize,
}

impl Pieces {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let time = start.elapsed().as_nanos() as u64;
        match self.best.get_mut(self.next) {
            Some(best) => *best = time.min(*best),
            None => self.best.push(time),
        }
        self.next += 1;
        result
    }

    fn ns_an_event(&self, events: usize) -> f64 {
        self.best.iter().sum::<u64>() as f64 / events as f64
    }
}

/// Writes a trace into memory, from a buffer that stays in the cache as that of a recorder does.
fn write(events: &[Event], pieces: &mut Pieces) -> Result<Vec<u8>, WriteError> {
    pieces.next = 0;
    let mut bytes = Vec::with_capacity(events.len() * 16);
    let mut writer = TraceWriter::new(&mut bytes, &Header::default())?;
    let mut buffer = Vec::with_capacity(PIECE);
    for piece in events.chunks(PIECE) {
        buffer.clear();
        buffer.extend_from_slice(piece);
        pieces.time(|| buffer.iter().try_for_each(|event| writer.push(event)))?;
    }
    pieces.time(|| writer.finish(&Trailer::default()))?;
    Ok(bytes)
}

/// Reads a trace from memory; the sum shows that all events were there.
fn read(bytes: &[u8], pieces: &mut Pieces) -> Result<u64, ReadError> {
    pieces.next = 0;
    let mut reader = TraceReader::new(Cursor::new(bytes))?;
    let (mut sum, mut more) = (0, true);
    while more {
        let events = reader.by_ref().take(PIECE);
        (sum, more) = pieces.time(|| {
            let mut count = 0;
            let mut sum = sum;
            for event in events {
                sum = black_box(event?).tick.0.wrapping_add(sum);
                count += 1;
            }
            Ok::<_, ReadError>((sum, count == PIECE))
        })?;
    }
    Ok(sum)
}

fn measure(name: &str, events: &[Event], best_of: usize) -> Cost {
    let (mut reading, mut writing) = (Pieces::default(), Pieces::default());
    let mut recording = Pieces::default();
    let slots = Recording::new(events);
    let sum = |sum: u64, event: &Event| sum.wrapping_add(event.tick.0);
    let expected = events.iter().fold(0, sum);
    let mut len = 0;
    for _ in 0..best_of {
        let bytes = write(events, &mut writing).expect("memory does not fail");
        let found = read(&bytes, &mut reading).expect("it was just written");
        assert_eq!(found, expected);
        assert_eq!(slots.make_blocks(&mut recording), events.len() as u64);
        len = bytes.len();
    }
    let cost = Cost {
        read_ns: reading.ns_an_event(events.len()),
        write_ns: writing.ns_an_event(events.len()),
        record_ns: recording.ns_an_event(events.len()),
        bytes: len as f64 / events.len() as f64,
    };
    println!(
        "{name:28} {:9} {:10.1} {:9.1} {:9.1} {:10.1} {:10.2}",
        events.len(),
        1e3 / cost.read_ns,
        cost.read_ns,
        cost.write_ns,
        cost.record_ns,
        cost.bytes
    );
    cost
}

fn summarise(costs: &[Cost]) {
    let median = |of: fn(&Cost) -> f64| {
        let mut all: Vec<f64> = costs.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let read = 1e3 / median(|cost| cost.read_ns);
    let bytes = median(|cost| cost.bytes);
    println!(
        "\nmedian: reading {read:.1} M events/s (target {MILLIONS_A_SECOND}), {bytes:.2} bytes an event \
         (target {BYTES_AN_EVENT}), writing {:.1} and recording {:.1} ns an event",
        median(|cost| cost.write_ns),
        median(|cost| cost.record_ns)
    );
}
