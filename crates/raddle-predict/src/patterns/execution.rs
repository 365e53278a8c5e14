//! Executes events of the trace in another order, on a state of locks, must-order and waiting threads.

use std::hash::Hasher;

use raddle_trace::event::LockMode;

use super::language::Shape;
use super::schedule::Visit;
use crate::clocks::Clocks;
use crate::table::{NumberHasher, Table};
use crate::view::{Edge, EdgeKind, Hold, Kind, Lane, Pos, SyncId, View};

/// By event: a number for who wrote last what it reads.
pub(super) fn writers(view: &View) -> Vec<u64> {
    let mut latest = vec![NOBODY; view.cells().len()];
    view.positions()
        .map(|pos| {
            let number = writers_of(view, &latest, pos);
            note_write(view, &mut latest, pos);
            number
        })
        .collect()
}

fn writers_of(view: &View, latest: &[u32], pos: Pos) -> u64 {
    if view.kind(pos) != Kind::Access || !view.reads(pos) {
        return 0;
    }
    let mut hasher = NumberHasher::default();
    for cell in view.cells_of(pos) {
        hasher.write_u32(latest[cell.index()]);
    }
    hasher.finish()
}

fn note_write(view: &View, latest: &mut [u32], pos: Pos) {
    if view.writes(pos) {
        for cell in view.cells_of(pos) {
            latest[cell.index()] = pos.0;
        }
    }
}

/// What each event may have to wait for.
pub(super) struct Waits<'v> {
    holds: &'v [Hold],
    /// Holds by their releases.
    released: Table<Pos, u32>,
    /// By event: whether something of another thread must come before it.
    is_target: Vec<bool>,
    /// By the events at which threads wake: the notification.
    notifications: Table<Pos, Pos>,
    /// By notifications: where the threads that it woke began to wait.
    waiters: Table<Pos, Vec<Pos>>,
}

impl<'v> Waits<'v> {
    pub(super) fn new(view: &'v View) -> Self {
        let holds = view.holds();
        let numbered = holds.iter().enumerate();
        let released = numbered.filter_map(|(at, hold)| Some((hold.release?, at as u32)));
        let mut is_target = vec![false; view.len()];
        for edge in view.edges() {
            is_target[edge.to.index()] = true;
        }
        let mut waits = Self {
            holds,
            released: released.collect(),
            is_target,
            notifications: Table::default(),
            waiters: Table::default(),
        };
        let mut began: Vec<Option<Pos>> = vec![None; view.threads().len()];
        for pos in view.positions() {
            let began = &mut began[view.lane(pos).index()];
            match view.kind(pos) {
                Kind::CondWait | Kind::FutexWait => *began = Some(pos),
                Kind::CondWake | Kind::FutexWake => {
                    if let (Some(wait), Some(notify)) = (*began, notification(view, pos)) {
                        waits.notifications.insert(pos, notify);
                        waits.waiters.entry(notify).or_default().push(wait);
                    }
                }
                _ => {}
            }
        }
        waits
    }

    /// Whether a thread of the trace was woken.
    pub(super) fn has_waiters(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// The hold that an event begins.
    fn begun(&self, pos: Pos) -> Option<&'v Hold> {
        let found = self.holds.binary_search_by_key(&pos, |hold| hold.acquire);
        found.ok().map(|at| &self.holds[at])
    }

    fn ended(&self, pos: Pos) -> Option<&'v Hold> {
        let at = *self.released.get(&pos)?;
        Some(&self.holds[at as usize])
    }
}

/// What woke a thread. Operations on a futex are a chain, of which the notification is a link.
fn notification(view: &View, wake: Pos) -> Option<Pos> {
    let mut at = wake;
    loop {
        let mut edges = view.edges_to(at).iter();
        let notifies = |it: &&Edge| matches!(it.kind, EdgeKind::Notify | EdgeKind::Futex);
        at = edges.find(notifies)?.from;
        if matches!(view.kind(at), Kind::CondNotify | Kind::FutexNotify) {
            return Some(at);
        }
    }
}

/// Why an event cannot be executed.
#[derive(Clone, Copy, Debug)]
enum Obstacle {
    /// Another one has to come first.
    Missing(Pos),
    /// A lock is held and not released in the trace, or a notification has passed.
    Never,
}

/// There is no schedule of this form.
#[derive(Debug)]
pub(super) struct Stuck;

/// Not written yet.
const NOBODY: u32 = u32::MAX;
/// Threads that wait for each other in a row.
const MAX_DEPTH: usize = 64;

