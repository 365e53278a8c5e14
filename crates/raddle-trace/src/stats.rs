//! A trace in figures.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::event::{Event, EventKind, LockChange};
use crate::ids::{Address, ThreadId};
use crate::sharing::Sharing;

/// Counts events, when shown each in trace order.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// All events.
    pub events: u64,
    /// By kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// By thread.
    pub threads: BTreeMap<ThreadId, u64>,
    /// Branch outcomes, of which an event holds many.
    pub branches: u64,
    /// How often a lock was acquired.
    pub acquisitions: u64,
    /// How often the thread that ran changed.
    pub switches: u64,
    locks: BTreeSet<Address>,
    running: Option<ThreadId>,
    sharing: Sharing,
}

impl Stats {
    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) {
        self.events += 1;
        *self.kinds.entry(event.kind.name()).or_default() += 1;
        *self.threads.entry(event.thread).or_default() += 1;
        if let EventKind::Branches(outcomes) = event.kind {
            self.branches += u64::from(outcomes.count());
        }
        if let Some(action) = event.lock_action() {
            self.locks.insert(action.lock);
            self.acquisitions += u64::from(matches!(action.change, LockChange::Acquire(_)));
        }
        let before = self.running.replace(event.thread);
        self.switches += u64::from(before.is_some_and(|thread| thread != event.thread));
        self.sharing.observe(event);
    }

    /// What is shared between threads.
    #[must_use]
    pub fn sharing(&self) -> &Sharing {
        &self.sharing
    }

    /// Addresses that were used as locks.
    #[must_use]
    pub fn locks(&self) -> usize {
        self.locks.len()
    }

    /// Prints the figures; `bytes` is what the events take on disk.
    pub fn write(&self, bytes: u64, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "events          {}", self.events)?;
        if self.events > 0 {
            writeln!(
                out,
                "bytes an event  {:.2}",
                bytes as f64 / self.events as f64
            )?;
        }
        writeln!(out, "threads         {}", self.threads.len())?;
        writeln!(out, "switches        {}", self.switches)?;
        writeln!(
            out,
            "locks           {}, acquired {} times",
            self.locks(),
            self.acquisitions
        )?;
        writeln!(
            out,
            "shared memory   {} words, touched by {} sites",
            self.sharing.shared_words(),
            self.sharing.shared_sites().len()
        )?;
        writeln!(out, "branches        {}", self.branches)?;
        writeln!(out, "by kind")?;
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        for (name, count) in kinds {
            writeln!(out, "  {name:<14}{count}")?;
        }
        writeln!(out, "by thread")?;
        for (thread, count) in &self.threads {
            writeln!(out, "  {thread:<14}{count}")?;
        }
        Ok(())
    }
}
