//! Classes of tuples in the making.

use super::language::MAX_STEPS;
use super::spots::SpotId;
use super::stretches::{Gap, GapsId};
use super::tuples::{Instance, TupleClass};
use super::units::Basis;
use crate::table::Table;
use crate::view::{CellId, Lane, Pos, View};

/// The beginning of a tuple, as far as classes tell: its basis and its first spot, or a shorter beginning with the gaps and
/// the spot that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PrefixId(u64);

impl PrefixId {
    pub(super) fn first(basis: Basis, spot: SpotId) -> Self {
        Self((basis as u64) << 32 | u64::from(spot.0))
    }

    /// The longer one with this number.
    fn longer(number: usize) -> Self {
        Self(1 << 63 | number as u64)
    }
}

/// An access of a choice.
#[derive(Clone, Copy)]
pub(super) struct Picked {
    pub(super) spot: SpotId,
    pub(super) cell: CellId,
    pub(super) lane: Lane,
    pub(super) pos: Pos,
    /// The gaps since the one before.
    pub(super) gaps: GapsId,
    /// The choice up to here.
    pub(super) prefix: PrefixId,
}

/// Classes in the making. Most of what is done is to count one tuple more, so little is kept of each class here, and side by
/// side.
pub(super) struct Classes {
    /// Steps of a tuple.
    len: usize,
    /// Beginnings of more than one step, and at last whole tuples: those of a class by the class's number.
    numbers: Table<(PrefixId, GapsId, SpotId), u32>,
    /// How many beginnings there are that are no whole tuples.
    beginnings: usize,
    tallies: Vec<Tally>,
    /// By class and step: the first tuple.
    firsts: Vec<Picked>,
    /// By class and step: the last tuple.
    lasts: Vec<Pos>,
    /// By class and step, of those that have one: the odd tuple.
    odds: Vec<Pos>,
    pub(super) gaps: Vec<Gap>,
    /// How many more classes the present unit may make, and whether that was too few.
    room: usize,
    is_short: bool,
}

/// What is counted of a class.
struct Tally {
    count: u64,
    /// What comes after the first tuple.
    following: u64,
    basis: Basis,
    /// The units of the first and the last tuple.
    first: u32,
    last: u32,
    /// The unit of the odd tuple, and where that begins among all.
    odd: Option<(u32, u32)>,
}

impl Classes {
    pub(super) fn new(len: usize) -> Self {
        Self {
            len,
            numbers: Table::default(),
            beginnings: 0,
            tallies: Vec::new(),
            firsts: Vec::new(),
            lasts: Vec::new(),
            odds: Vec::new(),
            gaps: Vec::new(),
            room: 0,
            is_short: false,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.tallies.len()
    }

    /// The next unit may make so many.
    pub(super) fn make_room(&mut self, room: usize) {
        self.room = room;
        self.is_short = false;
    }

    /// Whether the present unit would have made more.
    pub(super) fn is_short(&self) -> bool {
        self.is_short
    }

    /// The beginning that goes on with this access.
    pub(super) fn prefix(&mut self, before: PrefixId, picked: &Picked) -> PrefixId {
        let next = self.beginnings;
        let key = (before, picked.gaps, picked.spot);
        let number = *self.numbers.entry(key).or_insert(next as u32) as usize;
        self.beginnings += usize::from(number == next);
        PrefixId::longer(number)
    }

    /// The numbers of the classes, by cells, thread and first tuple. There are no more tuples.
    pub(super) fn sorted(&mut self) -> Vec<usize> {
        self.numbers = Table::default();
        let mut numbers: Vec<usize> = (0..self.tallies.len()).collect();
        numbers.sort_by_cached_key(|number| {
            let (mut cells, mut events) = ([CellId(0); MAX_STEPS], [Pos(0); MAX_STEPS]);
            let first = &self.firsts[number * self.len..];
            for (step, picked) in first.iter().take(self.len).enumerate() {
                (cells[step], events[step]) = (picked.cell, picked.pos);
            }
            (cells, first[0].lane, events)
        });
        numbers
    }

    /// Counts a tuple of a unit, after which its thread does what has this number.
    pub(super) fn add(&mut self, picked: &[Picked], (unit, basis): (u32, Basis), following: u64) {
        let Some(last) = picked.last() else {
            return;
        };
        let before = picked.iter().rev().nth(1);
        let prefix = before.map_or(last.prefix, |it| it.prefix);
        let next = self.tallies.len() as u32;
        let key = (prefix, last.gaps, last.spot);
        let number = match self.numbers.get(&key) {
            Some(&number) => number as usize,
            None if self.room == 0 => {
                self.is_short = true;
                return;
            }
            None => {
                self.room -= 1;
                self.numbers.insert(key, next);
                next as usize
            }
        };
        let positions = picked.iter().map(|it| it.pos);
        if number == self.tallies.len() {
            self.firsts.extend(picked);
            self.lasts.extend(positions);
            self.tallies.push(Tally {
                count: 1,
                following,
                basis,
                first: unit,
                last: unit,
                odd: None,
            });
            return;
        }
        let tally = &mut self.tallies[number];
        tally.count += 1;
        tally.last = unit;
        if tally.odd.is_none() && following != tally.following {
            tally.odd = Some((unit, self.odds.len() as u32));
            self.odds.extend(positions.clone());
        }
        let lasts = &mut self.lasts[number * self.len..];
        lasts
            .iter_mut()
            .zip(positions)
            .for_each(|(last, pos)| *last = pos);
    }

    /// A class that is complete.
    pub(super) fn class(&self, view: &View, number: usize) -> TupleClass {
        let len = self.len;
        let tally = &self.tallies[number];
        let steps = number * len..(number + 1) * len;
        let first = &self.firsts[steps.clone()];
        let mut class = TupleClass {
            lane: first[0].lane,
            len,
            spots: [SpotId(0); MAX_STEPS],
            gaps: [GapsId::UNKNOWN; MAX_STEPS],
            reads: 0,
            writes: 0,
            basis: Some(tally.basis),
            first: instance(first.iter().map(|it| it.pos), tally.first),
            last: instance(self.lasts[steps].iter().copied(), tally.last),
            odd: tally.odd.map(|(unit, start)| {
                let odd = self.odds[start as usize..].iter().take(len);
                instance(odd.copied(), unit)
            }),
            count: tally.count,
        };
        for (step, picked) in first.iter().enumerate() {
            class.spots[step] = picked.spot;
            class.gaps[step] = picked.gaps;
            class.reads |= u8::from(view.reads(picked.pos)) << step;
            class.writes |= u8::from(view.writes(picked.pos)) << step;
        }
        class
    }
}

/// A tuple of one unit.
fn instance(positions: impl Iterator<Item = Pos>, unit: u32) -> Instance {
    let mut events = [Pos(0); MAX_STEPS];
    for (event, pos) in events.iter_mut().zip(positions) {
        *event = pos;
    }
    Instance {
        events,
        units: [unit; MAX_STEPS],
    }
}
