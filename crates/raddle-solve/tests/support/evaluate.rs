//! Whether an order and values satisfy a problem, from its definition.

use super::bits::Word;
use super::facts::Facts;
use super::instance::{Bits, Formula, Source, When};

/// A value for everything that a problem leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Valuation {
    /// The place of each event.
    pub position: Vec<usize>,
    pub booleans: Vec<bool>,
    /// Of the pairs in [`Facts::adjacent`].
    pub adjacent: Vec<bool>,
    pub unknowns: Vec<u64>,
    /// The value of each read that has a width.
    pub reads: Vec<u64>,
}

impl Valuation {
    /// Whether event `a` comes before event `b`.
    pub fn before(&self, a: usize, b: usize) -> bool {
        self.position[a] < self.position[b]
    }

    /// The truth of a condition.
    pub fn formula(&self, facts: &Facts<'_>, formula: &Formula) -> bool {
        let truth = |f: &Formula| self.formula(facts, f);
        match formula {
            Formula::Constant(value) => *value,
            Formula::Boolean(b) => self.booleans[*b],
            Formula::Before(a, b) => self.before(*a, *b),
            Formula::Adjacent(a, b) => self.adjacent[facts.adjacency(*a, *b)],
            Formula::Not(inner) => !truth(inner),
            Formula::And(parts) => parts.iter().all(truth),
            Formula::Or(parts) => parts.iter().any(truth),
            Formula::Xor(parts) => truth(&parts[0]) != truth(&parts[1]),
            Formula::Iff(parts) => truth(&parts[0]) == truth(&parts[1]),
            Formula::Implies(parts) => !truth(&parts[0]) || truth(&parts[1]),
            Formula::Ite(parts) if truth(&parts[0]) => truth(&parts[1]),
            Formula::Ite(parts) => truth(&parts[2]),
            Formula::Compare(relation, sides) => {
                let [a, b] = sides.each_ref().map(|side| self.bits(facts, side));
                a.compare(*relation, b)
            }
        }
    }

    /// The value of a bit-vector.
    pub fn bits(&self, facts: &Facts<'_>, bits: &Bits) -> Word {
        let word = |of: &Bits| self.bits(facts, of);
        match bits {
            Bits::Constant { width, value } => Word::new(*width, u128::from(*value)),
            Bits::Unknown(u) => Word::new(facts.unknowns[*u], u128::from(self.unknowns[*u])),
            Bits::Read(r) => {
                let width = facts.reads[*r]
                    .width
                    .expect("only reads with a width are used");
                Word::new(width, u128::from(self.reads[*r]))
            }
            Bits::Not(of) => word(of).not(),
            Bits::Neg(of) => word(of).neg(),
            Bits::Binary(operation, sides) => word(&sides[0]).binary(*operation, word(&sides[1])),
            Bits::Chosen(condition, sides) if self.formula(facts, condition) => word(&sides[0]),
            Bits::Chosen(_, sides) => word(&sides[1]),
            Bits::OfLit(condition) => Word::new(1, u128::from(self.formula(facts, condition))),
            Bits::ZeroExtend(of, width) => word(of).extend(*width, false),
            Bits::SignExtend(of, width) => word(of).extend(*width, true),
            Bits::Truncate(of, width) => word(of).extract(0, *width),
            Bits::Extract { of, low, width } => word(of).extract(*low, *width),
            Bits::Concat(sides) => word(&sides[0]).concat(word(&sides[1])),
        }
    }

    /// Whether a hold or a read that begins with `event` counts.
    pub fn counts(&self, facts: &Facts<'_>, when: &When, event: usize) -> bool {
        match when {
            When::Always => true,
            When::Before(cut) => self.before(event, *cut),
            When::If(condition) => self.formula(facts, condition),
        }
    }

    /// The last write of the read's location before the read, for each read.
    pub fn sources(&self, facts: &Facts<'_>) -> Vec<Source> {
        let by_position = |&write: &usize| self.position[facts.writes[write].event];
        let mut sorted = facts.writes_of.clone();
        sorted
            .iter_mut()
            .for_each(|writes| writes.sort_by_key(by_position));
        let last_before = |read: &&super::instance::Read| {
            let writes = &sorted[read.location];
            let place = self.position[read.event];
            match writes.partition_point(|write| by_position(write) < place) {
                0 => Source::Initial,
                after => Source::Write(writes[after - 1]),
            }
        };
        facts.reads.iter().map(last_before).collect()
    }

    /// Whether holds that count keep out of each other's way.
    pub fn holds_apart(&self, facts: &Facts<'_>) -> Result<(), String> {
        for (resource, holds) in facts.resources.iter().enumerate() {
            let counting = |h: &&&super::instance::Hold| self.counts(facts, &h.when, h.from);
            let mut counted: Vec<_> = holds.iter().filter(counting).collect();
            counted.sort_by_key(|hold| self.position[hold.from]);
            // The latest end so far, of any hold and of an exclusive one; places are counted from one.
            let (mut any, mut exclusive) = (0, 0);
            for hold in counted {
                let from = self.position[hold.from] + 1;
                let end = hold.to.map_or(usize::MAX, |to| self.position[to] + 1);
                if from <= if hold.exclusive { any } else { exclusive } {
                    return Err(format!(
                        "the hold of k{resource} from e{} begins during another one",
                        hold.from
                    ));
                }
                any = any.max(end);
                if hold.exclusive {
                    exclusive = exclusive.max(end);
                }
            }
        }
        Ok(())
    }

    /// Whether a read that counts takes a source that it may take.
    pub fn read_allowed(&self, facts: &Facts<'_>, read: usize, source: Source) -> bool {
        let from = facts.sources[facts.reads[read].sources];
        !self.counts(facts, &facts.reads[read].when, facts.reads[read].event)
            || from.contains(&source)
    }

    /// Whether two events are neighbours.
    pub fn neighbours(&self, a: usize, b: usize) -> bool {
        self.position[a].abs_diff(self.position[b]) == 1
    }

    /// Everything at once; the first thing that is wrong.
    pub fn satisfies(&self, facts: &Facts<'_>) -> Result<(), String> {
        let mut seen = vec![false; facts.events.len()];
        for &place in &self.position {
            match seen.get_mut(place) {
                Some(taken @ false) => *taken = true,
                _ => return Err(format!("place {place} is taken twice or not there")),
            }
        }
        if let Some((a, b)) = facts.edges.iter().find(|&&(a, b)| !self.before(a, b)) {
            return Err(format!("e{a} must come before e{b}"));
        }
        for (&(a, b), &claimed) in facts.adjacent.iter().zip(&self.adjacent) {
            if claimed && !self.neighbours(a, b) {
                return Err(format!("e{a} and e{b} are not adjacent"));
            }
        }
        self.holds_apart(facts)?;
        for (number, source) in self.sources(facts).into_iter().enumerate() {
            let read = facts.reads[number];
            if !self.read_allowed(facts, number, source) {
                return Err(format!("read r{number} takes its value from {source:?}"));
            }
            if self.counts(facts, &read.when, read.event)
                && let Some(width) = read.width
                && let Some(value) = facts.value_of(read.location, source)
                && self.bits(facts, value) != Word::new(width, u128::from(self.reads[number]))
            {
                return Err(format!(
                    "the value of read r{number} is not that of {source:?}"
                ));
            }
        }
        for clause in &facts.clauses {
            if !clause.iter().any(|f| self.formula(facts, f)) {
                return Err(format!("this requirement does not hold: {clause:?}"));
            }
        }
        Ok(())
    }
}
