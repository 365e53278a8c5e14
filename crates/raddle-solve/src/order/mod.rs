//! The theory of order: which orders of the events agree with the literals that are true.
//!
//! The known part of the order is a [`graph`] over chains. Literals add edges to it; [`atoms`],
//! [`holds`], [`reads`] and [`adjacent`] draw conclusions from its growth. What the known order leaves
//! open is not spelled out as clauses. Instead, when the search has nothing left to decide, a [`schedule`]
//! is made that follows the known order and, where it is free, the observed run; the few constraints that
//! this schedule violates are told to the search, which goes on. As the observed run satisfies nearly all
//! constraints, a query learns only of those that it stirs up.

mod adjacent;
mod atoms;
mod by_place;
mod choices;
mod graph;
mod holds;
mod place;
mod reach;
mod reads;
mod refine;
mod schedule;

use std::collections::{BTreeSet, VecDeque};

use adjacent::{Pair, Pairs};
use atoms::Atoms;
use graph::{Added, Derived, Graph, Mark, NO_PREMISES, Premise, Premises, path};
pub use holds::{Hold, Mode, Resource};
use holds::{HoldId, Holds};
pub use place::{Chain, Event};
use reach::{Change, Reach};
pub use reads::{Location, Read, Source, Sources, Write};
use reads::{Reads, Taken};
use schedule::{Schedule, Violation};

use crate::bits::Term;
use crate::lit::{Lit, Var};
use crate::sat::{Conflict, Search};

/// When a hold or a read counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// If its (first) event comes before this one: the end of a prefix, say.
    Before(Event),
    /// If this literal holds.
    If(Lit),
}

/// What an observed variable means here.
#[derive(Clone, Debug)]
enum Role {
    None,
    /// True if the first event comes before the second.
    Atom(Event, Event),
    Choice(Taken),
    /// True if these holds count.
    Guard(Vec<HoldId>),
    Pair(u32),
}

/// What the rules need to know of the search.
struct Values<'a> {
    search: &'a Search,
    /// The events that limit what counts.
    limits: &'a [Event],
}

#[derive(Clone, Copy, Debug)]
struct Level {
    told: usize,
    graph: Mark,
    taken: usize,
    pairs: usize,
}

/// The theory.
#[derive(Debug, Default)]
pub(crate) struct Order {
    graph: Graph,
    /// What the fixed edges alone imply.
    fixed: Reach,
    /// Fixed edges not yet in the graph.
    fixed_fresh: Vec<(Event, Event)>,
    atoms: Atoms,
    holds: Holds,
    reads: Reads,
    pairs: Pairs,
    /// The events that limit what counts.
    limits: Vec<Event>,
    roles: Vec<Role>,
    /// For each variable that the theory implied: why, and when.
    why: Vec<(Premises, u32)>,
    /// The literals told, and how many have been heard.
    told: Vec<Lit>,
    heard: usize,
    levels: Vec<Level>,
    work: VecDeque<Derived>,
    changes: Vec<Change>,
    derived: Vec<Derived>,
    schedule: Schedule,
    /// The constraints that the search knows of as clauses.
    known: BTreeSet<Violation>,
}

impl When {
    /// Whether what begins at the tail of a new step counts from now on, as the step leads to its limit.
    fn is_met_by(self, graph: &Graph, change: &Change) -> bool {
        let Self::Before(limit) = self else {
            return false;
        };
        let limit = graph.places.of(limit);
        limit.chain == change.to_chain && limit.pos >= change.to
    }
}

impl Values<'_> {
    /// Why something with this condition, beginning with `first`, counts, if it is known to.
    fn counts(&self, graph: &Graph, when: When, first: Event) -> Option<Premise> {
        match when {
            When::Always => Some(Premise::None),
            When::Before(limit) => graph
                .reaches(first, limit)
                .then_some(Premise::Path(first, limit)),
            When::If(lit) => (self.search.value(lit) == Some(true)).then_some(Premise::Lit(lit)),
        }
    }

    /// Whether an event at `pos` of `chain` or later limits what counts.
    fn limits_from(&self, graph: &Graph, chain: u32, pos: u32) -> bool {
        let mut limits = self.limits.iter().map(|limit| graph.places.of(*limit));
        limits.any(|limit| limit.chain == chain && limit.pos >= pos)
    }
}

