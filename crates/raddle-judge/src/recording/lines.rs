//! Program order: which events each thread executed, one after another.

use std::collections::BTreeMap;

use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, ThreadId, Tick};

use super::BadTrace;

/// A thread of the recording, by the order of thread numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineId(pub(crate) u32);

impl LineId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Program order.
#[derive(Debug)]
pub(crate) struct Lines {
    threads: Vec<(ThreadId, Vec<u32>)>,
    /// By event: its thread, and how many events the thread executed before it.
    of_event: Vec<(LineId, u32)>,
}

impl Lines {
    pub(super) fn new(events: &[Event]) -> Result<Self, BadTrace> {
        if u32::try_from(events.len()).is_err() {
            return Err(BadTrace::TooLong(events.len()));
        }
        let mut ids: Vec<ThreadId> = events.iter().map(|event| event.thread).collect();
        // A thread mostly goes on.
        ids.dedup();
        ids.sort_unstable();
        ids.dedup();
        let numbers: BTreeMap<ThreadId, LineId> =
            ids.iter().copied().zip((0..).map(LineId)).collect();
        let mut threads: Vec<_> = ids.into_iter().map(|id| (id, Vec::new())).collect();
        let mut ticks = vec![Tick(0); threads.len()];
        let mut of_event = Vec::with_capacity(events.len());
        let mut latest = None;
        for (at, event) in events.iter().enumerate() {
            let line = match latest {
                Some((thread, line)) if thread == event.thread => line,
                _ => numbers[&event.thread],
            };
            latest = Some((event.thread, line));
            if event.tick < ticks[line.index()] {
                return Err(BadTrace::Ticks {
                    index: EventIndex(at as u64),
                    thread: event.thread,
                    tick: event.tick.0,
                });
            }
            ticks[line.index()] = event.next_tick();
            let list = &mut threads[line.index()].1;
            of_event.push((line, list.len() as u32));
            list.push(at as u32);
        }
        Ok(Self { threads, of_event })
    }

    /// Number of threads.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    /// The threads with their events.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ThreadId, &[u32])> {
        self.threads.iter().map(|(id, list)| (*id, list.as_slice()))
    }

    /// A thread's events.
    pub(crate) fn events(&self, line: LineId) -> &[u32] {
        &self.threads[line.index()].1
    }

    /// A line's thread.
    pub(crate) fn thread(&self, line: LineId) -> ThreadId {
        self.threads[line.index()].0
    }

    /// The line of a thread, if it executed anything.
    pub(crate) fn line_of(&self, thread: ThreadId) -> Option<LineId> {
        let found = self.threads.binary_search_by_key(&thread, |(id, _)| *id);
        found.ok().map(|index| LineId(index as u32))
    }

    /// The thread of an event.
    pub(crate) fn line(&self, at: usize) -> LineId {
        self.of_event[at].0
    }

    /// How many events its thread executed before an event.
    pub(crate) fn rank(&self, at: usize) -> u32 {
        self.of_event[at].1
    }

    /// The event before this one in its thread.
    pub(crate) fn before(&self, at: usize) -> Option<usize> {
        let (line, rank) = self.of_event[at];
        let rank = rank.checked_sub(1)?;
        Some(self.events(line)[rank as usize] as usize)
    }

    /// The event after this one in its thread.
    pub(crate) fn after(&self, at: usize) -> Option<usize> {
        let (line, rank) = self.of_event[at];
        let next = self.events(line).get(rank as usize + 1)?;
        Some(*next as usize)
    }
}
