//! Finds the accesses to memory that inline assembly makes.
//!
//! The text of the assembly tells which of its operands are in memory and what happens to them ([`template`],
//! [`meaning`]), the constraints how they are handed over ([`constraints`]): by their address (`m`), or with the
//! address in a register that the text puts into parentheses or brackets. Both become accesses of the kinds that
//! compiled code has, so that only the instrumenter and re-execution know of assembly.
//!
//! What it may miss: addresses that the assembly itself computes in a register, or loads; symbols and segments that only
//! the text names; bits that `bts` and its like reach beyond their operand; strings that are compared; everything after a
//! jump that is addressed by a register, since the address need not be valid there. What it takes for more than it is: moves of
//! ordinary data, which count as atomic. Assembly is one step: a loop in it that waits for another thread keeps the turn.

mod constraints;
mod emit;
mod meaning;
mod place;
mod reader;
mod registers;
mod template;

use raddle_trace::wire::{Ordering, SiteKind};

use super::pieces::{MAX_PIECES, Piece};
use crate::llvm::{Layout, Value, ValueKind};
use meaning::Effect;
use reader::{Reader, Step};
use template::Dialect;

/// An event of inline assembly.
pub(super) struct Touch<'m> {
    pub(super) kind: SiteKind,
    pub(super) order: Ordering,
    /// None for fences.
    pub(super) address: Option<Address<'m>>,
    pub(super) extent: Extent<'m>,
    /// What a compare-exchange expects to find, if that is known.
    pub(super) expected: Option<Value<'m>>,
}

/// How many bytes an event is about.
#[derive(Clone, PartialEq)]
pub(super) enum Extent<'m> {
    /// So many pieces, an event each.
    Pieces(Vec<Piece>),
    /// A range of so many bytes, times a value if there is one.
    Range(u64, Option<Value<'m>>),
}

/// An address that is computed from operands of the assembly.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Address<'m> {
    /// A pointer or an integer.
    pub(super) base: Value<'m>,
    /// An integer, and what it is multiplied by.
    pub(super) index: Option<(Value<'m>, u64)>,
    pub(super) offset: i64,
}

/// What a call does if its callee is inline assembly: its events in the order in which they happen.
pub(super) fn touches<'m>(call: Value<'m>, layout: Layout<'m>) -> Vec<Touch<'m>> {
    let callee = call.callee();
    if callee.kind() != ValueKind::Assembly {
        return Vec::new();
    }
    let dialect = match callee.is_intel() {
        true => Dialect::Intel,
        false => Dialect::Att,
    };
    let (steps, expected) = Reader::new(call, layout).read(dialect);
    // All slots have to fit after one limit check.
    let mut room = MAX_PIECES;
    let mut touches = Vec::new();
    for step in &steps {
        let made = made_of(step, expected);
        let count: usize = made.iter().map(Touch::events).sum();
        if count <= room {
            room -= count;
            touches.extend(made);
        }
    }
    touches
}

/// The events of a step.
fn made_of<'m>(step: &Step<'m>, expected: Option<Value<'m>>) -> Vec<Touch<'m>> {
    let touch = |kind, order, address, extent| Touch {
        kind,
        order,
        address,
        extent,
        expected: None,
    };
    let (address, effect, bytes) = match *step {
        Step::Fence(order) => {
            let nothing = Extent::Range(0, None);
            return vec![touch(SiteKind::Fence, order, None, nothing)];
        }
        Step::Access(address, effect, bytes) if bytes <= 8 * MAX_PIECES as u64 / 2 => {
            (address, effect, bytes)
        }
        Step::Access(address, effect, bytes) => {
            return made_of(&Step::Range(address, effect, bytes, None), None);
        }
        Step::Range(address, effect, bytes, count) => {
            let reads = effect != Effect::Write;
            let writes = effect != Effect::Read;
            let one = |kind| {
                let extent = Extent::Range(bytes, count);
                touch(kind, Ordering::Plain, Some(address), extent)
            };
            let read = reads.then(|| one(SiteKind::RangeRead));
            let written = writes.then(|| one(SiteKind::RangeWrite));
            return read.into_iter().chain(written).collect();
        }
    };
    let one = |kind, order| {
        let extent = Extent::Pieces(pieces(bytes));
        touch(kind, order, Some(address), extent)
    };
    match effect {
        Effect::Read => vec![one(SiteKind::AtomicLoad, Ordering::Acquire)],
        Effect::Write => vec![one(SiteKind::AtomicStore, Ordering::Release)],
        // A write by another thread in between would be lost; a reader gets the old value or the new one.
        Effect::Update => vec![
            one(SiteKind::Read, Ordering::Plain),
            one(SiteKind::AtomicStore, Ordering::Release),
        ],
        Effect::Rmw => vec![one(SiteKind::Rmw, Ordering::SeqCst)],
        Effect::Cas => {
            let cas = one(SiteKind::Cas, Ordering::SeqCst);
            let expected = expected.filter(|_| bytes <= 8);
            vec![Touch { expected, ..cas }]
        }
    }
}

/// The pieces of an access.
fn pieces(bytes: u64) -> Vec<Piece> {
    let piece = |offset| Piece {
        offset,
        size: (bytes - offset).min(8) as u8,
    };
    (0..bytes).step_by(8).map(piece).collect()
}

impl<'m> Touch<'m> {
    /// How many sites it has.
    pub(super) fn events(&self) -> usize {
        match &self.extent {
            Extent::Pieces(pieces) => pieces.len(),
            Extent::Range(..) => 1,
        }
    }
}

impl<'m> Address<'m> {
    /// The address that a value is.
    fn at(base: Value<'m>) -> Address<'m> {
        Address {
            base,
            index: None,
            offset: 0,
        }
    }
}
