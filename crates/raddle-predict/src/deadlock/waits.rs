//! Notifications that come too early, or never.
//!
//! For each wait that a notification ended, two things may go wrong:
//!
//! - the notification comes first, finds nobody and is lost. That needs that the waiter has not checked
//!   yet whether it has to wait: it is stopped where it lets go of the mutex, or, on a futex, where it
//!   reads the word. A wait on a condition variable and the release of its mutex are one step of the
//!   program, although the trace has two events. A later notification that woke nobody, or everybody,
//!   would end the wait all the same;
//! - the waiter holds a lock that the only thread to notify it has yet to take (a nested monitor).
//!
//! No claim covers these: a run that gets there and then ends in a deadlock or a hang shows them.

use raddle_judge::Claim;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockMode};

use super::{action, is_over, together};
use crate::candidate::{Candidates, Flaw, Way};
use crate::clocks::Clocks;
use crate::findings::source_number;
use crate::goal::Goal;
use crate::table::Table;
use crate::view::{Kind, Lane, Pos, SyncId, View};

/// A wait that a notification ended.
#[derive(Clone, Copy, Debug)]
struct Wait {
    object: SyncId,
    /// Where the thread begins to wait.
    begin: Pos,
    /// Where it goes on.
    wake: Pos,
    /// What ended it.
    notify: Pos,
}

/// The waits of a trace, and the notifications.
#[derive(Debug, Default)]
struct Waits {
    waits: Vec<Wait>,
    /// By object: the last notification of each thread that would have woken one more.
    spare: Table<SyncId, Vec<(Lane, Pos)>>,
    /// By object: who notifies.
    notifiers: Table<SyncId, Vec<Lane>>,
}

pub(super) fn find(view: &View, events: &[Event], clocks: &Clocks, into: &mut Candidates<'_>) {
    let waits = Waits::new(view, events);
    for wait in &waits.waits {
        if view.lane(wait.notify) == view.lane(wait.begin) {
            continue;
        }
        lost(view, events, clocks, &waits, wait, into);
        nested(view, clocks, &waits, wait, into);
    }
}

/// The notification comes before the waiter decides to wait.
fn lost(
    view: &View,
    events: &[Event],
    clocks: &Clocks,
    waits: &Waits,
    wait: &Wait,
    into: &mut Candidates<'_>,
) {
    let lane = view.lane(wait.begin);
    let spare = waits.spare.get(&wait.object).map_or(&[][..], Vec::as_slice);
    let is_repeated = spare
        .iter()
        .any(|(notifier, pos)| *notifier != lane && *pos > wait.notify);
    let Some(stop) = decision(view, events, wait) else {
        return;
    };
    if is_repeated || is_over(view, clocks, stop, wait.notify) {
        return;
    }
    let sources = sources(view, stop, wait.notify);
    into.add(Flaw::LostWakeUp, sources, || match view.kind(wait.notify) {
        // How many a futex's notification wakes is its result: it is not executed with another one.
        Kind::FutexNotify => together(&[stop, wait.notify], &[wait.notify, stop]),
        _ => Way {
            goal: Goal {
                in_order: vec![wait.notify],
                next: vec![stop],
                sees: None,
            },
            then: vec![stop],
            claim: Claim::Feasible,
        },
    });
}

/// Where a thread can still be overtaken by a notification that then is lost; nowhere if it says in the
/// word of a futex that it will wait, since that would show it a notification before.
fn decision(view: &View, events: &[Event], wait: &Wait) -> Option<Pos> {
    match action(view, events, wait.begin)? {
        Action::CondWait { mutex, .. } => {
            let own = view.lane_events(view.lane(wait.begin));
            let before = own.partition_point(|pos| *pos < wait.begin).checked_sub(1);
            let releases_mutex = |pos: &Pos| {
                let lock = view
                    .sync_of(*pos)
                    .map(|lock| view.syncs()[lock.index()].addr);
                view.kind(*pos) == Kind::Release && lock == Some(mutex)
            };
            let release = before.map(|at| own[at]).filter(releases_mutex);
            Some(release.unwrap_or(wait.begin))
        }
        Action::FutexWait { expected, .. } => first_look(view, events, wait.begin, expected),
        _ => None,
    }
}

