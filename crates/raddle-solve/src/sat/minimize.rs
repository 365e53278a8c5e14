//! Shorter learnt clauses.
//!
//! A literal of a learnt clause is superfluous if its reason, taken back far enough, consists of other
//! literals of the clause. Then, if the clause is short enough to be worth it, literals go whose negation
//! follows from the first literal by a clause of two.
//!
//! Sources: Sörensson and Biere, *Minimizing Learned Clauses* (SAT 2009), with Knuth's two early ends;
//! the second step is from Glucose.

use crate::lit::Lit;

use super::Search;
use super::analyze::Mark;
use super::theory::Theory;
use super::trail::Reason;

/// How far reasons are followed.
const DEPTH: u32 = 500;
/// The largest clause that the second step looks at.
const STRENGTHEN_SIZE: usize = 30;

impl Search {
    /// Removes superfluous literals from the clause being learnt; the first stays.
    pub(super) fn minimize<T: Theory>(&mut self, theory: &mut T) {
        let mut learnt = std::mem::take(&mut self.analysis.learnt);
        let before = learnt.len();
        let mut kept = 1;
        for at in 1..learnt.len() {
            if !self.is_superfluous(theory, learnt[at], 0) {
                learnt[kept] = learnt[at];
                kept += 1;
            }
        }
        learnt.truncate(kept);
        if learnt.len() > 2 && learnt.len() <= STRENGTHEN_SIZE {
            self.strengthen(&mut learnt);
        }
        self.statistics.minimized += (before - learnt.len()) as u64;
        self.analysis.learnt = learnt;
    }

    /// Whether the false literal `lit` follows from others of the learnt clause being false.
    fn is_superfluous<T: Theory>(&mut self, theory: &mut T, lit: Lit, depth: u32) -> bool {
        let var = lit.var();
        let place = self.trail.place(var);
        match self.analysis.marks[var.index()] {
            _ if place.level == 0 => return true,
            Mark::Removable => return true,
            Mark::Seen if depth > 0 => return true,
            Mark::Poison => return false,
            Mark::Seen | Mark::None => {}
        }
        // A reason's literals of the same level are earlier, and a level's earliest literal that can
        // stop the recursion is the clause's earliest of that level.
        let level = self.analysis.levels[place.level as usize];
        if place.reason == Reason::None
            || level.count == 0
            || depth == 0 && level.count < 2
            || place.position <= level.earliest
            || depth > DEPTH
        {
            return false;
        }
        let superfluous = match self.reason_of(theory, !lit) {
            Reason::Binary(other) => self.is_superfluous(theory, other, depth + 1),
            Reason::Clause(clause) => (1..self.clauses.size(clause)).all(|at| {
                let other = Lit::from_code(self.clauses.codes(clause)[at] as usize);
                self.is_superfluous(theory, other, depth + 1)
            }),
            Reason::None | Reason::Theory => false,
        };
        let mark = if superfluous {
            Mark::Removable
        } else {
            Mark::Poison
        };
        // A literal of the clause that is not superfluous stays a place where others may end.
        if superfluous || depth > 0 {
            self.analysis.mark(var, mark);
        }
        superfluous
    }

    /// Drops `b` from a clause with `a` in front if there is a clause `a | !b`.
    fn strengthen(&mut self, learnt: &mut Vec<Lit>) {
        let first = learnt[0];
        let analysis = &mut self.analysis;
        let mut dropped = 0;
        // `a | !b` watches `a` with `!b`, which is true, as the other literal.
        for watch in self.watches.list(first) {
            let mark = &mut analysis.marks[watch.blocker.var().index()];
            if watch.is_binary() && *mark == Mark::Seen && self.trail.value(watch.blocker) > 0 {
                *mark = Mark::Poison;
                dropped += 1;
            }
        }
        if dropped > 0 {
            let mut at = 0;
            learnt.retain(|lit| {
                at += 1;
                at == 1 || analysis.marks[lit.var().index()] == Mark::Seen
            });
        }
    }
}
