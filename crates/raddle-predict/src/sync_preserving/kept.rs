//! Whether an order of events keeps the order of critical sections: what makes it sync-preserving.

use raddle_trace::event::LockMode;
use raddle_trace::ids::EventIndex;

use super::layers::hold_from;
use crate::table::Table;
use crate::view::{Pos, SyncId, View};

/// The latest acquisitions of a lock, by their places in the trace.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    exclusive: Option<Pos>,
    shared: Option<Pos>,
}

/// Whether of every two critical sections on a lock that exclude each other the one that comes first in an
/// order came first in the trace. Events that the view does not keep are no acquisitions.
pub(super) fn keeps_sections(view: &View, order: &[EventIndex]) -> bool {
    let mut latest: Table<SyncId, Latest> = Table::default();
    let events = order.iter().filter_map(|index| view.position(*index));
    let mut holds = events.filter_map(|pos| hold_from(view, pos));
    holds.all(|hold| {
        let of_lock = latest.entry(hold.lock).or_default();
        let is_exclusive = hold.mode == LockMode::Exclusive;
        let excluded = match is_exclusive {
            true => of_lock.exclusive.max(of_lock.shared),
            false => of_lock.exclusive,
        };
        let own = match is_exclusive {
            true => &mut of_lock.exclusive,
            false => &mut of_lock.shared,
        };
        *own = (*own).max(Some(hold.acquire));
        excluded < Some(hold.acquire)
    })
}
