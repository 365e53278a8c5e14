//! Adding clauses: between queries, and while the theory checks an assignment.

use crate::lit::Lit;

use super::Search;
use super::clauses::Kind;
use super::propagate::Clash;
use super::theory::Theory;
use super::trail::Reason;

/// Clauses that wait to be taken in, in one vector, the first first.
#[derive(Debug, Default)]
pub(super) struct Pending {
    lits: Vec<Lit>,
    ends: Vec<usize>,
    taken: usize,
}

impl Pending {
    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.ends.len()
    }

    fn push(&mut self, clause: &[Lit]) {
        self.lits.extend_from_slice(clause);
        self.ends.push(self.lits.len());
    }

    /// Moves the next one to `into`, if there is one.
    fn next(&mut self, into: &mut Vec<Lit>) -> bool {
        into.clear();
        let Some(&end) = self.ends.get(self.taken) else {
            self.lits.clear();
            self.ends.clear();
            self.taken = 0;
            return false;
        };
        let start = match self.taken {
            0 => 0,
            taken => self.ends[taken - 1],
        };
        into.extend_from_slice(&self.lits[start..end]);
        self.taken += 1;
        true
    }
}

impl Search {
    /// Requires that one of the literals holds. While a theory checks an assignment, clauses are taken
    /// in after the check.
    pub(crate) fn clause(&mut self, lits: &[Lit]) {
        if self.solving {
            self.pending.push(lits);
            self.statistics.lemmas += 1;
        } else {
            let mut clause = std::mem::take(&mut self.new_clause);
            clause.clear();
            clause.extend_from_slice(lits);
            self.add_at_root(&mut clause);
            self.new_clause = clause;
        }
    }

    /// Adds a clause while nothing is decided.
    fn add_at_root(&mut self, clause: &mut Vec<Lit>) {
        debug_assert_eq!(self.trail.level(), 0);
        if self.inconsistent || !self.normalize(clause) {
            return;
        }
        match clause[..] {
            [] => self.inconsistent = true,
            [lit] => {
                self.trail.assign(lit, Reason::None);
                self.inconsistent = self.propagate_clauses().is_err();
            }
            _ => {
                self.note(clause);
                self.attach(clause, Kind::Given, 0);
            }
        }
    }

    /// Drops duplicates and literals that are false for good. Says `false` if the clause always holds.
    fn normalize(&self, clause: &mut Vec<Lit>) -> bool {
        clause.sort_unstable();
        clause.dedup();
        let always = clause.windows(2).any(|pair| pair[0] == !pair[1])
            || clause.iter().any(|&lit| self.trail.fixed(lit) > 0);
        clause.retain(|&lit| self.trail.fixed(lit) == 0);
        !always
    }

    /// Stores and watches a clause of at least two literals, the first two of which are to be watched.
    /// Returns the reason that it is for its first literal.
    pub(super) fn attach(&mut self, lits: &[Lit], kind: Kind, lbd: u32) -> Reason {
        let (first, second) = (lits[0], lits[1]);
        if lits.len() == 2 {
            self.watches.attach_binary(first, second);
            return Reason::Binary(second);
        }
        let clause = self.clauses.add(lits, kind, lbd);
        if kind == Kind::Learnt {
            self.clauses.set_used(
                clause,
                if lbd <= super::analyze::TIER2_LBD {
                    2
                } else {
                    1
                },
            );
        }
        self.watches.attach(first, second, clause);
        Reason::Clause(clause)
    }

    /// Takes in the clauses that wait. Goes back as far as needed for the first that is not satisfied to
    /// be propagated or analysed. Stops at a conflict, which may leave clauses waiting.
    pub(super) fn take_in<T: Theory>(&mut self, theory: &mut T) -> Result<(), Clash> {
        let mut clause = std::mem::take(&mut self.new_clause);
        let mut outcome = Ok(());
        while outcome.is_ok() && self.pending.next(&mut clause) {
            outcome = self.add_in_search(theory, &mut clause);
        }
        self.new_clause = clause;
        outcome
    }

    fn add_in_search<T: Theory>(
        &mut self,
        theory: &mut T,
        clause: &mut Vec<Lit>,
    ) -> Result<(), Clash> {
        if !self.normalize(clause) {
            return Ok(());
        }
        // The two literals to watch are those that are last to become false: literals that are not
        // false, and then false ones of the highest levels.
        clause.sort_by_key(|&lit| match self.trail.value(lit) {
            1 => (0, 0),
            0 => (1, 0),
            _ => (2, u32::MAX - self.trail.level_of(lit)),
        });
        match clause[..] {
            [] => {
                self.conflict.clear();
                Err(Clash(None))
            }
            [lit] => {
                self.backtrack(theory, 0);
                self.trail.assign(lit, Reason::None);
                Ok(())
            }
            [first, second, ..] => {
                self.note(clause);
                let reason = self.attach(clause, Kind::Given, 0);
                let (value, second_value) = (self.trail.value(first), self.trail.value(second));
                if value > 0 || second_value >= 0 {
                    return Ok(());
                }
                let level = self.trail.level_of(second);
                if value < 0 && level == self.trail.level_of(first) {
                    self.conflict.clear();
                    self.conflict.extend_from_slice(clause);
                    return Err(Clash(None));
                }
                self.backtrack(theory, level);
                self.trail.assign(first, reason);
                Ok(())
            }
        }
    }

    /// Takes in what waits when a query is over.
    pub(super) fn take_in_at_root(&mut self) {
        let mut clause = std::mem::take(&mut self.new_clause);
        while self.pending.next(&mut clause) {
            self.add_at_root(&mut clause);
        }
        self.new_clause = clause;
    }
}
