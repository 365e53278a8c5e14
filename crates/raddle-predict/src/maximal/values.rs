//! What a cell holds, as far as the trace tells.

use raddle_trace::event::{Access, Event, EventKind};

use crate::view::Cell;

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// What was there at first.
    Initial,
    /// What the event at this position wrote, whatever it was.
    Of(u32),
    /// These bytes.
    Known(u64),
}

/// What an event read from a cell; nothing if it read more than it tells.
pub(super) fn read_value(event: &Event, cell: &Cell) -> Option<Value> {
    match &event.kind {
        EventKind::Read(access)
        | EventKind::AtomicLoad(access, _)
        | EventKind::Rmw { access, .. }
        | EventKind::Cas { access, .. } => part(access, access.value, cell),
        _ => None,
    }
}

/// What an event wrote to a cell; nothing if it wrote more than it tells.
pub(super) fn written_value(event: &Event, cell: &Cell) -> Option<Value> {
    match &event.kind {
        EventKind::Write(access) | EventKind::AtomicStore(access, _) => {
            part(access, access.value, cell)
        }
        EventKind::Rmw { access, new, .. } | EventKind::Cas { access, new, .. } => {
            part(access, *new, cell)
        }
        _ => None,
    }
}

/// The bytes of a cell within an access of at most eight.
fn part(access: &Access, value: u64, cell: &Cell) -> Option<Value> {
    let offset = cell.addr.0.checked_sub(access.addr.0)?;
    let fits = offset + cell.len <= u64::from(access.size).min(8);
    fits.then(|| {
        let unused = 64 - 8 * cell.len;
        Value::Known(value >> (8 * offset) << unused >> unused)
    })
}
