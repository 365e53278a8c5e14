//! Terms: values that depend on what a thread reads.
//!
//! Each term is kept once. Its operands have smaller numbers than itself.

use rustc_hash::FxHashMap;

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(u32);

impl TermId {
    /// Its number.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// This number.
    Constant(u64),
    /// What this event of the trace reads.
    Symbol(u32),
    /// Two numbers of the same width make one.
    Binary(Binary, TermId, TermId),
    /// Whether two numbers of the same width compare so: one bit.
    Compare(Comparison, TermId, TermId),
    /// The second if the first, one bit, is set, else the third.
    Select(TermId, TermId, TermId),
    /// Zeros above.
    ZeroExtend(TermId),
    /// Copies of the highest bit above.
    SignExtend(TermId),
    /// As many bits as the term is wide, from this one on.
    Extract(TermId, u32),
    /// The bits of the first above those of the second.
    Concat(TermId, TermId),
}

/// Operations with the meaning that SMT-LIB gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    UnsignedLess,
    UnsignedAtMost,
    SignedLess,
    SignedAtMost,
}

/// The terms of a trace.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    all: Vec<Entry>,
    known: FxHashMap<(Expression, u32), TermId>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    expression: Expression,
    width: u32,
    /// Symbols in it, each as often as it occurs, up to a limit.
    weight: u32,
}

impl Terms {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What a term is.
    #[must_use]
    pub fn expression(&self, term: TermId) -> Expression {
        self.all[term.index()].expression
    }

    /// Its bits.
    #[must_use]
    pub fn width(&self, term: TermId) -> u32 {
        self.all[term.index()].width
    }

    /// How many operations it is made of, where shared ones count each time.
    pub(crate) fn weight(&self, term: TermId) -> u32 {
        self.all[term.index()].weight
    }

    /// The number, if it is a constant.
    #[must_use]
    pub fn constant_of(&self, term: TermId) -> Option<u64> {
        match self.expression(term) {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The symbols in a term, in order.
    #[must_use]
    pub fn symbols(&self, term: TermId) -> Vec<u32> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut left = vec![term];
        let mut symbols = Vec::new();
        while let Some(term) = left.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.expression(term) {
                Expression::Symbol(event) => symbols.push(event),
                expression => left.extend(operands(expression).into_iter().flatten()),
            }
        }
        symbols.sort_unstable();
        symbols
    }

    /// A constant.
    pub fn constant(&mut self, width: u32, value: u64) -> TermId {
        self.keep(Expression::Constant(value & mask(width)), width)
    }

    /// What an event reads.
    pub fn symbol(&mut self, event: u32, width: u32) -> TermId {
        self.keep(Expression::Symbol(event), width)
    }

