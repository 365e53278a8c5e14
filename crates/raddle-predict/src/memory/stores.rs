//! What was written where a pointer lies.

use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::Address;

use crate::view::Cell;

/// The value that an event stores in eight bytes.
pub(super) fn stored(event: &Event) -> Option<(Address, u64)> {
    let (access, value) = match event.kind {
        EventKind::Write(access) | EventKind::AtomicStore(access, _) => (access, access.value),
        EventKind::Rmw { access, new, .. }
        | EventKind::Cas {
            access,
            new,
            success: true,
            ..
        } => (access, new),
        _ => return None,
    };
    (access.size == 8).then_some((access.addr, value))
}

/// The pointer that an event stores in a cell: all of it.
pub(super) fn stored_in(event: &Event, cell: &Cell) -> Option<u64> {
    let (addr, value) = stored(event)?;
    (addr == cell.addr && cell.len == 8).then_some(value)
}
