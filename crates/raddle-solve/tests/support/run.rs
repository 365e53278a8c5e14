//! Says a problem to the solver and takes its answers as plain data.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use raddle_solve::{
    Answer, Budget, Chain, Event, Exhausted, Hold, Lit, Location, Mode, Read, Resource, Solver,
    Sources, Term, Write,
};

use super::evaluate::Valuation;
use super::facts::Facts;
use super::instance::{Bits, Formula, Operation, Relation, Source, Step, When};

/// A solver and what it calls the things of a problem.
#[derive(Default)]
pub struct Session {
    pub solver: Solver,
    chains: Vec<Chain>,
    events: Vec<Event>,
    booleans: Vec<Lit>,
    unknowns: Vec<Term>,
    resources: Vec<Resource>,
    locations: Vec<Location>,
    writes: Vec<Write>,
    number_of: BTreeMap<Write, usize>,
    sources: Vec<Sources>,
    reads: Vec<(Read, Option<Term>)>,
    adjacent: BTreeMap<(usize, usize), Lit>,
    /// The literals of all formulas required or assumed so far, in that order.
    stated: Vec<Lit>,
    /// The terms of the values of locations and writes so far.
    values: Vec<Term>,
    /// How long the solver took to answer, all questions together.
    pub spent: Duration,
}

/// A model as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub order: Vec<usize>,
    pub valuation: Valuation,
    pub sources: Vec<Source>,
    /// The truth of every formula required or assumed so far, in that order.
    pub truths: Vec<bool>,
    /// The values of locations and writes that have one, in the order of the steps.
    pub values: Vec<u64>,
}

/// An answer as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Satisfiable(Box<Found>),
    /// The numbers of the assumptions that clash.
    Unsatisfiable(Vec<usize>),
    Unknown(Exhausted),
}

impl Session {
    /// Says every step but questions.
    pub fn of(steps: &[Step]) -> Self {
        let mut session = Self::default();
        for step in steps {
            session.say(step);
        }
        session
    }

    /// Says one step; a question is not asked, see [`Session::solve`].
    pub fn say(&mut self, step: &Step) {
        match step {
            Step::Chain => self.chains.push(self.solver.chain()),
            Step::Event(None) => self.events.push(self.solver.event()),
            Step::Event(Some(chain)) => {
                self.events.push(self.solver.event_in(self.chains[*chain]));
            }
            Step::Order(a, b) => self.solver.order(self.events[*a], self.events[*b]),
            Step::Boolean => self.booleans.push(self.solver.boolean()),
            Step::Unknown { width, hint } => {
                self.unknowns.push(self.solver.unknown(*width, *hint));
            }
            Step::Resource => self.resources.push(self.solver.resource()),
            Step::Hold(hold) => {
                let when = self.when(&hold.when);
                let mode = if hold.exclusive {
                    Mode::Exclusive
                } else {
                    Mode::Shared
                };
                let from = self.events[hold.from];
                let to = hold.to.map(|to| self.events[to]);
                let resource = self.resources[hold.resource];
                self.solver.hold(
                    resource,
                    Hold {
                        from,
                        to,
                        mode,
                        when,
                    },
                );
            }
            Step::Location(initial) => {
                let initial = initial.as_ref().map(|bits| self.term(bits));
                self.values.extend(initial);
                self.locations.push(self.solver.location(initial));
            }
            Step::Write(write) => {
                let value = write.value.as_ref().map(|bits| self.term(bits));
                self.values.extend(value);
                let location = self.locations[write.location];
                let made = self.solver.write(location, self.events[write.event], value);
                self.number_of.insert(made, self.writes.len());
                self.writes.push(made);
            }
            Step::Sources { location, from } => {
                let from: Vec<_> = from.iter().map(|&source| self.source(source)).collect();
                self.sources
                    .push(self.solver.sources(self.locations[*location], &from));
            }
            Step::Read(read) => {
                let when = self.when(&read.when);
                let location = self.locations[read.location];
                let from = self.sources[read.sources];
                let made = self
                    .solver
                    .read(location, self.events[read.event], from, when);
                let value = read
                    .width
                    .map(|width| self.solver.value_of(made, width, read.hint));
                self.reads.push((made, value));
            }
            Step::Require(clause) => {
                let lits: Vec<Lit> = clause.iter().map(|f| self.lit(f)).collect();
                self.stated.extend(&lits);
                self.solver.require(&lits);
            }
            Step::Solve(_) => {}
        }
    }

