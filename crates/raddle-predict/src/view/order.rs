//! Must-order: which event of another thread an event cannot do without.
//!
//! An edge says: whoever executes `to` has executed `from` before. Edges go forward in the trace.
//! *Certain* ones hold in every execution in which both threads do what they did; the others are
//! conservative, they fix a choice that the trace happened to make:
//!
//! | edge | from → to | |
//! | --- | --- | --- |
//! | `Fork` | creation → the thread's next event | certain |
//! | `Join` | end → joining | certain |
//! | `Heap` | allocation → each other thread's first access, or freeing | certain |
//! | `Destroyed` | destruction → use of the next object at its place | certain |
//! | `Once` | initialiser done → passing it, or running it again | certain but for who runs it |
//! | `Barrier` | arrivals → departures of the round, and arrivals of the next | who meets whom is kept |
//! | `Notify` | notification → waking, as recorded | another notification might do |
//! | `Semaphore` | k-th post → k-th wait that finds it empty without | another post might do |
//! | `Futex` | each event on a futex → the next | the number woken would differ |
//! | `Failed` | what made a try fail → the try | something else might |
//! | `Recycled` | freeing → allocation of the same memory | the allocator might choose other memory |
//! | `Irregular` | each operation on a lock used against the rules → the next | |
//!
//! That memory is not accessed after it is freed is no edge: an execution may free without having
//! executed the access. Its order matters only if both are executed; the objects of the view tell.

use raddle_trace::action::Action;
use raddle_trace::event::{EventKind, LockMode};
use raddle_trace::wire::Mark;

use super::ids::{Lane, Pos, SyncId};
use crate::table::Table;

/// An order that no reordering may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Needs to have happened.
    pub from: Pos,
    /// Before this.
    pub to: Pos,
    /// Why.
    pub kind: EdgeKind,
}

/// Why there is an edge; see the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    missing_docs,
    reason = "the table in the module's documentation says it"
)]
pub enum EdgeKind {
    Fork,
    Join,
    Heap,
    Destroyed,
    Once,
    Barrier,
    Notify,
    Semaphore,
    Futex,
    Failed,
    Recycled,
    Irregular,
}

impl EdgeKind {
    /// Whether it holds in every execution of the same events.
    #[must_use]
    pub const fn is_certain(self) -> bool {
        matches!(self, Self::Fork | Self::Join | Self::Heap | Self::Destroyed)
    }
}

/// A synchronisation event, as edges are made of it.
pub(super) struct Happening {
    pub(super) pos: Pos,
    pub(super) lane: Lane,
    /// What it acts on, if that is not a thread.
    pub(super) object: SyncId,
}

#[derive(Debug, Default)]
struct Semaphore {
    posts: Vec<Pos>,
    waits: Vec<Pos>,
    /// Its value at first.
    initial: Option<u64>,
}

#[derive(Debug, Default)]
struct Round {
    arrivals: Vec<Pos>,
    before: Option<usize>,
}

/// Something is asked for that is not free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) pos: Pos,
    pub(super) object: SyncId,
    pub(super) wants: Mark,
    /// Acquisition of the hold that is in its way.
    pub(super) obstacle: Option<Pos>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LaneState {
    created: Option<Pos>,
    latest: Option<Pos>,
    request: Option<Request>,
}

/// Makes the edges, when shown each synchronisation event.
#[derive(Debug, Default)]
pub(super) struct MustOrder {
    edges: Vec<Edge>,
    lanes: Vec<LaneState>,
    notified: Table<(SyncId, Lane), Pos>,
    futexes: Table<SyncId, Pos>,
    semaphores: Table<SyncId, Semaphore>,
    /// Latest operation of each thread on a semaphore.
    semaphore_users: Table<SyncId, Vec<(Lane, Pos)>>,
    rounds: Vec<Round>,
    round_numbers: Table<(SyncId, u64), usize>,
    newest_round: Table<SyncId, usize>,
    done: Table<SyncId, Pos>,
    failed: Vec<Pos>,
}

