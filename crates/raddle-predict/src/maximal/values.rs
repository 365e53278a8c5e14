//! What a cell holds, as far as the trace tells.

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::{Address, EventIndex};

use crate::view::{Cell, CellId, Pos, View};

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Value {
    /// What was there at first.
    Initial,
    /// What the event at this position wrote, whatever it was.
    Of(u32),
    /// These bytes.
    Known(u64),
}

/// What an event read from a cell that holds `held`, as far as is known; nothing if it does not tell.
pub(super) fn read_value(event: &Event, cell: &Cell, held: Value) -> Option<Value> {
    match event.kind {
        EventKind::Read(access)
        | EventKind::AtomicLoad(access, _)
        | EventKind::Rmw { access, .. }
        | EventKind::Cas { access, .. } => part(&access, access.value, cell),
        // Whether the word was as expected is not said here; it was if it is known to be.
        EventKind::Action {
            action: Action::FutexWait { futex, expected },
            ..
        } => slice(futex, 4, expected, cell).filter(|expected| *expected == held),
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

/// What a cell holds when a window begins: its latest access shows it, or an earlier one.
pub(super) fn content_before(view: &View, trace: &[Event], cell: CellId, start: Pos) -> Value {
    let bytes = view.cells()[cell.index()];
    let mut behind: Vec<&[Pos]> = view
        .accesses(cell)
        .map(|(_, accesses)| &accesses[..accesses.partition_point(|pos| *pos < start)])
        .collect();
    while let Some(latest) = behind.iter_mut().max_by_key(|left| left.last().copied())
        && let Some((&pos, earlier)) = latest.split_last()
    {
        *latest = earlier;
        let EventIndex(index) = view.event_index(pos);
        let event = &trace[index as usize];
        if view.writes(pos) {
            return written_value(event, &bytes).unwrap_or(Value::Of(pos.0));
        }
        if let Some(value) = read_value(event, &bytes, Value::Initial) {
            return value;
        }
    }
    Value::Initial
}

/// The latest write to a cell before a position.
pub(super) fn write_before(view: &View, cell: CellId, start: Pos) -> Option<Pos> {
    let of_thread = |accesses: &[Pos]| {
        let before = &accesses[..accesses.partition_point(|pos| *pos < start)];
        before.iter().rfind(|pos| view.writes(**pos)).copied()
    };
    view.accesses(cell)
        .filter_map(|(_, accesses)| of_thread(accesses))
        .max()
}

fn part(access: &Access, value: u64, cell: &Cell) -> Option<Value> {
    slice(access.addr, access.size, value, cell)
}

/// The bytes of a cell within an access of at most eight.
fn slice(addr: Address, size: u8, value: u64, cell: &Cell) -> Option<Value> {
    let offset = cell.addr.0.checked_sub(addr.0)?;
    let fits = offset + cell.len <= u64::from(size).min(8);
    fits.then(|| {
        let unused = 64 - 8 * cell.len;
        Value::Known(value >> (8 * offset) << unused >> unused)
    })
}