    /// Asks; `facts` are those of the steps so far, the question itself among them.
    pub fn solve(&mut self, facts: &Facts<'_>, assumptions: &[Formula], budget: Budget) -> Outcome {
        let assumed: Vec<Lit> = assumptions.iter().map(|f| self.lit(f)).collect();
        self.stated.extend(&assumed);
        let begun = Instant::now();
        let answer = self.solver.solve(&assumed, budget);
        self.spent += begun.elapsed();
        let model = match answer {
            Answer::Satisfiable(model) => model,
            Answer::Unsatisfiable(core) => {
                let number = |lit: &Lit| {
                    let found = assumed.iter().position(|assumption| assumption == lit);
                    found.expect("a core has nothing but assumptions")
                };
                return Outcome::Unsatisfiable(core.iter().map(number).collect());
            }
            Answer::Unknown(exhausted) => return Outcome::Unknown(exhausted),
        };
        let adjacent = facts
            .adjacent
            .iter()
            .map(|pair| self.adjacent.get(pair).is_some_and(|&lit| model.holds(lit)));
        let source = |(read, _): &(Read, _)| match model.source(*read) {
            raddle_solve::Source::Initial => Source::Initial,
            raddle_solve::Source::Write(write) => Source::Write(self.number_of[&write]),
        };
        Outcome::Satisfiable(Box::new(Found {
            order: model.order().iter().map(|event| event.index()).collect(),
            valuation: Valuation {
                position: self.events.iter().map(|&e| model.position(e)).collect(),
                booleans: self.booleans.iter().map(|&b| model.holds(b)).collect(),
                adjacent: adjacent.collect(),
                unknowns: self.unknowns.iter().map(|&u| model.value(u)).collect(),
                reads: self
                    .reads
                    .iter()
                    .map(|(_, v)| v.map_or(0, |v| model.value(v)))
                    .collect(),
            },
            sources: self.reads.iter().map(source).collect(),
            truths: self.stated.iter().map(|&lit| model.holds(lit)).collect(),
            values: self.values.iter().map(|&term| model.value(term)).collect(),
        }))
    }

    fn source(&self, source: Source) -> raddle_solve::Source {
        match source {
            Source::Initial => raddle_solve::Source::Initial,
            Source::Write(write) => raddle_solve::Source::Write(self.writes[write]),
        }
    }

    fn when(&mut self, when: &When) -> raddle_solve::When {
        match when {
            When::Always => raddle_solve::When::Always,
            When::Before(cut) => raddle_solve::When::Before(self.events[*cut]),
            When::If(condition) => raddle_solve::When::If(self.lit(condition)),
        }
    }

