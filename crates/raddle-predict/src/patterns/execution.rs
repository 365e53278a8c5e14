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

/// What a run has come to while it did as the trace.
#[derive(Clone)]
pub(super) struct State<'v> {
    /// So many events of the trace were executed: all of its beginning.
    len: u32,
    /// By thread: how many of its events were executed.
    ranks: Vec<usize>,
    held: Table<SyncId, Vec<&'v Hold>>,
    /// By thread: what it waits for to be notified of, and whether it was.
    waiting: Vec<Option<(SyncId, bool)>>,
    /// By cell: who wrote it last.
    latest: Vec<u32>,
}

/// Executes events of the trace in another order.
#[derive(Clone)]
pub(super) struct Run<'r, 'v> {
    view: &'v View,
    order: &'r Clocks,
    waits: &'r Waits<'v>,
    /// What it has come to; its length is where it left the trace.
    state: State<'v>,
    /// What was executed from there.
    executed: Vec<Pos>,
    /// By thread: the event before which it has to stop for now.
    limits: Vec<Option<Pos>>,
    /// By thread: the first event that depends on what was stopped at first.
    dependent: Vec<Option<Pos>>,
    /// Whether a notification comes only after those wait whom it woke.
    pub(super) awaits_waiters: bool,
    /// By event: who wrote what it read in the trace.
    writers: &'r [u64],
    /// By thread: whether its last event read something else than in the trace.
    is_wrong: Vec<bool>,
    /// How many events did, and were not the last of their threads.
    pub(super) changed: usize,
}

/// A run that has followed the trace for as long as it could.
pub(super) struct Followed<'r, 'v> {
    pub(super) run: Run<'r, 'v>,
    /// Whether every event read what it did in the trace.
    pub(super) reads_the_same: bool,
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
            state: State {
                len: 0,
                ranks: vec![0; threads],
                held: Table::default(),
                waiting: vec![None; threads],
                latest: vec![NOBODY; view.cells().len()],
            },
            executed: Vec::new(),
            limits: vec![None; threads],
            dependent: vec![None; threads],
            awaits_waiters: false,
            writers,
            is_wrong: vec![false; threads],
            changed: 0,
        }
    }

    /// Goes on from where the trace comes by.
    pub(super) fn resume(&mut self, state: Option<&State<'v>>) {
        if let Some(state) = state {
            self.state = state.clone();
        }
    }

    /// What it has come to, if it did as the trace so far.
    pub(super) fn state(&self) -> State<'v> {
        self.state.clone()
    }

    /// Executes the next event of the trace; false if that cannot be.
    pub(super) fn follow(&mut self, pos: Pos) -> bool {
        let can = self.obstacle(pos).is_none();
        if can {
            self.execute(pos);
            self.executed.clear();
            self.state.len = pos.0 + 1;
        }
        can
    }

    /// What was executed.
    pub(super) fn into_executed(self) -> impl Iterator<Item = Pos> {
        (0..self.state.len).map(Pos).chain(self.executed)
    }

    /// Stops threads before these events, and with them what depends on that.
    pub(super) fn stop(&mut self, limits: &[Option<Pos>]) {
        let view = self.view;
        self.limits.copy_from_slice(limits);
        let stops: Vec<Pos> = self.limits.iter().flatten().copied().collect();
        let lanes = (0..self.limits.len()).map(|lane| Lane(lane as u16));
        let dependent = lanes.map(|lane| {
            let events = view.lane_events(lane);
            let dependent = stops.iter().filter_map(|&stop| {
                let free = |pos: &Pos| *pos != stop && !self.order.before(view, stop, *pos);
                events.get(events.partition_point(free)).copied()
            });
            dependent.min()
        });
        self.dependent = dependent.collect();
    }

    /// The first event that was stopped.
    pub(super) fn first_dependent(&self) -> Option<Pos> {
        self.dependent.iter().flatten().min().copied()
    }

    /// Executes what does not depend on the threads that were stopped, as in the trace, up to an event. By
    /// value, who would read something else depends on them as well. None if as many reads change as `most`.
    pub(super) fn follow_trace(
        mut self,
        end: Pos,
        by_value: bool,
        most: usize,
    ) -> Option<Followed<'r, 'v>> {
        let mut stopped = vec![false; self.limits.len()];
        let mut reads_the_same = true;
        for pos in (self.state.len..end.0).map(Pos) {
            let lane = self.view.lane(pos).index();
            if stopped[lane] {
                continue;
            }
            let depends = self.dependent[lane].is_some_and(|first| first <= pos);
            if depends || self.obstacle(pos).is_some() {
                stopped[lane] = true;
                continue;
            }
            let reads_other = self.reads_other(pos);
            reads_the_same &= !reads_other;
            match by_value && reads_other {
                true => stopped[lane] = true,
                false => self.execute_reading(pos, reads_other),
            }
            if self.changed >= most {
                return None;
            }
        }
        Some(Followed {
            run: self,
            reads_the_same,
        })
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
        while let Some(&pos) = events.get(self.state.ranks[lane.index()]) {
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
            if events.get(self.state.ranks[lane.index()]) != Some(&pos) {
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
        let mut others = self.state.held.get(&hold.lock)?.iter();
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
        let Some((_, false)) = self.state.waiting[self.view.lane(pos).index()] else {
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
        let next = self
            .view
            .lane_events(lane)
            .get(self.state.ranks[lane.index()]);
        next.is_none_or(|next| pos < *next)
    }

    fn execute(&mut self, pos: Pos) {
        self.execute_reading(pos, self.reads_other(pos));
    }

    fn execute_reading(&mut self, pos: Pos, reads_other: bool) {
        let kind = self.view.kind(pos);
        if matches!(kind, Kind::Release | Kind::Downgrade)
            && let Some(ended) = self.waits.ended(pos)
            && let Some(holds) = self.state.held.get_mut(&ended.lock)
        {
            holds.retain(|hold| hold.acquire != ended.acquire);
            if holds.is_empty() {
                self.state.held.remove(&ended.lock);
            }
        }
        if matches!(kind, Kind::Acquire | Kind::Downgrade)
            && let Some(begun) = self.waits.begun(pos)
        {
            self.state.held.entry(begun.lock).or_default().push(begun);
        }
        let lane = self.view.lane(pos).index();
        match kind {
            Kind::CondWait | Kind::FutexWait => {
                self.state.waiting[lane] = self.view.sync_of(pos).map(|it| (it, false));
            }
            Kind::CondWake | Kind::FutexWake => self.state.waiting[lane] = None,
            Kind::CondNotify | Kind::FutexNotify => {
                let object = self.view.sync_of(pos);
                let waiting = self.state.waiting.iter_mut().flatten();
                let woken = waiting.filter(|(it, _)| Some(*it) == object);
                woken.for_each(|(_, is_notified)| *is_notified = true);
            }
            _ => {}
        }
        self.changed += usize::from(self.is_wrong[lane]);
        self.is_wrong[lane] = reads_other;
        note_write(self.view, &mut self.state.latest, pos);
        self.state.ranks[lane] += 1;
        self.executed.push(pos);
    }

    /// Whether an event would now read what somebody else wrote than in the trace.
    fn reads_other(&self, pos: Pos) -> bool {
        writers_of(self.view, &self.state.latest, pos) != self.writers[pos.index()]
    }
}
