//! Orders that the kinds of the events do not tell.
//!
//! A thread may depend on another in ways that only the whole trace shows: memory that code without hooks
//! has written, a wait that a cancellation ended. Who knows such orders hands them over as pairs of events
//! of the trace: whoever executes the second has executed the first. Those of the events that the view does
//! not keep get nodes of their own, and are named in the orders that are found.

use raddle_trace::ids::EventIndex;

use super::Maximal;
use crate::view::{Pos, View};

/// Orders between events of the trace, kept in the view or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// By their ends, which come first in the pairs.
    orders: Vec<(EventIndex, EventIndex)>,
    /// The events among them that are not in the view.
    extras: Vec<EventIndex>,
}

impl Hidden {
    /// Pairs that do not go forward in the trace are no orders.
    pub(super) fn new(view: &View, orders: &[(EventIndex, EventIndex)]) -> Self {
        let forward = orders.iter().filter(|(from, to)| from < to);
        let mut orders: Vec<_> = forward.map(|&(from, to)| (to, from)).collect();
        orders.sort_unstable();
        orders.dedup();
        let mut extras: Vec<_> = orders.iter().flat_map(|&(to, from)| [to, from]).collect();
        extras.sort_unstable();
        extras.dedup();
        extras.retain(|index| view.position(*index).is_none());
        Self { orders, extras }
    }

    /// The events that are not in the view and come before this one.
    pub(super) fn extras_before(&self, end: EventIndex) -> &[EventIndex] {
        &self.extras[..self.extras.partition_point(|extra| *extra < end)]
    }

    /// The events that have to come before this one.
    pub(super) fn before(&self, to: EventIndex) -> impl Iterator<Item = EventIndex> + '_ {
        let start = self.orders.partition_point(|order| order.0 < to);
        let orders = self.orders[start..].iter();
        orders
            .take_while(move |order| order.0 == to)
            .map(|order| order.1)
    }
}

impl Maximal<'_> {
    /// Fixes the hidden orders of the window.
    pub(super) fn encode_hidden(&mut self) {
        for at in 0..self.nodes.events.len() {
            let to = self.nodes.events[at];
            let before: Vec<EventIndex> = self.terms.hidden.before(to).collect();
            for from in before {
                if let (Some(from), Some(to)) = (self.node_of(from), self.node_of(to)) {
                    self.solver.order(from, to);
                }
            }
        }
    }

    /// What the window begins behind: the events that are executed as recorded.
    pub(super) fn executed_before(&self) -> Vec<EventIndex> {
        let start = self.first_index();
        let kept = (0..self.window.start).map(|at| self.view.event_index(Pos(at)));
        let mut all: Vec<EventIndex> = kept.collect();
        all.extend(self.terms.hidden.extras_before(start));
        all.sort_unstable();
        all
    }

    /// The first event that does not lie before the window.
    pub(super) fn first_index(&self) -> EventIndex {
        index_of(self.view, self.window.start)
    }
}

/// The number in the trace of the event at a position, or of none if there is no such position.
pub(super) fn index_of(view: &View, at: u32) -> EventIndex {
    match (at as usize) < view.len() {
        true => view.event_index(Pos(at)),
        false => EventIndex(u64::MAX),
    }
}
