//! What one thread contributes to a match: accesses of a unit, in order.
//!
//! Tuples of the same spots, with gaps between them that are alike and for the same reason to be atomic,
//! are one class, of which the first and the last are kept, and one after which the thread goes on elsewhere: what
//! comes of an anomaly may depend on what follows it. For two accesses of a unit the widest choice is as good as
//! any: the first access of one spot and the last of the other.
//!
//! Of a long run each unit has room for a share of new classes, so that those of its end are seen as those of its beginning.

use std::hash::{Hash, Hasher};

use super::exposure::Exposure;
use super::following::Following;
use super::language::MAX_STEPS;
use super::search::Limits;
use super::spots::{SpotId, Spots};
use super::stretches::{Gap, Mutations, Stretches};
use super::units::{Basis, Span, Units};
use crate::table::Table;
use crate::view::{CellId, Lane, LocksetId, Pos, View};

/// No unit.
pub(super) const NO_UNIT: u32 = u32::MAX;
/// Different spots of a unit that are looked at.
const MAX_ENTRIES: usize = 256;
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
/// Different locksets in a unit that are looked at.
const MAX_LOCKSETS: usize = 8;

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

/// A spot in a unit.
#[derive(Clone, Copy, Debug)]
struct Entry {
    spot: SpotId,
    first: Pos,
    last: Pos,
    may_begin: bool,
    may_end: bool,
    is_exposed: bool,
}

/// The spots of all units.
#[derive(Debug)]
pub(super) struct Contents {
    entries: Vec<Entry>,
    /// By unit: where its entries begin; one more at the end.
    starts: Vec<u32>,
    pub(super) exposure: Exposure,
    /// Units of which not everything was looked at.
    pub(super) cut: u64,
}

impl Contents {
    pub(super) fn new(
        mutations: &mut Mutations<'_>,
        stretches: &Stretches,
        spots: &Spots,
        units: &Units,
        limits: Limits,
    ) -> Self {
        let view = mutations.view;
        let mut contents = Self {
            entries: Vec::new(),
            starts: Vec::with_capacity(units.iter().len() + 1),
            exposure: Exposure::new(view, spots),
            cut: 0,
        };
        let mut seen = vec![u32::MAX; spots.len()];
        let mut locksets: Vec<LocksetId> = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            if number % LOOK_AT_CLOCK == 0 && limits.is_late() {
                break;
            }
            let start = contents.entries.len();
            contents.starts.push(start as u32);
            let [first, last] = unit.spans;
            let mut is_complete =
                contents.gather(view, spots, first, &mut seen, (true, first == last));
            if first != last {
                is_complete &= contents.gather(view, spots, last, &mut seen, (false, true));
            }
            stretches.locksets(view, first.first, last.last, &mut locksets);
            is_complete &= locksets.len() <= MAX_LOCKSETS;
            locksets.truncate(MAX_LOCKSETS);
            for entry in &mut contents.entries[start..] {
                for &lockset in &locksets {
                    let exposure = &mut contents.exposure;
                    entry.is_exposed |= exposure.is_exposed(mutations, spots, entry.spot, lockset);
                }
            }
            contents.cut += u64::from(!is_complete);
        }
        let end = contents.entries.len() as u32;
        contents.starts.resize(units.iter().len() + 1, end);
        contents
    }

    /// Lists the spots of a span; false if there are too many.
    fn gather(
        &mut self,
        view: &View,
        spots: &Spots,
        span: Span,
        seen: &mut [u32],
        (may_begin, may_end): (bool, bool),
    ) -> bool {
        let base = self.entries.len();
        let events = view.lane_events(view.lane(span.first));
        let start = events.partition_point(|pos| *pos < span.first);
        let inside = events[start..].iter().take_while(|pos| **pos <= span.last);
        for &pos in inside {
            for &spot in spots.of(pos) {
                let known = seen[spot.index()] as usize;
                let listed = self.entries.get_mut(known).filter(|_| known >= base);
                if let Some(entry) = listed
                    && entry.spot == spot
                {
                    entry.last = pos;
                    continue;
                }
                if self.entries.len() - base == MAX_ENTRIES {
                    return false;
                }
                seen[spot.index()] = self.entries.len() as u32;
                self.entries.push(Entry {
                    spot,
                    first: pos,
                    last: pos,
                    may_begin,
                    may_end,
                    is_exposed: false,
                });
            }
        }
        true
    }

    /// Where a unit is in the program, as far as its accesses tell: the first and the last instruction.
    pub(super) fn code(&self, spots: &Spots, unit: u32) -> (u64, u64) {
        let entries = self.of(unit as usize);
        let source = |entry: Option<&Entry>| entry.map_or(0, |it| spots.get(it.spot).source);
        (source(entries.first()), source(entries.last()))
    }

    fn of(&self, unit: usize) -> &[Entry] {
        let (start, end) = (self.starts[unit], self.starts[unit + 1]);
        &self.entries[start as usize..end as usize]
    }
}

/// Identifies a class: spots, gaps and basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    len: usize,
    words: [u32; 2 * MAX_STEPS],
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words[..self.len]
            .iter()
            .for_each(|&word| state.write_u32(word));
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
    picked: Vec<(usize, Pos)>,
    left: usize,
}

