//! Making terms that compute, in the simplest form that can be seen at once.
//!
//! Each rule looks at most one operand deep, so that making a term takes constant time, and holds for
//! all values, division by zero and oversize shifts included. In sums, products and bitwise operations a
//! constant stands on the right.

use super::native::{apply, ones};
use super::term::{Node, Operation, Term, Terms};

impl Terms {
    /// The result of an operation on two terms.
    pub(super) fn binary(&mut self, operation: Operation, a: Term, b: Term) -> Term {
        self.check_pair("a binary operation", a, b);
        let width = a.width();
        let (a, b) = if operation.commutes() && self.order(b) < self.order(a) {
            (b, a)
        } else {
            (a, b)
        };
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.constant(width, apply(operation, width, x, y));
        }
        let simpler = match operation {
            Operation::And => self.simpler_and(a, b),
            Operation::Or => self.simpler_or(a, b),
            Operation::Xor => self.simpler_xor(a, b),
            Operation::Add => self.simpler_add(a, b),
            Operation::Sub => self.simpler_sub(a, b),
            Operation::Mul => self.simpler_mul(a, b),
            Operation::Udiv => self.simpler_udiv(a, b),
            Operation::Urem => self.simpler_urem(a, b),
            Operation::Sdiv => self.simpler_sdiv(a, b),
            Operation::Srem => self.simpler_srem(a, b),
            Operation::Shl | Operation::Lshr | Operation::Ashr => {
                self.simpler_shift(operation, a, b)
            }
        };
        simpler.unwrap_or_else(|| self.shared(Node::Binary(operation, a, b), width))
    }

    /// Minus `a`.
    pub(crate) fn neg(&mut self, a: Term) -> Term {
        let zero = self.zero(a);
        self.binary(Operation::Sub, zero, a)
    }

    /// If `a` is this operation of a term and a constant: the two.
    pub(super) fn with_constant(&self, operation: Operation, a: Term) -> Option<(Term, u64)> {
        match self.node(a) {
            Node::Binary(same, inner, right) if same == operation => {
                Some((inner, self.as_constant(right)?))
            }
            _ => None,
        }
    }

    fn order(&self, term: Term) -> (bool, Term) {
        (self.as_constant(term).is_some(), term)
    }

    fn zero(&mut self, like: Term) -> Term {
        self.constant(like.width(), 0)
    }

    fn ones(&mut self, like: Term) -> Term {
        self.constant(like.width(), ones(like.width()))
    }

    fn complementary(&self, a: Term, b: Term) -> bool {
        match (self.node(a), self.node(b)) {
            (Node::Not(inner), _) if inner == b => true,
            (_, Node::Not(inner)) if inner == a => true,
            (Node::Literal(x), Node::Literal(y)) => x == !y,
            _ => false,
        }
    }

    /// `(x op c) op d` is `x op (c op d)`, for operations that are associative and commutative.
    fn regrouped(&mut self, operation: Operation, a: Term, constant: u64) -> Option<Term> {
        let width = a.width();
        let (inner, other) = self.with_constant(operation, a)?;
        let merged = self.constant(width, apply(operation, width, other, constant));
        Some(self.binary(operation, inner, merged))
    }

    fn simpler_and(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(a);
        }
        if self.complementary(a, b) {
            return Some(self.zero(a));
        }
        match self.as_constant(b)? {
            0 => Some(b),
            all if all == ones(a.width()) => Some(a),
            constant => self.regrouped(Operation::And, a, constant),
        }
    }

    fn simpler_or(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(a);
        }
        if self.complementary(a, b) {
            return Some(self.ones(a));
        }
        match self.as_constant(b)? {
            0 => Some(a),
            all if all == ones(a.width()) => Some(b),
            constant => self.regrouped(Operation::Or, a, constant),
        }
    }

    fn simpler_xor(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(self.zero(a));
        }
        if self.complementary(a, b) {
            return Some(self.ones(a));
        }
        match self.as_constant(b)? {
            0 => Some(a),
            all if all == ones(a.width()) => Some(self.not(a)),
            constant => self.regrouped(Operation::Xor, a, constant),
        }
    }

    fn simpler_add(&mut self, a: Term, b: Term) -> Option<Term> {
        if self.complementary(a, b) {
            return Some(self.ones(a));
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Node::Binary(Operation::Sub, minuend, subtrahend) = self.node(x) {
                if subtrahend == y {
                    return Some(minuend);
                }
                if self.as_constant(minuend) == Some(0) {
                    return Some(self.binary(Operation::Sub, y, subtrahend));
                }
            }
        }
        match self.as_constant(b)? {
            0 => Some(a),
            constant => self.regrouped(Operation::Add, a, constant),
        }
    }

    fn simpler_sub(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(self.zero(a));
        }
        if let Some(constant) = self.as_constant(b) {
            let negated = self.constant(a.width(), apply(Operation::Sub, a.width(), 0, constant));
            return Some(self.binary(Operation::Add, a, negated));
        }
        if let Node::Binary(Operation::Add, x, y) = self.node(a) {
            if x == b {
                return Some(y);
            }
            if y == b {
                return Some(x);
            }
        }
        if let Node::Binary(Operation::Sub, x, y) = self.node(b) {
            if x == a {
                return Some(y);
            }
            if self.as_constant(x) == Some(0) {
                return Some(self.binary(Operation::Add, a, y));
            }
            if self.as_constant(a) == Some(0) {
                return Some(self.binary(Operation::Sub, y, x));
            }
        }
        None
    }

    fn simpler_mul(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = a.width();
        match self.as_constant(b)? {
            0 => Some(b),
            1 => Some(a),
            all if all == ones(width) => Some(self.neg(a)),
            constant if constant.is_power_of_two() => {
                let distance = self.constant(width, u64::from(constant.trailing_zeros()));
                Some(self.binary(Operation::Shl, a, distance))
            }
            constant => self.regrouped(Operation::Mul, a, constant),
        }
    }

    fn simpler_udiv(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.as_constant(b)? {
            0 => Some(self.ones(a)),
            1 => Some(a),
            divisor if divisor.is_power_of_two() => {
                let distance = self.constant(a.width(), u64::from(divisor.trailing_zeros()));
                Some(self.binary(Operation::Lshr, a, distance))
            }
            _ => None,
        }
    }

    fn simpler_urem(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b || self.as_constant(a) == Some(0) {
            return Some(self.zero(a));
        }
        match self.as_constant(b)? {
            0 => Some(a),
            1 => Some(self.zero(a)),
            divisor if divisor.is_power_of_two() => {
                let rest = self.truncate(a, divisor.trailing_zeros());
                Some(self.zero_extend(rest, a.width()))
            }
            _ => None,
        }
    }

    fn simpler_sdiv(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = a.width();
        match self.as_constant(b)? {
            all if all == ones(width) => Some(self.neg(a)),
            1 => Some(a),
            divisor => self.halved(a, divisor),
        }
    }

    fn simpler_srem(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = a.width();
        if a == b || self.as_constant(a) == Some(0) {
            return Some(self.zero(a));
        }
        match self.as_constant(b)? {
            0 => Some(a),
            one if one == 1 || one == ones(width) => Some(self.zero(a)),
            divisor => {
                let quotient = self.halved(a, divisor)?;
                let product = self.binary(Operation::Mul, quotient, b);
                Some(self.binary(Operation::Sub, a, product))
            }
        }
    }

    /// The signed quotient by a power of two that is positive: a shift that rounds towards zero, because
    /// all but one of the divisor is added to a negative dividend first.
    fn halved(&mut self, a: Term, divisor: u64) -> Option<Term> {
        let width = a.width();
        let distance = divisor.trailing_zeros();
        if !divisor.is_power_of_two() || distance == 0 || distance + 1 >= width {
            return None;
        }
        let sign = self.extract(a, width - 1, 1);
        let correction = self.sign_extend(sign, distance);
        let correction = self.zero_extend(correction, width);
        let corrected = self.binary(Operation::Add, a, correction);
        let distance = self.constant(width, u64::from(distance));
        Some(self.binary(Operation::Ashr, corrected, distance))
    }

    /// A shift by a constant only moves bits.
    fn simpler_shift(&mut self, operation: Operation, a: Term, b: Term) -> Option<Term> {
        let width = a.width();
        match self.as_constant(a) {
            Some(0) => return Some(a),
            Some(all) if all == ones(width) && operation == Operation::Ashr => return Some(a),
            _ => {}
        }
        let distance = self.as_constant(b)?;
        if distance == 0 {
            return Some(a);
        }
        let distance = u32::try_from(distance).unwrap_or(u32::MAX).min(width);
        let kept = width - distance;
        Some(match operation {
            Operation::Ashr => {
                let from = distance.min(width - 1);
                let part = self.extract(a, from, width - from);
                self.sign_extend(part, width)
            }
            _ if kept == 0 => self.zero(a),
            Operation::Lshr => {
                let part = self.extract(a, distance, kept);
                self.zero_extend(part, width)
            }
            _ => {
                let part = self.extract(a, 0, kept);
                let zero = self.constant(distance, 0);
                self.concat(part, zero)
            }
        })
    }
}
