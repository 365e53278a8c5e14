//! Assumptions: the first decisions of a query, and which of them clash.

use crate::lit::Lit;

use super::Search;
use super::theory::Theory;
use super::trail::Reason;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A decision was made.
    Decided,
    /// This assumption is false.
    Refuted(Lit),
    /// The rest is up to the theory.
    Complete,
}

impl Search {
    /// Makes the next decision: first every assumption in a level of its own, then the variables that are
    /// not observed, then what mends gaps. An assumption that is true already gets an empty level, so that
    /// levels and assumptions agree.
    pub(super) fn decide<T: Theory>(&mut self, theory: &mut T, assumptions: &[Lit]) -> Step {
        while let Some(&lit) = assumptions.get(self.trail.level() as usize) {
            match self.trail.value(lit) {
                0 => {
                    self.push_level(theory);
                    self.trail.assign(lit, Reason::None);
                    return Step::Decided;
                }
                1 => self.push_level(theory),
                _ => return Step::Refuted(lit),
            }
        }
        let next = match self.next_variable() {
            Some(var) => Some(self.phases.choose(var, self.restarts.is_stable())),
            None => self.next_for_gaps(),
        };
        let Some(lit) = next else {
            return Step::Complete;
        };
        self.statistics.decisions += 1;
        self.push_level(theory);
        self.trail.assign(lit, Reason::None);
        Step::Decided
    }

    fn push_level<T: Theory>(&mut self, theory: &mut T) {
        self.trail.push_level();
        theory.push_level();
    }

    /// The assumptions that make the assumption `refuted` false, and itself.
    pub(super) fn clashing<T: Theory>(&mut self, theory: &mut T, refuted: Lit) -> Vec<Lit> {
        let mut clashing = vec![refuted];
        let mut seen = vec![false; self.trail.variables()];
        seen[refuted.var().index()] = true;
        for position in (self.trail.fixed_count()..self.trail.len()).rev() {
            let lit = self.trail.at(position);
            if !seen[lit.var().index()] {
                continue;
            }
            match self.reason_of(theory, lit) {
                Reason::None => clashing.push(lit),
                Reason::Binary(other) => seen[other.var().index()] = true,
                Reason::Clause(clause) => {
                    for other in self.clauses.lits(clause).skip(1) {
                        seen[other.var().index()] = true;
                    }
                }
                Reason::Theory => unreachable!("reasons of the theory have just been asked for"),
            }
        }
        clashing
    }
}