/// What is in the problem.
impl Order {
    pub(crate) fn add_chain(&mut self) -> Chain {
        self.graph.places.add_chain()
    }

    pub(crate) fn add_event(&mut self, chain: Chain) -> Event {
        self.graph.places.add_event(chain)
    }

    /// Fixes that `a` comes before `b`. False if it is fixed that it does not.
    pub(crate) fn fix(&mut self, a: Event, b: Event) -> bool {
        let (from, to) = (self.graph.places.of(a), self.graph.places.of(b));
        if from == to || self.fixed.reaches(to, from) {
            return false;
        }
        if !self.fixed.reaches(from, to) {
            self.fixed.add(from, to, &mut self.changes);
            self.changes.clear();
            self.fixed_fresh.push((a, b));
        }
        true
    }

    /// The literal that `a` comes before `b`.
    pub(crate) fn before(&mut self, search: &mut Search, a: Event, b: Event) -> Lit {
        let (from, to) = (self.graph.places.of(a), self.graph.places.of(b));
        if self.fixed.reaches(from, to) {
            return Lit::TRUE;
        }
        if from == to || self.fixed.reaches(to, from) {
            return Lit::FALSE;
        }
        if let Some(lit) = self.atoms.find(a, b) {
            return lit;
        }
        let (first, second) = (a.min(b), a.max(b));
        // Nothing is in a prefix that need not be: by default, events come after a limit.
        let phase = !self.limits.contains(&second);
        let var = self.variable(search, phase, Role::Atom(first, second));
        self.atoms.insert(&self.graph, first, second, var);
        var.is(a < b)
    }

    /// A literal that, if true, lets nothing come between `a` and `b`.
    pub(crate) fn adjacent(&mut self, search: &mut Search, a: Event, b: Event) -> Lit {
        let number = self.pairs.pairs.len() as u32;
        let var = self.variable(search, false, Role::Pair(number));
        let lit = var.is(true);
        self.pairs.pairs.push(Pair { a, b, lit });
        lit
    }

    pub(crate) fn add_resource(&mut self) -> Resource {
        self.holds.add_resource()
    }

    pub(crate) fn add_hold(&mut self, search: &mut Search, resource: Resource, mut hold: Hold) {
        hold.when = self.condition(search, hold.when);
        let id = self.holds.add(&self.graph, resource, hold);
        if let When::If(lit) = hold.when
            && let Role::Guard(holds) = &mut self.roles[lit.var().index()]
        {
            holds.push(id);
        }
    }

    pub(crate) fn add_location(&mut self, initial: Option<Term>) -> Location {
        self.reads.add_location(initial)
    }

    pub(crate) fn add_write(
        &mut self,
        location: Location,
        event: Event,
        value: Option<Term>,
    ) -> Write {
        self.reads.add_write(&self.graph, location, event, value)
    }

    pub(crate) fn add_sources(&mut self, location: Location, sources: &[Source]) -> Sources {
        self.reads.add_sources(location, sources)
    }

    pub(crate) fn add_read(
        &mut self,
        search: &mut Search,
        location: Location,
        event: Event,
        from: Sources,
        when: When,
    ) -> Read {
        let when = self.condition(search, when);
        self.reads.add_read(location, event, from, when)
    }

    /// The term that stands for a read's value.
    pub(crate) fn value_of(&self, read: Read) -> Option<Term> {
        self.reads.read(read).value
    }

    /// Makes a term stand for a read's value.
    pub(crate) fn set_value(&mut self, read: Read, value: Term) {
        self.reads.reads[read.0 as usize].value = Some(value);
        self.reads.valued.push(read);
    }

