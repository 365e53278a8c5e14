//! Leaves out of an order what a match does not need.
//!
//! A prover's order executes events in the order of the trace wherever nothing speaks against it. Then a
//! thread that was to break into a unit of another one may come as far as to mend what it broke, and the
//! program has nothing to notice. Without what is not needed the threads stop where the match has them.
//!
//! What stays is closed under all that makes an order a reordering of the trace: program order and must-order;
//! for each read but a last one of the match the write that it reads from; for each acquisition the releases of
//! holds before it; for other objects of synchronisation all that happened to them before. The order of what
//! stays is the same, so every such read finds the same value, and what was proved remains so.

use raddle_trace::ids::EventIndex;

use crate::goal::Goal;
use crate::table::Table;
use crate::view::{Kind, Pos, SyncId, View};

/// The part of an order that leads to a goal's executed events. An order for a goal with more to it is left as
/// it is.
#[must_use]
pub fn tighten(view: &View, order: Vec<EventIndex>, goal: &Goal) -> Vec<EventIndex> {
    match view.positions_of(&order) {
        Some(events) if goal.next.is_empty() && goal.sees.is_none() => {
            let stays = Needs::new(view, &events, goal).all();
            let kept = order.into_iter().zip(stays).filter(|(_, stays)| *stays);
            kept.map(|(index, _)| index).collect()
        }
        _ => order,
    }
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// What is needed of an order.
struct Needs<'a> {
    view: &'a View,
    events: &'a [Pos],
    goal: &'a Goal,
    /// By place in the order: where the places of the writes that it reads from end in `writes`.
    read: Vec<u32>,
    writes: Vec<u32>,
    /// By event of the trace: its place in the order.
    places: Vec<u32>,
    /// By place: whether it is needed whatever its own thread does later.
    required: Vec<bool>,
}

impl<'a> Needs<'a> {
    fn new(view: &'a View, events: &'a [Pos], goal: &'a Goal) -> Self {
        let mut latest = vec![NOWHERE; view.cells().len()];
        let mut read = Vec::with_capacity(events.len());
        let mut writes = Vec::new();
        let mut places = vec![NOWHERE; view.len()];
        for (place, &pos) in (0..).zip(events) {
            let cells = view.cells_of(pos).filter(|_| view.reads(pos));
            let latest_of = cells.map(|cell| latest[cell.index()]);
            writes.extend(latest_of.filter(|write| *write != NOWHERE));
            read.push(writes.len() as u32);
            if view.writes(pos) {
                view.cells_of(pos)
                    .for_each(|cell| latest[cell.index()] = place);
            }
            places[pos.index()] = place;
        }
        let required = events.iter().map(|pos| goal.in_order.contains(pos));
        Self {
            view,
            events,
            goal,
            read,
            writes,
            required: required.collect(),
            places,
        }
    }

    /// Where an event is in the order.
    fn place(&self, pos: Pos) -> Option<usize> {
        let place = self.places[pos.index()];
        (place != NOWHERE).then_some(place as usize)
    }

    /// By place: whether it stays.
    fn all(mut self) -> Vec<bool> {
        loop {
            let stays = self.go_back();
            if !self.require_releases(&stays) {
                return stays;
            }
        }
    }

    /// Finds what the required events need, but for releases.
    fn go_back(&mut self) -> Vec<bool> {
        let view = self.view;
        let mut stays = vec![false; self.events.len()];
        let mut goes_on = vec![false; view.threads().len()];
        let mut is_used = vec![false; view.syncs().len()];
        for (place, &pos) in self.events.iter().enumerate().rev() {
            let object = view
                .sync_of(pos)
                .filter(|it| !view.syncs()[it.index()].is_lock);
            let goes_on = &mut goes_on[view.lane(pos).index()];
            let is_used = object.map(|it| &mut is_used[it.index()]);
            let acts = is_used.as_ref().is_some_and(|it| **it);
            if !self.required[place] && !*goes_on && !acts {
                continue;
            }
            let may_read_anything =
                !*goes_on && !view.writes(pos) && self.goal.in_order.contains(&pos);
            stays[place] = true;
            *goes_on = true;
            if let Some(is_used) = is_used {
                *is_used = true;
            }
            for edge in view.edges_to(pos) {
                if let Some(from) = self.place(edge.from) {
                    self.required[from] = true;
                }
            }
            if !may_read_anything {
                let start = place.checked_sub(1).map_or(0, |before| self.read[before]);
                for &write in &self.writes[start as usize..self.read[place] as usize] {
                    self.required[write as usize] = true;
                }
            }
        }
        stays
    }

    /// Who takes a lock needs the releases of those who took it before; false if all are there.
    fn require_releases(&mut self, stays: &[bool]) -> bool {
        let view = self.view;
        let mut held: Table<SyncId, Vec<Pos>> = Table::default();
        let mut has_more = false;
        for (place, &pos) in self.events.iter().enumerate() {
            if !stays[place] || view.kind(pos) == Kind::Access {
                continue;
            }
            let begun = view.holds().binary_search_by_key(&pos, |hold| hold.acquire);
            let Ok(begun) = begun else {
                continue;
            };
            let hold = &view.holds()[begun];
            let releases = held.entry(hold.lock).or_default();
            releases.retain(|release| {
                let before = self.places[release.index()] as usize;
                let before = Some(before).filter(|it| *it < place);
                if let Some(before) = before {
                    self.required[before] = true;
                    has_more |= !stays[before];
                }
                before.is_none()
            });
            releases.extend(hold.release);
        }
        has_more
    }
}
