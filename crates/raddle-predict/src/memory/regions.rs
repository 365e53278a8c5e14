//! What a thread did to a cell under the lock that it holds.

use crate::locksets::Exclusions;
use crate::view::{CellId, Pos, Region, View};

/// How many events of a region are looked at.
const MOST_EVENTS: usize = 256;

/// Regions of a view, compared.
#[derive(Debug)]
pub(super) struct Regions<'v> {
    view: &'v View,
    exclusions: Exclusions,
}

impl<'v> Regions<'v> {
    pub(super) fn new(view: &'v View) -> Self {
        Self {
            view,
            exclusions: Exclusions::default(),
        }
    }

    /// The regions of two events, if they cannot overlap: both hold the same outermost lock.
    pub(super) fn exclusive(&mut self, one: Pos, other: Pos) -> Option<(Region, Region)> {
        let view = self.view;
        let (a, b) = (view.lockset_of(one), view.lockset_of(other));
        if !self.exclusions.exclude(view, a, b) {
            return None;
        }
        let region = |pos| view.region_of(pos).map(|id| view.regions()[id.index()]);
        let (a, b) = (region(one)?, region(other)?);
        let outermost = |region: &Region| view.holds()[region.outermost.index()];
        let (first, second) = (outermost(&a), outermost(&b));
        use raddle_trace::event::LockMode::Exclusive;
        let exclude =
            first.lock == second.lock && (first.mode == Exclusive || second.mode == Exclusive);
        exclude.then_some((a, b))
    }

    /// Whether a thread touches a cell from one event of its own to before another.
    pub(super) fn touches(
        &self,
        from: Pos,
        before: Pos,
        cell: CellId,
        counts: impl Fn(&View, Pos) -> bool,
    ) -> bool {
        self.between(from, before)
            .any(|pos| counts(self.view, pos) && self.view.cells_of(pos).any(|other| other == cell))
    }

    /// The events of a thread from one to before another, not too many.
    pub(super) fn between(&self, from: Pos, before: Pos) -> impl Iterator<Item = Pos> + use<'v> {
        let own = self.view.lane_events(self.view.lane(from));
        let start = own.partition_point(|pos| *pos < from);
        let events = own[start..].iter().copied();
        events
            .take_while(move |pos| *pos < before)
            .take(MOST_EVENTS)
    }
}