#[derive(Default)]
struct Classes {
    numbers: Table<Key, u32>,
    classes: Vec<TupleClass>,
    gaps: Vec<Gap>,
    /// How many more the present unit may make, and whether that was too few.
    room: usize,
    is_short: bool,
}

impl Tuples<'_> {
    /// All classes of tuples of one region, by cells, thread and first tuple.
    pub(super) fn of_region(&mut self, wanted: &Wanted) -> Vec<TupleClass> {
        let mut found = Classes::default();
        let most = FEW_CLASSES.max(self.view.len() / EVENTS_A_CLASS);
        let units = self.units.iter().len();
        for unit in 0..units {
            if unit % LOOK_AT_CLOCK == 0 && self.limits.is_late() {
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
                picked: Vec::with_capacity(MAX_STEPS),
                left: MAX_TUPLES,
            };
            let share = most.saturating_sub(found.classes.len()) / (units - unit);
            found.room = (TIMES_ITS_SHARE * share).max(1);
            found.is_short = false;
            self.choose(wanted, &mut choice, &mut found);
            self.cut += u64::from(choice.left == 0 || found.is_short);
        }
        let spots = self.spots;
        let mut classes = found.classes;
        classes.sort_by_cached_key(|class| {
            let mut cells = [CellId(0); MAX_STEPS];
            for (step, cell) in cells.iter_mut().take(class.len).enumerate() {
                *cell = class.cell(spots, step);
            }
            (cells, class.lane, class.first.events)
        });
        classes
    }

    fn choose(&mut self, wanted: &Wanted, choice: &mut Choice<'_>, found: &mut Classes) {
        let step = choice.picked.len();
        let len = wanted.variables.len();
        if step == len {
            self.add(choice, found);
            choice.left = choice.left.saturating_sub(1);
            return;
        }
        let latest = choice.picked.last().map(|&(_, pos)| pos);
        for at in 0..choice.entries.len() {
            let entry = choice.entries[at];
            let misplaced = step == 0 && !entry.may_begin || step + 1 == len && !entry.may_end;
            let covered = wanted.exposed[step] && !entry.is_exposed;
            let kept_out = wanted.intrudes[step] && !self.contents.exposure.intrudes(entry.spot);
            if misplaced || covered || kept_out || !self.has_right_cell(wanted, choice, entry) {
                continue;
            }
            let pos = match latest {
                _ if step + 1 == len => entry.last,
                Some(latest) if entry.first <= latest => entry.last,
                _ => entry.first,
            };
            if latest.is_some_and(|latest| pos <= latest) {
                continue;
            }
            choice.picked.push((at, pos));
            self.choose(wanted, choice, found);
            choice.picked.pop();
            if choice.left == 0 {
                return;
            }
        }
    }

    /// Whether an entry has the cell of equal variables before, and another than different ones.
    fn has_right_cell(&self, wanted: &Wanted, choice: &Choice<'_>, entry: Entry) -> bool {
        let variable = wanted.variables[choice.picked.len()];
        let cell = self.spots.get(entry.spot).cell;
        let before = choice.picked.iter().zip(&wanted.variables);
        before
            .map(|(&(at, _), other)| (choice.entries[at].spot, *other))
            .all(|(spot, other)| (self.spots.get(spot).cell == cell) == (variable == other))
    }

    fn add(&mut self, choice: &Choice<'_>, found: &mut Classes) {
        let basis = self.units.get(choice.unit).basis;
        let len = choice.picked.len();
        let mut key = Key {
            len: 2 * len,
            words: [0; 2 * MAX_STEPS],
        };
        let mut events = [Pos(0); MAX_STEPS];
        let mut spots = [SpotId(0); MAX_STEPS];
        key.words[0] = basis as u32;
        for (step, &(at, pos)) in choice.picked.iter().enumerate() {
            spots[step] = choice.entries[at].spot;
            events[step] = pos;
            key.words[2 * step + 1] = spots[step].0;
            if step > 0 {
                let gaps = &mut found.gaps;
                self.stretches.gaps(self.view, events[step - 1], pos, gaps);
                key.words[2 * step] = self.stretches.gaps_id(self.view, gaps).0;
            }
        }
        let instance = Instance {
            events,
            units: [choice.unit; MAX_STEPS],
        };
        let view = self.view;
        let bits = |is_set: &dyn Fn(Pos) -> bool| {
            let own = events[..len].iter().enumerate();
            own.fold(0, |bits, (at, &pos)| bits | u8::from(is_set(pos)) << at)
        };
        if found.room == 0 && !found.numbers.contains_key(&key) {
            found.is_short = true;
            return;
        }
        let classes = &mut found.classes;
        let room = &mut found.room;
        let number = *found.numbers.entry(key).or_insert_with(|| {
            classes.push(TupleClass {
                lane: view.lane(events[0]),
                len,
                spots,
                reads: bits(&|pos| view.reads(pos)),
                writes: bits(&|pos| view.writes(pos)),
                basis: Some(basis),
                first: instance,
                last: instance,
                odd: None,
                count: 0,
            });
            *room -= 1;
            classes.len() as u32 - 1
        });
        let class = &mut classes[number as usize];
        let goes_on = |it: &Instance| self.following.number(it.events[len - 1]);
        if class.odd.is_none() && class.count > 0 && goes_on(&instance) != goes_on(&class.first) {
            class.odd = Some(instance);
        }
        class.last = instance;
        class.count += 1;
    }
}