/// Executes events of the trace in another order.
pub(super) struct Run<'r, 'v> {
    view: &'v View,
    order: &'r Clocks,
    waits: &'r Waits<'v>,
    /// By thread: how many of its events were executed.
    ranks: Vec<usize>,
    /// By thread: the event before which it has to stop for now.
    limits: Vec<Option<Pos>>,
    held: Table<SyncId, Vec<&'v Hold>>,
    /// Whether a notification comes only after those wait whom it woke.
    pub(super) awaits_waiters: bool,
    /// By thread: what it waits for to be notified of, and whether it was.
    waiting: Vec<Option<(SyncId, bool)>>,
    pub(super) executed: Vec<Pos>,
    /// By event: who wrote what it read in the trace.
    writers: &'r [u64],
    /// By cell: who wrote it last.
    latest: Vec<u32>,
    /// By thread: whether its last event read something else than in the trace.
    is_wrong: Vec<bool>,
    /// How many events did, and were not the last of their threads.
    pub(super) changed: usize,
}

impl<'r, 'v> Run<'r, 'v> {
    pub(super) fn new(
        view: &'v View,
        order: &'r Clocks,
        waits: &'r Waits<'v>,
        writers: &'r [u64],
    ) -> Self {
        let threads = view.threads().len();
        Self {
            view,
            order,
            waits,
            ranks: vec![0; threads],
            limits: vec![None; threads],
            held: Table::default(),
            awaits_waiters: false,
            waiting: vec![None; threads],
            executed: Vec::new(),
            writers,
            latest: vec![NOBODY; view.cells().len()],
            is_wrong: vec![false; threads],
            changed: 0,
        }
    }

    /// Stops each thread of the pattern before its first visit, with the lock that protects it or not;
    /// returns for each thread the first event that depends on what was stopped.
    pub(super) fn stop(
        &mut self,
        visits: &[Visit],
        with_lock: &dyn Fn(Lane) -> bool,
    ) -> Vec<Option<Pos>> {
        let view = self.view;
        for visit in visits.iter().rev() {
            let region = view
                .region_of(visit.first)
                .filter(|_| with_lock(visit.lane));
            let outermost = region.map(|id| view.regions()[id.index()].outermost);
            let lock = outermost.map(|id| view.holds()[id.index()].acquire);
            self.limits[visit.lane.index()] = Some(lock.unwrap_or(visit.first));
        }
        let stops: Vec<Pos> = self.limits.iter().flatten().copied().collect();
        let lanes = (0..self.limits.len()).map(|lane| Lane(lane as u16));
        lanes
            .map(|lane| {
                let events = view.lane_events(lane);
                let dependent = stops.iter().filter_map(|&stop| {
                    let free = |pos: &Pos| *pos != stop && !self.order.before(view, stop, *pos);
                    events.get(events.partition_point(free)).copied()
                });
                dependent.min()
            })
            .collect()
    }

    /// Executes what does not depend on the threads that were stopped, as in the trace, up to an event. By
    /// value, who would read something else depends on them as well.
    pub(super) fn follow_trace(&mut self, end: Pos, dependent: &[Option<Pos>], by_value: bool) {
        let mut stopped = vec![false; self.ranks.len()];
        for pos in (0..end.0).map(Pos) {
            let lane = self.view.lane(pos).index();
            if stopped[lane] {
                continue;
            }
            let depends = dependent[lane].is_some_and(|first| first <= pos);
            let reads_other = by_value && self.reads_other(pos);
            match depends || reads_other || self.obstacle(pos).is_some() {
                true => stopped[lane] = true,
                false => self.execute(pos),
            }
        }
    }

    pub(super) fn visit(&mut self, visits: &[Visit], shape: Shape) -> Result<(), Stuck> {
        if shape == Shape::Adjacent {
            for visit in visits {
                self.limits[visit.lane.index()] = Some(visit.first);
            }
            for visit in visits {
                self.advance(visit.lane, visit.first, 0)?;
            }
            return visits
                .iter()
                .try_for_each(|visit| match self.obstacle(visit.first) {
                    Some(_) => Err(Stuck),
                    None => {
                        self.execute(visit.first);
                        Ok(())
                    }
                });
        }
        for (at, visit) in visits.iter().enumerate() {
            self.limits[visit.lane.index()] = visit.until;
            let is_last = at + 1 == visits.len();
            let behind = match visit.until {
                Some(until) => until,
                None => Pos(visit.last.0 + 1),
            };
            let behind = if is_last {
                Pos(visit.last.0 + 1)
            } else {
                behind
            };
            self.advance(visit.lane, behind, 0)?;
        }
        Ok(())
    }

