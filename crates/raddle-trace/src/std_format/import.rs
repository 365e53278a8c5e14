//! STD text becomes events.

use std::io::{self, BufRead};
use std::mem;

use rustc_hash::FxHashMap;

use super::plausible::{Naming, Plausible, StdWarning};
use super::{NO_OPERAND, OPERAND_BYTES, operand};
use crate::action::Action;
use crate::event::{Access, Event, EventKind};
use crate::file::MAX_SITES;
use crate::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use crate::names::Names;
use crate::wire::{MAX_THREADS, Mark};

/// A text that is not STD.
#[derive(Debug, thiserror::Error)]
pub enum StdError {
    /// The text could not be read.
    #[error("cannot read the STD trace: {0}")]
    Io(#[from] io::Error),
    /// A line is not an event.
    #[error("line {line}: {what}")]
    Line {
        /// Line, from 1.
        line: u64,
        /// What is wrong with it.
        what: BadLine,
    },
}

/// What is wrong with a line of STD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// Not three fields.
    #[error("expected `thread|op(operand)|location`, found {0} fields between bars")]
    Fields(usize),
    /// An empty thread.
    #[error("expected a thread before the first bar")]
    NoThread,
    /// No operand in parentheses.
    #[error("expected `op(operand)`, found `{0}`")]
    NoOperand(String),
    /// Another operation.
    #[error("unknown operation `{0}`; there are r, w, acq, rel, req, fork, join, begin, end")]
    Operation(String),
    /// Not text.
    #[error("the line is not UTF-8")]
    Utf8,
    /// Lines end differently.
    #[error("this line ends otherwise than the first one (LF or CR LF)")]
    MixedEnds,
    /// A thread cannot create itself.
    #[error("thread {0} forks itself")]
    ForksItself(String),
    /// A thread cannot wait for its own end.
    #[error("thread {0} joins itself")]
    JoinsItself(String),
    /// There are only so many numbers for names.
    #[error("more than {MAX_SITES} different operands or locations")]
    TooManyNames,
}

/// What a line may say, the most frequent first.
const OPERATIONS: [&str; 9] = [
    "r", "w", "acq", "rel", "req", "fork", "join", "begin", "end",
];

/// Reads STD text: an iterator over its events.
#[derive(Debug)]
pub struct StdImport<R> {
    input: R,
    /// The line that is being read.
    text: Vec<u8>,
    names: Names,
    threads: FxHashMap<String, ThreadId>,
    operands: FxHashMap<String, u32>,
    locations: FxHashMap<String, u32>,
    ticks: FxHashMap<ThreadId, Tick>,
    /// Threads whose names are not `T` and a number are numbered from [`MAX_THREADS`] on.
    next_thread: u32,
    line: u64,
    events: u64,
    plausible: Plausible,
    done: bool,
}

impl Naming for Names {
    fn thread(&self, id: ThreadId) -> String {
        let name = self.threads.get(&id).cloned();
        name.unwrap_or_else(|| id.to_string())
    }

    fn lock(&self, address: Address) -> String {
        operand(self, address).unwrap_or_default().to_owned()
    }
}

impl<R: BufRead> StdImport<R> {
    /// Starts to read.
    pub fn new(input: R) -> Self {
        Self {
            input,
            text: Vec::new(),
            names: Names::default(),
            threads: FxHashMap::default(),
            operands: FxHashMap::default(),
            locations: FxHashMap::default(),
            ticks: FxHashMap::default(),
            next_thread: MAX_THREADS as u32,
            line: 0,
            events: 0,
            plausible: Plausible::default(),
            done: false,
        }
    }

    /// Lines met so far that no run explains, by line, and how many more there are.
    #[must_use]
    pub fn warnings(&self) -> (&[StdWarning], u64) {
        self.plausible.warnings()
    }

    /// How many names of operands and locations were met so far.
    #[must_use]
    pub fn name_count(&self) -> usize {
        self.names.operands.len() + self.names.locations.len()
    }

    /// The names met so far.
    #[must_use]
    pub fn into_names(self) -> Names {
        self.names
    }

    fn next_event(&mut self) -> Result<Option<Event>, StdError> {
        loop {
            let mut text = mem::take(&mut self.text);
            text.clear();
            if self.names.unterminated || self.input.read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let is_blank = text.iter().all(u8::is_ascii_whitespace);
            let event = (!is_blank).then(|| self.event(&text));
            self.text = text;
            let line = self.line;
            if let Some(event) = event {
                let event = event.map_err(|what| StdError::Line { line, what });
                return event.map(Some);
            }
        }
    }