    /// Two numbers of the same width make one.
    pub fn binary(&mut self, operation: Binary, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b));
        use Binary as B;
        match (operation, self.constant_of(a), self.constant_of(b)) {
            (B::Add | B::Sub | B::Or | B::Xor | B::Shl | B::LShr | B::AShr, _, Some(0)) => a,
            (B::Add | B::Or | B::Xor, Some(0), _) => b,
            (B::Mul, _, Some(1)) => a,
            (B::Mul, Some(1), _) => b,
            (B::And, _, Some(ones)) if ones == mask(width) => a,
            (B::And, Some(ones), _) if ones == mask(width) => b,
            (B::And | B::Mul, _, Some(0)) => b,
            (B::And | B::Mul, Some(0), _) => a,
            _ => self.keep(Expression::Binary(operation, a, b), width),
        }
    }

    /// Whether two numbers of the same width compare so.
    pub fn compare(&mut self, comparison: Comparison, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        if a == b {
            let holds = !matches!(
                comparison,
                Comparison::UnsignedLess | Comparison::SignedLess
            );
            return self.constant(1, holds.into());
        }
        self.keep(Expression::Compare(comparison, a, b), 1)
    }

    /// One of two, by a bit.
    pub fn select(&mut self, condition: TermId, yes: TermId, no: TermId) -> TermId {
        debug_assert_eq!(self.width(yes), self.width(no));
        match self.constant_of(condition) {
            Some(0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None => {
                let width = self.width(yes);
                self.keep(Expression::Select(condition, yes, no), width)
            }
        }
    }

    /// The same number with another width: zeros above, or the upper bits cut off.
    pub fn resize(&mut self, term: TermId, width: u32) -> TermId {
        let from = self.width(term);
        match (self.constant_of(term), from.cmp(&width)) {
            (_, std::cmp::Ordering::Equal) => term,
            (Some(value), _) => self.constant(width, value),
            (None, std::cmp::Ordering::Less) => self.keep(Expression::ZeroExtend(term), width),
            (None, std::cmp::Ordering::Greater) => self.extract(term, 0, width),
        }
    }

    /// The same signed number with another width.
    pub fn sign_extend(&mut self, term: TermId, width: u32) -> TermId {
        let from = self.width(term);
        match self.constant_of(term) {
            _ if from >= width => self.resize(term, width),
            Some(value) => {
                let unused = 64 - from;
                let signed = ((value << unused) as i64 >> unused) as u64;
                self.constant(width, signed)
            }
            None => self.keep(Expression::SignExtend(term), width),
        }
    }

    /// Some bits of a number.
    pub fn extract(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        debug_assert!(low + width <= self.width(term));
        match self.expression(term) {
            _ if width == self.width(term) => term,
            Expression::Constant(value) => self.constant(width, value >> low),
            Expression::Extract(inner, from) => self.extract(inner, from + low, width),
            Expression::Concat(_, lower) if low + width <= self.width(lower) => {
                self.extract(lower, low, width)
            }
            Expression::Concat(upper, lower) if low >= self.width(lower) => {
                let low = low - self.width(lower);
                self.extract(upper, low, width)
            }
            Expression::ZeroExtend(inner) if low + width <= self.width(inner) => {
                self.extract(inner, low, width)
            }
            _ => self.keep(Expression::Extract(term, low), width),
        }
    }

    /// The bits of one above those of another.
    pub fn concat(&mut self, upper: TermId, lower: TermId) -> TermId {
        let width = self.width(upper) + self.width(lower);
        debug_assert!(width <= 64);
        match (self.expression(upper), self.expression(lower)) {
            (Expression::Constant(high), Expression::Constant(low)) => {
                let value = high << self.width(lower) | low;
                self.constant(width, value)
            }
            // Neighbouring parts of one number.
            (Expression::Extract(a, high), Expression::Extract(b, low))
                if a == b && low + self.width(lower) == high =>
            {
                self.extract(a, low, width)
            }
            (Expression::Constant(0), _) => self.resize(lower, width),
            _ => self.keep(Expression::Concat(upper, lower), width),
        }
    }

    fn keep(&mut self, expression: Expression, width: u32) -> TermId {
        debug_assert!((1..=64).contains(&width));
        if let Some(&known) = self.known.get(&(expression, width)) {
            return known;
        }
        let id = TermId(u32::try_from(self.all.len()).expect("fewer terms than events"));
        let operands = operands(expression).into_iter().flatten();
        let weights = operands.map(|it| self.all[it.index()].weight);
        let weight = weights.fold(1, u32::saturating_add);
        self.all.push(Entry {
            expression,
            width,
            weight,
        });
        self.known.insert((expression, width), id);
        id
    }
}

/// What an expression is made of.
fn operands(expression: Expression) -> [Option<TermId>; 3] {
    match expression {
        Expression::Constant(_) | Expression::Symbol(_) => [None; 3],
        Expression::ZeroExtend(a) | Expression::SignExtend(a) | Expression::Extract(a, _) => {
            [Some(a), None, None]
        }
        Expression::Binary(_, a, b) | Expression::Compare(_, a, b) | Expression::Concat(a, b) => {
            [Some(a), Some(b), None]
        }
        Expression::Select(a, b, c) => [Some(a), Some(b), Some(c)],
    }
}

/// Bits below the width.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}
