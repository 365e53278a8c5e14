//! From terms to literals.

use super::circuit::Circuit;
use super::divide::Division;
use super::equality::Equality;
use super::term::{Node, Operation, Term, Terms};
use crate::gates::{Clauses, Gates};
use crate::hash::Table;
use crate::lit::Lit;

/// A condition on two terms that is not an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Comparison {
    UnsignedLess,
    SignedLess,
}

/// The literals of the terms that were needed so far.
#[derive(Debug, Default)]
pub(crate) struct Blaster {
    /// The bits of all blasted terms, the lowest first.
    bits: Vec<Lit>,
    /// Where in `bits` a term begins, by its number. An extraction shares the bits of its operand.
    starts: Vec<Option<u32>>,
    /// Where the quotient and the remainder of two terms begin, by whether they have a sign: a program
    /// that asks for one often asks for the other.
    divisions: Table<(bool, Term, Term), (u32, u32)>,
    equations: Table<(Term, Term), Lit>,
    comparisons: Table<(Comparison, Term, Term), Lit>,
}

impl Blaster {
    /// Whether the two are the same.
    pub(crate) fn equal(
        &mut self,
        a: Term,
        b: Term,
        terms: &mut Terms,
        gates: &mut Gates,
        sink: &mut impl Clauses,
    ) -> Lit {
        let (a, b) = match terms.equality(a, b) {
            Equality::Always => return Lit::TRUE,
            Equality::Never => return Lit::FALSE,
            Equality::Between(a, b) => (a, b),
        };
        if let Some(&known) = self.equations.get(&(a, b)) {
            return known;
        }
        let mut circuit = Circuit { gates, sink };
        self.blast(a, terms, &mut circuit);
        self.blast(b, terms, &mut circuit);
        let lit = circuit.equal(self.bits(a), self.bits(b));
        self.equations.insert((a, b), lit);
        lit
    }

