//! What one thread contributes to a match: accesses of a unit, in order.
//!
//! Tuples of the same spots, with gaps between them that are alike and for the same reason to be atomic,
//! are one class, of which the first and the last are kept, and one after which the thread goes on elsewhere: what
//! comes of an anomaly may depend on what follows it. For two accesses of a unit the widest choice is as good as
//! any: the first access of one spot and the last of the other.
//!
//! Of a long run each unit has room for a share of new classes, so that those of its end are seen as those of its beginning.

use super::classes::{Classes, Picked, PrefixId};
use super::contents::{Contents, Entry};
use super::following::Following;
use super::language::MAX_STEPS;
use super::search::Limits;
use super::spots::{Spot, SpotId, Spots};
use super::stretches::{GapsId, Stretches};
use super::units::{Basis, Units};
use crate::view::{CellId, Lane, Pos, View};

/// No unit.
pub(super) const NO_UNIT: u32 = u32::MAX;
/// Tuples of a unit that are looked at.
const MAX_TUPLES: usize = 4096;
/// Events for which there is a class, if they are many: classes take more memory than events.
const EVENTS_A_CLASS: usize = 4;
/// There may be so many classes however few events there are.
const FEW_CLASSES: usize = 1 << 17;
/// A unit may make so many times as many classes as are left for it and each that follows.
const TIMES_ITS_SHARE: usize = 2;
/// Units after which the time is looked at.
const LOOK_AT_CLOCK: usize = 1024;

/// What is asked of the accesses of one region of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// By step: number of its variable, from 0 by first appearance.
    pub(super) variables: Vec<u8>,
    /// By step: whether another thread's access to the variable has to come in between.
    pub(super) exposed: Vec<bool>,
    /// By step: whether it has to come between accesses of another thread to the variable.
    pub(super) intrudes: Vec<bool>,
}

/// Accesses of one thread, and for each the unit that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub(super) events: [Pos; MAX_STEPS],
    pub(super) units: [u32; MAX_STEPS],
}

/// Tuples that behave alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct TupleClass {
    pub(super) lane: Lane,
    pub(super) len: usize,
    pub(super) spots: [SpotId; MAX_STEPS],
    /// By step: the gaps since the step before, unknown for the first step of a region.
    pub(super) gaps: [GapsId; MAX_STEPS],
    /// Which of them read, a bit each.
    pub(super) reads: u8,
    /// Which of them write.
    pub(super) writes: u8,
    pub(super) basis: Option<Basis>,
    pub(super) first: Instance,
    pub(super) last: Instance,
    /// The first after which its thread goes on elsewhere than after `first`.
    pub(super) odd: Option<Instance>,
    pub(super) count: u64,
}

impl TupleClass {
    /// A class of single accesses, which need no unit.
    pub(super) fn single(view: &View, spots: &Spots, id: SpotId) -> Self {
        let spot = spots.get(id);
        let instance = |pos: Pos| Instance {
            events: [pos; MAX_STEPS],
            units: [NO_UNIT; MAX_STEPS],
        };
        Self {
            lane: spot.lane,
            len: 1,
            spots: [id; MAX_STEPS],
            gaps: [GapsId::UNKNOWN; MAX_STEPS],
            reads: view.reads(spot.first).into(),
            writes: view.writes(spot.first).into(),
            basis: None,
            first: instance(spot.first),
            last: instance(spot.last),
            odd: None,
            count: spot.count,
        }
    }

    /// One region's accesses after those of an earlier region of the thread.
    pub(super) fn followed_by(&self, other: &Self) -> Option<Self> {
        let (one, next) = (&self.first, &other.last);
        if self.lane != other.lane || one.events[self.len - 1] >= next.events[0] {
            return None;
        }
        let mut both = *self;
        let range = self.len..self.len + other.len;
        both.len += other.len;
        both.reads |= other.reads << self.len;
        both.writes |= other.writes << self.len;
        both.spots[range.clone()].copy_from_slice(&other.spots[..other.len]);
        both.gaps[range.clone()].copy_from_slice(&other.gaps[..other.len]);
        both.first.events[range.clone()].copy_from_slice(&next.events[..other.len]);
        both.first.units[range].copy_from_slice(&next.units[..other.len]);
        both.last = both.first;
        both.odd = None;
        both.basis = self.basis.max(other.basis);
        both.count = self.count.saturating_mul(other.count);
        Some(both)
    }

    pub(super) fn cell(&self, spots: &Spots, step: usize) -> CellId {
        spots.get(self.spots[step]).cell
    }
}

