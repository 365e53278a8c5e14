//! What threads wait for, and what they hold meanwhile.
//!
//! Acquisitions that agree in place, thread, lock and locks held are one *wish*, with the events as its
//! instances, so that the number of wishes depends on the program and not on the length of the run. The place
//! is what a user knows a deadlock by: two of them are two deadlocks.
//! Joining another thread is a wish for its end. A request that the run ends with is a wish that was
//! not granted. A thread that holds nothing keeps nobody waiting, but for those who join it.

use raddle_trace::action::Action;
use raddle_trace::event::{Event, LockMode};
use raddle_trace::ids::ThreadId;
use raddle_trace::wire::Mark;

use super::action;
use crate::findings::source_number;
use crate::table::Table;
use crate::view::{Kind, Lane, LocksetId, Pos, SyncId, View};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wanted {
    Lock(SyncId, LockMode),
    End(Lane),
}

/// Events at which one thread waits at one place for the same thing under the same locks.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) lane: Lane,
    pub(super) wanted: Wanted,
    pub(super) held: LocksetId,
    pub(super) instances: Vec<Pos>,
    /// Whether it was never granted.
    pub(super) is_pending: bool,
}

#[derive(Default)]
struct Wishes {
    list: Vec<Wish>,
    numbers: Table<(Lane, Wanted, LocksetId, u64, bool), usize>,
}

impl Wishes {
    fn add(&mut self, view: &View, pos: Pos, wanted: Wanted, is_pending: bool) {
        let (lane, held) = (view.lane(pos), view.lockset_of(pos));
        let source = source_number(view.source(pos));
        let list = &mut self.list;
        let number = *self
            .numbers
            .entry((lane, wanted, held, source, is_pending))
            .or_insert_with(|| {
                list.push(Wish {
                    lane,
                    wanted,
                    held,
                    instances: Vec::new(),
                    is_pending,
                });
                list.len() - 1
            });
        self.list[number].instances.push(pos);
    }
}

/// All wishes: acquisitions first, then joins, then what was not granted. Without `events`, acquisitions
/// that would not have waited count as if they would, and threads that the run left joining are not seen.
pub(super) fn wishes(view: &View, events: &[Event]) -> Vec<Wish> {
    let holds_any = |pos: Pos| !view.lockset(view.lockset_of(pos)).is_empty();
    let joins = joins(view);
    let pending = pending(view, events);
    let mut is_awaited = vec![false; view.threads().len()];
    let ends = joins.iter().chain(&pending);
    for &(pos, wanted) in ends.filter(|(pos, _)| holds_any(*pos)) {
        if let Wanted::End(lane) = wanted
            && lane != view.lane(pos)
        {
            is_awaited[lane.index()] = true;
        }
    }
    let matters = |pos: Pos| holds_any(pos) || is_awaited[view.lane(pos).index()];
    let mut wishes = Wishes::default();
    for hold in view.holds() {
        let pos = hold.acquire;
        let waits = view.kind(pos) == Kind::Acquire && !is_try(view, events, pos);
        if waits && matters(pos) {
            wishes.add(view, pos, Wanted::Lock(hold.lock, hold.mode), false);
        }
    }
    for (pos, wanted) in joins.into_iter().filter(|(pos, _)| matters(*pos)) {
        wishes.add(view, pos, wanted, false);
    }
    for (pos, wanted) in pending.into_iter().filter(|(pos, _)| matters(*pos)) {
        wishes.add(view, pos, wanted, true);
    }
    wishes.list
}

/// Where threads joined others.
fn joins(view: &View) -> Vec<(Pos, Wanted)> {
    let lanes = (0..view.threads().len()).map(|lane| Lane(lane as u16));
    let all = lanes.flat_map(|lane| view.lane_events(lane).iter().copied());
    all.filter(|pos| view.kind(*pos) == Kind::Join)
        .filter_map(|pos| Some((pos, Wanted::End(view.other_lane(pos)?))))
        .collect()
}

/// What threads were waiting for when the run ended.
fn pending(view: &View, events: &[Event]) -> Vec<(Pos, Wanted)> {
    let lanes = (0..view.threads().len()).map(|lane| Lane(lane as u16));
    let last = lanes.filter_map(|lane| view.lane_events(lane).last().copied());
    let is_open = |pos: &Pos| {
        view.kind(*pos) == Kind::Request && view.failed_requests().binary_search(pos).is_err()
    };
    last.filter(is_open)
        .filter_map(|pos| Some((pos, wanted(view, events, pos)?)))
        .collect()
}

/// What a request is for.
fn wanted(view: &View, events: &[Event], pos: Pos) -> Option<Wanted> {
    let Some(Action::Request { lock, wants, .. }) = action(view, events, pos) else {
        return None;
    };
    match wants {
        Mark::Lock | Mark::WriteLock => Some(Wanted::Lock(view.sync_of(pos)?, LockMode::Exclusive)),
        Mark::ReadLock => Some(Wanted::Lock(view.sync_of(pos)?, LockMode::Shared)),
        Mark::Join => {
            let thread = ThreadId(u32::try_from(lock.0).ok()?);
            let lane = view.threads().iter().position(|other| *other == thread)?;
            Some(Wanted::End(Lane(lane as u16)))
        }
        _ => None,
    }
}

/// Whether an acquisition would not have waited.
fn is_try(view: &View, events: &[Event], pos: Pos) -> bool {
    action(view, events, pos).is_some_and(|action| action.is_try())
}
