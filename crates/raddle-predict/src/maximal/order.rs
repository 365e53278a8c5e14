//! What synchronisation other than locks lets come before what.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::ThreadId;
use raddle_trace::wire::Mark;

use super::Maximal;
use super::forced::is_choice;
use crate::view::{EdgeKind, Kind, Lane, Pos, SyncId};

/// The events on a futex so far.
#[derive(Default)]
struct Futex {
    /// The latest that changes who waits.
    latest: Option<Pos>,
    /// Notifications since then: they found nobody.
    in_vain: Vec<Pos>,
}

impl Maximal<'_> {
    /// Fixes what no reordering may break.
    pub(super) fn encode_order(&mut self) {
        let edges = self.view.edges();
        let start = edges.partition_point(|edge| edge.to.0 < self.window.start);
        let end = edges.partition_point(|edge| edge.to.0 < self.window.end);
        for edge in &edges[start..end] {
            if let (Some(from), Some(to)) = (self.node(edge.from), self.node(edge.to))
                && !is_choice(edge.kind)
            {
                self.solver.order(from, to);
            }
        }
        self.encode_futexes();
        self.encode_failures();
    }

    /// Everything before an event in the trace comes before it.
    pub(super) fn keep_place(&mut self, pos: Pos) {
        let Some(node) = self.node(pos) else { return };
        for lane in 0..self.view.threads().len() {
            let events = self.view.lane_events(Lane(lane as u16));
            let before = events.partition_point(|other| *other < pos);
            let last = before.checked_sub(1).and_then(|at| self.node(events[at]));
            if let Some(last) = last.filter(|last| *last != node) {
                self.solver.order(last, node);
            }
        }
    }

    /// How many a notification woke is its result, so who waits is kept as it was. A notification that
    /// woke nobody changes nothing: if it is executed, then between the same two changes as it was.
    fn encode_futexes(&mut self) {
        let mut futexes: BTreeMap<SyncId, Futex> = BTreeMap::new();
        for pos in self.positions() {
            let kind = self.view.kind(pos);
            let Some(sync) = self.view.sync_of(pos) else {
                continue;
            };
            if !matches!(kind, Kind::FutexWait | Kind::FutexWake | Kind::FutexNotify) {
                continue;
            }
            let futex = futexes.entry(sync).or_default();
            let before = futex.latest.and_then(|latest| self.node(latest));
            if let (Some(before), Some(node)) = (before, self.node(pos)) {
                self.solver.order(before, node);
            }
            if self.wakes_nobody(pos) {
                futex.in_vain.push(pos);
                continue;
            }
            futex.latest = Some(pos);
            for notify in std::mem::take(&mut futex.in_vain) {
                self.precedes_if_executed(notify, pos);
            }
        }
    }

    fn wakes_nobody(&self, pos: Pos) -> bool {
        matches!(
            self.event(pos).kind,
            EventKind::Action {
                action: Action::FutexNotify { woken: 0, .. },
                ..
            }
        )
    }

    /// A try that failed fails again: what was in its way is still there. That it has come is an edge.
    fn encode_failures(&mut self) {
        let view = self.view;
        let failed = view.failed_requests();
        let start = failed.partition_point(|request| request.0 < self.window.start);
        let end = failed.partition_point(|request| request.0 < self.window.end);
        for &request in &failed[start..end] {
            let EventKind::Action {
                action: Action::Request { lock, wants, .. },
                ..
            } = self.event(request).kind
            else {
                continue;
            };
            match wants {
                Mark::SemWait => self.before_later_posts(request),
                Mark::Join => {
                    let joined = u32::try_from(lock.0).ok().map(ThreadId);
                    let lane = view.threads().iter().position(|id| Some(*id) == joined);
                    let events = lane.map(|lane| view.lane_events(Lane(lane as u16)));
                    if let Some(end) = events.and_then(<[Pos]>::last) {
                        self.precedes_if_executed(request, *end);
                    }
                }
                _ => self.before_obstacle_goes(request),
            }
        }
    }

    /// A lock that could not be had is not given back before.
    fn before_obstacle_goes(&mut self, request: Pos) {
        let edges = self.view.edges_to(request).iter();
        for edge in edges.filter(|edge| edge.kind == EdgeKind::Failed) {
            let holds = self.view.holds();
            let from_there = holds.partition_point(|hold| hold.acquire < edge.from);
            let begun = holds[from_there..]
                .iter()
                .take_while(|hold| hold.acquire == edge.from);
            for release in begun.filter_map(|hold| hold.release) {
                self.precedes_if_executed(request, release);
            }
        }
    }

    /// A semaphore that was empty is not posted before.
    fn before_later_posts(&mut self, request: Pos) {
        let sync = self.view.sync_of(request);
        for pos in (request.0..self.window.end).map(Pos) {
            if self.view.kind(pos) == Kind::SemPost && self.view.sync_of(pos) == sync {
                self.precedes_if_executed(request, pos);
            }
        }
    }
}