/// Gathers classes of tuples.
pub(super) struct Tuples<'a> {
    pub(super) view: &'a View,
    pub(super) stretches: &'a mut Stretches,
    pub(super) spots: &'a Spots,
    pub(super) units: &'a Units,
    pub(super) contents: &'a Contents,
    pub(super) following: &'a Following,
    pub(super) limits: Limits,
    pub(super) cut: u64,
}

/// A choice of accesses in the making.
struct Choice<'e> {
    entries: &'e [Entry],
    unit: u32,
    basis: Basis,
    picked: Vec<Picked>,
    left: usize,
}

impl Tuples<'_> {
    /// All classes of tuples of one region, by cells, thread and first tuple.
    pub(super) fn of_region(&mut self, wanted: &Wanted) -> Vec<TupleClass> {
        let mut found = Classes::new(wanted.variables.len());
        let most = FEW_CLASSES.max(self.view.len() / EVENTS_A_CLASS);
        let units = self.units.iter().len();
        for unit in 0..units {
            if unit % LOOK_AT_CLOCK == 0 && self.limits.is_late() {
                self.cut += (units - unit) as u64;
                break;
            }
            let entries = self.contents.of(unit);
            let lacks_exposed =
                wanted.exposed.contains(&true) && !entries.iter().any(|e| e.is_exposed);
            if entries.is_empty() || lacks_exposed {
                continue;
            }
            let mut choice = Choice {
                entries,
                unit: unit as u32,
                basis: self.units.get(unit as u32).basis,
                picked: Vec::with_capacity(MAX_STEPS),
                left: MAX_TUPLES,
            };
            let share = most.saturating_sub(found.len()) / (units - unit);
            found.make_room((TIMES_ITS_SHARE * share).max(1));
            self.choose(wanted, &mut choice, &mut found);
            self.cut += u64::from(choice.left == 0 || found.is_short());
        }
        let numbers = found.sorted().into_iter();
        numbers
            .map(|number| found.class(self.view, number))
            .collect()
    }

    fn choose(&mut self, wanted: &Wanted, choice: &mut Choice<'_>, found: &mut Classes) {
        let step = choice.picked.len();
        let len = wanted.variables.len();
        let latest = choice.picked.last().copied();
        let is_last = step + 1 == len;
        let entries = choice.entries;
        for entry in entries {
            let misplaced = step == 0 && !entry.may_begin || is_last && !entry.may_end;
            let covered = wanted.exposed[step] && !entry.is_exposed;
            let kept_out = wanted.intrudes[step] && !self.contents.exposure.intrudes(entry.spot);
            if misplaced || covered || kept_out {
                continue;
            }
            let &Spot { cell, lane, .. } = self.spots.get(entry.spot);
            if !has_right_cell(wanted, choice, cell) {
                continue;
            }
            let pos = match latest {
                _ if is_last => entry.last,
                Some(latest) if entry.first <= latest.pos => entry.last,
                _ => entry.first,
            };
            if latest.is_some_and(|latest| pos <= latest.pos) {
                continue;
            }
            let mut picked = Picked {
                spot: entry.spot,
                cell,
                lane,
                pos,
                gaps: GapsId::UNKNOWN,
                prefix: PrefixId::first(choice.basis, entry.spot),
            };
            if let Some(latest) = latest {
                let gaps = &mut found.gaps;
                self.stretches.gaps(self.view, latest.pos, pos, gaps);
                picked.gaps = self.stretches.gaps_id(self.view, gaps);
            }
            match (is_last, latest) {
                (true, _) => {
                    choice.picked.push(picked);
                    let following = self.following.number(pos);
                    found.add(&choice.picked, (choice.unit, choice.basis), following);
                    choice.left = choice.left.saturating_sub(1);
                }
                (false, None) => {
                    choice.picked.push(picked);
                    self.choose(wanted, choice, found);
                }
                (false, Some(latest)) => {
                    picked.prefix = found.prefix(latest.prefix, &picked);
                    choice.picked.push(picked);
                    self.choose(wanted, choice, found);
                }
            }
            choice.picked.pop();
            if choice.left == 0 {
                return;
            }
        }
    }
}

/// Whether a cell is that of equal variables before, and another than that of different ones.
fn has_right_cell(wanted: &Wanted, choice: &Choice<'_>, cell: CellId) -> bool {
    let variable = wanted.variables[choice.picked.len()];
    let mut before = choice.picked.iter().zip(&wanted.variables);
    before.all(|(picked, other)| (picked.cell == cell) == (variable == *other))
}
