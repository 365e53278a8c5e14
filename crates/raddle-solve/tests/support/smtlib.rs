//! Problems in SMT-LIB 2, for other solvers.
//!
//! An event is an integer. Order atoms are only ever asserted as `a < b`, a negated one as `b < a`, so
//! that integers need not be distinct: a tie between events that nobody compares can be broken either
//! way. Reads-from and exclusion are spelled out as clauses. What the fixed order decides is left out.

use std::fmt::Write as _;

use super::facts::Facts;
use super::instance::{Bits, Formula, Operation, Relation, Source, When};
use super::must::Must;

/// Writes one problem.
pub struct Writer<'a> {
    facts: &'a Facts<'a>,
    must: Must,
    text: String,
    /// Names given so far to conditions whose truth is needed both ways.
    named: usize,
}

impl<'a> Writer<'a> {
    /// Declares and asserts everything.
    pub fn new(facts: &'a Facts<'a>) -> Self {
        let mut writer = Self {
            facts,
            must: Must::of(facts),
            text: String::new(),
            named: 0,
        };
        writer.declare();
        writer.adjacencies();
        writer.holds();
        writer.reads();
        for clause in &facts.clauses {
            let parts = clause.iter().map(|f| writer.formula(f, true)).collect();
            writer.assert(&any(parts));
        }
        writer
    }

    /// What has been written since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Asserts a formula.
    pub fn require(&mut self, formula: &Formula) {
        let condition = self.formula(formula, true);
        self.assert(&condition);
    }

