//! Whether the lines of STD text can come from a run.
//!
//! Analyses take it for granted that a mutex has one holder at a time and that threads are created before they
//! act. A text that breaks these rules was converted wrongly, was cut, or has locks of another kind (shared ones,
//! or monitors whose waits are left out). A thread that forks or joins itself is an error; everything else is a
//! warning, since a text that begins in the middle of a run is of use all the same.

use std::fmt;

use rustc_hash::FxHashMap;

use super::BadLine;
use crate::action::Action;
use crate::event::EventKind;
use crate::ids::{Address, ThreadId};

/// Warnings that are kept; more are counted.
const MOST_WARNINGS: usize = 100;

/// A line that no run explains, although it is an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdWarning {
    /// Line, from 1.
    pub line: u64,
    /// What is odd about it, as a sentence.
    pub what: String,
}

impl fmt::Display for StdWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// A holder of a lock.
#[derive(Clone, Copy, Debug)]
struct Holder {
    thread: ThreadId,
    /// Where it was taken first, and how often since.
    line: u64,
    depth: u64,
}

/// What is known of a thread: lines, 0 for none.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    /// Its first event but `begin`, which some tools write for all threads at first.
    first: u64,
    forked: u64,
    ended: u64,
    joined: u64,
    /// Whether it was told that it acts when it should be over.
    is_told: bool,
}

/// The names behind numbers, for messages.
pub(super) trait Naming {
    /// A thread's.
    fn thread(&self, id: ThreadId) -> String;
    /// A lock's.
    fn lock(&self, address: Address) -> String;
}

/// The rules, line by line.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    holders: FxHashMap<Address, Vec<Holder>>,
    lives: FxHashMap<ThreadId, Life>,
    warnings: Vec<StdWarning>,
    more: u64,
}

impl Plausible {
    /// Looks at an event.
    pub(super) fn observe(
        &mut self,
        line: u64,
        thread: ThreadId,
        kind: &EventKind,
        names: &dyn Naming,
    ) -> Result<(), BadLine> {
        let EventKind::Action { action, .. } = kind else {
            self.act(line, thread, names);
            return Ok(());
        };
        // Some tools write the beginning and the end of a thread twice.
        if !matches!(action, Action::Begin { .. } | Action::End) {
            self.act(line, thread, names);
        }
        match *action {
            Action::Lock { lock, .. } => self.acquire(line, thread, lock, names),
            Action::Unlock { lock } => self.release(line, thread, lock, names),
            Action::Fork { child } => return self.fork(line, thread, child, names),
            Action::Join { thread: other, .. } => return self.join(line, thread, other, names),
            Action::Begin { .. } => self.begin(line, thread, names),
            Action::End => self.end(line, thread),
            _ => {}
        }
        Ok(())
    }

    /// What was odd, and how many warnings more there would be.
    pub(super) fn warnings(&self) -> (&[StdWarning], u64) {
        (&self.warnings, self.more)
    }

    fn warn(&mut self, line: u64, what: String) {
        match self.warnings.len() < MOST_WARNINGS {
            true => self.warnings.push(StdWarning { line, what }),
            false => self.more += 1,
        }
    }

    /// A thread does something.
    fn act(&mut self, line: u64, thread: ThreadId, names: &dyn Naming) {
        let life = self.lives.entry(thread).or_default();
        if life.first == 0 {
            life.first = line;
        }
        let (joined, ended) = (life.joined, life.ended);
        if (joined > 0 || ended > 0) && !life.is_told {
            life.is_told = true;
            let name = names.thread(thread);
            let since = match ended {
                0 => format!("it was joined at line {joined}"),
                _ => format!("its end at line {ended}"),
            };
            self.warn(line, format!("thread {name} acts after {since}"));
        }
    }

    fn acquire(&mut self, line: u64, thread: ThreadId, lock: Address, names: &dyn Naming) {
        let holders = self.holders.entry(lock).or_default();
        if let Some(own) = holders.iter_mut().find(|it| it.thread == thread) {
            own.depth += 1;
            return;
        }
        let other = holders.first().copied();
        holders.push(Holder {
            thread,
            line,
            depth: 1,
        });
        if let Some(other) = other {
            let (name, lock) = (names.thread(thread), names.lock(lock));
            let (holder, since) = (names.thread(other.thread), other.line);
            let what = format!(
                "{name} acquires lock {lock}, which {holder} holds since line {since}: no two threads can \
                 hold a mutex at the same time"
            );
            self.warn(line, what);
        }
    }

    fn release(&mut self, line: u64, thread: ThreadId, lock: Address, names: &dyn Naming) {
        let holders = self.holders.entry(lock).or_default();
        if let Some(at) = holders.iter().position(|it| it.thread == thread) {
            holders[at].depth -= 1;
            if holders[at].depth == 0 {
                holders.remove(at);
            }
            return;
        }
        let other = holders.first().copied();
        let (name, lock) = (names.thread(thread), names.lock(lock));
        let holder = match other {
            Some(it) => format!(
                "{} holds it since line {}",
                names.thread(it.thread),
                it.line
            ),
            None => "nobody holds it".to_owned(),
        };
        let what = format!("{name} releases lock {lock} without having acquired it: {holder}");
        self.warn(line, what);
    }

    fn fork(
        &mut self,
        line: u64,
        thread: ThreadId,
        child: ThreadId,
        names: &dyn Naming,
    ) -> Result<(), BadLine> {
        let name = names.thread(child);
        if thread == child {
            return Err(BadLine::ForksItself(name));
        }
        let life = self.lives.entry(child).or_default();
        let (earlier, first) = (std::mem::replace(&mut life.forked, line), life.first);
        if earlier > 0 {
            self.warn(
                line,
                format!("thread {name} was forked at line {earlier} already"),
            );
        } else if first > 0 {
            self.warn(
                line,
                format!("thread {name} is forked after its event at line {first}"),
            );
        }
        Ok(())
    }

    fn join(
        &mut self,
        line: u64,
        thread: ThreadId,
        other: ThreadId,
        names: &dyn Naming,
    ) -> Result<(), BadLine> {
        let name = names.thread(other);
        if thread == other {
            return Err(BadLine::JoinsItself(name));
        }
        let life = self.lives.entry(other).or_default();
        let is_known = life.first > 0 || life.forked > 0;
        if life.joined == 0 {
            life.joined = line;
        }
        if !is_known {
            let what = format!("join of thread {name}, which was neither forked nor has any event");
            self.warn(line, what);
        }
        Ok(())
    }

    fn begin(&mut self, line: u64, thread: ThreadId, names: &dyn Naming) {
        let first = self.lives.get(&thread).map_or(0, |life| life.first);
        if first > 0 {
            let name = names.thread(thread);
            self.warn(
                line,
                format!("thread {name} begins after its event at line {first}"),
            );
        }
    }

    fn end(&mut self, line: u64, thread: ThreadId) {
        let life = self.lives.entry(thread).or_default();
        if life.ended == 0 {
            life.ended = line;
        }
    }
}
