//! Watch lists: which clauses must be looked at when a literal becomes false.
//!
//! Every clause watches two of its literals: the clause is in the watch lists of exactly these two,
//! and they are its first two literals in the arena. While no conflict is being handled, this holds
//! for each clause once the trail is propagated:
//!
//! > *if a watched literal is false, then some literal of the clause is true, and that one became
//! > true no later than the level in which the watched literal became false.*
//!
//! So as long as both watched literals are not false nothing can follow from the clause, and it need
//! not be looked at. When one of them becomes false, propagation restores the invariant: it finds a
//! true literal, or another literal that is not false to watch instead, or, if there is none, assigns
//! the other watched literal, or finds that one false too, which is a conflict. Backtracking needs no
//! work, because it takes back the false literal no later than the true one.
//!
//! A clause that is added in the middle of a search may be satisfied by a literal of a higher level
//! than all its false ones. After backtracking between the two, the clause is a unit that nobody
//! notices. This loses a propagation, but never a conflict, because the remaining literal is watched.
//!
//! An entry carries a *blocker*, some literal of the clause: if it is true there is no need to fetch
//! the clause from memory. A clause of two literals is nothing but its two entries, with the other
//! literal as the blocker.
//!
//! Sources: Moskewicz et al., *Chaff* (DAC 2001); blockers from MiniSat 2.1 (Sörensson and Eén, 2008).

use crate::lit::Lit;

use super::clauses::{ClauseRef, Moved};

/// An entry of a watch list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// A literal of the clause other than the watching one.
    pub(super) blocker: Lit,
    clause: u32,
}

/// The watch lists of all literals.
#[derive(Debug, Default)]
pub(super) struct Watches {
    lists: Vec<Vec<Watch>>,
}

impl Watch {
    const BINARY: u32 = u32::MAX;

    /// An entry of a clause of two literals.
    pub(super) const fn binary(other: Lit) -> Self {
        Self {
            blocker: other,
            clause: Self::BINARY,
        }
    }

    /// An entry of a clause of the arena.
    pub(super) const fn long(blocker: Lit, clause: ClauseRef) -> Self {
        Self {
            blocker,
            clause: clause.raw(),
        }
    }

    /// Whether the clause has two literals.
    #[inline]
    pub(super) const fn is_binary(self) -> bool {
        self.clause == Self::BINARY
    }

    /// The clause in the arena, unless it has two literals.
    #[inline]
    pub(super) const fn clause(self) -> ClauseRef {
        ClauseRef::from_raw(self.clause)
    }
}

impl Watches {
    /// Makes room for one more variable.
    pub(super) fn grow(&mut self) {
        self.lists.push(Vec::new());
        self.lists.push(Vec::new());
    }

    /// What to look at when `lit` becomes false.
    pub(super) fn list(&self, lit: Lit) -> &[Watch] {
        &self.lists[lit.code()]
    }

    /// Takes the list of `lit` away, to be given back with [`Watches::put_back`].
    #[inline]
    pub(super) fn take(&mut self, lit: Lit) -> Vec<Watch> {
        std::mem::take(&mut self.lists[lit.code()])
    }

    /// Gives a list back. Nothing may have been added to it meanwhile.
    #[inline]
    pub(super) fn put_back(&mut self, lit: Lit, list: Vec<Watch>) {
        debug_assert!(self.lists[lit.code()].is_empty());
        self.lists[lit.code()] = list;
    }

    /// Adds an entry.
    #[inline]
    pub(super) fn push(&mut self, lit: Lit, watch: Watch) {
        self.lists[lit.code()].push(watch);
    }

    /// Watches a clause of two literals.
    pub(super) fn attach_binary(&mut self, a: Lit, b: Lit) {
        self.push(a, Watch::binary(b));
        self.push(b, Watch::binary(a));
    }

    /// Watches the first two literals of a clause of the arena.
    pub(super) fn attach(&mut self, first: Lit, second: Lit, clause: ClauseRef) {
        self.push(first, Watch::long(second, clause));
        self.push(second, Watch::long(first, clause));
    }

    /// Follows a compaction of the arena: entries of clauses that are gone are dropped.
    pub(super) fn follow(&mut self, moved: &Moved) {
        for list in &mut self.lists {
            list.retain_mut(|watch| {
                if watch.is_binary() {
                    return true;
                }
                let Some(place) = moved.new_place(watch.clause()) else {
                    return false;
                };
                watch.clause = place.raw();
                true
            });
        }
    }

    /// Drops the lists of literals that are `settled` for good, and clauses of two literals of which
    /// one is true for good.
    pub(super) fn forget(
        &mut self,
        is_settled: impl Fn(Lit) -> bool,
        is_true: impl Fn(Lit) -> bool,
    ) {
        for (code, list) in self.lists.iter_mut().enumerate() {
            if is_settled(Lit::from_code(code)) {
                *list = Vec::new();
            } else {
                list.retain(|watch| !(watch.is_binary() && is_true(watch.blocker)));
            }
        }
    }
}
