//! Order and bit-vectors as one theory.
//!
//! Bit-vectors are clauses of the search already. What is left is the value of a read, which is that of
//! its source. It is tied to a source only when a schedule shows the read with that source and the two
//! values differ.

use crate::bits::{Blaster, Terms, evaluate};
use crate::gates::Gates;
use crate::lit::Lit;
use crate::order::Order;
use crate::sat::{Check, Conflict, Search, Theory};

/// The theory of order, and what it takes to speak of values.
pub(crate) struct Joint<'a> {
    pub(crate) order: &'a mut Order,
    pub(crate) gates: &'a mut Gates,
    pub(crate) terms: &'a Terms,
    pub(crate) blaster: &'a mut Blaster,
}

impl Joint<'_> {
    /// Ties the values of reads that differ from their sources' values.
    fn tie_values(&mut self, search: &mut Search) -> Check {
        let mut verdict = Check::Consistent;
        for (read, value) in self.order.valued_in_order() {
            if !self.order.counted(read) || !self.blaster.is_blasted(value) {
                continue;
            }
            let Some(source) = self.order.source_term(read) else {
                continue;
            };
            let order = &*self.order;
            // What has no value is to be proposed, or was added with the links just made.
            let holds = |lit: Lit| match search.value(lit) {
                Some(value) => value,
                None if search.is_observed(lit) => order.proposes(lit),
                None => search.phase(lit),
            };
            let known = self.terms.is_constant(source) || self.blaster.is_blasted(source);
            let of = |term| evaluate(term, self.terms, self.blaster, holds, |_| None);
            if known && of(value) == of(source) {
                continue;
            }
            let choice = self.order.choice_of_source(search, read);
            let (terms, gates) = (self.terms, &mut *self.gates);
            self.blaster
                .link(value, source, choice, terms, gates, search);
            verdict = Check::Extended;
        }
        verdict
    }
}

impl Theory for Joint<'_> {
    fn push_level(&mut self) {
        self.order.push_level();
    }

    fn pop_to(&mut self, level: usize) {
        self.order.pop_to(level);
    }

    fn assign(&mut self, lit: Lit) {
        self.order.assign(lit);
    }

    fn propagate(&mut self, search: &Search, implied: &mut Vec<Lit>) -> Result<(), Conflict> {
        self.order.propagate(search, implied)
    }

    fn explain(&mut self, lit: Lit, reason: &mut Vec<Lit>) {
        self.order.explain(lit, reason);
    }

    fn check(&mut self, search: &mut Search) -> Check {
        self.order.check(search)
    }

    fn proposes(&self, lit: Lit) -> bool {
        self.order.proposes(lit)
    }

    fn rank(&self, lit: Lit) -> u32 {
        self.order.rank(lit)
    }

    fn confirm(&mut self, search: &mut Search) -> Check {
        self.tie_values(search)
    }
}
