//! The search against brute force, with and without a theory.

mod families;
mod random;
mod toy;

use crate::lit::{Lit, Var};

use super::reduce::Reductions;
use super::{Check, Conflict, Search, Theory};

/// A theory in which everything is possible.
pub(super) struct Anything;

impl Theory for Anything {
    fn push_level(&mut self) {}

    fn pop_to(&mut self, _level: usize) {}

    fn assign(&mut self, lit: Lit) {
        panic!("no variable is observed, but {lit:?} was told");
    }

    fn propagate(&mut self, _search: &Search, _implied: &mut Vec<Lit>) -> Result<(), Conflict> {
        Ok(())
    }

    fn explain(&mut self, lit: Lit, _reason: &mut Vec<Lit>) {
        panic!("{lit:?} was not implied");
    }

    fn check(&mut self, _search: &mut Search) -> Check {
        Check::Consistent
    }

    fn proposes(&self, lit: Lit) -> bool {
        panic!("no variable is observed, but {lit:?} has no value");
    }

    fn rank(&self, _lit: Lit) -> u32 {
        0
    }

    fn confirm(&mut self, _search: &mut Search) -> Check {
        Check::Consistent
    }
}

/// A small generator of pseudo-random numbers (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A literal of one of these variables.
    fn lit(&mut self, vars: &[Var]) -> Lit {
        vars[self.below(vars.len())].is(self.chance(50))
    }

    /// A disjunction of random literals.
    fn clause(&mut self, vars: &[Var], size: usize) -> Vec<Lit> {
        (0..size).map(|_| self.lit(vars)).collect()
    }
}

/// A search that forgets before each decision.
fn forgetful_search() -> Search {
    let mut search = Search::new();
    search.reductions = Reductions::every(0);
    search
}

/// Whether `lit` holds in an assignment whose bits are the values of variables 1, 2, …
fn holds(lit: Lit, assignment: u32) -> bool {
    let value = match lit.var().index() {
        0 => true,
        index => assignment >> (index - 1) & 1 == 1,
    };
    value == lit.is_positive()
}

/// Whether every clause and every assumption holds in the assignment.
fn satisfies(assignment: u32, clauses: &[Vec<Lit>], assumptions: &[Lit]) -> bool {
    clauses
        .iter()
        .all(|clause| clause.iter().any(|&lit| holds(lit, assignment)))
        && assumptions.iter().all(|&lit| holds(lit, assignment))
}

/// The last model, as an assignment.
fn model(search: &Search, vars: &[Var]) -> u32 {
    vars.iter()
        .map(|var| u32::from(search.model(var.is(true))) << (var.index() - 1))
        .sum()
}