/// The first of the thread's looks at a futex's word that led to a wait. The library looks again right
/// before it.
fn first_look(view: &View, events: &[Event], begin: Pos, expected: u64) -> Option<Pos> {
    let lane = view.lane(begin);
    let Some(cell) = view.cells_of(begin).next() else {
        return Some(begin);
    };
    let (_, accesses) = view.accesses(cell).find(|(other, _)| *other == lane)?;
    let own = accesses.partition_point(|pos| *pos < begin);
    let mut first = begin;
    for &pos in accesses[..own].iter().rev() {
        if view.writes(pos) {
            return None;
        }
        let index = usize::try_from(view.event_index(pos).0).ok()?;
        let looks = match events.get(index)?.kind {
            EventKind::Read(access) | EventKind::AtomicLoad(access, _) => {
                access.value == expected & u64::from(u32::MAX)
            }
            _ => false,
        };
        if !looks {
            break;
        }
        first = pos;
    }
    Some(first)
}

/// The notifier needs a lock that the waiter holds.
fn nested(view: &View, clocks: &Clocks, waits: &Waits, wait: &Wait, into: &mut Candidates<'_>) {
    let (waiter, notifier) = (view.lane(wait.begin), view.lane(wait.notify));
    let others = waits.notifiers.get(&wait.object);
    let is_only = others.is_some_and(|all| all.iter().all(|l| *l == notifier || *l == waiter));
    if !is_only {
        return;
    }
    let held = view.lockset(view.lockset_of(wait.begin));
    if held.is_empty() {
        return;
    }
    let own = view.lane_events(notifier);
    let end = own.partition_point(|pos| *pos < wait.notify);
    let blocked = own[..end].iter().rev().find(|pos| {
        let mode = match view.is_shared_side(**pos) {
            true => LockMode::Shared,
            false => LockMode::Exclusive,
        };
        let lock = view.sync_of(**pos);
        view.kind(**pos) == Kind::Acquire
            && held.iter().any(|(held, held_mode)| {
                Some(*held) == lock
                    && (*held_mode == LockMode::Exclusive || mode == LockMode::Exclusive)
            })
    });
    let Some(&blocked) = blocked else { return };
    if is_over(view, clocks, blocked, wait.begin) {
        return;
    }
    into.add(Flaw::Deadlock, sources(view, wait.begin, blocked), || {
        together(&[wait.wake, blocked], &[blocked])
    });
}

fn sources(view: &View, one: Pos, other: Pos) -> (u64, u64) {
    let source = |pos| source_number(view.source(pos));
    (source(one), source(other))
}

impl Waits {
    fn new(view: &View, events: &[Event]) -> Self {
        let mut waits = Self::default();
        let mut begun: Table<(SyncId, Lane), Pos> = Table::default();
        let mut notified: Table<(SyncId, Lane), Pos> = Table::default();
        for pos in view.positions() {
            let (kind, lane) = (view.kind(pos), view.lane(pos));
            let Some(object) = view.sync_of(pos).filter(|_| concerns(kind)) else {
                continue;
            };
            if view.syncs()[object.index()].is_lock {
                continue;
            }
            match action(view, events, pos) {
                Some(Action::CondWait { .. } | Action::FutexWait { .. }) => {
                    begun.insert((object, lane), pos);
                }
                Some(Action::CondNotify { woken, all, .. }) => {
                    if woken > 0 {
                        notified.insert((object, lane), pos);
                    }
                    waits.notify(object, lane, pos, all || woken == 0);
                }
                Some(Action::FutexNotify { woken, most, .. }) => {
                    if woken > 0 {
                        notified.insert((object, lane), pos);
                    }
                    waits.notify(object, lane, pos, woken < most);
                }
                Some(
                    Action::CondWake {
                        notifier: waker, ..
                    }
                    | Action::FutexWake { waker, .. },
                ) => {
                    let waker = waker.and_then(|id| view.threads().iter().position(|t| *t == id));
                    let notify = waker.and_then(|by| notified.get(&(object, Lane(by as u16))));
                    let begin = begun.remove(&(object, lane));
                    if let (Some(begin), Some(&notify)) = (begin, notify) {
                        waits.waits.push(Wait {
                            object,
                            begin,
                            wake: pos,
                            notify,
                        });
                    }
                }
                _ => {}
            }
        }
        waits
    }

    fn notify(&mut self, object: SyncId, lane: Lane, pos: Pos, is_spare: bool) {
        let notifiers = self.notifiers.entry(object).or_default();
        if !notifiers.contains(&lane) {
            notifiers.push(lane);
        }
        if !is_spare {
            return;
        }
        let spare = self.spare.entry(object).or_default();
        match spare.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, latest)) => *latest = pos,
            None => spare.push((lane, pos)),
        }
    }
}

fn concerns(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::CondWait
            | Kind::CondWake
            | Kind::CondNotify
            | Kind::FutexWait
            | Kind::FutexWake
            | Kind::FutexNotify
    )
}
