//! Units: what is meant, or suspected to be meant, to be atomic.
//!
//! | basis | unit |
//! | --- | --- |
//! | `Lock` | from the acquisition of an outermost lock to its release |
//! | `Marked` | a call of a function that the user marked, or any stretch of a thread that the user did |
//! | `Suspected` | two lock regions that follow each other within one call |
//!
//! As in PECAN (section 4.1) creating and joining threads, waiting and notifying end a lock region.
//! Locks that overlap without nesting make overlapping units, each from its acquisition to its release,
//! so that a hand-over-hand walk is not taken for one. Who waits for another thread gives up atomicity:
//! waiting also splits marked calls, and two lock regions with a wait in between are not suspected. The
//! exception is to wait for a change of what a lock guards, which gives the lock up and takes it back:
//! to act upon what was seen before is the mistake that condition variables are known for.
//!
//! Of a suspected unit the first access lies in the first of the two regions and the last one in the
//! second. In a call with many regions each is taken together with the next one, and with the next one of
//! its lock, but with no other.

use raddle_judge::Region;
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};

use crate::table::Table;
use crate::view::{Hold, Kind, Lane, Pos, View};

/// Why something ought to be atomic; the better reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// It is one outermost lock region.
    Lock,
    /// The user says so.
    Marked,
    /// A call takes locks one after the other.
    Suspected,
}

/// A range of a thread's kept events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) first: Pos,
    pub(super) last: Pos,
}

/// Something that ought to be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Whose.
    pub lane: Lane,
    /// Why.
    pub basis: Basis,
    /// The same in the judge's terms.
    pub region: Region,
    /// The function whose call it is, or in whose call it is suspected: its first instruction.
    pub function: Option<SiteId>,
    /// Where its first access is looked for, and where its last.
    pub(super) spans: [Span; 2],
}

impl Unit {
    /// Its first and its last kept event.
    #[must_use]
    pub fn bounds(&self) -> (Pos, Pos) {
        (self.spans[0].first, self.spans[1].last)
    }

    fn rank(&self) -> impl Ord + use<> {
        (self.lane, self.spans, self.basis)
    }
}

/// A part of a thread that is meant to be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    /// Whose.
    pub thread: ThreadId,
    /// Its first event.
    pub first: EventIndex,
    /// Its last event.
    pub last: EventIndex,
}

/// The units of a trace.
#[derive(Clone, Debug, Default)]
pub struct Units {
    units: Vec<Unit>,
}

impl Units {
    /// All units: lock regions, calls that were marked when the view was made, and suspected ones.
    #[must_use]
    pub fn new(view: &View) -> Self {
        Self::with(view, &[Basis::Lock, Basis::Marked, Basis::Suspected])
    }

    /// The units of some bases.
    #[must_use]
    pub fn with(view: &View, bases: &[Basis]) -> Self {
        let outermost = outermost_holds(view);
        let mut units = Vec::new();
        if bases.contains(&Basis::Marked) {
            units.extend(marked_units(view));
        }
        if bases.contains(&Basis::Suspected) {
            units.extend(suspected_units(view, &outermost));
        }
        if bases.contains(&Basis::Lock) {
            units.extend(lock_units(view, &outermost));
        }
        units.sort_by_key(Unit::rank);
        Self { units }
    }

    /// Adds parts of threads that the user means to be atomic.
    pub fn mark(&mut self, view: &View, stretches: &[Stretch]) {
        for stretch in stretches {
            let mut threads = view.threads().iter();
            let Some(lane) = threads.position(|it| *it == stretch.thread) else {
                continue;
            };
            let lane = Lane(lane as u16);
            let end = EventIndex(stretch.last.0 + 1);
            for piece in pieces(view, lane, stretch.first, end) {
                let (Some(&first), Some(&last)) = (piece.first(), piece.last()) else {
                    continue;
                };
                self.units.push(Unit {
                    lane,
                    basis: Basis::Marked,
                    region: Region::Marked {
                        first: view.event_index(first),
                        last: view.event_index(last),
                    },
                    function: None,
                    spans: [Span { first, last }; 2],
                });
            }
        }
        self.units.sort_by_key(Unit::rank);
    }

    /// The units, by thread, then in trace order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Unit> {
        self.units.iter()
    }

    /// Forgets units that the caller knows not to be meant as such.
    pub fn retain(&mut self, keep: impl FnMut(&Unit) -> bool) {
        self.units.retain(keep);
    }

    pub(super) fn get(&self, index: u32) -> &Unit {
        &self.units[index as usize]
    }
}

/// By thread: the holds that no other one contains, of which both ends ascend. Where it is not known who holds
/// a lock, it makes nothing atomic.
fn outermost_holds(view: &View) -> Vec<Vec<Hold>> {
    let mut outermost: Vec<Vec<Hold>> = vec![Vec::new(); view.threads().len()];
    let is_known = |hold: &&Hold| !view.syncs()[hold.lock.index()].is_irregular;
    for &hold in view.holds().iter().filter(is_known) {
        let own = &mut outermost[hold.lane.index()];
        if own.last().is_none_or(|last| end(last) < end(&hold)) {
            own.push(hold);
        }
    }
    outermost
}

/// Where a hold ends, if it does.
fn end(hold: &Hold) -> Pos {
    hold.release.unwrap_or(Pos(u32::MAX))
}

