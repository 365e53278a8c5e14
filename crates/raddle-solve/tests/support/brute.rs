//! Whether a tiny problem has a solution: all orders, all values.

use super::evaluate::Valuation;
use super::facts::Facts;
use super::instance::{Formula, Source, When};

/// More open bits than this in one order are a mistake of the problem's maker.
const MOST_OPEN_BITS: u32 = 16;

/// Whether some order and some values satisfy the facts and the assumptions.
pub fn satisfiable(facts: &Facts<'_>, assumptions: &[&Formula]) -> bool {
    assert!(
        facts.events.len() <= 16,
        "too many events to try all orders"
    );
    let mut required_before = vec![0_u16; facts.events.len()];
    for &(a, b) in &facts.edges {
        required_before[b] |= 1 << a;
    }
    let assumed = assumptions
        .iter()
        .map(|&formula| std::slice::from_ref(formula));
    let clauses = facts.clauses.iter().copied().chain(assumed);
    let (order_clauses, other_clauses) =
        clauses.partition(|clause: &&[Formula]| clause.iter().all(only_order));
    let mut search = Enumeration {
        facts,
        required_before,
        order_clauses,
        other_clauses,
        valuation: Valuation {
            position: vec![0; facts.events.len()],
            booleans: vec![false; facts.booleans],
            adjacent: vec![false; facts.adjacent.len()],
            unknowns: vec![0; facts.unknowns.len()],
            reads: vec![0; facts.reads.len()],
        },
    };
    search.place(0, 0)
}

struct Enumeration<'a> {
    facts: &'a Facts<'a>,
    /// The events that must come before each event.
    required_before: Vec<u16>,
    order_clauses: Vec<&'a [Formula]>,
    other_clauses: Vec<&'a [Formula]>,
    valuation: Valuation,
}

impl Enumeration<'_> {
    /// Tries every event that may come next.
    fn place(&mut self, placed: u16, count: usize) -> bool {
        if count == self.facts.events.len() {
            return self.order();
        }
        (0..self.facts.events.len()).any(|event| {
            let free = placed >> event & 1 == 0;
            if !free || self.required_before[event] & !placed != 0 {
                return false;
            }
            self.valuation.position[event] = count;
            self.place(placed | 1 << event, count + 1)
        })
    }

    /// Looks at one order: first at what it decides alone, then at all values.
    fn order(&mut self) -> bool {
        let (facts, valuation) = (self.facts, &self.valuation);
        let holds = |clause: &&[Formula]| clause.iter().any(|f| valuation.formula(facts, f));
        if !self.order_clauses.iter().all(holds) {
            return false;
        }
        let sources = valuation.sources(facts);
        for (read, &source) in sources.iter().enumerate() {
            let decided = !matches!(facts.reads[read].when, When::If(_));
            if decided && !valuation.read_allowed(facts, read, source) {
                return false;
            }
        }
        let conditional = facts
            .resources
            .iter()
            .flatten()
            .any(|hold| matches!(hold.when, When::If(_)));
        if !conditional && valuation.holds_apart(facts).is_err() {
            return false;
        }
        let neighbours: Vec<bool> = facts
            .adjacent
            .iter()
            .map(|&(a, b)| valuation.neighbours(a, b))
            .collect();
        let open_reads = self.open_reads(&sources);
        let bits = self.open_bits(&neighbours, &open_reads);
        assert!(
            bits <= MOST_OPEN_BITS,
            "{bits} open bits are too many to try all values"
        );
        (0..1_u64 << bits).any(|choice| {
            self.assign(choice, &neighbours, &open_reads, &sources);
            self.judge(&sources, conditional)
        })
    }

    /// Whether the value of each read may be open: it need not count, or nothing is known of its source.
    fn open_reads(&self, sources: &[Source]) -> Vec<bool> {
        let open = |(read, &source): (&&super::instance::Read, &Source)| {
            let counts = match read.when {
                When::Always => true,
                When::Before(cut) => self.valuation.before(read.event, cut),
                When::If(_) => false,
            };
            let known = self.facts.value_of(read.location, source).is_some();
            read.width.is_some() && !(counts && known)
        };
        self.facts.reads.iter().zip(sources).map(open).collect()
    }

    fn open_bits(&self, neighbours: &[bool], open_reads: &[bool]) -> u32 {
        let reads = self.facts.reads.iter().zip(open_reads);
        let widths = reads
            .filter(|(_, open)| **open)
            .map(|(read, _)| read.width.unwrap_or(0));
        let adjacent = neighbours.iter().filter(|&&near| near).count();
        (self.facts.booleans + adjacent) as u32
            + self.facts.unknowns.iter().sum::<u32>()
            + widths.sum::<u32>()
    }

    /// Deals the bits of `choice` out and lets the other reads take their sources' values. A write's
    /// value speaks of earlier reads only, so one pass in the order of the reads is enough.
    fn assign(
        &mut self,
        mut choice: u64,
        neighbours: &[bool],
        open_reads: &[bool],
        sources: &[Source],
    ) {
        let mut take = |width: u32| {
            let value = choice & ((1 << width) - 1);
            choice >>= width;
            value
        };
        for value in &mut self.valuation.booleans {
            *value = take(1) == 1;
        }
        for (value, &near) in self.valuation.adjacent.iter_mut().zip(neighbours) {
            *value = near && take(1) == 1;
        }
        for (value, &width) in self.valuation.unknowns.iter_mut().zip(&self.facts.unknowns) {
            *value = take(width);
        }
        for (number, read) in self.facts.reads.iter().enumerate() {
            let Some(width) = read.width else { continue };
            if open_reads[number] {
                self.valuation.reads[number] = take(width);
            }
            if let Some(value) = self.facts.value_of(read.location, sources[number])
                && self.valuation.counts(self.facts, &read.when, read.event)
            {
                self.valuation.reads[number] = self.valuation.bits(self.facts, value).value;
            }
        }
    }

    /// Checks what [`Enumeration::order`] could not.
    fn judge(&self, sources: &[Source], conditional: bool) -> bool {
        let (facts, valuation) = (self.facts, &self.valuation);
        let holds = |clause: &&[Formula]| clause.iter().any(|f| valuation.formula(facts, f));
        let allowed =
            |(read, &source): (usize, &Source)| valuation.read_allowed(facts, read, source);
        self.other_clauses.iter().all(holds)
            && sources.iter().enumerate().all(allowed)
            && (!conditional || valuation.holds_apart(facts).is_ok())
    }
}

/// Whether an order alone decides a formula.
fn only_order(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Before(..) => true,
        Formula::Boolean(_) | Formula::Adjacent(..) | Formula::Compare(..) => false,
        Formula::Not(inner) => only_order(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(only_order),
        Formula::Xor(parts) | Formula::Iff(parts) | Formula::Implies(parts) => {
            parts.iter().all(only_order)
        }
        Formula::Ite(parts) => parts.iter().all(only_order),
    }
}
