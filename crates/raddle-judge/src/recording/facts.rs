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
    abandoned: Set<usize>,
    limited: Set<usize>,
    refused: Set<usize>,
}

/// `EAGAIN`: the futex word was not as expected.
const EAGAIN: u64 = 11;

impl Facts {
    pub(super) fn new(events: &[Event], lines: &Lines, objects: &Objects) -> Self {
        let mut facts = Self::default();
        let mut semaphores = Semaphores::default();
        let mut waiting: Table<ObjectId, u64> = Table::default();
        let mut rounds: Table<ObjectId, Table<u64, usize>> = Table::default();
        let mut newest: Table<ObjectId, usize> = Table::default();
        let mut finished: Table<ObjectId, usize> = Table::default();
        for (at, event) in events.iter().enumerate() {
            let (EventKind::Action { action, .. }, Some(object)) = (event.kind, objects.of(at))
            else {
                continue;
            };
            match action {
                Action::Fork { child } => {
                    facts.forks.entry(child).or_insert(at);
                }
                Action::Request { wants, .. } => {
                    if wants == Mark::SemWait {
                        semaphores.is_empty(object);
                    }
                    if let Some(failed) = failed_try(events, lines, at) {
                        facts.failed.insert(at, failed);
                    }
                }
                Action::SemWait { .. } => semaphores.taken(object),
                Action::SemPost { .. } => semaphores.given(object),
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
                Action::OnceDone { .. } => {
                    finished.insert(object, at);
                }
                Action::OnceStart { .. } => {
                    if let Some(done) = finished.remove(&object) {
                        facts.abandoned.insert(done);
                    }
                }
                Action::FutexWait { .. } => {
                    *waiting.entry(object).or_default() += 1;
                    if lines
                        .after(at)
                        .is_some_and(|next| is_refusal(&events[next]))
                    {
                        facts.refused.insert(at);
                    }
                }
                // A woken waiter left the queue when it was notified.
                Action::FutexWake { errno, waker, .. } if errno != 0 || waker.is_none() => {
                    let count = waiting.entry(object).or_default();
                    *count = count.saturating_sub(1);
                }
                Action::FutexNotify { woken, .. } => {
                    let count = waiting.entry(object).or_default();
                    if woken < *count {
                        facts.limited.insert(at);
                    }
                    *count = count.saturating_sub(woken);
                }
                _ => {}
            }
        }
        facts.initial = semaphores.finish();
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

    /// The least value that a semaphore can have had at first; its very value if it was ever seen
    /// empty.
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

    /// Whether an initialiser that ended was begun again later: it did not succeed.
    pub(crate) fn is_abandoned(&self, done: usize) -> bool {
        self.abandoned.contains(&done)
    }

    /// Whether a futex wait was refused because the word was not as expected.
    pub(crate) fn is_refused(&self, wait: usize) -> bool {
        self.refused.contains(&wait)
    }

    /// Whether a futex wake left somebody waiting: then it was limited to the number it woke.
    pub(crate) fn is_limited(&self, notify: usize) -> bool {
        self.limited.contains(&notify)
    }
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

/// What a request was after, if its thread went on without it. A request that its own call made good
/// is followed at once by what was asked for: the call's result, which instrumented code records,
/// would come between two calls. A request that ends its thread's events was never answered.
fn failed_try(events: &[Event], lines: &Lines, at: usize) -> Option<Failed> {
    let EventKind::Action {
        action: Action::Request { lock, wants },
        ..
    } = events[at].kind
    else {
        return None;
    };
    let next = lines.after(at)?;
    let granted = match events[next].kind {
        EventKind::Action { action, .. } => match wants {
            Mark::OnceDone => true,
            _ => action.mark() == wants,
        },
        _ => false,
    };
    if granted {
        return None;
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

/// Semaphores, whose initial values the trace does not tell.
#[derive(Default)]
struct Semaphores {
    /// Posts minus waits so far; the least of them; the initial value, if known.
    seen: Table<ObjectId, (i64, i64, Option<i64>)>,
}

impl Semaphores {
    fn given(&mut self, object: ObjectId) {
        self.seen.entry(object).or_default().0 += 1;
    }

    fn taken(&mut self, object: ObjectId) {
        let (now, least, _) = self.seen.entry(object).or_default();
        *now -= 1;
        *least = (*least).min(*now);
    }

    fn is_empty(&mut self, object: ObjectId) {
        let (now, _, initial) = self.seen.entry(object).or_default();
        initial.get_or_insert(-*now);
    }

    fn finish(self) -> Table<ObjectId, i64> {
        let initial = |(object, (_, least, known)): (ObjectId, (i64, i64, Option<i64>))| {
            (object, known.unwrap_or(-least))
        };
        self.seen.into_iter().map(initial).collect()
    }
}