    /// Whether the comparison holds.
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        [a, b]: [Term; 2],
        terms: &Terms,
        gates: &mut Gates,
        sink: &mut impl Clauses,
    ) -> Lit {
        terms.check_pair("a comparison", a, b);
        if a == b {
            return Lit::FALSE;
        }
        if let Some(&known) = self.comparisons.get(&(comparison, a, b)) {
            return known;
        }
        let mut circuit = Circuit { gates, sink };
        self.blast(a, terms, &mut circuit);
        self.blast(b, terms, &mut circuit);
        let lit = match comparison {
            Comparison::UnsignedLess => circuit.unsigned_less(self.bits(a), self.bits(b)),
            Comparison::SignedLess => circuit.signed_less(self.bits(a), self.bits(b)),
        };
        self.comparisons.insert((comparison, a, b), lit);
        lit
    }

    /// If `condition` holds, the two are the same. Weaker than a condition `equal` and cheaper.
    pub(crate) fn link(
        &mut self,
        a: Term,
        b: Term,
        condition: Lit,
        terms: &Terms,
        gates: &mut Gates,
        sink: &mut impl Clauses,
    ) {
        terms.check_pair("a link", a, b);
        if a == b || condition == Lit::FALSE {
            return;
        }
        let mut circuit = Circuit { gates, sink };
        self.blast(a, terms, &mut circuit);
        self.blast(b, terms, &mut circuit);
        for (&a, &b) in self.bits(a).iter().zip(self.bits(b)) {
            for [a, b] in [[!a, b], [a, !b]] {
                if a != !b && a != Lit::TRUE && b != Lit::TRUE {
                    let mut clause = vec![!condition, a, b];
                    clause.retain(|&lit| lit != Lit::FALSE);
                    clause.dedup();
                    sink.clause(&clause);
                }
            }
        }
    }

    /// Whether a term has literals.
    pub(crate) fn is_blasted(&self, term: Term) -> bool {
        self.bits_of(term).is_some()
    }

    /// The literals of a term, if it was blasted.
    pub(super) fn bits_of(&self, term: Term) -> Option<&[Lit]> {
        let start = (*self.starts.get(term.index())?)? as usize;
        Some(&self.bits[start..start + term.width() as usize])
    }

    /// The literals of a term that was blasted.
    fn bits(&self, term: Term) -> &[Lit] {
        self.bits_of(term).expect("operands are blasted first")
    }

    /// Gives a term its literals. Not recursive: a term can be as deep as a run is long.
    pub(super) fn blast<S: Clauses>(
        &mut self,
        term: Term,
        terms: &Terms,
        circuit: &mut Circuit<'_, S>,
    ) {
        terms.check(term);
        let mut stack = vec![term];
        while let Some(&term) = stack.last() {
            let height = stack.len();
            if self.bits_of(term).is_none() {
                let operands = terms.node(term).operands();
                stack.extend(operands.filter(|&operand| self.bits_of(operand).is_none()));
            }
            if stack.len() == height {
                stack.pop();
                if self.bits_of(term).is_none() {
                    let start = self.build(term, terms, circuit);
                    if self.starts.len() <= term.index() {
                        self.starts.resize(term.index() + 1, None);
                    }
                    self.starts[term.index()] = Some(start);
                }
            }
        }
    }

    /// Builds a term whose operands are built, and says where its bits begin.
    fn build<S: Clauses>(
        &mut self,
        term: Term,
        terms: &Terms,
        circuit: &mut Circuit<'_, S>,
    ) -> u32 {
        let width = term.width();
        let bits = match terms.node(term) {
            Node::Constant(value) => (0..width)
                .map(|place| Lit::FALSE.negated_if(value >> place & 1 == 1))
                .collect(),
            Node::Unknown { hint } => (0..width)
                .map(|place| circuit.sink.fresh(hint >> place & 1 == 1))
                .collect(),
            Node::Literal(lit) => vec![lit],
            Node::Chosen(condition, a, b) => circuit.choose(condition, self.bits(a), self.bits(b)),
            Node::Not(a) => super::circuit::flipped(self.bits(a)),
            Node::SignExtend(a) => {
                let mut bits = self.bits(a).to_vec();
                bits.resize(width as usize, bits[bits.len() - 1]);
                bits
            }
            Node::Extract(a, from) => {
                let start = self.starts[a.index()].expect("operands are blasted first");
                return start + from;
            }
            Node::Concat(high, rest) => [self.bits(rest), self.bits(high)].concat(),
            Node::Binary(operation, a, b) => {
                return self.build_binary(operation, a, b, circuit);
            }
        };
        self.keep(&bits)
    }

    fn build_binary<S: Clauses>(
        &mut self,
        operation: Operation,
        a: Term,
        b: Term,
        circuit: &mut Circuit<'_, S>,
    ) -> u32 {
        let (x, y) = (self.bits(a), self.bits(b));
        let bits = match operation {
            Operation::And => circuit.bitwise(x, y, Gates::both),
            Operation::Or => circuit.bitwise(x, y, Gates::either),
            Operation::Xor => circuit.bitwise(x, y, Gates::xor),
            Operation::Add => circuit.add(x, y, Lit::FALSE),
            Operation::Sub => circuit.subtract(x, y),
            Operation::Mul => circuit.multiply(x, y),
            Operation::Shl => circuit.shift_left(x, y),
            Operation::Lshr => circuit.shift_right(x, y, Lit::FALSE),
            Operation::Ashr => circuit.shift_right(x, y, x[x.len() - 1]),
            Operation::Udiv => return self.division(false, a, b, circuit).0,
            Operation::Urem => return self.division(false, a, b, circuit).1,
            Operation::Sdiv => return self.division(true, a, b, circuit).0,
            Operation::Srem => return self.division(true, a, b, circuit).1,
        };
        self.keep(&bits)
    }

    fn division<S: Clauses>(
        &mut self,
        signed: bool,
        a: Term,
        b: Term,
        circuit: &mut Circuit<'_, S>,
    ) -> (u32, u32) {
        if let Some(&starts) = self.divisions.get(&(signed, a, b)) {
            return starts;
        }
        let (x, y) = (self.bits(a), self.bits(b));
        let Division {
            quotient,
            remainder,
        } = if signed {
            circuit.signed_divide(x, y)
        } else {
            circuit.divide(x, y)
        };
        let starts = (self.keep(&quotient), self.keep(&remainder));
        self.divisions.insert((signed, a, b), starts);
        starts
    }

    fn keep(&mut self, bits: &[Lit]) -> u32 {
        let start = u32::try_from(self.bits.len()).expect("more than 2^32 bits in one solver");
        self.bits.extend_from_slice(bits);
        start
    }
}
