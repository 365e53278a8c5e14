//! The clause arena: every clause of three or more literals, in one vector of words.
//!
//! A clause is two header words (its size; its flags and LBD) and then its literals. A
//! [`ClauseRef`] is the index of the first header word. Deleted clauses stay where they are until
//! [`Clauses::compact`] moves the living ones together. Clauses of two literals never come here: they
//! live in the watch lists (see `watch.rs`).

use std::ops::Range;

use crate::lit::Lit;

/// Where a clause starts in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClauseRef(u32);

/// Why a clause is there, and so when it may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Given from outside: stays.
    Given,
    /// Learnt from a conflict: goes when it is of little use.
    Learnt,
    /// A theory's explanation of one literal: not watched, goes when that literal loses its value.
    Explanation,
}

/// The arena.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    words: Vec<u32>,
    /// Words of deleted clauses and of explanations.
    transient_words: usize,
}

/// Where each living clause went in a compaction.
#[derive(Debug)]
pub(super) struct Moved {
    old: Vec<u32>,
}

const HEADER: usize = 2;
const LEARNT: u32 = 1 << 31;
const EXPLANATION: u32 = 1 << 30;
const DELETED: u32 = 1 << 29;
const USED_SHIFT: u32 = 27;
const USED: u32 = 0b11 << USED_SHIFT;
const LBD: u32 = (1 << USED_SHIFT) - 1;

impl ClauseRef {
    /// Its place among 32-bit payloads that are shared with markers.
    pub(super) const fn raw(self) -> u32 {
        self.0
    }

    /// The reference of a [`ClauseRef::raw`].
    pub(super) const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    const fn header(self) -> usize {
        self.0 as usize
    }
}

impl Clauses {
    /// The last index is kept free as a marker.
    const LIMIT: usize = u32::MAX as usize - 1;

    /// Stores a clause.
    pub(super) fn add(&mut self, lits: &[Lit], kind: Kind, lbd: u32) -> ClauseRef {
        let start = self.words.len();
        let length = HEADER + lits.len();
        assert!(
            start + length < Self::LIMIT,
            "more than 16 GiB of clauses in one solver"
        );
        let flags = match kind {
            Kind::Given => 0,
            Kind::Learnt => LEARNT,
            Kind::Explanation => EXPLANATION,
        };
        if kind == Kind::Explanation {
            self.transient_words += length;
        }
        self.words.reserve(length);
        self.words.push(lits.len() as u32);
        self.words.push(flags | lbd.min(LBD));
        self.words.extend(lits.iter().map(|lit| lit.code() as u32));
        ClauseRef(start as u32)
    }

    /// The literals, as codes.
    #[inline]
    pub(super) fn codes(&self, clause: ClauseRef) -> &[u32] {
        &self.words[self.range(clause)]
    }

    /// The literals, as codes that may be permuted.
    #[inline]
    pub(super) fn codes_mut(&mut self, clause: ClauseRef) -> &mut [u32] {
        let range = self.range(clause);
        &mut self.words[range]
    }

    /// The literals.
    pub(super) fn lits(
        &self,
        clause: ClauseRef,
    ) -> impl ExactSizeIterator<Item = Lit> + DoubleEndedIterator + '_ {
        self.codes(clause)
            .iter()
            .map(|&code| Lit::from_code(code as usize))
    }

    /// How many literals it has.
    #[inline]
    pub(super) fn size(&self, clause: ClauseRef) -> usize {
        self.words[clause.header()] as usize
    }

    #[inline]
    fn range(&self, clause: ClauseRef) -> Range<usize> {
        let start = clause.header() + HEADER;
        start..start + self.size(clause)
    }

    #[inline]
    fn flags(&self, clause: ClauseRef) -> u32 {
        self.words[clause.header() + 1]
    }

    /// What it is.
    pub(super) fn kind(&self, clause: ClauseRef) -> Kind {
        let flags = self.flags(clause);
        if flags & LEARNT != 0 {
            Kind::Learnt
        } else if flags & EXPLANATION != 0 {
            Kind::Explanation
        } else {
            Kind::Given
        }
    }

    /// The number of decision levels among its literals when it was last looked at.
    pub(super) fn lbd(&self, clause: ClauseRef) -> u32 {
        self.flags(clause) & LBD
    }

    /// Sets the LBD.
    pub(super) fn set_lbd(&mut self, clause: ClauseRef, lbd: u32) {
        let flags = &mut self.words[clause.header() + 1];
        *flags = *flags & !LBD | lbd.min(LBD);
    }

    /// For how many more reductions it counts as recently used: 0 to 3.
    pub(super) fn used(&self, clause: ClauseRef) -> u32 {
        (self.flags(clause) & USED) >> USED_SHIFT
    }

    /// Sets for how many reductions it counts as recently used.
    pub(super) fn set_used(&mut self, clause: ClauseRef, used: u32) {
        let flags = &mut self.words[clause.header() + 1];
        *flags = *flags & !USED | used.min(3) << USED_SHIFT;
    }

    /// Whether it waits for the next compaction.
    pub(super) fn is_deleted(&self, clause: ClauseRef) -> bool {
        self.flags(clause) & DELETED != 0
    }

    /// Marks it for the next compaction. Watches of it must not be followed any more.
    pub(super) fn delete(&mut self, clause: ClauseRef) {
        if self.kind(clause) != Kind::Explanation {
            self.transient_words += HEADER + self.size(clause);
        }
        self.words[clause.header() + 1] |= DELETED;
    }

    /// Every clause that is not deleted, in the order of the arena.
    pub(super) fn iter(&self) -> impl Iterator<Item = ClauseRef> + '_ {
        let mut next = ClauseRef(0);
        std::iter::from_fn(move || {
            while next.header() < self.words.len() {
                let clause = next;
                next = self.following(clause);
                if !self.is_deleted(clause) {
                    return Some(clause);
                }
            }
            None
        })
    }

    fn following(&self, clause: ClauseRef) -> ClauseRef {
        ClauseRef(clause.0 + HEADER as u32 + self.size(clause) as u32)
    }

    /// How many words of the arena will go sooner or later.
    pub(super) fn transient_words(&self) -> usize {
        self.transient_words
    }

    /// The length of the arena.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    /// Moves the clauses that are not deleted together. All references become invalid and must be
    /// replaced by what the result says.
    pub(super) fn compact(&mut self) -> Moved {
        let mut old = std::mem::take(&mut self.words);
        self.transient_words = 0;
        let mut at = 0;
        while at < old.len() {
            let length = HEADER + old[at] as usize;
            let flags = old[at + 1];
            if flags & DELETED == 0 {
                if flags & EXPLANATION != 0 {
                    self.transient_words += length;
                }
                let to = self.words.len() as u32;
                self.words.extend_from_slice(&old[at..at + length]);
                old[at] = to;
            }
            at += length;
        }
        Moved { old }
    }
}

impl Moved {
    /// Where the clause is now, if it still is.
    pub(super) fn new_place(&self, clause: ClauseRef) -> Option<ClauseRef> {
        let header = clause.header();
        (self.old[header + 1] & DELETED == 0).then(|| ClauseRef(self.old[header]))
    }
}
