//! Where a thread can be interrupted, and by whom.
//!
//! PECAN's algorithms 1 and 2: an event can be placed between two events of another thread if there is
//! a position v_x between them with which it has no partial order and no common lock. Positions of a
//! thread at which it holds the same locks, between the same communications with other threads, are
//! alike; such a *stretch* is looked at once. The lockset of an event is that of the position right
//! before it, so an acquisition can be interrupted and what follows cannot.

use crate::clocks::Clocks;
use crate::hybrid::era_starts;
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{Lane, LocksetId, Pos, View};

/// The locks held and what is known of other threads, of one thread: positions with the same context
/// behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContextId(pub(super) u32);

/// The positions between two events of a thread, as far as it matters who can be placed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GapsId(pub(super) u32);

impl GapsId {
    /// Of gaps that no number was asked for.
    pub(super) const UNKNOWN: Self = Self(u32::MAX);
}

/// A position between two neighbouring events of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// The event before.
    pub(super) after: Pos,
    /// The event behind it: PECAN's v_x.
    pub(super) before: Pos,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    context: ContextId,
    era: u32,
    /// Whether no lock is held.
    is_free: bool,
    first: Pos,
    last: Pos,
}

/// The stretches of all threads.
#[derive(Debug)]
pub(super) struct Stretches {
    /// By thread.
    lanes: Vec<Vec<Stretch>>,
    /// By position: which of its thread's stretches.
    of: Vec<u32>,
    multiple: Table<Vec<(u32, u32)>, u32>,
}

/// Stretches between two events that are looked at, half of them from each end.
const MAX_GAPS: usize = 64;
/// Marks the number of a list of gaps.
const MULTIPLE: u32 = 1 << 31;

impl Stretches {
    pub(super) fn new(view: &View) -> Self {
        let starts = era_starts(view);
        let mut eras = vec![0usize; starts.len()];
        let mut contexts: Table<(u32, u32, u32), ContextId> = Table::default();
        let mut lanes: Vec<Vec<Stretch>> = vec![Vec::new(); starts.len()];
        let mut latest: Vec<Option<(LocksetId, usize)>> = vec![None; starts.len()];
        let mut of = Vec::with_capacity(view.len());
        for pos in view.positions() {
            let lane = view.lane(pos);
            let era = &mut eras[lane.index()];
            let own = &starts[lane.index()];
            while own.get(*era).is_some_and(|start| *start <= pos) {
                *era += 1;
            }
            let lockset = view.lockset_of(pos);
            let stretches = &mut lanes[lane.index()];
            if latest[lane.index()] == Some((lockset, *era))
                && let Some(stretch) = stretches.last_mut()
            {
                stretch.last = pos;
            } else {
                latest[lane.index()] = Some((lockset, *era));
                let next = ContextId(contexts.len() as u32);
                let key = (lane.0.into(), lockset.0, *era as u32);
                stretches.push(Stretch {
                    context: *contexts.entry(key).or_insert(next),
                    era: *era as u32,
                    is_free: lockset == LocksetId(0),
                    first: pos,
                    last: pos,
                });
            }
            of.push(stretches.len() as u32 - 1);
        }
        Self {
            lanes,
            of,
            multiple: Table::default(),
        }
    }

    /// The context of an event.
    pub(super) fn context(&self, view: &View, pos: Pos) -> ContextId {
        self.stretch(view.lane(pos), self.of[pos.index()]).context
    }

    /// The gaps between two events of a thread: the first one of each stretch, in order; where no lock is
    /// held, no other one between the same communications, since whoever fits there fits here. False if
    /// some were left out because there are too many.
    pub(super) fn gaps(&self, view: &View, first: Pos, last: Pos, gaps: &mut Vec<Gap>) -> bool {
        gaps.clear();
        let lane = view.lane(first);
        let (start, end) = (self.of[first.index()], self.of[last.index()]);
        if start == end {
            gaps.push(Gap {
                after: first,
                before: last,
            });
            return true;
        }
        let partial = self.stretch(lane, start);
        if partial.last > first {
            gaps.push(Gap {
                after: first,
                before: partial.last,
            });
        }
        let half = (MAX_GAPS / 2) as u32;
        let is_complete = end - start <= MAX_GAPS as u32;
        for number in start + 1..=end {
            if is_complete || number - start <= half || end - number < half {
                gaps.push(Gap {
                    after: self.stretch(lane, number - 1).last,
                    before: self.stretch(lane, number).first,
                });
            }
        }
        self.drop_dominated(lane, gaps);
        is_complete
    }

