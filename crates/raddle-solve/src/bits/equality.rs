//! Equations, before they are blasted.

use super::native::{apply, low};
use super::term::{Node, Operation, Term, Terms};

/// What two terms have to do for being equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Equality {
    /// They are.
    Always,
    /// They never are.
    Never,
    /// These two must be equal.
    Between(Term, Term),
}

impl Terms {
    /// The simplest equation that says the same as `a = b`.
    ///
    /// What happens to one side only and can be undone is undone: adding, flipping bits, multiplying
    /// by an odd number.
    pub(super) fn equality(&mut self, a: Term, b: Term) -> Equality {
        self.check_pair("an equation", a, b);
        let (mut a, mut b) = (a, b);
        loop {
            if a == b {
                return Equality::Always;
            }
            if self.as_constant(a).is_some() {
                (a, b) = (b, a);
            }
            let next = match self.as_constant(b) {
                Some(value) if self.as_constant(a) == Some(value) => return Equality::Always,
                Some(_) if self.as_constant(a).is_some() => return Equality::Never,
                Some(value) => self.solved(a, value),
                None => self.cancelled(a, b),
            };
            match next {
                Some(pair) => (a, b) = pair,
                None => return Equality::Between(a.min(b), a.max(b)),
            }
        }
    }

    /// `a = value`, with the outermost operation of `a` undone.
    fn solved(&mut self, a: Term, value: u64) -> Option<(Term, Term)> {
        let width = a.width();
        let (inner, value) = match self.node(a) {
            Node::Not(inner) => (inner, low(width, !value)),
            Node::Binary(Operation::Add, inner, right) => {
                let right = self.as_constant(right)?;
                (inner, apply(Operation::Sub, width, value, right))
            }
            Node::Binary(Operation::Xor, inner, right) => (inner, value ^ self.as_constant(right)?),
            Node::Binary(Operation::Mul, inner, right) => {
                let factor = self.as_constant(right).filter(|factor| factor % 2 == 1)?;
                (inner, low(width, value.wrapping_mul(inverse(factor))))
            }
            Node::Binary(Operation::Sub, left, right) => match self.as_constant(left) {
                Some(left) => (right, apply(Operation::Sub, width, left, value)),
                None if value == 0 => return Some((left, right)),
                None => return None,
            },
            _ => return None,
        };
        Some((inner, self.constant(width, value)))
    }

    /// `a = b` without an operand that both sides have.
    fn cancelled(&self, a: Term, b: Term) -> Option<(Term, Term)> {
        match (self.node(a), self.node(b)) {
            (Node::Not(x), Node::Not(y)) => Some((x, y)),
            (Node::Binary(left, x, y), Node::Binary(right, z, w)) if left == right => match left {
                Operation::Add | Operation::Xor if x == z => Some((y, w)),
                Operation::Add | Operation::Xor if x == w => Some((y, z)),
                Operation::Add | Operation::Xor if y == z => Some((x, w)),
                Operation::Add | Operation::Xor if y == w => Some((x, z)),
                Operation::Sub if x == z => Some((y, w)),
                Operation::Sub if y == w => Some((x, z)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The number whose product with the odd `factor` is one, modulo 2^64.
///
/// Newton's iteration: each round doubles the number of right bits, and `factor` itself has three.
fn inverse(factor: u64) -> u64 {
    let mut inverse = factor;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(inverse)));
    }
    inverse
}