    fn event(&mut self, line: &[u8]) -> Result<Event, BadLine> {
        let text = match line.strip_suffix(b"\n") {
            None => {
                self.names.unterminated = true;
                line
            }
            Some(text) => {
                let stripped = text.strip_suffix(b"\r");
                if self.events == 0 {
                    self.names.crlf = stripped.is_some();
                } else if self.names.crlf != stripped.is_some() {
                    return Err(BadLine::MixedEnds);
                }
                stripped.unwrap_or(text)
            }
        };
        let text = str::from_utf8(text).map_err(|_| BadLine::Utf8)?;
        let mut fields = text.split('|');
        let parts = (fields.next(), fields.next(), fields.next(), fields.next());
        let (Some(thread), Some(operation), Some(location), None) = parts else {
            return Err(BadLine::Fields(text.split('|').count()));
        };
        if thread.is_empty() {
            return Err(BadLine::NoThread);
        }
        let parts = operation
            .split_once('(')
            .and_then(|(op, rest)| Some((op, rest.strip_suffix(')')?)));
        let (op, operand) = parts.ok_or_else(|| BadLine::NoOperand(operation.to_owned()))?;
        let kind = self.kind(op, operand, location)?;
        let thread = self.thread(thread);
        let tick = self.ticks.get(&thread).copied().unwrap_or_default();
        let event = Event { thread, tick, kind };
        self.plausible
            .observe(self.line, thread, &event.kind, &self.names)?;
        self.ticks.insert(thread, event.next_tick());
        self.events += 1;
        Ok(event)
    }

    fn kind(&mut self, op: &str, operand: &str, location: &str) -> Result<EventKind, BadLine> {
        if !OPERATIONS.contains(&op) {
            return Err(BadLine::Operation(op.to_owned()));
        }
        let number = intern(&mut self.locations, &mut self.names.locations, location)?;
        let (site, pc) = (SiteId(number), Address(number.into()));
        let action = match op {
            "r" | "w" => {
                let (addr, size) = (self.operand(operand)?, OPERAND_BYTES as u8);
                let access = Access {
                    site,
                    addr,
                    size,
                    value: 0,
                };
                let write = op == "w";
                return Ok(if write {
                    EventKind::Write(access)
                } else {
                    EventKind::Read(access)
                });
            }
            "acq" => Action::Lock {
                lock: self.operand(operand)?,
                tried: false,
            },
            "rel" => Action::Unlock {
                lock: self.operand(operand)?,
            },
            "req" => Action::Request {
                lock: self.operand(operand)?,
                wants: Mark::Lock,
                tried: false,
            },
            "fork" => Action::Fork {
                child: self.thread(operand),
            },
            "join" => Action::Join {
                thread: self.thread(operand),
                errno: 0,
            },
            _ => {
                if operand != NO_OPERAND {
                    let index = EventIndex(self.events);
                    self.names.exceptions.insert(index, operand.to_owned());
                }
                if op == "begin" {
                    let stack_low = Address(0);
                    Action::Begin {
                        creator: None,
                        stack_low,
                        stack_size: 0,
                    }
                } else {
                    Action::End
                }
            }
        };
        Ok(EventKind::Action { pc, action })
    }

    fn operand(&mut self, name: &str) -> Result<Address, BadLine> {
        let number = intern(&mut self.operands, &mut self.names.operands, name)?;
        Ok(Address(u64::from(number) * OPERAND_BYTES))
    }

    fn thread(&mut self, name: &str) -> ThreadId {
        if let Some(&id) = self.threads.get(name) {
            return id;
        }
        let id = match name.parse::<ThreadId>() {
            Ok(id) if (id.0 as usize) < MAX_THREADS => id,
            _ => {
                self.next_thread += 1;
                ThreadId(self.next_thread - 1)
            }
        };
        self.threads.insert(name.to_owned(), id);
        self.names.threads.insert(id, name.to_owned());
        id
    }
}

impl<R: BufRead> Iterator for StdImport<R> {
    type Item = Result<Event, StdError>;

    /// After an error there are no more events.
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let event = self.next_event().transpose();
        self.done = !matches!(event, Some(Ok(_)));
        event
    }
}

/// The number of a name, a new one if it has none.
fn intern(
    numbers: &mut FxHashMap<String, u32>,
    names: &mut Vec<String>,
    name: &str,
) -> Result<u32, BadLine> {
    if let Some(&number) = numbers.get(name) {
        return Ok(number);
    }
    let number = u32::try_from(names.len()).ok().filter(|it| *it < MAX_SITES);
    let number = number.ok_or(BadLine::TooManyNames)?;
    numbers.insert(name.to_owned(), number);
    names.push(name.to_owned());
    Ok(number)
}
