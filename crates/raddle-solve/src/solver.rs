//! The solver: what a problem is made of.

use crate::answer::{Answer, Model};
use crate::bits::{Blaster, Term, Terms};
use crate::budget::Budget;
use crate::gates::Gates;
use crate::joint::Joint;
use crate::lit::Lit;
use crate::order::{
    Chain, Event, Hold, Location, Order, Read, Resource, Source, Sources, When, Write,
};
use crate::sat::{Outcome, Search, Statistics};

/// A problem, and what was learnt about it.
///
/// Constraints can be added at any time between queries; nothing is ever taken back. What is to hold
/// in some queries only is given to them as assumptions.
///
/// Handles belong to the solver that made them.
#[derive(Debug)]
pub struct Solver {
    pub(crate) search: Search,
    pub(crate) order: Order,
    pub(crate) gates: Gates,
    pub(crate) terms: Terms,
    pub(crate) blaster: Blaster,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            search: Search::new(),
            order: Order::default(),
            gates: Gates::default(),
            terms: Terms::default(),
            blaster: Blaster::default(),
        }
    }

    /// What all queries so far took.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.search.statistics()
    }

    /// Looks for an order in which the assumptions and all constraints hold.
    pub fn solve(&mut self, assumptions: &[Lit], budget: Budget) -> Answer<'_> {
        let mut theory = Joint {
            order: &mut self.order,
            gates: &mut self.gates,
            terms: &self.terms,
            blaster: &mut self.blaster,
        };
        match self.search.solve(&mut theory, assumptions, budget) {
            Outcome::Satisfiable => Answer::Satisfiable(Model::new(self)),
            Outcome::Unsatisfiable(clashing) => Answer::Unsatisfiable(clashing),
            Outcome::Unknown(exhausted) => Answer::Unknown(exhausted),
        }
    }
}

/// Events and their order.
///
/// The order is total: of two events one comes first. Events are best created in the order of a run
/// that is known to satisfy most constraints; the solver looks for orders near that one first.
impl Solver {
    /// A new event that is in no chain with others.
    pub fn event(&mut self) -> Event {
        let chain = self.order.add_chain();
        self.order.add_event(chain)
    }

    /// A new chain: its events come in the order in which they are created.
    ///
    /// The solver's work grows with the number of chains, little with their length.
    pub fn chain(&mut self) -> Chain {
        self.order.add_chain()
    }

    /// A new event at the end of a chain.
    pub fn event_in(&mut self, chain: Chain) -> Event {
        self.order.add_event(chain)
    }

    /// Fixes that `a` comes before `b`. What is fixed costs less than what is required, and is used to
    /// prune.
    pub fn order(&mut self, a: Event, b: Event) {
        if !self.order.fix(a, b) {
            self.search.clause(&[]);
        }
    }

    /// Whether `a` comes before `b`. An event does not come before itself.
    pub fn before(&mut self, a: Event, b: Event) -> Lit {
        self.order.before(&mut self.search, a, b)
    }

    /// If this holds, no event comes between `a` and `b`, in whichever order they come. If it does not,
    /// nothing is said.
    pub fn adjacent(&mut self, a: Event, b: Event) -> Lit {
        if a == b {
            return Lit::TRUE;
        }
        self.order.adjacent(&mut self.search, a, b)
    }
}

/// Boolean combinations.
impl Solver {
    /// A literal that may be true or false.
    pub fn boolean(&mut self) -> Lit {
        self.search.variable(false, false).is(true)
    }

    /// The disjunction must hold.
    pub fn require(&mut self, clause: &[Lit]) {
        self.search.clause(clause);
    }

    /// Whether all hold.
    pub fn and(&mut self, lits: &[Lit]) -> Lit {
        self.gates.and(&mut self.search, lits)
    }

    /// Whether one or more hold.
    pub fn or(&mut self, lits: &[Lit]) -> Lit {
        self.gates.or(&mut self.search, lits)
    }

    /// Whether exactly one of the two holds.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        self.gates.xor(&mut self.search, a, b)
    }

    /// Whether both hold or neither does.
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        self.gates.iff(&mut self.search, a, b)
    }

    /// Whether `b` holds if `a` does.
    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        self.gates.or(&mut self.search, &[!a, b])
    }

    /// `a` if the condition holds, `b` if not.
    pub fn ite(&mut self, condition: Lit, a: Lit, b: Lit) -> Lit {
        self.gates.ite(&mut self.search, condition, a, b)
    }
}

/// Intervals that exclude each other.
impl Solver {
    /// Something that can be held.
    pub fn resource(&mut self) -> Resource {
        self.order.add_resource()
    }

    /// A hold of a resource. Of two that count, at least one of them exclusive, one ends before the other
    /// begins. A hold begins before it ends.
    pub fn hold(&mut self, resource: Resource, hold: Hold) {
        if let Some(end) = hold.to {
            self.order(hold.from, end);
        }
        self.order.add_hold(&mut self.search, resource, hold);
    }
}

/// Reads and writes.
impl Solver {
    /// Something that is written and read. `initial` is its value before the first write, if that
    /// matters.
    pub fn location(&mut self, initial: Option<Term>) -> Location {
        self.order.add_location(initial)
    }

    /// A write. A write without a value writes a value that is not known. A value may depend on those of
    /// reads that come before the write in every order, but not of others.
    ///
    /// # Panics
    ///
    /// If the event has a write of this location already.
    pub fn write(&mut self, location: Location, event: Event, value: Option<Term>) -> Write {
        self.order.add_write(location, event, value)
    }

    /// Sources that reads of this location may be limited to.
    ///
    /// # Panics
    ///
    /// If one of them is a write of another location.
    pub fn sources(&mut self, location: Location, sources: &[Source]) -> Sources {
        self.order.add_sources(location, sources)
    }

    /// A read. If it counts, the last write of the location before it, or the initial value if there is
    /// none, must be one of the sources. What the event itself writes comes after what it reads.
    pub fn read(&mut self, location: Location, event: Event, from: Sources, when: When) -> Read {
        let search = &mut self.search;
        self.order.add_read(search, location, event, from, when)
    }

    /// The value of a read: if the read counts, that of its source. `hint` is what it was in the observed
    /// run.
    ///
    /// # Panics
    ///
    /// If a source's value has another width than `width`, now or in a later query.
    pub fn value_of(&mut self, read: Read, width: u32, hint: u64) -> Term {
        if let Some(term) = self.order.value_of(read) {
            assert!(term.width() == width, "a read's value has one width");
            return term;
        }
        let term = self.terms.unknown(width, hint);
        self.order.set_value(read, term);
        term
    }

    /// Makes a term the value of a read: if the read counts, it equals that of its source.
    ///
    /// # Panics
    ///
    /// If the read has a value already, and, now or in a later query, if a source's value has another width.
    pub fn set_value_of(&mut self, read: Read, term: Term) {
        let known = self.order.value_of(read);
        assert!(known.is_none(), "a read has one value");
        self.order.set_value(read, term);
    }
}
