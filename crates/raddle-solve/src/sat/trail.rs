//! The assignment: which literals are true, in which order they became so, and why.

use crate::lit::{Lit, Var};

use super::clauses::{ClauseRef, Moved};

/// Why a literal became true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It was decided or assumed, or it is true for good (level 0).
    None,
    /// A clause of two literals, of which this is the other one, false.
    Binary(Lit),
    /// A clause of the arena. The implied literal is its first.
    Clause(ClauseRef),
    /// The theory, which has not been asked yet why.
    Theory,
}

/// Where an assigned variable stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) level: u32,
    /// Its index in the trail.
    pub(super) position: u32,
    pub(super) reason: Reason,
}

/// The literals that are true, in the order in which they became so.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// By literal: 1 if true, -1 if false, 0 if it has no value.
    values: Vec<i8>,
    /// By variable; what it says of one without a value is stale.
    places: Vec<Place>,
    lits: Vec<Lit>,
    /// The length of the trail when each level from 1 on began.
    starts: Vec<u32>,
    /// The first literal that clauses have not been searched for.
    pub(super) propagated: usize,
    /// The first literal that the theory has not been told of.
    pub(super) told: usize,
}

impl Trail {
    /// Makes room for one more variable.
    pub(super) fn grow(&mut self) {
        self.values.extend([0, 0]);
        self.places.push(Place {
            level: 0,
            position: 0,
            reason: Reason::None,
        });
    }

    /// The number of variables.
    pub(super) fn variables(&self) -> usize {
        self.places.len()
    }

    /// 1 if the literal is true, -1 if false, 0 if it has no value.
    #[inline]
    pub(super) fn value(&self, lit: Lit) -> i8 {
        self.values[lit.code()]
    }

    /// By literal code, what [`Trail::value`] says.
    #[inline]
    pub(super) fn values(&self) -> &[i8] {
        &self.values
    }

    /// Whether the variable has a value.
    #[inline]
    pub(super) fn is_assigned(&self, var: Var) -> bool {
        self.value(var.is(true)) != 0
    }

    /// Where an assigned variable stands.
    #[inline]
    pub(super) fn place(&self, var: Var) -> Place {
        self.places[var.index()]
    }

    /// The level of an assigned literal.
    #[inline]
    pub(super) fn level_of(&self, lit: Lit) -> u32 {
        self.places[lit.var().index()].level
    }

    /// 1 or -1 if the literal is true or false for good, else 0.
    pub(super) fn fixed(&self, lit: Lit) -> i8 {
        match self.value(lit) {
            0 => 0,
            value if self.level_of(lit) == 0 => value,
            _ => 0,
        }
    }

    /// The current decision level.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        self.starts.len() as u32
    }

    /// How many literals are true.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.lits.len()
    }

    /// The literal at a position.
    #[inline]
    pub(super) fn at(&self, position: usize) -> Lit {
        self.lits[position]
    }

    /// All true literals, in order.
    pub(super) fn lits(&self) -> &[Lit] {
        &self.lits
    }

    /// The position at which the level begins; for levels above 0 its decision is there, unless the
    /// level is empty.
    pub(super) fn start_of(&self, level: u32) -> usize {
        match level {
            0 => 0,
            level => self.starts[level as usize - 1] as usize,
        }
    }

    /// How many literals are true for good.
    pub(super) fn fixed_count(&self) -> usize {
        match self.starts.first() {
            Some(&start) => start as usize,
            None => self.lits.len(),
        }
    }

    /// Begins a level.
    pub(super) fn push_level(&mut self) {
        self.starts.push(self.lits.len() as u32);
    }

    /// Makes `lit`, which has no value, true in the current level.
    #[inline]
    pub(super) fn assign(&mut self, lit: Lit, reason: Reason) {
        debug_assert_eq!(self.value(lit), 0, "{lit:?} has a value already");
        let level = self.level();
        self.values[lit.code()] = 1;
        self.values[(!lit).code()] = -1;
        self.places[lit.var().index()] = Place {
            level,
            position: self.lits.len() as u32,
            reason: if level == 0 { Reason::None } else { reason },
        };
        self.lits.push(lit);
    }

    /// Replaces the reason of an assigned variable.
    pub(super) fn set_reason(&mut self, var: Var, reason: Reason) {
        self.places[var.index()].reason = reason;
    }

    /// Takes all levels above `level` back and hands each literal to `undone`, the last first.
    pub(super) fn backtrack(&mut self, level: u32, mut undone: impl FnMut(Lit)) {
        debug_assert!(level < self.level());
        let end = self.start_of(level + 1);
        while self.lits.len() > end {
            let lit = self.lits[self.lits.len() - 1];
            self.lits.pop();
            self.values[lit.code()] = 0;
            self.values[(!lit).code()] = 0;
            undone(lit);
        }
        self.starts.truncate(level as usize);
        self.propagated = self.propagated.min(end);
        self.told = self.told.min(end);
    }

    /// Follows a compaction of the clauses. Reasons are never dropped.
    pub(super) fn follow(&mut self, moved: &Moved) {
        for lit in &self.lits {
            let reason = &mut self.places[lit.var().index()].reason;
            if let Reason::Clause(clause) = *reason {
                let place = moved.new_place(clause);
                debug_assert!(place.is_some(), "the reason of {lit:?} was dropped");
                *reason = place.map_or(Reason::None, Reason::Clause);
            }
        }
    }
}
