//! The operations on values: the low `width` bits of a `u64`, the rest zero.

use super::term::Operation;

/// The value with all bits set.
pub(super) const fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The low bits of `value`.
pub(super) const fn low(width: u32, value: u64) -> u64 {
    value & ones(width)
}

/// The value as a number with a sign.
pub(super) const fn signed(width: u32, value: u64) -> i64 {
    let unused = 64 - width;
    (value << unused).cast_signed() >> unused
}

/// The result of an operation on two values.
pub(super) fn apply(operation: Operation, width: u32, a: u64, b: u64) -> u64 {
    let [sa, sb] = [a, b].map(|value| signed(width, value));
    let result = match operation {
        Operation::And => a & b,
        Operation::Or => a | b,
        Operation::Xor => a ^ b,
        Operation::Add => a.wrapping_add(b),
        Operation::Sub => a.wrapping_sub(b),
        Operation::Mul => a.wrapping_mul(b),
        Operation::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        Operation::Urem => a.checked_rem(b).unwrap_or(a),
        Operation::Sdiv if b == 0 => (if sa < 0 { 1_i64 } else { -1 }).cast_unsigned(),
        Operation::Sdiv => sa.wrapping_div(sb).cast_unsigned(),
        Operation::Srem if b == 0 => a,
        Operation::Srem => sa.wrapping_rem(sb).cast_unsigned(),
        Operation::Shl if b >= u64::from(width) => 0,
        Operation::Shl => a << b,
        Operation::Lshr if b >= u64::from(width) => 0,
        Operation::Lshr => a >> b,
        Operation::Ashr => (sa >> b.min(63)).cast_unsigned(),
    };
    low(width, result)
}