/// Lock regions.
fn lock_units(view: &View, outermost: &[Vec<Hold>]) -> Vec<Unit> {
    let mut units = Vec::new();
    // Regions of a thread do not overlap.
    let mut passed = vec![0; outermost.len()];
    for region in view.regions() {
        let own = &outermost[region.lane.index()];
        let passed = &mut passed[region.lane.index()];
        while own.get(*passed).is_some_and(|it| end(it) < region.first) {
            *passed += 1;
        }
        let overlapping = own[*passed..]
            .iter()
            .take_while(|h| h.acquire <= region.last);
        for hold in overlapping {
            let span = Span {
                first: region.first.max(hold.acquire),
                last: region.last.min(end(hold)),
            };
            let (first, last) = (view.event_index(span.first), view.event_index(span.last));
            let is_whole = span.first == hold.acquire
                && hold.release == Some(span.last)
                && view.kind(span.first) == Kind::Acquire
                && view.kind(span.last) == Kind::Release;
            let region = match is_whole {
                true => Region::Lock {
                    acquire: first,
                    release: last,
                },
                false => Region::Marked { first, last },
            };
            units.push(Unit {
                lane: hold.lane,
                basis: Basis::Lock,
                region,
                function: None,
                spans: [span; 2],
            });
        }
    }
    units
}

/// Outermost marked calls, split where their threads wait.
fn marked_units(view: &View) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut covered = None;
    for call in view.calls().iter().filter(|call| call.is_marked) {
        let is_inner = covered.is_some_and(|(lane, end)| lane == call.lane && call.enter < end);
        if is_inner {
            continue;
        }
        covered = Some((call.lane, call.end));
        let pieces = pieces(view, call.lane, call.enter, call.end);
        for piece in &pieces {
            let (Some(&first), Some(&last)) = (piece.first(), piece.last()) else {
                continue;
            };
            let region = match (call.exit, pieces.len()) {
                (Some(exit), 1) => Region::Call {
                    enter: call.enter,
                    exit,
                },
                _ => Region::Marked {
                    first: view.event_index(first),
                    last: view.event_index(last),
                },
            };
            units.push(Unit {
                lane: call.lane,
                basis: Basis::Marked,
                region,
                function: Some(call.function),
                spans: [Span { first, last }; 2],
            });
        }
    }
    units
}

/// The kept events of a stretch of a thread, split where it waits.
fn pieces(view: &View, lane: Lane, from: EventIndex, end: EventIndex) -> Vec<&[Pos]> {
    let events = view.lane_events(lane);
    let start = events.partition_point(|&pos| view.event_index(pos) < from);
    let end = events.partition_point(|&pos| view.event_index(pos) < end);
    let pieces = events[start..end].split(|&pos| is_wait(view, pos));
    pieces.collect()
}

/// Each lock region with the next one, and with the next one of its lock, if they are within a call.
fn suspected_units(view: &View, outermost: &[Vec<Hold>]) -> Vec<Unit> {
    let mut units = Vec::new();
    for holds in outermost.iter().filter(|holds| !holds.is_empty()) {
        let waits = waits(view, holds[0].lane);
        let mut again = Table::default();
        for (at, hold) in holds.iter().enumerate().rev() {
            let behind = at + 1 + holds[at + 1..].partition_point(|it| it.acquire <= end(hold));
            let next = (behind < holds.len()).then_some(behind);
            let same = again.insert(hold.lock, at).filter(|&it| it >= behind);
            let other = next.filter(|it| same != Some(*it));
            let pairs = [same, other].into_iter().flatten();
            units.extend(pairs.filter_map(|it| suspected_unit(view, &waits, hold, &holds[it])));
        }
    }
    units
}

fn suspected_unit(view: &View, waits: &[Pos], one: &Hold, other: &Hold) -> Option<Unit> {
    let events = view.lane_events(one.lane);
    let span = |hold: &Hold| {
        let last = hold.release.or(events.last().copied())?;
        let first = hold.acquire;
        Some(Span { first, last })
    };
    let [first, second] = [span(one)?, span(other)?];
    let start = waits.partition_point(|&pos| pos <= first.last);
    let between = waits[start..].iter().take_while(|&&pos| pos < second.first);
    let gives_up = |&pos: &Pos| one.lock != other.lock || !is_monitor_wait(view, pos);
    if between.copied().any(|pos| gives_up(&pos)) {
        return None;
    }
    let call = view.call_around(first.first, second.last)?;
    let call = &view.calls()[call.0 as usize];
    let region = match call.exit {
        Some(exit) => Region::Call {
            enter: call.enter,
            exit,
        },
        None => Region::Marked {
            first: view.event_index(first.first),
            last: view.event_index(second.last),
        },
    };
    Some(Unit {
        lane: one.lane,
        basis: Basis::Suspected,
        region,
        function: Some(call.function),
        spans: [first, second],
    })
}

/// Where a thread waits.
fn waits(view: &View, lane: Lane) -> Vec<Pos> {
    let events = view.lane_events(lane).iter().copied();
    events.filter(|&pos| is_wait(view, pos)).collect()
}

/// Whether a thread waits for another one here. Waiting for a lock is no such thing.
fn is_wait(view: &View, pos: Pos) -> bool {
    match view.kind(pos) {
        Kind::CondWait | Kind::SemWait | Kind::BarrierArrive | Kind::Join => true,
        Kind::FutexWait => {
            let futex = view.sync_of(pos).map(|sync| view.syncs()[sync.index()]);
            futex.is_some_and(|futex| !futex.is_lock)
        }
        _ => false,
    }
}

/// Whether a wait may be one for a change of what a lock guards, as a monitor's is: whoever looked before is
/// expected to look again.
fn is_monitor_wait(view: &View, pos: Pos) -> bool {
    matches!(view.kind(pos), Kind::CondWait | Kind::FutexWait)
}
