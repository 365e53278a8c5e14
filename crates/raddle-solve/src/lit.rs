//! Variables and literals of the search.

use std::fmt;
use std::ops::Not;

/// A Boolean variable. Numbered from zero without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Var(u32);

/// A Boolean variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Var {
    /// Variables are counted in 31 bits, as a literal has a bit for its sign.
    const LIMIT: usize = 1 << 31;

    /// The variable with this number.
    pub(crate) fn new(index: usize) -> Self {
        assert!(
            index < Self::LIMIT,
            "more than 2^31 variables in one solver"
        );
        Self(index as u32)
    }

    /// Its number.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal that holds when the variable is `value`.
    pub(crate) const fn is(self, value: bool) -> Lit {
        Lit(self.0 << 1 | !value as u32)
    }
}

impl Lit {
    /// The literal that always holds: every solver's first variable is fixed.
    pub const TRUE: Self = Self(0);
    /// The literal that never holds.
    pub const FALSE: Self = Self(1);

    /// Its variable.
    pub(crate) const fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// Whether it is the variable itself and not its negation.
    pub(crate) const fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// A number for tables with a place for each literal: twice the variable's, plus the sign.
    pub(crate) const fn code(self) -> usize {
        self.0 as usize
    }

    /// The literal of a [`Lit::code`].
    pub(crate) const fn from_code(code: usize) -> Self {
        Self(code as u32)
    }

    /// The literal or, if `negate`, its negation.
    pub(crate) const fn negated_if(self, negate: bool) -> Self {
        Self(self.0 ^ negate as u32)
    }
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_positive() { "" } else { "!" };
        write!(f, "{sign}v{}", self.var().index())
    }
}