impl MustOrder {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            lanes: vec![LaneState::default(); lanes],
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, from: Pos, to: Pos, kind: EdgeKind) {
        if from < to {
            self.edges.push(Edge { from, to, kind });
        }
    }

    /// A kept event of a thread.
    #[inline]
    pub(super) fn step(&mut self, lane: Lane, pos: Pos) {
        let state = &mut self.lanes[lane.index()];
        state.latest = Some(pos);
        if let Some(fork) = state.created.take() {
            self.add(fork, pos, EdgeKind::Fork);
        }
    }

    /// Any event of a thread, kept or not: does it answer what the thread asked for?
    #[inline]
    pub(super) fn answer(&mut self, lane: Lane, kind: &EventKind) {
        if self.lanes[lane.index()].request.is_some() {
            self.answer_request(lane, kind);
        }
    }

    #[cold]
    fn answer_request(&mut self, lane: Lane, kind: &EventKind) {
        let Some(request) = self.lanes[lane.index()].request.take() else {
            return;
        };
        let granted = match kind {
            EventKind::Action { action, .. } => {
                request.wants == Mark::OnceDone || action.mark() == request.wants
            }
            _ => false,
        };
        if !granted {
            self.fail(request);
        }
    }

    /// What made a try fail comes before it.
    fn fail(&mut self, request: Request) {
        match request.wants {
            Mark::Lock | Mark::WriteLock | Mark::ReadLock => {
                if let Some(acquire) = request.obstacle {
                    self.add(acquire, request.pos, EdgeKind::Failed);
                }
            }
            Mark::SemWait => {
                let users = self.semaphore_users.get(&request.object);
                for (_, user) in users.cloned().unwrap_or_default() {
                    self.add(user, request.pos, EdgeKind::Failed);
                }
            }
            Mark::Join => {}
            _ => return,
        }
        self.failed.push(request.pos);
    }

    pub(super) fn fork(&mut self, child: Option<Lane>, pos: Pos) {
        if let Some(child) = child {
            self.lanes[child.index()].created = Some(pos);
        }
    }

    pub(super) fn join(&mut self, joined: Option<Lane>, pos: Pos) {
        let end = joined.and_then(|lane| self.lanes[lane.index()].latest);
        if let Some(end) = end {
            self.add(end, pos, EdgeKind::Join);
        }
    }

    /// Whether it will be granted shows at the thread's next event, unless it is only `tried`.
    pub(super) fn request(&mut self, lane: Lane, request: Request, tried: bool) {
        if tried {
            self.fail(request);
        } else {
            self.lanes[lane.index()].request = Some(request);
        }
    }

    /// `waker` is the thread that the event says ended its wait.
    pub(super) fn act(&mut self, event: &Happening, action: Action, waker: Option<Lane>) {
        let &Happening { pos, lane, object } = event;
        match action {
            Action::CondNotify { .. } => {
                self.notified.insert((object, lane), pos);
            }
            Action::CondWake { .. } => {
                let notify = waker.and_then(|lane| self.notified.get(&(object, lane)));
                if let Some(&notify) = notify {
                    self.add(notify, pos, EdgeKind::Notify);
                }
            }
            Action::FutexWait { .. } | Action::FutexWake { .. } | Action::FutexNotify { .. } => {
                if let Some(before) = self.futexes.insert(object, pos) {
                    self.add(before, pos, EdgeKind::Futex);
                }
            }
            Action::SemPost { .. } | Action::SemWait { .. } => self.semaphore(event, action),
            Action::BarrierArrive { round, .. } => self.arrive(object, round, pos),
            Action::BarrierLeave { round, .. } => {
                if let Some(&id) = self.round_numbers.get(&(object, round)) {
                    self.after_round(id, pos);
                }
            }
            Action::OnceDone { .. } => {
                self.done.insert(object, pos);
            }
            Action::OnceStart { .. } | Action::OncePass { .. } => {
                if let Some(&done) = self.done.get(&object) {
                    self.add(done, pos, EdgeKind::Once);
                }
            }
            _ => {}
        }
    }

    /// The edges, by their ends, and the tries that failed.
    pub(super) fn finish(mut self, lane: impl Fn(Pos) -> Lane) -> (Vec<Edge>, Vec<Pos>) {
        let mut semaphores: Vec<_> = std::mem::take(&mut self.semaphores).into_iter().collect();
        semaphores.sort_unstable_by_key(|(id, _)| *id);
        for (_, semaphore) in semaphores {
            let initial = semaphore.initial.unwrap_or(0) as usize;
            let needing = semaphore.waits.iter().skip(initial);
            for (&post, &wait) in semaphore.posts.iter().zip(needing) {
                self.add(post, wait, EdgeKind::Semaphore);
            }
        }
        self.edges.retain(|edge| lane(edge.from) != lane(edge.to));
        self.edges
            .sort_unstable_by_key(|edge| (edge.to, edge.from, edge.kind));
        self.edges.dedup();
        self.failed.sort_unstable();
        (self.edges, self.failed)
    }

    fn semaphore(&mut self, event: &Happening, action: Action) {
        let &Happening { pos, lane, object } = event;
        let semaphore = self.semaphores.entry(object).or_default();
        let initial = match action {
            Action::SemPost { value, .. } => {
                semaphore.posts.push(pos);
                value.saturating_sub(1)
            }
            Action::SemWait { value, .. } => {
                semaphore.waits.push(pos);
                value.saturating_add(1)
            }
            _ => 0,
        };
        semaphore.initial.get_or_insert(initial);
        let users = self.semaphore_users.entry(object).or_default();
        match users.iter_mut().find(|(user, _)| *user == lane) {
            Some((_, latest)) => *latest = pos,
            None => users.push((lane, pos)),
        }
    }

    fn arrive(&mut self, object: SyncId, number: u64, pos: Pos) {
        let newest = self.newest_round.get(&object).copied();
        let current = self.round_numbers.get(&(object, number)).copied();
        let id = match current {
            Some(id) if newest == Some(id) => id,
            _ => {
                self.rounds.push(Round {
                    arrivals: Vec::new(),
                    before: newest,
                });
                self.rounds.len() - 1
            }
        };
        self.round_numbers.insert((object, number), id);
        self.newest_round.insert(object, id);
        self.rounds[id].arrivals.push(pos);
        if let Some(before) = self.rounds[id].before {
            self.after_round(before, pos);
        }
    }

    fn after_round(&mut self, id: usize, pos: Pos) {
        for arrival in self.rounds[id].arrivals.clone() {
            self.add(arrival, pos, EdgeKind::Barrier);
        }
    }
}

/// The mode in which a request wants a lock.
pub(super) fn wanted_mode(wants: Mark) -> Option<LockMode> {
    match wants {
        Mark::Lock | Mark::WriteLock => Some(LockMode::Exclusive),
        Mark::ReadLock => Some(LockMode::Shared),
        _ => None,
    }
}
