//! Terms, circuits and evaluation against arithmetic on unbounded integers.

mod depth;
mod equations;
mod operations;
mod programs;
mod reference;
mod refusals;
mod solver;

use super::blast::Comparison;
use super::circuit::Circuit;
use super::term::{Operation, Term, Terms};
use super::{Blaster, evaluate};
use crate::gates::formula::{Formula, Naive};
use crate::gates::{Clauses, Gates};
use crate::lit::Lit;

const OPERATIONS: [Operation; 13] = [
    Operation::And,
    Operation::Or,
    Operation::Xor,
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Udiv,
    Operation::Sdiv,
    Operation::Urem,
    Operation::Srem,
    Operation::Shl,
    Operation::Lshr,
    Operation::Ashr,
];

/// Steele, Lea and Flood's SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A value of so many bits: often one at the edge of something.
    fn value(&mut self, width: u32) -> u64 {
        let value = match self.below(6) {
            0 => self.next() % 3,
            1 => (self.next() % 3).wrapping_neg(),
            2 => 1 << self.below(width as usize),
            3 => (1_u64 << self.below(width as usize)).wrapping_sub(self.next() % 3),
            _ => self.next() >> self.below(64),
        };
        value & reference::ones(width)
    }
}

/// What a solver has for bit-vectors, with clauses that are only kept.
struct Bench {
    terms: Terms,
    gates: Gates,
    blaster: Blaster,
    sink: Formula,
}

impl Bench {
    fn new() -> Self {
        Self {
            terms: Terms::default(),
            gates: Gates::default(),
            blaster: Blaster::default(),
            sink: Formula::new(),
        }
    }

    fn blast(&mut self, term: Term) -> Vec<Lit> {
        let mut circuit = Circuit {
            gates: &mut self.gates,
            sink: &mut self.sink,
        };
        self.blaster.blast(term, &self.terms, &mut circuit);
        self.blaster.bits_of(term).expect("just blasted").to_vec()
    }

    fn equal(&mut self, a: Term, b: Term) -> Lit {
        self.blaster
            .equal(a, b, &mut self.terms, &mut self.gates, &mut self.sink)
    }

    fn compare(&mut self, comparison: Comparison, a: Term, b: Term) -> Lit {
        self.blaster.compare(
            comparison,
            [a, b],
            &self.terms,
            &mut self.gates,
            &mut self.sink,
        )
    }

    fn link(&mut self, a: Term, b: Term, condition: Lit) {
        self.blaster.link(
            a,
            b,
            condition,
            &self.terms,
            &mut self.gates,
            &mut self.sink,
        );
    }

    fn evaluate(&self, term: Term, holds: impl Fn(Lit) -> bool) -> u64 {
        evaluate(term, &self.terms, &self.blaster, holds, |_| None)
    }
}

/// The literals that give the bits a value.
fn fixed(bits: &[Lit], value: u64) -> impl Iterator<Item = Lit> {
    bits.iter()
        .enumerate()
        .map(move |(place, &bit)| bit.negated_if(value >> place & 1 == 0))
}

/// The value of bits that all follow by unit propagation.
fn propagated(naive: &Naive, bits: &[Lit]) -> Option<u64> {
    bits.iter().rev().try_fold(0, |value, &bit| {
        Some(value << 1 | u64::from(naive.value(bit)?))
    })
}
