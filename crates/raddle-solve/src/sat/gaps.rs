//! Decisions on observed variables: only where they are needed.
//!
//! A theory can complete an assignment by itself: it proposes values for the observed variables that
//! have none. So nothing is decided about these but to mend a *gap*, a given clause that neither the
//! assignment nor the proposal satisfies. A query that touches a small part of a large problem leaves
//! the rest undecided.

use crate::lit::Lit;

use super::Search;
use super::theory::Theory;

/// The given clauses with observed variables, and which of them were gaps when last looked at.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    lits: Vec<Lit>,
    ends: Vec<u32>,
    gaps: Vec<(u32, u32)>,
    /// How many of the gaps are satisfied in any case, as long as nothing is taken back.
    mended: usize,
}

/// How many gaps are mended before the theory completes the assignment anew. Those that come first often
/// take others with them.
const AT_A_TIME: usize = 16;

impl Gaps {
    fn clause(&self, number: u32) -> &[Lit] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.lits[start as usize..self.ends[number] as usize]
    }

    /// Something was taken back.
    pub(super) fn reopen(&mut self) {
        self.mended = 0;
    }

    /// A query begins.
    pub(super) fn forget(&mut self) {
        self.gaps.clear();
        self.mended = 0;
    }
}

impl Search {
    /// Takes note of a given clause.
    pub(super) fn note(&mut self, clause: &[Lit]) {
        if clause.iter().any(|lit| self.observed[lit.var().index()]) {
            self.gaps.lits.extend_from_slice(clause);
            self.gaps.ends.push(self.gaps.lits.len() as u32);
        }
    }

    /// Looks for gaps in what the theory proposes. False if there are none: unless variables that are not
    /// observed have been added since, the proposal is a model.
    pub(super) fn find_gaps<T: Theory>(&mut self, theory: &T) -> bool {
        self.gaps.forget();
        for number in 0..self.gaps.ends.len() as u32 {
            let clause = self.gaps.clause(number);
            let holds = |lit: &Lit| match self.trail.value(*lit) {
                0 => !self.observed[lit.var().index()] || theory.proposes(*lit),
                value => value > 0,
            };
            if !clause.iter().any(holds) {
                let observed = clause.iter().filter(|lit| self.is_observed(**lit));
                let rank = observed.map(|lit| theory.rank(*lit)).min().unwrap_or(0);
                self.gaps.gaps.push((rank, number));
            }
        }
        self.gaps.gaps.sort_unstable();
        self.gaps.gaps.truncate(AT_A_TIME);
        self.has_gaps()
    }

    /// Whether gaps were found.
    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.gaps.is_empty()
    }

    /// The literal to decide on for the next gap that is still open: one that its phase agrees with, if
    /// there is any, and of those the one most involved in recent conflicts.
    pub(super) fn next_for_gaps(&mut self) -> Option<Lit> {
        while let Some(&(_, gap)) = self.gaps.gaps.get(self.gaps.mended) {
            let clause = self.gaps.clause(gap);
            if !clause.iter().any(|lit| self.trail.value(*lit) > 0) {
                let stable = self.restarts.is_stable();
                let agrees = |lit: Lit| self.phases.choose(lit.var(), stable) == lit;
                let free = clause.iter().filter(|lit| self.trail.value(**lit) == 0);
                let best = free.copied().reduce(|best, lit| {
                    let better = match (agrees(best), agrees(lit)) {
                        (true, false) => false,
                        (false, true) => true,
                        _ => self.heap.is_before(lit.var(), best.var()),
                    };
                    if better { lit } else { best }
                });
                return Some(best.expect("a clause without true or free literals is a conflict"));
            }
            self.gaps.mended += 1;
        }
        None
    }
}
