//! Forgetting: learnt clauses of little use, clauses that hold for good, explanations of the past.
//!
//! Learnt clauses are in three tiers by LBD: those of LBD 2 or less stay, those of 6 or less stay while
//! they take part in conflicts now and then, and of the others, unless they were used since the last
//! reduction, the worse half goes. Clauses that are reasons always stay.
//!
//! Source: Oh (SAT 2015) for the tiers, in the form of CaDiCaL.

use crate::lit::Lit;

use super::Search;
use super::clauses::{ClauseRef, Kind};
use super::theory::Theory;
use super::trail::Reason;

/// When to reduce.
#[derive(Debug)]
pub(super) struct Reductions {
    /// At how many conflicts.
    next: u64,
    /// Conflicts to the first reduction; the n-th comes after n times this since the one before.
    interval: u64,
    /// At how many words of deleted clauses and explanations the arena is collected in any case.
    transient_limit: usize,
    /// How many literals were true for good at the last simplification.
    simplified: usize,
}

const INTERVAL: u64 = 300;
const TIER1_LBD: u32 = 2;
const TRANSIENT_WORDS: usize = 1 << 20;

impl Default for Reductions {
    fn default() -> Self {
        Self::every(INTERVAL)
    }
}

impl Reductions {
    /// The first reduction after so many conflicts, and each later one after so many more.
    pub(super) fn every(interval: u64) -> Self {
        Self {
            next: interval,
            interval,
            transient_limit: TRANSIENT_WORDS,
            simplified: 1,
        }
    }
}

impl Search {
    /// Reduces the clauses if it is time to.
    pub(super) fn reduce_if_due<T: Theory>(&mut self, theory: &mut T) {
        if self.statistics.conflicts >= self.reductions.next {
            self.statistics.reductions += 1;
            self.reductions.next += self.reductions.interval * (self.statistics.reductions + 1);
            if self.trail.fixed_count() > self.reductions.simplified {
                self.backtrack(theory, 0);
                self.simplify();
            }
            self.forget_learnt();
            self.collect();
        } else if self.clauses.transient_words() > self.reductions.transient_limit {
            self.collect();
        }
    }

    /// Marks the learnt clauses that are to go.
    fn forget_learnt(&mut self) {
        let mut candidates = Vec::new();
        let learnt: Vec<ClauseRef> = self
            .clauses
            .iter()
            .filter(|&clause| self.clauses.kind(clause) == Kind::Learnt)
            .collect();
        for clause in learnt {
            let used = self.clauses.used(clause);
            self.clauses.set_used(clause, used.saturating_sub(1));
            let lbd = self.clauses.lbd(clause);
            let stays = lbd <= TIER1_LBD || used > 0 || self.is_reason(clause);
            if !stays {
                candidates.push((lbd, self.clauses.size(clause), clause));
            }
        }
        // Among equals the older one goes first.
        candidates.sort_unstable_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(&b.2)));
        for &(_, _, clause) in &candidates[..candidates.len() * 3 / 4] {
            self.clauses.delete(clause);
        }
    }

    fn is_reason(&self, clause: ClauseRef) -> bool {
        let first = Lit::from_code(self.clauses.codes(clause)[0] as usize);
        self.trail.value(first) > 0
            && self.trail.place(first.var()).reason == Reason::Clause(clause)
    }

    /// Uses what is true for good: drops clauses that hold, shortens the others.
    fn simplify(&mut self) {
        debug_assert_eq!(self.trail.level(), 0);
        debug_assert_eq!(self.trail.propagated, self.trail.len());
        self.reductions.simplified = self.trail.fixed_count();
        let all: Vec<ClauseRef> = self.clauses.iter().collect();
        let mut shorter = Vec::new();
        for clause in all {
            if self.clauses.kind(clause) == Kind::Explanation {
                continue;
            }
            let (mut holds, mut some_false) = (false, false);
            for lit in self.clauses.lits(clause) {
                holds |= self.trail.value(lit) > 0;
                some_false |= self.trail.value(lit) < 0;
            }
            if !holds && some_false {
                shorter.clear();
                shorter.extend(
                    self.clauses
                        .lits(clause)
                        .filter(|&lit| self.trail.value(lit) == 0),
                );
                let kind = self.clauses.kind(clause);
                let lbd = self.clauses.lbd(clause).min(shorter.len() as u32);
                self.attach(&shorter, kind, lbd);
            }
            if holds || some_false {
                self.clauses.delete(clause);
            }
        }
        let trail = &self.trail;
        self.watches
            .forget(|lit| trail.value(lit) != 0, |lit| trail.value(lit) > 0);
    }

    /// Moves the clauses together that are still needed.
    fn collect(&mut self) {
        let explanations: Vec<ClauseRef> = self
            .clauses
            .iter()
            .filter(|&clause| {
                self.clauses.kind(clause) == Kind::Explanation && !self.is_reason(clause)
            })
            .collect();
        for clause in explanations {
            self.clauses.delete(clause);
        }
        let moved = self.clauses.compact();
        self.watches.follow(&moved);
        self.trail.follow(&moved);
        // Explanations that are still reasons stay, so the limit must be well above them.
        self.reductions.transient_limit = TRANSIENT_WORDS
            .max(self.clauses.words() / 2)
            .max(2 * self.clauses.transient_words());
    }
}