    /// Executes a thread's events before a position, and of other threads what they wait for.
    fn advance(&mut self, lane: Lane, behind: Pos, depth: usize) -> Result<(), Stuck> {
        if depth > MAX_DEPTH {
            return Err(Stuck);
        }
        let limit = self.limits[lane.index()];
        let events = self.view.lane_events(lane);
        while let Some(&pos) = events.get(self.ranks[lane.index()]) {
            if pos >= behind {
                break;
            }
            if limit.is_some_and(|limit| limit <= pos) {
                return Err(Stuck);
            }
            while let Some(obstacle) = self.obstacle(pos) {
                let Obstacle::Missing(needed) = obstacle else {
                    return Err(Stuck);
                };
                self.advance(self.view.lane(needed), Pos(needed.0 + 1), depth + 1)?;
            }
            if events.get(self.ranks[lane.index()]) != Some(&pos) {
                // It was needed by a thread that it waited for.
                continue;
            }
            self.execute(pos);
        }
        Ok(())
    }

    /// What keeps an event from being executed.
    fn obstacle(&self, pos: Pos) -> Option<Obstacle> {
        let view = self.view;
        let edges: &[Edge] = match self.waits.is_target[pos.index()] {
            true => view.edges_to(pos),
            false => &[],
        };
        let edges = edges.iter();
        let mut sources = edges.filter(|edge| self.order.before(view, edge.from, edge.to));
        let missing = sources.find(|edge| !self.is_executed(edge.from));
        if let Some(edge) = missing {
            return Some(Obstacle::Missing(edge.from));
        }
        match view.kind(pos) {
            Kind::Acquire => self.lock_obstacle(pos),
            Kind::CondWake | Kind::FutexWake => self.wake_obstacle(pos),
            Kind::CondNotify | Kind::FutexNotify if self.awaits_waiters => {
                self.notify_obstacle(pos)
            }
            _ => None,
        }
    }

    fn lock_obstacle(&self, pos: Pos) -> Option<Obstacle> {
        let hold = self.waits.begun(pos)?;
        let mut others = self.held.get(&hold.lock)?.iter();
        let excludes = |other: &&&Hold| {
            let exclusive = LockMode::Exclusive;
            other.lane != hold.lane && (hold.mode == exclusive || other.mode == exclusive)
        };
        let other = others.find(excludes)?;
        Some(match other.release {
            Some(release) => Obstacle::Missing(release),
            None => Obstacle::Never,
        })
    }

    /// Who waits wakes once somebody has notified; the one who did in the trace will do.
    fn wake_obstacle(&self, pos: Pos) -> Option<Obstacle> {
        let Some((_, false)) = self.waiting[self.view.lane(pos).index()] else {
            return None;
        };
        let &notify = self.waits.notifications.get(&pos)?;
        Some(match self.is_executed(notify) {
            true => Obstacle::Never,
            false => Obstacle::Missing(notify),
        })
    }

    /// Who notifies lets those begin to wait first who were woken in the trace.
    fn notify_obstacle(&self, pos: Pos) -> Option<Obstacle> {
        let mut waits = self.waits.waiters.get(&pos)?.iter();
        let missing = waits.find(|wait| !self.is_executed(**wait))?;
        Some(Obstacle::Missing(*missing))
    }

    fn is_executed(&self, pos: Pos) -> bool {
        let lane = self.view.lane(pos);
        let next = self.view.lane_events(lane).get(self.ranks[lane.index()]);
        next.is_none_or(|next| pos < *next)
    }

    fn execute(&mut self, pos: Pos) {
        let kind = self.view.kind(pos);
        if matches!(kind, Kind::Release | Kind::Downgrade)
            && let Some(ended) = self.waits.ended(pos)
            && let Some(holds) = self.held.get_mut(&ended.lock)
        {
            holds.retain(|hold| hold.acquire != ended.acquire);
        }
        if matches!(kind, Kind::Acquire | Kind::Downgrade)
            && let Some(begun) = self.waits.begun(pos)
        {
            self.held.entry(begun.lock).or_default().push(begun);
        }
        let lane = self.view.lane(pos).index();
        match kind {
            Kind::CondWait | Kind::FutexWait => {
                self.waiting[lane] = self.view.sync_of(pos).map(|it| (it, false));
            }
            Kind::CondWake | Kind::FutexWake => self.waiting[lane] = None,
            Kind::CondNotify | Kind::FutexNotify => {
                let object = self.view.sync_of(pos);
                let waiting = self.waiting.iter_mut().flatten();
                let woken = waiting.filter(|(it, _)| Some(*it) == object);
                woken.for_each(|(_, is_notified)| *is_notified = true);
            }
            _ => {}
        }
        self.changed += usize::from(self.is_wrong[lane]);
        self.is_wrong[lane] = self.reads_other(pos);
        note_write(self.view, &mut self.latest, pos);
        self.ranks[lane] += 1;
        self.executed.push(pos);
    }

    /// Whether an event would now read what somebody else wrote than in the trace.
    fn reads_other(&self, pos: Pos) -> bool {
        writers_of(self.view, &self.latest, pos) != self.writers[pos.index()]
    }
}