    /// Leaves one gap without locks of those between the same communications.
    fn drop_dominated(&self, lane: Lane, gaps: &mut Vec<Gap>) {
        let of = |pos: Pos| self.stretch(lane, self.of[pos.index()]);
        let (mut kept, mut at) = (0, 0);
        while at < gaps.len() {
            let era = of(gaps[at].before).era;
            let same = gaps[at..]
                .iter()
                .take_while(|gap| of(gap.before).era == era);
            let end = at + same.count();
            let is_best = |gap: &Gap| of(gap.before).is_free && of(gap.after).era == era;
            match gaps[at..end].iter().position(is_best) {
                Some(best) => {
                    // The first gap of an era may be open to events that later ones are closed to.
                    if best > 0 && of(gaps[at].after).era != era {
                        gaps[kept] = gaps[at];
                        kept += 1;
                    }
                    gaps[kept] = gaps[at + best];
                    kept += 1;
                }
                None => {
                    gaps.copy_within(at..end, kept);
                    kept += end - at;
                }
            }
            at = end;
        }
        gaps.truncate(kept);
    }

    /// A number for gaps that are alike.
    pub(super) fn gaps_id(&mut self, view: &View, gaps: &[Gap]) -> GapsId {
        let stretch = |pos: Pos| self.stretch(view.lane(pos), self.of[pos.index()]);
        if let [gap] = gaps
            && let (after, before) = (stretch(gap.after), stretch(gap.before))
            && after.era == before.era
        {
            return GapsId(before.context.0);
        }
        let list = gaps.iter().map(|gap| {
            let (after, before) = (stretch(gap.after), stretch(gap.before));
            (after.era, before.context.0)
        });
        let list: Vec<(u32, u32)> = list.collect();
        let next = MULTIPLE | self.multiple.len() as u32;
        GapsId(*self.multiple.entry(list).or_insert(next))
    }

    /// The different locksets at which a thread can be interrupted between two of its events.
    pub(super) fn locksets(&self, view: &View, first: Pos, last: Pos, into: &mut Vec<LocksetId>) {
        into.clear();
        let lane = view.lane(first);
        let (start, end) = (self.of[first.index()], self.of[last.index()]);
        let start = match self.stretch(lane, start).last > first {
            true => start,
            false => start + 1,
        };
        let range = start as usize..end as usize + 1;
        let between = self.lanes[lane.index()].get(range).unwrap_or_default();
        for stretch in between {
            let lockset = view.lockset_of(stretch.first);
            if !into.contains(&lockset) {
                into.push(lockset);
            }
        }
    }

    fn stretch(&self, lane: Lane, number: u32) -> Stretch {
        self.lanes[lane.index()][number as usize]
    }
}

/// The hybrid condition.
pub(super) struct Mutations<'v> {
    pub(super) view: &'v View,
    pub(super) order: &'v Clocks,
    exclusions: Exclusions,
}

impl<'v> Mutations<'v> {
    pub(super) fn new(view: &'v View, order: &'v Clocks) -> Self {
        Self {
            view,
            order,
            exclusions: Exclusions::default(),
        }
    }

    /// Whether two locksets have a lock in common that excludes.
    pub(super) fn exclude(&mut self, one: LocksetId, other: LocksetId) -> bool {
        self.exclusions.exclude(self.view, one, other)
    }

    /// Whether two events hold no common lock (the first half of algorithm 1).
    pub(super) fn share_no_lock(&mut self, one: Pos, other: Pos) -> bool {
        let (one, other) = (self.view.lockset_of(one), self.view.lockset_of(other));
        !self.exclude(one, other)
    }

    /// Whether one event comes before another in every order.
    pub(super) fn is_before(&self, one: Pos, other: Pos) -> bool {
        self.order.before(self.view, one, other)
    }

    /// Algorithm 1: whether two events can be next to each other.
    pub(super) fn can_meet(&mut self, one: Pos, other: Pos) -> bool {
        self.share_no_lock(one, other) && !self.is_before(one, other) && !self.is_before(other, one)
    }

    /// The body of algorithm 2's loop: whether an event can be placed in a gap of another thread.
    pub(super) fn fits(&mut self, event: Pos, gap: Gap) -> bool {
        self.share_no_lock(gap.before, event)
            && !self.is_before(gap.before, event)
            && !self.is_before(event, gap.after)
    }
}
