//! What single events do not say, but the trace as a whole does.

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockMode};
use raddle_trace::ids::ThreadId;
use raddle_trace::wire::Mark;

use super::lines::Lines;
use super::objects::{ObjectId, Objects};
use crate::table::{Set, Table};

/// What a try that failed was after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// A lock.
    Lock(LockMode),
    /// A semaphore.
    Semaphore,
    /// A thread's end.
    Join(ThreadId),
}

/// A round of a barrier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    /// Everyone who arrived in it.
    pub(crate) arrivals: Vec<usize>,
    /// The round before at the same barrier.
    pub(crate) before: Option<usize>,
}

/// Facts about the trace.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    forks: Table<ThreadId, usize>,
    failed: Table<usize, Failed>,
    initial: Table<ObjectId, i64>,
    rounds: Vec<Round>,
    round_of: Table<usize, usize>,
    refused: Set<usize>,
}

/// `EAGAIN`: the futex word was not as expected.
const EAGAIN: u64 = 11;

impl Facts {
    pub(super) fn new(events: &[Event], lines: &Lines, objects: &Objects) -> Self {
        let mut facts = Self::default();
        let mut rounds: Table<ObjectId, Table<u64, usize>> = Table::default();
        let mut newest: Table<ObjectId, usize> = Table::default();
        for (at, event) in events.iter().enumerate() {
            let (EventKind::Action { action, .. }, Some(object)) = (event.kind, objects.of(at))
            else {
                continue;
            };
            match action {
                Action::Fork { child } => {
                    facts.forks.entry(child).or_insert(at);
                }
                Action::Request { .. } => {
                    if let Some(failed) = failed_try(events, lines, at) {
                        facts.failed.insert(at, failed);
                    }
                }
                Action::SemWait { value, .. } => {
                    let initial = i64::from(value_of(value)) + 1;
                    facts.initial.entry(object).or_insert(initial);
                }
                Action::SemPost { value, .. } => {
                    let initial = i64::from(value_of(value)) - 1;
                    facts.initial.entry(object).or_insert(initial);
                }
                Action::BarrierArrive { round, .. } => {
                    let known = rounds.entry(object).or_default();
                    let before = newest.get(&object).copied();
                    let current = known.get(&round).copied();
                    let id = match current {
                        Some(id) if before == Some(id) => id,
                        _ => {
                            facts.rounds.push(Round {
                                arrivals: Vec::new(),
                                before,
                            });
                            facts.rounds.len() - 1
                        }
                    };
                    known.insert(round, id);
                    newest.insert(object, id);
                    facts.rounds[id].arrivals.push(at);
                    facts.round_of.insert(at, id);
                }
                Action::BarrierLeave { round, .. } => {
                    let known = rounds.get(&object).and_then(|known| known.get(&round));
                    if let Some(&id) = known {
                        facts.round_of.insert(at, id);
                    }
                }
                Action::FutexWait { .. }
                    if lines
                        .after(at)
                        .is_some_and(|next| is_refusal(&events[next])) =>
                {
                    facts.refused.insert(at);
                }
                _ => {}
            }
        }
        facts
    }

    /// The creation of a thread.
    pub(crate) fn fork(&self, thread: ThreadId) -> Option<usize> {
        self.forks.get(&thread).copied()
    }

    /// What a request was after, if it was not granted.
    pub(crate) fn failed(&self, at: usize) -> Option<Failed> {
        self.failed.get(&at).copied()
    }

    /// The value that a semaphore had at first.
    pub(crate) fn initial(&self, semaphore: ObjectId) -> i64 {
        self.initial.get(&semaphore).copied().unwrap_or(0)
    }

    /// The barrier round of an arrival or a departure.
    pub(crate) fn round(&self, at: usize) -> Option<&Round> {
        self.round_of.get(&at).map(|&id| &self.rounds[id])
    }

    /// A round by its number.
    pub(crate) fn round_before(&self, round: &Round) -> Option<&Round> {
        round.before.map(|id| &self.rounds[id])
    }

    /// Whether a futex wait was refused because the word was not as expected.
    pub(crate) fn is_refused(&self, wait: usize) -> bool {
        self.refused.contains(&wait)
    }
}

/// A semaphore's value as libc keeps it, in 32 bits.
fn value_of(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn is_refusal(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::FutexWake { errno: EAGAIN, .. },
            ..
        }
    )
}

/// What a request was after, if its thread went on without it: it only tried, or it waited no longer
/// than for a time. A request that its own call made good is followed at once by what was asked for:
/// the call's result, which instrumented code records, would come between two calls. A request to
/// wait that ends its thread's events was never answered.
fn failed_try(events: &[Event], lines: &Lines, at: usize) -> Option<Failed> {
    let EventKind::Action {
        action: Action::Request { lock, wants, tried },
        ..
    } = events[at].kind
    else {
        return None;
    };
    if !tried {
        let next = lines.after(at)?;
        let is_granted = match events[next].kind {
            EventKind::Action { action, .. } => wants == Mark::OnceDone || action.mark() == wants,
            _ => false,
        };
        if is_granted {
            return None;
        }
    }
    match wants {
        Mark::Lock | Mark::WriteLock => Some(Failed::Lock(LockMode::Exclusive)),
        Mark::ReadLock => Some(Failed::Lock(LockMode::Shared)),
        Mark::SemWait => Some(Failed::Semaphore),
        Mark::Join => u32::try_from(lock.0)
            .ok()
            .map(|id| Failed::Join(ThreadId(id))),
        _ => None,
    }
}