    /// The literal of a formula.
    pub fn lit(&mut self, formula: &Formula) -> Lit {
        match formula {
            Formula::Constant(true) => Lit::TRUE,
            Formula::Constant(false) => Lit::FALSE,
            Formula::Boolean(b) => self.booleans[*b],
            Formula::Before(a, b) => self.solver.before(self.events[*a], self.events[*b]),
            Formula::Adjacent(a, b) => self.adjacency(*a, *b),
            Formula::Not(inner) => !self.lit(inner),
            Formula::And(parts) | Formula::Or(parts) => {
                let lits: Vec<Lit> = parts.iter().map(|f| self.lit(f)).collect();
                if matches!(formula, Formula::And(_)) {
                    self.solver.and(&lits)
                } else {
                    self.solver.or(&lits)
                }
            }
            Formula::Xor(parts) => {
                let [a, b] = parts.each_ref().map(|f| self.lit(f));
                self.solver.xor(a, b)
            }
            Formula::Iff(parts) => {
                let [a, b] = parts.each_ref().map(|f| self.lit(f));
                self.solver.iff(a, b)
            }
            Formula::Implies(parts) => {
                let [a, b] = parts.each_ref().map(|f| self.lit(f));
                self.solver.implies(a, b)
            }
            Formula::Ite(parts) => {
                let [c, a, b] = parts.each_ref().map(|f| self.lit(f));
                self.solver.ite(c, a, b)
            }
            Formula::Compare(relation, sides) => {
                let [a, b] = sides.each_ref().map(|side| self.term(side));
                match relation {
                    Relation::Equal => self.solver.equal(a, b),
                    Relation::UnsignedLess => self.solver.unsigned_less(a, b),
                    Relation::UnsignedAtMost => self.solver.unsigned_at_most(a, b),
                    Relation::SignedLess => self.solver.signed_less(a, b),
                    Relation::SignedAtMost => self.solver.signed_at_most(a, b),
                }
            }
        }
    }

    /// One literal for each pair, whichever way round it is named.
    fn adjacency(&mut self, a: usize, b: usize) -> Lit {
        let pair = (a.min(b), a.max(b));
        let (solver, events) = (&mut self.solver, &self.events);
        *self
            .adjacent
            .entry(pair)
            .or_insert_with(|| solver.adjacent(events[a], events[b]))
    }

    fn term(&mut self, bits: &Bits) -> Term {
        match bits {
            Bits::Constant { width, value } => self.solver.constant(*width, *value),
            Bits::Unknown(u) => self.unknowns[*u],
            Bits::Read(r) => self.reads[*r].1.expect("only reads with a width are used"),
            Bits::Not(of) => {
                let of = self.term(of);
                self.solver.bv_not(of)
            }
            Bits::Neg(of) => {
                let of = self.term(of);
                self.solver.bv_neg(of)
            }
            Bits::Binary(operation, sides) => {
                let [a, b] = sides.each_ref().map(|side| self.term(side));
                self.binary(*operation, a, b)
            }
            Bits::Chosen(condition, sides) => {
                let condition = self.lit(condition);
                let [a, b] = sides.each_ref().map(|side| self.term(side));
                self.solver.chosen(condition, a, b)
            }
            Bits::OfLit(condition) => {
                let condition = self.lit(condition);
                self.solver.of_lit(condition)
            }
            Bits::ZeroExtend(of, width) => {
                let of = self.term(of);
                self.solver.zero_extend(of, *width)
            }
            Bits::SignExtend(of, width) => {
                let of = self.term(of);
                self.solver.sign_extend(of, *width)
            }
            Bits::Truncate(of, width) => {
                let of = self.term(of);
                self.solver.truncate(of, *width)
            }
            Bits::Extract { of, low, width } => {
                let of = self.term(of);
                self.solver.extract(of, *low, *width)
            }
            Bits::Concat(sides) => {
                let [high, low] = sides.each_ref().map(|side| self.term(side));
                self.solver.concat(high, low)
            }
        }
    }

    fn binary(&mut self, operation: Operation, a: Term, b: Term) -> Term {
        let solver = &mut self.solver;
        match operation {
            Operation::And => solver.bv_and(a, b),
            Operation::Or => solver.bv_or(a, b),
            Operation::Xor => solver.bv_xor(a, b),
            Operation::Add => solver.add(a, b),
            Operation::Sub => solver.sub(a, b),
            Operation::Mul => solver.mul(a, b),
            Operation::Udiv => solver.udiv(a, b),
            Operation::Sdiv => solver.sdiv(a, b),
            Operation::Urem => solver.urem(a, b),
            Operation::Srem => solver.srem(a, b),
            Operation::Shl => solver.shl(a, b),
            Operation::Lshr => solver.lshr(a, b),
            Operation::Ashr => solver.ashr(a, b),
        }
    }
}
