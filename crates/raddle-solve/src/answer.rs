//! What a query comes to.

use std::collections::BTreeMap;

use crate::bits::{Term, evaluate};
use crate::budget::Exhausted;
use crate::lit::Lit;
use crate::order::{Event, Read, Source};
use crate::solver::Solver;

/// The answer to a query.
#[derive(Debug)]
pub enum Answer<'a> {
    /// All constraints and assumptions hold in this.
    Satisfiable(Model<'a>),
    /// These of the assumptions cannot hold together. If there are none, the constraints alone cannot.
    Unsatisfiable(Vec<Lit>),
    /// The budget ended first.
    Unknown(Exhausted),
}

/// An order of the events, and values of all literals and terms.
#[derive(Debug)]
pub struct Model<'a> {
    solver: &'a Solver,
    /// The values of reads, as terms, that the search did not need to know.
    reads: BTreeMap<Term, u64>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(solver: &'a Solver) -> Self {
        let mut model = Self {
            solver,
            reads: BTreeMap::new(),
        };
        for (read, value) in solver.order.valued_in_order() {
            let source = solver.order.source_term(read);
            if !solver.blaster.is_blasted(value)
                && solver.order.counted(read)
                && let Some(source) = source
            {
                let known = model.value(source);
                model.reads.insert(value, known);
            }
        }
        model
    }

    /// The events in order.
    #[must_use]
    pub fn order(&self) -> &'a [Event] {
        self.solver.order.scheduled()
    }

    /// An event's place in the order, from zero.
    #[must_use]
    pub fn position(&self, event: Event) -> usize {
        self.solver.order.position(event)
    }

    /// The last write of the location before the read.
    #[must_use]
    pub fn source(&self, read: Read) -> Source {
        self.solver.order.source(read)
    }

    /// Whether a literal holds.
    #[must_use]
    pub fn holds(&self, lit: Lit) -> bool {
        self.solver.search.model(lit)
    }

    /// The value of a term.
    #[must_use]
    pub fn value(&self, term: Term) -> u64 {
        let Solver { terms, blaster, .. } = self.solver;
        let read = |term: Term| self.reads.get(&term).copied();
        evaluate(term, terms, blaster, |lit| self.holds(lit), read)
    }
}
