//! Puts the hooks of inline assembly in.
//!
//! All slots are taken before the assembly, so that it is one step: a limit is checked before the first only. What it
//! reads is looked up right before it, what it leaves right after it, since no other thread runs in between.

use std::collections::HashSet;

use raddle_model::Opcode;
use raddle_trace::wire::SiteKind;

use super::super::insert::{Inserter, predicate};
use super::super::pieces::{Piece, split};
use super::{Address, Extent, Touch};
use crate::llvm::{Metadata, Value};

/// What comes next after assembly; if it jumps, each of the places that it may jump to.
fn places_after(at: Value<'_>) -> Vec<Value<'_>> {
    if !at.is(Opcode::CallBr) {
        return at.next_instruction().into_iter().collect();
    }
    // The pipeline has split critical edges, so nothing but this assembly leads there.
    let mut targets = at.successors();
    let mut seen = HashSet::new();
    targets.retain(|target| seen.insert(*target));
    let firsts = targets
        .into_iter()
        .filter_map(|target| target.instructions().find(|it| !it.is(Opcode::Phi)));
    firsts.collect()
}

/// A slot that waits for its value.
struct Open<'m> {
    slot: Value<'m>,
    address: Value<'m>,
    piece: Piece,
    /// What was there before the assembly, if the event tells.
    before: Option<Value<'m>>,
}