    fn assert(&mut self, condition: &str) {
        if condition != "true" {
            self.line(format_args!("(assert {condition})"));
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a string can be written to");
    }

    fn declare(&mut self) {
        let facts = self.facts;
        for event in 0..facts.events.len() {
            self.line(format_args!("(declare-const e{event} Int)"));
        }
        for &(a, b) in &facts.edges {
            self.line(format_args!("(assert (< e{a} e{b}))"));
        }
        for boolean in 0..facts.booleans {
            self.line(format_args!("(declare-const b{boolean} Bool)"));
        }
        for (unknown, width) in facts.unknowns.iter().enumerate() {
            self.line(format_args!(
                "(declare-const u{unknown} (_ BitVec {width}))"
            ));
        }
        for (read, facts) in facts.reads.iter().enumerate() {
            if let Some(width) = facts.width {
                self.line(format_args!("(declare-const v{read} (_ BitVec {width}))"));
            }
        }
    }

    /// `a` before `b`.
    fn before(&self, a: usize, b: usize) -> String {
        if a == b || self.must.before(b, a) {
            "false".into()
        } else if self.must.before(a, b) {
            "true".into()
        } else {
            format!("(< e{a} e{b})")
        }
    }

    /// That a hold or read does not count.
    fn counts_not(&mut self, when: &When, event: usize) -> String {
        match when {
            When::Always => "false".into(),
            When::Before(cut) => self.formula(&Formula::Before(event, *cut), false),
            When::If(condition) => self.formula(condition, false),
        }
    }

    fn holds(&mut self) {
        let facts = self.facts;
        for holds in &facts.resources {
            for (index, one) in holds.iter().enumerate() {
                for other in &holds[..index] {
                    if !one.exclusive && !other.exclusive {
                        continue;
                    }
                    let apart = [(one, other), (other, one)]
                        .map(|(a, b)| a.to.map_or("false".into(), |to| self.before(to, b.from)));
                    let mut clause = Vec::from(apart);
                    if !clause.iter().any(|part| part == "true") {
                        clause.push(self.counts_not(&one.when, one.from));
                        clause.push(self.counts_not(&other.when, other.from));
                        self.assert(&any(clause));
                    }
                }
            }
        }
    }

    fn reads(&mut self) {
        for (number, read) in self.facts.reads.iter().enumerate() {
            let mut choices = vec![self.counts_not(&read.when, read.event)];
            for (index, &source) in self.facts.sources[read.sources].iter().enumerate() {
                if let Some(needs) = self.takes(number, source) {
                    let name = format!("f{number}_{index}");
                    self.line(format_args!("(declare-const {name} Bool)"));
                    for need in needs {
                        self.line(format_args!("(assert (=> {name} {need}))"));
                    }
                    choices.push(name);
                }
            }
            self.assert(&any(choices));
        }
    }

    /// What must hold if the read takes its value from the source; nothing if it never can.
    fn takes(&mut self, read: usize, source: Source) -> Option<Vec<String>> {
        let facts = self.facts;
        let reader = facts.reads[read].event;
        let location = facts.reads[read].location;
        let mut needs = Vec::new();
        if let Source::Write(write) = source {
            needs.push(self.before(facts.writes[write].event, reader));
        }
        for &other in &facts.writes_of[location] {
            let event = facts.writes[other].event;
            if Source::Write(other) == source || event == reader {
                continue;
            }
            let mut either = vec![self.before(reader, event)];
            if let Source::Write(write) = source {
                either.push(self.before(event, facts.writes[write].event));
            }
            needs.push(any(either));
        }
        if needs.iter().any(|need| need == "false") {
            return None;
        }
        needs.retain(|need| need != "true");
        if facts.reads[read].width.is_some()
            && let Some(value) = facts.value_of(location, source)
        {
            let value = self.bits(value);
            needs.push(format!("(= v{read} {value})"));
        }
        Some(needs)
    }

    fn adjacencies(&mut self) {
        for (pair, &(a, b)) in self.facts.adjacent.iter().enumerate() {
            self.line(format_args!("(declare-const a{pair} Bool)"));
            for other in (0..self.facts.events.len()).filter(|&e| e != a && e != b) {
                let earlier = all(vec![self.before(other, a), self.before(other, b)]);
                let later = all(vec![self.before(a, other), self.before(b, other)]);
                let outside = any(vec![earlier, later]);
                if outside != "true" {
                    self.line(format_args!("(assert (=> a{pair} {outside}))"));
                }
            }
        }
    }

    /// A name for a condition whose truth is needed both ways.
    fn name(&mut self, formula: &Formula) -> String {
        let name = format!("c{}", self.named);
        self.named += 1;
        let (yes, no) = (self.formula(formula, true), self.formula(formula, false));
        self.line(format_args!("(declare-const {name} Bool)"));
        self.line(format_args!("(assert (=> {name} {yes}))"));
        self.line(format_args!("(assert (=> (not {name}) {no}))"));
        name
    }

    /// The formula or its negation, with every order atom positive.
    fn formula(&mut self, formula: &Formula, positive: bool) -> String {
        let signed = |text: String| {
            if positive {
                text
            } else {
                format!("(not {text})")
            }
        };
        match formula {
            Formula::Constant(value) => (*value == positive).to_string(),
            Formula::Boolean(b) => signed(format!("b{b}")),
            Formula::Before(a, b) if a == b => (!positive).to_string(),
            Formula::Before(a, b) if positive => self.before(*a, *b),
            Formula::Before(a, b) => self.before(*b, *a),
            Formula::Adjacent(a, b) => signed(format!("a{}", self.facts.adjacency(*a, *b))),
            Formula::Not(inner) => self.formula(inner, !positive),
            Formula::And(parts) | Formula::Or(parts) => {
                let texts = parts.iter().map(|f| self.formula(f, positive)).collect();
                if matches!(formula, Formula::And(_)) == positive {
                    all(texts)
                } else {
                    any(texts)
                }
            }
            Formula::Implies(parts) => {
                let premise = self.formula(&parts[0], !positive);
                let conclusion = self.formula(&parts[1], positive);
                if positive {
                    any(vec![premise, conclusion])
                } else {
                    all(vec![premise, conclusion])
                }
            }
            Formula::Xor(parts) | Formula::Iff(parts) => {
                let [a, b] = parts.each_ref().map(|f| self.name(f));
                let equal = matches!(formula, Formula::Iff(_)) == positive;
                format!("({} {a} {b})", if equal { "=" } else { "xor" })
            }
            Formula::Ite(parts) => {
                let [c, a, b] = parts.each_ref().map(|f| self.name(f));
                signed(format!("(ite {c} {a} {b})"))
            }
            Formula::Compare(relation, sides) => {
                let [a, b] = sides.each_ref().map(|side| self.bits(side));
                signed(format!("({} {a} {b})", relation_name(*relation)))
            }
        }
    }

    fn bits(&mut self, bits: &Bits) -> String {
        match bits {
            Bits::Constant { width, value } => format!("(_ bv{value} {width})"),
            Bits::Unknown(u) => format!("u{u}"),
            Bits::Read(r) => format!("v{r}"),
            Bits::Not(of) => format!("(bvnot {})", self.bits(of)),
            Bits::Neg(of) => format!("(bvneg {})", self.bits(of)),
            Bits::Binary(operation, sides) => {
                let [a, b] = sides.each_ref().map(|side| self.bits(side));
                format!("({} {a} {b})", operation_name(*operation))
            }
            Bits::Chosen(condition, sides) => {
                let name = self.name(condition);
                let [a, b] = sides.each_ref().map(|side| self.bits(side));
                format!("(ite {name} {a} {b})")
            }
            Bits::OfLit(condition) => format!("(ite {} #b1 #b0)", self.name(condition)),
            Bits::ZeroExtend(of, width) => {
                let more = width - self.width(of);
                format!("((_ zero_extend {more}) {})", self.bits(of))
            }
            Bits::SignExtend(of, width) => {
                let more = width - self.width(of);
                format!("((_ sign_extend {more}) {})", self.bits(of))
            }
            Bits::Truncate(of, width) => {
                format!("((_ extract {} 0) {})", width - 1, self.bits(of))
            }
            Bits::Extract { of, low, width } => {
                format!("((_ extract {} {low}) {})", low + width - 1, self.bits(of))
            }
            Bits::Concat(sides) => {
                let [high, low] = sides.each_ref().map(|side| self.bits(side));
                format!("(concat {high} {low})")
            }
        }
    }

    fn width(&self, bits: &Bits) -> u32 {
        match bits {
            Bits::Constant { width, .. }
            | Bits::ZeroExtend(_, width)
            | Bits::SignExtend(_, width)
            | Bits::Truncate(_, width)
            | Bits::Extract { width, .. } => *width,
            Bits::Unknown(u) => self.facts.unknowns[*u],
            Bits::Read(r) => self.facts.reads[*r]
                .width
                .expect("only reads with a width are used"),
            Bits::Not(of) | Bits::Neg(of) => self.width(of),
            Bits::Binary(_, sides) | Bits::Chosen(_, sides) => self.width(&sides[0]),
            Bits::OfLit(_) => 1,
            Bits::Concat(sides) => self.width(&sides[0]) + self.width(&sides[1]),
        }
    }
}

/// The disjunction of the parts.
fn any(mut parts: Vec<String>) -> String {
    parts.retain(|part| part != "false");
    if parts.iter().any(|part| part == "true") {
        return "true".into();
    }
    match parts.len() {
        0 => "false".into(),
        1 => parts.swap_remove(0),
        _ => format!("(or {})", parts.join(" ")),
    }
}

/// The conjunction of the parts.
fn all(mut parts: Vec<String>) -> String {
    parts.retain(|part| part != "true");
    if parts.iter().any(|part| part == "false") {
        return "false".into();
    }
    match parts.len() {
        0 => "true".into(),
        1 => parts.swap_remove(0),
        _ => format!("(and {})", parts.join(" ")),
    }
}

fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Equal => "=",
        Relation::UnsignedLess => "bvult",
        Relation::UnsignedAtMost => "bvule",
        Relation::SignedLess => "bvslt",
        Relation::SignedAtMost => "bvsle",
    }
}

fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::And => "bvand",
        Operation::Or => "bvor",
        Operation::Xor => "bvxor",
        Operation::Add => "bvadd",
        Operation::Sub => "bvsub",
        Operation::Mul => "bvmul",
        Operation::Udiv => "bvudiv",
        Operation::Sdiv => "bvsdiv",
        Operation::Urem => "bvurem",
        Operation::Srem => "bvsrem",
        Operation::Shl => "bvshl",
        Operation::Lshr => "bvlshr",
        Operation::Ashr => "bvashr",
    }
}
