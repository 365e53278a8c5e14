//! What terms are for given values of their symbols.

use crate::terms::{Binary, Comparison, Expression, TermId, Terms, mask};

impl Terms {
    /// The value of a term where `symbol` says what events read.
    #[must_use]
    pub fn value(&self, term: TermId, symbol: &impl Fn(u32) -> u64) -> u64 {
        let width = self.width(term);
        let of = |term| self.value(term, symbol);
        let signed = |term| {
            let unused = 64 - self.width(term);
            (of(term) << unused) as i64 >> unused
        };
        let value = match self.expression(term) {
            Expression::Constant(value) => value,
            Expression::Symbol(event) => symbol(event),
            Expression::Binary(operation, a, b) => {
                let (x, y) = (of(a), of(b));
                let (sx, sy) = (signed(a), signed(b));
                let shifts = y < u64::from(width);
                match operation {
                    Binary::Add => x.wrapping_add(y),
                    Binary::Sub => x.wrapping_sub(y),
                    Binary::Mul => x.wrapping_mul(y),
                    Binary::UDiv => x.checked_div(y).unwrap_or(u64::MAX),
                    Binary::URem => x.checked_rem(y).unwrap_or(x),
                    Binary::SDiv if y == 0 => (if sx < 0 { 1 } else { -1_i64 }) as u64,
                    Binary::SDiv => sx.wrapping_div(sy) as u64,
                    Binary::SRem if y == 0 => x,
                    Binary::SRem => sx.wrapping_rem(sy) as u64,
                    Binary::Shl if shifts => x << y,
                    Binary::LShr if shifts => x >> y,
                    Binary::Shl | Binary::LShr => 0,
                    Binary::AShr => (sx >> y.min(63)) as u64,
                    Binary::And => x & y,
                    Binary::Or => x | y,
                    Binary::Xor => x ^ y,
                }
            }
            Expression::Compare(comparison, a, b) => match comparison {
                Comparison::Equal => of(a) == of(b),
                Comparison::UnsignedLess => of(a) < of(b),
                Comparison::UnsignedAtMost => of(a) <= of(b),
                Comparison::SignedLess => signed(a) < signed(b),
                Comparison::SignedAtMost => signed(a) <= signed(b),
            }
            .into(),
            Expression::Select(condition, yes, no) => match of(condition) {
                0 => of(no),
                _ => of(yes),
            },
            Expression::ZeroExtend(a) => of(a),
            Expression::SignExtend(a) => signed(a) as u64,
            Expression::Extract(a, low) => of(a) >> low,
            Expression::Concat(upper, lower) => of(upper) << self.width(lower) | of(lower),
        };
        value & mask(width)
    }
}
