//! Traces as they come: recorded ones, and STD text of other tools.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_judge::text::BadText;
use raddle_report::Location;
use raddle_trace::event::Event;
use raddle_trace::file::{ReadError, TraceReader, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::names::Names;
use raddle_trace::position::SourcePosition;
use raddle_trace::run::RunSpec;
use raddle_trace::std_format::{self, StdError, StdImport};

/// A trace cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is no trace, or a damaged one.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ReadError,
    },
    /// It is STD text with a mistake.
    #[error("{}: {source}", path.display())]
    Std {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: StdError,
    },
    /// It is a file of witnesses with a mistake.
    #[error("{}: {source}", path.display())]
    Witness {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: BadText,
    },
    /// Its events cannot be analysed.
    #[error("{}: {why}", path.display())]
    Events {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A trace in memory.
#[derive(Debug)]
pub struct Trace {
    pub(super) path: PathBuf,
    pub(super) run: RunSpec,
    pub(super) events: Vec<Event>,
    pub(super) trailer: Arc<Trailer>,
    /// What the reader should know of it.
    pub(super) notes: Vec<String>,
}

impl Trace {
    /// Reads a trace, or STD text.
    ///
    /// # Errors
    /// If it is neither, or damaged.
    pub fn read(path: &Path) -> Result<Self, Error> {
        match is_std(path) {
            Ok(true) => Self::import(path),
            Ok(false) => Self::open(path).map_err(|source| Error::Trace {
                path: path.to_owned(),
                source,
            }),
            Err(source) => Err(Error::Open {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn open(path: &Path) -> Result<Self, ReadError> {
        let mut reader = TraceReader::open(path)?;
        let events = reader.by_ref().collect::<Result<_, _>>()?;
        Ok(Self {
            path: path.to_owned(),
            run: reader.header().run.clone(),
            events,
            trailer: reader.trailer().cloned().unwrap_or_default(),
            notes: reader.truncated().iter().map(ToString::to_string).collect(),
        })
    }

    fn import(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })?;
        let mut import = StdImport::new(BufReader::new(file));
        let events = import.by_ref().collect::<Result<_, _>>();
        let events = events.map_err(|source| Error::Std {
            path: path.to_owned(),
            source,
        })?;
        let notes = warnings(&import);
        Ok(Self {
            path: path.to_owned(),
            run: RunSpec::default(),
            events,
            trailer: Arc::new(Trailer {
                names: Some(import.into_names()),
                ..Trailer::default()
            }),
            notes,
        })
    }

    /// How it was recorded; names no program if it was imported.
    #[must_use]
    pub fn run(&self) -> &RunSpec {
        &self.run
    }

    /// How many events it has.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Puts the names of an imported trace into a location.
    pub(super) fn name(&self, location: &mut Location, index: EventIndex) {
        let Some(names) = &self.trailer.names else {
            return;
        };
        let event = &self.events[index.0 as usize];
        location.position = position(names, event);
        let lock = event.lock_action().map(|it| it.lock);
        let operand = lock.or(event.footprint().map(|it| it.addr));
        let operand = operand.and_then(|it| std_format::operand(names, it));
        location.variable = operand.map(str::to_owned);
        let thread = names.threads.get(&event.thread);
        let is_other = |name: &&String| **name != event.thread.to_string();
        location.note = thread
            .filter(is_other)
            .map(|name| format!("the thread is `{name}`"));
    }
}

/// Warnings of an imported text that are told one by one.
const MOST_WARNINGS: usize = 10;

/// What no run explains in an imported text.
fn warnings<R: BufRead>(import: &StdImport<R>) -> Vec<String> {
    let (warnings, more) = import.warnings();
    let told = warnings.iter().take(MOST_WARNINGS);
    let mut notes: Vec<String> = told.map(|it| format!("the trace, {it}")).collect();
    let more = more + (warnings.len() - notes.len()) as u64;
    if more > 0 {
        notes.push(format!(
            "the trace has {more} more lines that no run explains; `raddle trace import` lists them"
        ));
    }
    notes
}

/// Bytes of a file's start that are looked at to tell STD text from a trace.
const SAMPLE_BYTES: u64 = 256;

/// Whether a file is STD text, by its name or by its first line that is not blank.
fn is_std(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|it| it == "std") {
        return Ok(true);
    }
    let mut start = Vec::new();
    file.take(SAMPLE_BYTES).read_to_end(&mut start)?;
    let mut lines = start.split(|byte| *byte == b'\n');
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let line = lines.find(|line| !is_blank(line)).unwrap_or_default();
    let bars = line.iter().filter(|byte| **byte == b'|').count();
    Ok(bars == 2 && line.contains(&b'('))
}

/// The place of an imported event. A location that does not look like `file:line` or `file:line:column` is
/// taken for a function's name, a bare number for that of a location.
fn position(names: &Names, event: &Event) -> SourcePosition {
    let location = std_format::location(names, event).unwrap_or_default();
    let number = |text: &str| text.parse::<u32>().ok();
    let mut parts = location.rsplitn(3, ':');
    let (last, middle, rest) = (parts.next(), parts.next(), parts.next());
    match (rest, middle, last.and_then(number)) {
        (Some(file), Some(line), Some(column)) if number(line).is_some() => SourcePosition {
            file: file.to_owned(),
            line: number(line).unwrap_or_default(),
            column,
            ..SourcePosition::default()
        },
        (_, Some(_), Some(line)) => SourcePosition {
            file: location[..location.rfind(':').unwrap_or(0)].to_owned(),
            line,
            ..SourcePosition::default()
        },
        (None, None, Some(_)) => SourcePosition {
            function: format!("location {location}"),
            ..SourcePosition::default()
        },
        _ => SourcePosition {
            function: location.to_owned(),
            ..SourcePosition::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(location: &str) -> SourcePosition {
        let text = format!("T0|w(x)|{location}\n");
        let mut import = StdImport::new(text.as_bytes());
        let event = import.next().unwrap().unwrap();
        position(&import.into_names(), &event)
    }

    #[test]
    fn locations_become_positions() {
        let place = |location: &str| {
            let it = of(location);
            (it.function, it.file, it.line, it.column)
        };
        let file = |file: &str, line, column| (String::new(), file.to_owned(), line, column);
        let function = |name: &str| (name.to_owned(), String::new(), 0, 0);
        assert_eq!(
            place("src/Account.java:17"),
            file("src/Account.java", 17, 0)
        );
        assert_eq!(place("account.c:17:4"), file("account.c", 17, 4));
        assert_eq!(place("17"), function("location 17"));
        assert_eq!(place("Account.deposit"), function("Account.deposit"));
        assert_eq!(place("bank::deposit"), function("bank::deposit"));
    }
}
