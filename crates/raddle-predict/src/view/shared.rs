//! Which single events concern one thread only.
//!
//! A [`Sieve`](super::Sieve) tells by instruction, so that runs can be compared step by step. Of one trace alone more can be
//! left out: each access to memory that a view drops. The cells are the view's, so what is left makes the same view.

use raddle_trace::event::{Event, EventKind};

use super::cells::Cells;
use super::places::Places;
use super::touch_of;

/// The second pass over a trace: to be shown the same events as the survey.
#[derive(Debug)]
pub struct Shared {
    places: Places,
    cells: Cells,
}

impl Shared {
    pub(super) fn new(cells: Cells) -> Self {
        Self {
            places: Places::default(),
            cells,
        }
    }

    /// Whether an event may concern other threads: not a plain access to memory that one thread has to itself, and not
    /// outcomes of branches. Calls, returns and values that calls return do, for what they say of the events around them.
    pub fn concerns(&mut self, event: &Event) -> bool {
        match event.kind {
            EventKind::Branches(_) => false,
            EventKind::Action { .. } => {
                self.places.observe(event);
                true
            }
            EventKind::Read(_)
            | EventKind::Write(_)
            | EventKind::RangeRead { .. }
            | EventKind::RangeWrite { .. } => self.touches(event),
            _ => true,
        }
    }

    fn touches(&mut self, event: &Event) -> bool {
        let mut is_shared = false;
        if let Some(touch) = touch_of(&event.kind) {
            let cells = &mut self.cells;
            self.places.segments(touch.addr, touch.len, |segment| {
                is_shared |= cells.of(segment).is_some();
            });
        }
        is_shared
    }
}
