//! Bit-vector arithmetic by native integers, after SMT-LIB's definitions.

use super::instance::{Operation, Relation};

/// A number of so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub width: u32,
    pub value: u64,
}

impl Word {
    /// The low `width` bits of a number.
    pub fn new(width: u32, value: u128) -> Self {
        let value = (value & ((1 << width) - 1)) as u64;
        Self { width, value }
    }

    /// Read as two's complement.
    pub fn signed(self) -> i128 {
        let value = i128::from(self.value);
        if self.value >> (self.width - 1) & 1 == 1 {
            value - (1 << self.width)
        } else {
            value
        }
    }

    /// The bits turned round.
    pub fn not(self) -> Self {
        Self::new(self.width, !u128::from(self.value))
    }

    /// Zero minus it.
    pub fn neg(self) -> Self {
        Self::new(self.width, (-i128::from(self.value)) as u128)
    }

    /// An operation on two words of one width.
    pub fn binary(self, operation: Operation, other: Self) -> Self {
        assert_eq!(self.width, other.width, "{operation:?} of different widths");
        let (a, b) = (u128::from(self.value), u128::from(other.value));
        let (signed_a, signed_b) = (self.signed(), other.signed());
        let ones = u128::MAX;
        let result = match operation {
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
            Operation::Add => a + b,
            Operation::Sub => a.wrapping_sub(b),
            Operation::Mul => a * b,
            Operation::Udiv => a.checked_div(b).unwrap_or(ones),
            Operation::Urem => a.checked_rem(b).unwrap_or(a),
            Operation::Sdiv if b == 0 && signed_a < 0 => 1,
            Operation::Sdiv if b == 0 => ones,
            Operation::Sdiv => (signed_a / signed_b) as u128,
            Operation::Srem if b == 0 => a,
            Operation::Srem => (signed_a % signed_b) as u128,
            Operation::Shl if b >= u128::from(self.width) => 0,
            Operation::Shl => a << b,
            Operation::Lshr if b >= u128::from(self.width) => 0,
            Operation::Lshr => a >> b,
            Operation::Ashr => (signed_a >> b.min(u128::from(self.width))) as u128,
        };
        Self::new(self.width, result)
    }

    /// A comparison of two words of one width.
    pub fn compare(self, relation: Relation, other: Self) -> bool {
        assert_eq!(self.width, other.width, "{relation:?} of different widths");
        match relation {
            Relation::Equal => self.value == other.value,
            Relation::UnsignedLess => self.value < other.value,
            Relation::UnsignedAtMost => self.value <= other.value,
            Relation::SignedLess => self.signed() < other.signed(),
            Relation::SignedAtMost => self.signed() <= other.signed(),
        }
    }

    /// Made wider, with zeros or with copies of the sign.
    pub fn extend(self, width: u32, signed: bool) -> Self {
        let value = if signed {
            self.signed() as u128
        } else {
            u128::from(self.value)
        };
        Self::new(width, value)
    }

    /// `width` bits from bit `low` on.
    pub fn extract(self, low: u32, width: u32) -> Self {
        Self::new(width, u128::from(self.value >> low))
    }

    /// The bits of both.
    pub fn concat(self, low: Self) -> Self {
        let value = u128::from(self.value) << low.width | u128::from(low.value);
        Self::new(self.width + low.width, value)
    }
}
