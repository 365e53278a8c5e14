//! The solver's bit-vector functions.

use super::blast::Comparison;
use super::term::{Operation, Term};
use crate::lit::Lit;
use crate::solver::Solver;

/// Bit-vectors of 1 to 64 bits, with the meaning that SMT-LIB gives to the operations.
///
/// Terms cost the search nothing until a condition on them is asked for.
///
/// # Panics
///
/// All of these panic if a width is not in 1..=64, if two operands that must have the same width do
/// not, and if a term belongs to another solver (as far as that can be seen).
impl Solver {
    /// A value.
    ///
    /// # Panics
    ///
    /// If the value has more bits than `width`.
    pub fn constant(&mut self, width: u32, value: u64) -> Term {
        self.terms.constant(width, value)
    }

    /// A term that may have any value. `hint` is the value to try first, and the one it has in a model
    /// if nothing depends on it.
    ///
    /// # Panics
    ///
    /// If the hint has more bits than `width`.
    pub fn unknown(&mut self, width: u32, hint: u64) -> Term {
        self.terms.unknown(width, hint)
    }

    /// `a` if the condition holds, `b` if not.
    pub fn chosen(&mut self, condition: Lit, a: Term, b: Term) -> Term {
        self.terms.chosen(condition, a, b)
    }

    /// One bit that is set if the literal holds.
    pub fn of_lit(&mut self, lit: Lit) -> Term {
        self.terms.of_lit(lit)
    }

    /// All bits flipped.
    pub fn bv_not(&mut self, a: Term) -> Term {
        self.terms.not(a)
    }

    /// Minus `a`.
    pub fn bv_neg(&mut self, a: Term) -> Term {
        self.terms.neg(a)
    }

    /// The bits set in both.
    pub fn bv_and(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::And, a, b)
    }

    /// The bits set in one of the two or in both.
    pub fn bv_or(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Or, a, b)
    }

    /// The bits set in exactly one of the two.
    pub fn bv_xor(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Xor, a, b)
    }

    /// `a + b`, wrapping.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Add, a, b)
    }

    /// `a - b`, wrapping.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Sub, a, b)
    }

    /// `a * b`, wrapping.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Mul, a, b)
    }

    /// `a / b` without sign; all ones if `b` is zero.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Udiv, a, b)
    }

    /// `a / b` with sign, towards zero; if `b` is zero, 1 for a negative `a` and -1 for another.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Sdiv, a, b)
    }

    /// What `udiv` leaves; `a` if `b` is zero.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Urem, a, b)
    }

    /// What `sdiv` leaves, with the sign of `a`; `a` if `b` is zero.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Srem, a, b)
    }

    /// `a` moved up by `b` bits, zeros below.
    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Shl, a, b)
    }

    /// `a` moved down by `b` bits, zeros above.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Lshr, a, b)
    }

    /// `a` moved down by `b` bits, copies of its highest bit above.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        self.terms.binary(Operation::Ashr, a, b)
    }

    /// `a` with zeros above, `width` bits in all.
    ///
    /// # Panics
    ///
    /// If `a` is wider.
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        self.terms.zero_extend(a, width)
    }

    /// `a` with copies of its highest bit above, `width` bits in all.
    ///
    /// # Panics
    ///
    /// If `a` is wider.
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        self.terms.sign_extend(a, width)
    }

    /// The low `width` bits of `a`.
    ///
    /// # Panics
    ///
    /// If `a` is narrower.
    pub fn truncate(&mut self, a: Term, width: u32) -> Term {
        self.terms.truncate(a, width)
    }

    /// `width` bits of `a`, the lowest of them its bit `low`.
    ///
    /// # Panics
    ///
    /// If `a` does not have all of these bits.
    pub fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        self.terms.extract(a, low, width)
    }

    /// The bits of `high` above those of `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        self.terms.concat(high, low)
    }

    /// Whether the two are the same.
    pub fn equal(&mut self, a: Term, b: Term) -> Lit {
        self.blaster
            .equal(a, b, &mut self.terms, &mut self.gates, &mut self.search)
    }

    /// Whether `a < b` without sign.
    pub fn unsigned_less(&mut self, a: Term, b: Term) -> Lit {
        self.compare(Comparison::UnsignedLess, a, b)
    }

    /// Whether `a <= b` without sign.
    pub fn unsigned_at_most(&mut self, a: Term, b: Term) -> Lit {
        !self.compare(Comparison::UnsignedLess, b, a)
    }

    /// Whether `a < b` with sign.
    pub fn signed_less(&mut self, a: Term, b: Term) -> Lit {
        self.compare(Comparison::SignedLess, a, b)
    }

    /// Whether `a <= b` with sign.
    pub fn signed_at_most(&mut self, a: Term, b: Term) -> Lit {
        !self.compare(Comparison::SignedLess, b, a)
    }

    fn compare(&mut self, comparison: Comparison, a: Term, b: Term) -> Lit {
        self.blaster.compare(
            comparison,
            [a, b],
            &self.terms,
            &mut self.gates,
            &mut self.search,
        )
    }
}
