//! The steps of a problem sorted by what they are about.

use super::instance::{Bits, Formula, Hold, Read, Source, Step, When, Write};

/// Everything that a number of steps say.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// The chain of each event.
    pub events: Vec<Option<usize>>,
    pub chains: usize,
    /// Fixed order: neighbours in a chain, given edges, the two ends of a hold.
    pub edges: Vec<(usize, usize)>,
    pub booleans: usize,
    /// The width of each unknown.
    pub unknowns: Vec<u32>,
    /// The holds of each resource.
    pub resources: Vec<Vec<&'a Hold>>,
    /// The initial value of each location.
    pub locations: Vec<Option<&'a Bits>>,
    pub writes: Vec<&'a Write>,
    /// The numbers of each location's writes.
    pub writes_of: Vec<Vec<usize>>,
    pub sources: Vec<&'a [Source]>,
    pub reads: Vec<&'a Read>,
    pub clauses: Vec<&'a [Formula]>,
    /// The pairs of which adjacency is spoken, each once, smaller number first.
    pub adjacent: Vec<(usize, usize)>,
}

impl<'a> Facts<'a> {
    /// Reads the steps.
    pub fn of(steps: &'a [Step]) -> Self {
        let mut facts = Self::default();
        let mut last: Vec<Option<usize>> = Vec::new();
        for step in steps {
            match step {
                Step::Chain => {
                    facts.chains += 1;
                    last.push(None);
                }
                Step::Event(chain) => {
                    let event = facts.events.len();
                    facts.events.push(*chain);
                    if let Some(chain) = chain
                        && let Some(before) = last[*chain].replace(event)
                    {
                        facts.edges.push((before, event));
                    }
                }
                Step::Order(a, b) => facts.edges.push((*a, *b)),
                Step::Boolean => facts.booleans += 1,
                Step::Unknown { width, .. } => facts.unknowns.push(*width),
                Step::Resource => facts.resources.push(Vec::new()),
                Step::Hold(hold) => {
                    facts.edges.extend(hold.to.map(|to| (hold.from, to)));
                    facts.condition(&hold.when);
                    facts.resources[hold.resource].push(hold);
                }
                Step::Location(initial) => {
                    initial.iter().for_each(|bits| facts.bits(bits));
                    facts.locations.push(initial.as_ref());
                    facts.writes_of.push(Vec::new());
                }
                Step::Write(write) => {
                    write.value.iter().for_each(|bits| facts.bits(bits));
                    facts.writes_of[write.location].push(facts.writes.len());
                    facts.writes.push(write);
                }
                Step::Sources { from, .. } => facts.sources.push(from),
                Step::Read(read) => {
                    facts.condition(&read.when);
                    facts.reads.push(read);
                }
                Step::Require(clause) => {
                    clause.iter().for_each(|f| facts.formula(f));
                    facts.clauses.push(clause);
                }
                Step::Solve(assumptions) => assumptions.iter().for_each(|f| facts.formula(f)),
            }
        }
        facts
    }

    /// The number of an adjacency among [`Facts::adjacent`].
    pub fn adjacency(&self, a: usize, b: usize) -> usize {
        let pair = (a.min(b), a.max(b));
        let found = self.adjacent.iter().position(|&known| known == pair);
        found.expect("every adjacency of a problem is in its facts")
    }

    /// The value that is taken from a source, if it is a known one.
    pub fn value_of(&self, location: usize, source: Source) -> Option<&'a Bits> {
        match source {
            Source::Initial => self.locations[location],
            Source::Write(write) => self.writes[write].value.as_ref(),
        }
    }

    fn condition(&mut self, when: &When) {
        if let When::If(formula) = when {
            self.formula(formula);
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match formula {
            Formula::Constant(_) | Formula::Boolean(_) | Formula::Before(..) => {}
            Formula::Adjacent(a, b) => {
                let pair = (*a.min(b), *a.max(b));
                if !self.adjacent.contains(&pair) {
                    self.adjacent.push(pair);
                }
            }
            Formula::Not(inner) => self.formula(inner),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|f| self.formula(f)),
            Formula::Xor(parts) | Formula::Iff(parts) | Formula::Implies(parts) => {
                parts.iter().for_each(|f| self.formula(f));
            }
            Formula::Ite(parts) => parts.iter().for_each(|f| self.formula(f)),
            Formula::Compare(_, sides) => sides.iter().for_each(|b| self.bits(b)),
        }
    }

    fn bits(&mut self, bits: &Bits) {
        match bits {
            Bits::Constant { .. } | Bits::Unknown(_) | Bits::Read(_) => {}
            Bits::Not(of)
            | Bits::Neg(of)
            | Bits::ZeroExtend(of, _)
            | Bits::SignExtend(of, _)
            | Bits::Truncate(of, _)
            | Bits::Extract { of, .. } => self.bits(of),
            Bits::Binary(_, sides) | Bits::Concat(sides) => {
                sides.iter().for_each(|b| self.bits(b));
            }
            Bits::Chosen(condition, sides) => {
                self.formula(condition);
                sides.iter().for_each(|b| self.bits(b));
            }
            Bits::OfLit(condition) => self.formula(condition),
        }
    }
}
