//! What the operations mean, written down from SMT-LIB's definitions over integers without bounds.

use crate::bits::blast::Comparison;
use crate::bits::term::Operation;

pub(super) fn ones(width: u32) -> u64 {
    ((1_u128 << width) - 1) as u64
}

/// The number in two's complement.
pub(super) fn signed(width: u32, value: u64) -> i128 {
    let value = i128::from(value);
    if value >= 1 << (width - 1) {
        value - (1 << width)
    } else {
        value
    }
}

/// Back into the range of the width.
pub(super) fn wrap(width: u32, value: i128) -> u64 {
    value.rem_euclid(1 << width) as u64
}

pub(super) fn binary(operation: Operation, width: u32, a: u64, b: u64) -> u64 {
    let (x, y) = (i128::from(a), i128::from(b));
    let (sx, sy) = (signed(width, a), signed(width, b));
    // Distances beyond the width are all alike.
    let power = 1_i128 << b.min(u64::from(width));
    let bits = |function: fn(u64, u64) -> u64| {
        (0..width).fold(0, |result, place| {
            result | i128::from(function(a >> place & 1, b >> place & 1)) << place
        })
    };
    let result = match operation {
        Operation::And => bits(|a, b| a * b),
        Operation::Or => bits(|a, b| a.max(b)),
        Operation::Xor => bits(|a, b| (a + b) % 2),
        Operation::Add => x + y,
        Operation::Sub => x - y,
        Operation::Mul => wrapping_product(x, y, width),
        Operation::Udiv if y == 0 => -1,
        Operation::Udiv => x / y,
        Operation::Urem if y == 0 => x,
        Operation::Urem => x % y,
        Operation::Sdiv if y == 0 && sx < 0 => 1,
        Operation::Sdiv if y == 0 => -1,
        Operation::Sdiv => sx / sy,
        Operation::Srem if y == 0 => x,
        Operation::Srem => sx % sy,
        Operation::Shl => wrapping_product(x, power, width),
        Operation::Lshr => x / power,
        Operation::Ashr => sx.div_euclid(power),
    };
    wrap(width, result)
}

pub(super) fn compare(comparison: Comparison, width: u32, a: u64, b: u64) -> bool {
    match comparison {
        Comparison::UnsignedLess => a < b,
        Comparison::SignedLess => signed(width, a) < signed(width, b),
    }
}

/// The product of two numbers below 2^65, which can be too large even for 128 bits with a sign.
fn wrapping_product(x: i128, y: i128, width: u32) -> i128 {
    let product = x.cast_unsigned().wrapping_mul(y.cast_unsigned());
    (product % (1_u128 << width)).cast_signed()
}
