//! Traces as they come: recorded ones, and STD text of other tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_judge::text::BadText;
use raddle_report::Location;
use raddle_trace::event::Event;
use raddle_trace::file::{ReadError, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::names::Names;
use raddle_trace::position::SourcePosition;
use raddle_trace::run::RunSpec;
use raddle_trace::std_format::{self, StdError};

use super::bounds::Bounds;
use super::narrow::{self, Extent, Narrowed};
use super::source::Tables;

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
    pub(super) extent: Extent,
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
        Self::read_within(path, Bounds::default())
    }

    /// The same of as much as there is memory and time for. What is left out is told.
    ///
    /// # Errors
    /// If it is neither, or damaged.
    pub fn read_within(path: &Path, bounds: Bounds) -> Result<Self, Error> {
        let Narrowed {
            events,
            extent,
            tables,
        } = narrow::read(path, bounds)?;
        let Tables {
            run,
            trailer,
            mut notes,
        } = tables;
        notes.extend(extent.note(events.len() as u64));
        Ok(Self {
            path: path.to_owned(),
            run,
            events,
            extent,
            trailer,
            notes,
        })
    }

    /// How it was recorded; names no program if it was imported.
    #[must_use]
    pub fn run(&self) -> &RunSpec {
        &self.run
    }

    /// How many of its events are in memory.
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
    use raddle_trace::std_format::StdImport;

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