impl<'m> Inserter<'_, 'm> {
    /// The events of the assembly at `at`, from `site` on, and of the pieces of its result.
    pub(in super::super) fn assembly(
        &self,
        at: Value<'m>,
        site: u32,
        touches: &[Touch<'m>],
        results: &[Piece],
        location: Option<Metadata<'m>>,
    ) {
        let mut site = site;
        let mut open: Vec<Vec<Open<'m>>> = Vec::new();
        let mut is_first = true;
        for touch in touches {
            let slots = self.take_slots(touch, site, &mut is_first);
            site += touch.events() as u32;
            open.push(slots);
        }
        // After the first slot, whose hook may have let other threads run.
        for (touch, slots) in touches.iter().zip(&mut open) {
            let is_told = touch.kind != SiteKind::AtomicStore;
            if matches!(touch.extent, Extent::Pieces(_)) && is_told {
                for slot in slots {
                    slot.before = Some(self.content(slot));
                }
            }
        }
        let expected: Vec<Option<Value<'m>>> =
            touches.iter().map(|touch| self.expected(touch)).collect();
        for place in places_after(at) {
            self.builder.position(place, location);
            for ((touch, slots), expected) in touches.iter().zip(&open).zip(&expected) {
                self.complete(touch, slots, *expected);
            }
        }
        if results.is_empty() {
            return;
        }
        let values = split(&self.builder, at);
        for (index, (_, value)) in results.iter().zip(values).enumerate() {
            let slot = self.slot(site + index as u32, self.null(), index == 0);
            self.fill(slot, value);
        }
    }

    fn take_slots(&self, touch: &Touch<'m>, site: u32, is_first: &mut bool) -> Vec<Open<'m>> {
        let base = touch
            .address
            .map_or_else(|| self.null(), |it| self.address(it));
        let whole = [Piece { offset: 0, size: 0 }];
        let pieces = match &touch.extent {
            Extent::Pieces(pieces) => pieces.as_slice(),
            Extent::Range(..) => &whole,
        };
        let is_pair = matches!(touch.kind, SiteKind::Rmw | SiteKind::Cas);
        let one = |(index, piece): (usize, &Piece)| {
            let address = self.builder.offset(base, piece.offset);
            let check = std::mem::take(is_first);
            let slot = self.slot(site + index as u32, address, check);
            if is_pair {
                self.extra(slot);
            }
            Open {
                slot,
                address,
                piece: *piece,
                before: None,
            }
        };
        pieces.iter().enumerate().map(one).collect()
    }

    /// The address of an access, computed as the assembly does.
    fn address(&self, address: Address<'m>) -> Value<'m> {
        let is_pointer = address.base.ty() == self.module.pointer_type();
        if is_pointer && address.index.is_none() {
            return self.builder.offset(address.base, address.offset as u64);
        }
        let sum = |left, right| self.builder.binary(Opcode::Add, left, right);
        let mut at = split(&self.builder, address.base)[0];
        if let Some((index, scale)) = address.index {
            let index = split(&self.builder, index)[0];
            let scaled = self.builder.binary(Opcode::Mul, index, self.word(scale));
            at = sum(at, scaled);
        }
        let at = sum(at, self.word(address.offset as u64));
        let pointer = self.module.pointer_type();
        self.builder.cast(Opcode::IntToPtr, at, pointer)
    }

    /// What memory holds at a slot's address, as 64 bits.
    fn content(&self, open: &Open<'m>) -> Value<'m> {
        let ty = self.module.int_type(8 * u32::from(open.piece.size));
        split(&self.builder, self.builder.peek(ty, open.address))[0]
    }

    /// What a compare-exchange expects, as 64 bits, if it is known and has one piece.
    fn expected(&self, touch: &Touch<'m>) -> Option<Value<'m>> {
        let Extent::Pieces(pieces) = &touch.extent else {
            return None;
        };
        let [Piece { size, .. }] = pieces[..] else {
            return None;
        };
        let whole = split(&self.builder, touch.expected?);
        let [word] = whole[..] else { return None };
        let mask = u64::MAX >> (64 - 8 * u32::from(size));
        Some(self.builder.binary(Opcode::And, word, self.word(mask)))
    }

    /// Fills the slots of an event, now that the assembly has been executed.
    fn complete(&self, touch: &Touch<'m>, slots: &[Open<'m>], expected: Option<Value<'m>>) {
        let length = match &touch.extent {
            Extent::Range(bytes, None) => Some(self.word(*bytes)),
            Extent::Range(bytes, Some(count)) => {
                let count = split(&self.builder, *count)[0];
                Some(self.builder.binary(Opcode::Mul, count, self.word(*bytes)))
            }
            Extent::Pieces(_) => None,
        };
        if let Some(length) = length {
            slots.iter().for_each(|it| self.fill(it.slot, length));
            return;
        }
        let is_written = !matches!(touch.kind, SiteKind::Read | SiteKind::AtomicLoad);
        let after: Vec<Option<Value<'m>>> = slots
            .iter()
            .map(|it| is_written.then(|| self.content(it)))
            .collect();
        let stored = match touch.kind {
            SiteKind::Cas => self.has_stored(slots, &after, expected),
            _ => self.word(1),
        };
        for (open, after) in slots.iter().zip(after) {
            match (open.before, after) {
                (Some(before), Some(after)) => {
                    self.fill(open.slot, before);
                    self.fill_extra(open.slot, after, stored);
                }
                (Some(value), None) | (None, Some(value)) => self.fill(open.slot, value),
                (None, None) => {}
            }
        }
    }

    /// Whether a compare-exchange found what it expected or, where that is not known, has changed anything.
    fn has_stored(
        &self,
        slots: &[Open<'m>],
        after: &[Option<Value<'m>>],
        expected: Option<Value<'m>>,
    ) -> Value<'m> {
        let word = self.module.int_type(64);
        let flag = |predicate, left, right| {
            let flag = self.builder.compare(predicate, left, right);
            self.builder.cast(Opcode::ZExt, flag, word)
        };
        if let (Some(expected), [one]) = (expected, slots)
            && let Some(before) = one.before
        {
            return flag(predicate::EQ, before, expected);
        }
        let changes = slots.iter().zip(after).filter_map(|(open, after)| {
            let (before, after) = (open.before?, (*after)?);
            Some(flag(predicate::NE, before, after))
        });
        let both = |left, right| self.builder.binary(Opcode::Or, left, right);
        changes.reduce(both).unwrap_or_else(|| self.word(0))
    }
}