    /// Makes a condition one that the theory can follow: a literal is replaced by one that is equal to
    /// it and that the theory hears of and proposes a value for.
    fn condition(&mut self, search: &mut Search, when: When) -> When {
        match when {
            When::Always | When::If(Lit::TRUE) => When::Always,
            When::Before(limit) => {
                self.limit(limit);
                when
            }
            When::If(lit) => {
                let role = Role::Guard(Vec::new());
                let guard = self.variable(search, false, role).is(true);
                search.clause(&[!lit, guard]);
                search.clause(&[lit, !guard]);
                When::If(guard)
            }
        }
    }

    fn limit(&mut self, event: Event) {
        if !self.limits.contains(&event) {
            self.limits.push(event);
        }
    }

    fn variable(&mut self, search: &mut Search, phase: bool, role: Role) -> Var {
        let var = search.variable(true, phase);
        if self.roles.len() <= var.index() {
            self.roles.resize(var.index() + 1, Role::None);
        }
        self.roles[var.index()] = role;
        var
    }
}

/// The theory's part in the search.
impl Order {
    pub(crate) fn push_level(&mut self) {
        debug_assert_eq!(self.heard, self.told.len(), "a level begins in the middle");
        self.levels.push(Level {
            told: self.told.len(),
            graph: self.graph.mark(),
            taken: self.reads.mark(),
            pairs: self.pairs.mark(),
        });
    }

    pub(crate) fn pop_to(&mut self, level: usize) {
        if level >= self.levels.len() {
            return;
        }
        let mark = self.levels[level];
        self.levels.truncate(level);
        self.told.truncate(mark.told);
        self.heard = self.heard.min(mark.told);
        self.graph.undo_to(mark.graph);
        self.reads.undo_to(&self.graph, mark.taken);
        self.pairs.undo_to(mark.pairs);
        self.work.clear();
    }

    pub(crate) fn assign(&mut self, lit: Lit) {
        self.told.push(lit);
    }

    pub(crate) fn propagate(
        &mut self,
        search: &Search,
        implied: &mut Vec<Lit>,
    ) -> Result<(), Conflict> {
        self.why.resize(self.roles.len(), (NO_PREMISES, 0));
        for (from, to) in std::mem::take(&mut self.fixed_fresh) {
            self.work.push_back(Derived {
                from,
                to,
                because: NO_PREMISES,
            });
        }
        self.settle(search, implied)?;
        self.hear_of_additions(search, implied)?;
        while let Some(&lit) = self.told.get(self.heard) {
            self.heard += 1;
            self.hear(search, lit);
            self.settle(search, implied)?;
        }
        Ok(())
    }

    pub(crate) fn explain(&mut self, lit: Lit, reason: &mut Vec<Lit>) {
        let (because, time) = self.why[lit.var().index()];
        self.graph.explain(because, time, reason);
    }

    /// Whether a literal without a value holds in the last schedule.
    pub(crate) fn proposes(&self, lit: Lit) -> bool {
        let holds = match &self.roles[lit.var().index()] {
            Role::Atom(first, second) => self.position(*first) < self.position(*second),
            Role::Choice(taken) => {
                let choices = &self.reads.read(taken.read).choices;
                choices[taken.choice as usize].source == self.source(taken.read)
            }
            Role::Guard(_) | Role::Pair(_) => false,
            Role::None => unreachable!("only observed variables are left without a value"),
        };
        holds == lit.is_positive()
    }

    /// The position in the last schedule from which on a literal says something.
    pub(crate) fn rank(&self, lit: Lit) -> u32 {
        let position = match &self.roles[lit.var().index()] {
            Role::Atom(first, second) => self.position(*first).max(self.position(*second)),
            Role::Choice(taken) => self.position(self.reads.read(taken.read).event),
            Role::Guard(_) | Role::Pair(_) | Role::None => 0,
        };
        position as u32
    }

