//! Making terms that arrange bits: constants, leaves, negation, choice, extension, extraction and
//! concatenation.
//!
//! Concatenations lean to the right and neighbouring parts are joined where they can be, so that the
//! many ways to take a word apart and put it together again end in one form.

use super::native::{low, ones, signed};
use super::term::{Node, Term, Terms};
use crate::lit::Lit;

/// Panics if no term can have this width.
fn check_width(width: u32) {
    assert!(
        (1..=Term::MAX_WIDTH).contains(&width),
        "a term has 1 to {} bits, not {width}",
        Term::MAX_WIDTH
    );
}

/// Panics if the value has more bits.
fn check_value(width: u32, value: u64) {
    check_width(width);
    assert!(
        low(width, value) == value,
        "the value {value:#x} does not fit into {width} bits"
    );
}

impl Terms {
    /// A value.
    pub(crate) fn constant(&mut self, width: u32, value: u64) -> Term {
        check_value(width, value);
        self.shared(Node::Constant(value), width)
    }

    /// A term that may have any value, `hint` if nothing is against it.
    pub(crate) fn unknown(&mut self, width: u32, hint: u64) -> Term {
        check_value(width, hint);
        self.distinct(Node::Unknown { hint }, width)
    }

    /// One bit that is set if the literal holds.
    pub(crate) fn of_lit(&mut self, lit: Lit) -> Term {
        match lit {
            Lit::TRUE => self.constant(1, 1),
            Lit::FALSE => self.constant(1, 0),
            _ => self.shared(Node::Literal(lit), 1),
        }
    }

    /// `a` if the condition holds, `b` if not.
    pub(crate) fn chosen(&mut self, condition: Lit, a: Term, b: Term) -> Term {
        self.check_pair("a choice", a, b);
        let (condition, mut a, mut b) = if condition.is_positive() {
            (condition, a, b)
        } else {
            (!condition, b, a)
        };
        if let Node::Chosen(same, then, _) = self.node(a)
            && same == condition
        {
            a = then;
        }
        if let Node::Chosen(same, _, other) = self.node(b)
            && same == condition
        {
            b = other;
        }
        if condition == Lit::TRUE || a == b {
            return a;
        }
        match (a.width(), self.as_constant(a), self.as_constant(b)) {
            (1, Some(1), Some(0)) => self.of_lit(condition),
            (1, Some(0), Some(1)) => self.of_lit(!condition),
            _ => self.shared(Node::Chosen(condition, a, b), a.width()),
        }
    }

    /// All bits flipped.
    pub(crate) fn not(&mut self, a: Term) -> Term {
        self.check(a);
        match self.node(a) {
            Node::Constant(value) => self.constant(a.width(), !value & ones(a.width())),
            Node::Literal(lit) => self.of_lit(!lit),
            Node::Not(inner) => inner,
            _ => self.shared(Node::Not(a), a.width()),
        }
    }

    /// Zeros above `a`.
    pub(crate) fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        self.check_extension(a, width);
        if width == a.width() {
            return a;
        }
        let zero = self.constant(width - a.width(), 0);
        self.concat(zero, a)
    }

    /// Copies of the highest bit above `a`.
    pub(crate) fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        self.check_extension(a, width);
        if width == a.width() {
            return a;
        }
        match self.node(a) {
            Node::Constant(value) => {
                let value = signed(a.width(), value).cast_unsigned();
                self.constant(width, low(width, value))
            }
            Node::SignExtend(inner) => self.sign_extend(inner, width),
            Node::Concat(high, rest) if self.as_constant(high).is_some() => {
                let high = self.sign_extend(high, width - rest.width());
                self.concat(high, rest)
            }
            _ => self.shared(Node::SignExtend(a), width),
        }
    }

    /// The low bits of `a`.
    pub(crate) fn truncate(&mut self, a: Term, width: u32) -> Term {
        self.extract(a, 0, width)
    }

    /// `width` bits of `a`, from bit `from` on.
    pub(crate) fn extract(&mut self, a: Term, from: u32, width: u32) -> Term {
        self.check(a);
        check_width(width);
        assert!(
            from.checked_add(width).is_some_and(|end| end <= a.width()),
            "{width} bits from bit {from} on do not lie within {} bits",
            a.width()
        );
        if width == a.width() {
            return a;
        }
        match self.node(a) {
            Node::Constant(value) => self.constant(width, low(width, value >> from)),
            Node::Extract(inner, offset) => self.extract(inner, offset + from, width),
            Node::Concat(high, rest) => self.extract_concat(high, rest, from, width),
            Node::SignExtend(inner) if from + width <= inner.width() => {
                self.extract(inner, from, width)
            }
            Node::SignExtend(inner) => {
                // The bits begin in the inner term or are all copies of its highest one.
                let from = from.min(inner.width() - 1);
                let part = self.extract(inner, from, inner.width() - from);
                self.sign_extend(part, width)
            }
            _ => self.shared(Node::Extract(a, from), width),
        }
    }

    /// The bits of `high` above those of `rest`.
    pub(crate) fn concat(&mut self, high: Term, rest: Term) -> Term {
        self.check(high);
        self.check(rest);
        let width = high.width() + rest.width();
        check_width(width);
        if let Node::Concat(first, second) = self.node(high) {
            let rest = self.concat(second, rest);
            return self.concat(first, rest);
        }
        if let Some(joined) = self.joined(high, rest) {
            return joined;
        }
        if let Node::Concat(next, last) = self.node(rest)
            && let Some(joined) = self.joined(high, next)
        {
            return self.concat(joined, last);
        }
        self.shared(Node::Concat(high, rest), width)
    }

    /// Two neighbouring parts as one term that is no concatenation.
    fn joined(&mut self, high: Term, rest: Term) -> Option<Term> {
        let width = high.width() + rest.width();
        match (self.node(high), self.node(rest)) {
            (Node::Constant(a), Node::Constant(b)) => {
                Some(self.constant(width, a << rest.width() | b))
            }
            (Node::Extract(a, at), Node::Extract(b, from))
                if a == b && from + rest.width() == at =>
            {
                Some(self.extract(a, from, width))
            }
            _ => None,
        }
    }

    fn extract_concat(&mut self, high: Term, rest: Term, from: u32, width: u32) -> Term {
        let border = rest.width();
        if from + width <= border {
            return self.extract(rest, from, width);
        }
        if from >= border {
            return self.extract(high, from - border, width);
        }
        let upper = self.extract(high, 0, from + width - border);
        let lower = self.extract(rest, from, border - from);
        self.concat(upper, lower)
    }

    fn check_extension(&self, a: Term, width: u32) {
        self.check(a);
        check_width(width);
        assert!(
            width >= a.width(),
            "an extension of {} bits to {width} bits would lose some",
            a.width()
        );
    }

    /// Panics if the two are not of the same width.
    pub(super) fn check_pair(&self, what: &str, a: Term, b: Term) {
        self.check(a);
        self.check(b);
        assert!(
            a.width() == b.width(),
            "{what} takes two terms of the same width, not of {} and {} bits",
            a.width(),
            b.width()
        );
    }
}
