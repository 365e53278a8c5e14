//! Circuits on words, the lowest bit first: bitwise choice, sums and comparisons.
//!
//! Sums are ripple-carry adders. A parallel prefix adder is shallower but has more gates, and unit
//! propagation does not mind depth. Clauses that tie a full adder's sum to its carry (Eén and Sörensson,
//! "Translating pseudo-Boolean constraints into SAT") are left out: they are a third more clauses, and
//! made as many problems harder as easier.

use crate::gates::{Clauses, Gates};
use crate::lit::Lit;

/// Where circuits are built.
pub(super) struct Circuit<'a, S> {
    pub(super) gates: &'a mut Gates,
    pub(super) sink: &'a mut S,
}

impl<S: Clauses> Circuit<'_, S> {
    /// Whether both hold.
    pub(super) fn both(&mut self, a: Lit, b: Lit) -> Lit {
        self.gates.both(self.sink, a, b)
    }

    /// Whether any holds.
    pub(super) fn any(&mut self, lits: &[Lit]) -> Lit {
        self.gates.or(self.sink, lits)
    }

    /// A function of one bit for each pair of bits.
    pub(super) fn bitwise(
        &mut self,
        a: &[Lit],
        b: &[Lit],
        mut gate: impl FnMut(&mut Gates, &mut S, Lit, Lit) -> Lit,
    ) -> Vec<Lit> {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| gate(self.gates, self.sink, a, b))
            .collect()
    }

    /// `then` if the condition holds, `other` if not.
    pub(super) fn choose(&mut self, condition: Lit, then: &[Lit], other: &[Lit]) -> Vec<Lit> {
        self.bitwise(then, other, |gates, sink, t, e| {
            gates.ite(sink, condition, t, e)
        })
    }

    /// `a + b + carry`, without the carry out.
    pub(super) fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Vec<Lit> {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            sum.push(self.gates.xor3(self.sink, a, b, carry));
            if sum.len() < sum.capacity() {
                carry = self.gates.majority(self.sink, a, b, carry);
            }
        }
        sum
    }

    /// `a - b`.
    pub(super) fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        self.add(a, &flipped(b), Lit::TRUE)
    }

    /// `-a` if the condition holds, `a` if not.
    pub(super) fn negate_if(&mut self, condition: Lit, a: &[Lit]) -> Vec<Lit> {
        let flipped: Vec<Lit> = a
            .iter()
            .map(|&bit| self.gates.xor(self.sink, bit, condition))
            .collect();
        self.add(&flipped, &vec![Lit::FALSE; a.len()], condition)
    }

    /// Whether `a` and `b` are the same.
    pub(super) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let same = self.bitwise(a, b, Gates::iff);
        self.gates.and(self.sink, &same)
    }

    /// Whether `a` is less than `b`, both without sign: the borrow of `a - b`.
    pub(super) fn unsigned_less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        a.iter().zip(b).fold(Lit::FALSE, |less, (&a, &b)| {
            self.gates.majority(self.sink, !a, b, less)
        })
    }

    /// Whether `a` is less than `b`, both with sign.
    pub(super) fn signed_less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        // Adding half of the range to both sides makes the order that of numbers without sign.
        self.unsigned_less(&sign_flipped(a), &sign_flipped(b))
    }
}

/// All bits flipped.
pub(super) fn flipped(a: &[Lit]) -> Vec<Lit> {
    a.iter().map(|&bit| !bit).collect()
}

fn sign_flipped(a: &[Lit]) -> Vec<Lit> {
    let mut bits = a.to_vec();
    if let Some(sign) = bits.last_mut() {
        *sign = !*sign;
    }
    bits
}

/// The value of bits that are all constant.
pub(super) fn as_constant(bits: &[Lit]) -> Option<u64> {
    bits.iter().rev().try_fold(0, |value, &bit| match bit {
        Lit::TRUE => Some(value << 1 | 1),
        Lit::FALSE => Some(value << 1),
        _ => None,
    })
}