    /// Holds, atoms and choices that came since the last propagation may follow from what is known.
    fn hear_of_additions(
        &mut self,
        search: &Search,
        implied: &mut Vec<Lit>,
    ) -> Result<(), Conflict> {
        let values = Values {
            search,
            limits: &self.limits,
        };
        self.holds
            .derive_fresh(&self.graph, &values, &mut self.derived);
        self.work.extend(self.derived.drain(..));
        let mut follows = Vec::new();
        self.atoms.implied_fresh(&self.graph, |a, b, lit| {
            follows.push((lit, path(a, b)));
        });
        self.reads
            .ruled_out_fresh(&self.graph, |lit, because| follows.push((lit, because)));
        for (lit, because) in follows {
            self.imply(search, lit, because, implied)?;
        }
        self.settle(search, implied)
    }

    /// What a literal says.
    fn hear(&mut self, search: &Search, lit: Lit) {
        let values = Values {
            search,
            limits: &self.limits,
        };
        let graph = &self.graph;
        match &self.roles[lit.var().index()] {
            Role::Atom(first, second) => {
                let (from, to) = if lit.is_positive() {
                    (*first, *second)
                } else {
                    (*second, *first)
                };
                self.derived.push(Derived::by(lit, from, to));
            }
            Role::Choice(taken) if lit.is_positive() => {
                self.reads.take(graph, *taken, &mut self.derived);
            }
            Role::Guard(holds) if lit.is_positive() => {
                for hold in holds {
                    self.holds
                        .derive_for(graph, &values, *hold, &mut self.derived);
                }
            }
            Role::Pair(number) if lit.is_positive() => {
                self.pairs.activate(graph, *number, &mut self.derived);
            }
            _ => {}
        }
        self.work.extend(self.derived.drain(..));
    }

    /// Adds the edges that wait, and those that follow from them.
    fn settle(&mut self, search: &Search, implied: &mut Vec<Lit>) -> Result<(), Conflict> {
        while let Some(edge) = self.work.pop_front() {
            self.changes.clear();
            match self.graph.add(edge, &mut self.changes) {
                Added::Fine => {}
                Added::Cycle => {
                    self.work.clear();
                    return Err(self.cycle(edge));
                }
            }
            let changes = std::mem::take(&mut self.changes);
            for change in &changes {
                self.follow(search, change, implied)?;
            }
            self.changes = changes;
        }
        Ok(())
    }

    /// What follows from a new step of the closure.
    fn follow(
        &mut self,
        search: &Search,
        change: &Change,
        implied: &mut Vec<Lit>,
    ) -> Result<(), Conflict> {
        let values = Values {
            search,
            limits: &self.limits,
        };
        let graph = &self.graph;
        self.holds
            .derive_from(graph, &values, change, &mut self.derived);
        self.reads.derive_from(change, &mut self.derived);
        self.pairs.derive_from(graph, change, &mut self.derived);
        self.work.extend(self.derived.drain(..));
        let mut follows = Vec::new();
        self.atoms.implied_by(graph, change, |a, b, lit| {
            if search.value(lit) != Some(true) {
                follows.push((lit, path(a, b)));
            }
        });
        self.reads
            .ruled_out_by(graph, &values, change, |lit, because| {
                if search.value(lit) != Some(true) {
                    follows.push((lit, because));
                }
            });
        for (lit, because) in follows {
            self.imply(search, lit, because, implied)?;
        }
        Ok(())
    }

    fn imply(
        &mut self,
        search: &Search,
        lit: Lit,
        because: Premises,
        implied: &mut Vec<Lit>,
    ) -> Result<(), Conflict> {
        let time = self.graph.time();
        match search.value(lit) {
            Some(true) => {}
            Some(false) => {
                let mut lits = vec![!lit];
                self.graph.explain(because, time, &mut lits);
                self.work.clear();
                return Err(Conflict(lits));
            }
            None => {
                self.why[lit.var().index()] = (because, time);
                implied.push(lit);
            }
        }
        Ok(())
    }

    /// The literals that close a cycle with `edge`.
    fn cycle(&mut self, edge: Derived) -> Conflict {
        let time = self.graph.time();
        let mut lits = Vec::new();
        self.graph.explain(edge.because, time, &mut lits);
        if edge.from != edge.to {
            self.graph
                .explain(path(edge.to, edge.from), time, &mut lits);
        }
        Conflict(lits)
    }
}
