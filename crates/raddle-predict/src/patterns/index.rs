//! The classes that a part of a pattern may be, by the cells that earlier parts bind.

use super::plan::Part;
use super::spots::Spots;
use super::tuples::TupleClass;
use crate::table::Table;
use crate::view::{CellId, Lane};

/// No cell.
pub(super) const UNBOUND: u32 = u32::MAX;

/// The classes of a part.
#[derive(Default)]
pub(super) struct Index {
    /// By cells that earlier parts bind.
    pub(super) listed: Table<(u32, u32), Vec<Listed>>,
    /// How the accesses of classes read and write, each way once.
    pub(super) kinds: Vec<Accesses>,
}

/// A class, with what most of them are refused by.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) number: u32,
    pub(super) lane: Lane,
    /// How its accesses read and write: one of the kinds.
    pub(super) kind: u16,
}

/// Which steps read and which write, as far as they are known: a bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Accesses {
    pub(super) known: u8,
    pub(super) reads: u8,
    pub(super) writes: u8,
}

impl Accesses {
    pub(super) fn of(part: &Part, class: &TupleClass) -> Self {
        let mut accesses = Self::default();
        for (place, &step) in part.steps.iter().enumerate() {
            accesses.known |= 1 << step;
            accesses.reads |= (class.reads >> place & 1) << step;
            accesses.writes |= (class.writes >> place & 1) << step;
        }
        accesses
    }

    /// These, and those of other steps.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            known: self.known | other.known,
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
        }
    }
}

impl Index {
    pub(super) fn new(part: &Part, classes: &[TupleClass], spots: &Spots) -> Self {
        let mut index = Self::default();
        for (number, class) in (0..).zip(classes) {
            let accesses = Accesses::of(part, class);
            let known = index.kinds.iter().position(|it| *it == accesses);
            let kind = known.unwrap_or_else(|| {
                index.kinds.push(accesses);
                index.kinds.len() - 1
            });
            let key = key(part, |place| class.cell(spots, place));
            index.listed.entry(key).or_default().push(Listed {
                number,
                lane: class.lane,
                kind: kind as u16,
            });
        }
        index
    }
}

/// The cells that earlier parts bind, of a class with these.
pub(super) fn key(part: &Part, cell: impl Fn(usize) -> CellId) -> (u32, u32) {
    let word = |at: usize| part.bound.get(at).map_or(UNBOUND, |&place| cell(place).0);
    (word(0), word(1))
}
