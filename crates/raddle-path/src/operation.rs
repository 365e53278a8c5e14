//! What LLVM's operations do to numbers.
//!
//! An operation is a value, so that a domain can ask for its result, make a term of it, or look at its operands. Widths
//! are in bits, at most 128; numbers are below two to the power of their width.

use raddle_model::Opcode;

/// An operation without effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Arithmetic, logic and shifts of two integers.
    Binary {
        /// Which.
        opcode: Opcode,
        /// Of the operands and the result.
        width: u32,
    },
    /// Arithmetic of two floating-point numbers.
    FloatBinary {
        /// Which.
        opcode: Opcode,
        /// 32 or 64.
        width: u32,
    },
    /// Negates a floating-point number.
    FloatNegate {
        /// Of the operand and the result.
        width: u32,
    },
    /// Makes a number of another type.
    Cast {
        /// Which.
        opcode: Opcode,
        /// Of the operand.
        from: u32,
        /// Of the result.
        to: u32,
    },
    /// Compares two integers; the result is a bit.
    Compare {
        /// LLVM's number.
        predicate: u8,
        /// Of the operands.
        width: u32,
    },
    /// Compares two floating-point numbers.
    FloatCompare {
        /// LLVM's number.
        predicate: u8,
        /// 32 or 64.
        width: u32,
    },
    /// The second operand if the first is not zero, else the third.
    Select {
        /// Of the second and third operand and the result.
        width: u32,
    },
    /// An address: the first operand, plus a constant, plus each other operand times its stride. All have 64 bits.
    Address {
        /// What is added.
        offset: u64,
        /// One for each operand but the first.
        strides: Vec<u64>,
    },
    /// What a read-modify-write stores, of what it finds and its operand.
    Update {
        /// LLVM's number.
        operation: u8,
        /// Of both, and of the result.
        width: u32,
    },
    /// An intrinsic function.
    Intrinsic {
        /// Which.
        intrinsic: Intrinsic,
        /// Of the operands and the result.
        width: u32,
    },
    /// Arithmetic of two integers that says whether it overflowed.
    Checked {
        /// Which.
        overflow: Overflow,
        /// Of the operands.
        width: u32,
        /// Which part of the result.
        part: Part,
    },
    /// The lowest bits of a number.
    Truncate {
        /// How many.
        width: u32,
    },
    /// A byte of a number; the lowest is the first.
    Byte {
        /// Which.
        index: u32,
    },
    /// A word of 64 bits of a number; the lowest is the first.
    Word {
        /// Which.
        index: u32,
    },
    /// The number that bytes make, lowest first.
    Bytes,
    /// The number that words of 64 bits make, lowest first.
    Words,
}

/// Intrinsic functions of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    /// The greater of two unsigned numbers.
    UMax,
    /// The lesser of two unsigned numbers.
    UMin,
    /// The greater of two signed numbers.
    SMax,
    /// The lesser of two signed numbers.
    SMin,
    /// A sum, at most the greatest unsigned number.
    UAddSat,
    /// A difference, at least zero.
    USubSat,
    /// A signed sum, within range.
    SAddSat,
    /// A signed difference, within range.
    SSubSat,
    /// The absolute value.
    Abs,
    /// How many bits are set.
    CountOnes,
    /// How many bits above the highest one are not set.
    LeadingZeros,
    /// How many bits below the lowest one are not set.
    TrailingZeros,
    /// The bytes in the opposite order.
    SwapBytes,
    /// The bits in the opposite order.
    ReverseBits,
    /// The upper bits of two numbers in a row, shifted left.
    FunnelLeft,
    /// The lower bits of two numbers in a row, shifted right.
    FunnelRight,
    /// The first operand.
    Expect,
}

/// Arithmetic that tells overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Overflow {
    UAdd,
    USub,
    UMul,
    SAdd,
    SSub,
    SMul,
}

/// A part of the result of such arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The lowest bits.
    Result,
    /// Whether there would be more.
    Flag,
}

/// Bits below the width.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

/// The value as a signed number of its width.
fn signed(value: u128, width: u32) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    (value << shift) as i128 >> shift
}

impl Operation {
    /// What it gives for these operands; none if that is not defined, or not modelled.
    #[must_use]
    pub fn apply(&self, operands: &[u128]) -> Option<u128> {
        match (self, operands) {
            (Self::Binary { opcode, width }, &[a, b]) => binary(*opcode, a, b, *width),
            (Self::FloatBinary { opcode, width }, &[a, b]) => float_binary(*opcode, a, b, *width),
            (Self::FloatNegate { width }, &[a]) => Some(a ^ 1 << (width - 1)),
            (Self::Cast { opcode, from, to }, &[a]) => cast(*opcode, a, *from, *to),
            (Self::Compare { predicate, width }, &[a, b]) => {
                compare(*predicate, a, b, *width).map(u128::from)
            }
            (Self::FloatCompare { predicate, width }, &[a, b]) => {
                let (a, b) = (to_float(a, *width)?, to_float(b, *width)?);
                compare_floats(*predicate, a, b).map(u128::from)
            }
            (Self::Select { .. }, &[condition, yes, no]) => {
                Some(if condition == 0 { no } else { yes })
            }
            (Self::Address { offset, strides }, &[base, ref indices @ ..]) => {
                let mut address = base.wrapping_add(u128::from(*offset));
                for (index, stride) in indices.iter().zip(strides) {
                    address = address.wrapping_add(index.wrapping_mul(u128::from(*stride)));
                }
                Some(address & mask(64))
            }
            (Self::Update { operation, width }, &[old, operand]) => {
                update(*operation, old, operand, *width)
            }
            (Self::Intrinsic { intrinsic, width }, operands) => intrinsic.apply(operands, *width),
            (
                Self::Checked {
                    overflow,
                    width,
                    part,
                },
                &[a, b],
            ) => {
                let (result, flag) = overflow.apply(a, b, *width);
                Some(match part {
                    Part::Result => result & mask(*width),
                    Part::Flag => flag.into(),
                })
            }
            (Self::Truncate { width }, &[a]) => Some(a & mask(*width)),
            (Self::Byte { index }, &[a]) => Some(a.checked_shr(8 * index).unwrap_or(0) & 0xff),
            (Self::Word { index }, &[a]) => Some(a.checked_shr(64 * index).unwrap_or(0) & mask(64)),
            (Self::Bytes, bytes) => joined(bytes, 8),
            (Self::Words, words) => joined(words, 64),
            _ => None,
        }
    }
}

/// Parts of so many bits in a row; none if they are too many for a number.
fn joined(parts: &[u128], width: u32) -> Option<u128> {
    let numbered = (0..).zip(parts);
    (parts.len() as u32 * width <= 128)
        .then(|| numbered.fold(0, |all, (place, part)| all | part << (width * place)))
}

fn binary(opcode: Opcode, a: u128, b: u128, width: u32) -> Option<u128> {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let in_range = b < u128::from(width);
    Some(
        match opcode {
            Opcode::Add => a.wrapping_add(b),
            Opcode::Sub => a.wrapping_sub(b),
            Opcode::Mul => a.wrapping_mul(b),
            Opcode::UDiv => a.checked_div(b)?,
            Opcode::URem => a.checked_rem(b)?,
            Opcode::SDiv => sa.checked_div(sb)? as u128,
            Opcode::SRem => sa.checked_rem(sb)? as u128,
            Opcode::And => a & b,
            Opcode::Or => a | b,
            Opcode::Xor => a ^ b,
            Opcode::Shl if in_range => a << b,
            Opcode::LShr if in_range => a >> b,
            Opcode::AShr if in_range => (sa >> b) as u128,
            _ => return None,
        } & mask(width),
    )
}

/// Whether a comparison of integers with LLVM's predicate number holds.
fn compare(predicate: u8, left: u128, right: u128, width: u32) -> Option<bool> {
    let (a, b) = (signed(left, width), signed(right, width));
    Some(match predicate {
        32 => left == right,
        33 => left != right,
        34 => left > right,
        35 => left >= right,
        36 => left < right,
        37 => left <= right,
        38 => a > b,
        39 => a >= b,
        40 => a < b,
        41 => a <= b,
        _ => return None,
    })
}

/// Whether a comparison of floating-point numbers holds: the predicate's bits are equal, greater, less, unordered.
fn compare_floats(predicate: u8, left: f64, right: f64) -> Option<bool> {
    if predicate > 15 {
        return None;
    }
    let relation = match left.partial_cmp(&right) {
        Some(std::cmp::Ordering::Equal) => 1,
        Some(std::cmp::Ordering::Greater) => 2,
        Some(std::cmp::Ordering::Less) => 4,
        None => 8,
    };
    Some(predicate & relation != 0)
}

fn to_float(bits: u128, width: u32) -> Option<f64> {
    match width {
        64 => Some(f64::from_bits(bits as u64)),
        32 => Some(f64::from(f32::from_bits(bits as u32))),
        _ => None,
    }
}

fn from_float(value: f64, width: u32) -> Option<u128> {
    match width {
        64 => Some(value.to_bits().into()),
        32 => Some((value as f32).to_bits().into()),
        _ => None,
    }
}

fn float_binary(opcode: Opcode, a: u128, b: u128, width: u32) -> Option<u128> {
    // A double holds every sum, difference, product and quotient of floats exactly enough that
    // rounding twice is rounding once.
    let (a, b) = (to_float(a, width)?, to_float(b, width)?);
    let result = match opcode {
        Opcode::FAdd => a + b,
        Opcode::FSub => a - b,
        Opcode::FMul => a * b,
        Opcode::FDiv => a / b,
        Opcode::FRem => a % b,
        _ => return None,
    };
    from_float(result, width)
}

fn cast(opcode: Opcode, value: u128, from: u32, to: u32) -> Option<u128> {
    let result = match opcode {
        Opcode::Trunc | Opcode::ZExt | Opcode::PtrToInt | Opcode::IntToPtr | Opcode::PtrToAddr => {
            value
        }
        Opcode::SExt => signed(value, from) as u128,
        Opcode::BitCast | Opcode::Freeze | Opcode::AddrSpaceCast if from == to => value,
        // An integer is rounded once.
        Opcode::UiToFp if to == 32 => (value as f32).to_bits().into(),
        Opcode::UiToFp => from_float(value as f64, to)?,
        Opcode::SiToFp if to == 32 => (signed(value, from) as f32).to_bits().into(),
        Opcode::SiToFp => from_float(signed(value, from) as f64, to)?,
        Opcode::FpToUi => {
            let number = to_float(value, from)?.trunc();
            (0.0..2_f64.powi(to as i32))
                .contains(&number)
                .then_some(number as u128)?
        }
        Opcode::FpToSi => {
            let number = to_float(value, from)?.trunc();
            let limit = 2_f64.powi(to as i32 - 1);
            (-limit..limit)
                .contains(&number)
                .then_some(number as i128 as u128)?
        }
        Opcode::FpExt | Opcode::FpTrunc => from_float(to_float(value, from)?, to)?,
        _ => return None,
    };
    Some(result & mask(to))
}

/// What a read-modify-write operation stores; the numbers are LLVM's.
fn update(operation: u8, old: u128, operand: u128, width: u32) -> Option<u128> {
    let (a, b) = (signed(old, width), signed(operand, width));
    Some(
        match operation {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old.wrapping_sub(operand),
            3 => old & operand,
            4 => !(old & operand),
            5 => old | operand,
            6 => old ^ operand,
            7 => a.max(b) as u128,
            8 => a.min(b) as u128,
            9 => old.max(operand),
            10 => old.min(operand),
            _ => return None,
        } & mask(width),
    )
}

impl Intrinsic {
    /// The intrinsic of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Intrinsic); 17] = [
            ("umax.", Intrinsic::UMax),
            ("umin.", Intrinsic::UMin),
            ("smax.", Intrinsic::SMax),
            ("smin.", Intrinsic::SMin),
            ("uadd.sat.", Intrinsic::UAddSat),
            ("usub.sat.", Intrinsic::USubSat),
            ("sadd.sat.", Intrinsic::SAddSat),
            ("ssub.sat.", Intrinsic::SSubSat),
            ("abs.", Intrinsic::Abs),
            ("ctpop.", Intrinsic::CountOnes),
            ("ctlz.", Intrinsic::LeadingZeros),
            ("cttz.", Intrinsic::TrailingZeros),
            ("bswap.", Intrinsic::SwapBytes),
            ("bitreverse.", Intrinsic::ReverseBits),
            ("fshl.", Intrinsic::FunnelLeft),
            ("fshr.", Intrinsic::FunnelRight),
            ("expect", Intrinsic::Expect),
        ];
        let name = name.strip_prefix("llvm.")?;
        let found = NAMES.iter().find(|(prefix, _)| name.starts_with(prefix));
        found.map(|(_, intrinsic)| *intrinsic)
    }

    /// How many of its arguments it depends on.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::UMax
            | Self::UMin
            | Self::SMax
            | Self::SMin
            | Self::UAddSat
            | Self::USubSat
            | Self::SAddSat
            | Self::SSubSat => 2,
            Self::FunnelLeft | Self::FunnelRight => 3,
            _ => 1,
        }
    }

    fn apply(self, operands: &[u128], width: u32) -> Option<u128> {
        let [a, ref rest @ ..] = *operands else {
            return None;
        };
        let b = rest.first().copied();
        let sa = signed(a, width);
        let sb = || b.map(|b| signed(b, width));
        let (least, most) = (-1 << (width - 1), (mask(width) >> 1) as i128);
        Some(
            match self {
                Self::UMax => a.max(b?),
                Self::UMin => a.min(b?),
                Self::SMax => sa.max(sb()?) as u128,
                Self::SMin => sa.min(sb()?) as u128,
                Self::UAddSat => a.saturating_add(b?).min(mask(width)),
                Self::USubSat => a.saturating_sub(b?),
                Self::SAddSat => sa.saturating_add(sb()?).clamp(least, most) as u128,
                Self::SSubSat => sa.saturating_sub(sb()?).clamp(least, most) as u128,
                Self::Abs => sa.unsigned_abs(),
                Self::CountOnes => a.count_ones().into(),
                Self::LeadingZeros => (a.leading_zeros() - (128 - width)).into(),
                Self::TrailingZeros => a.trailing_zeros().min(width).into(),
                Self::SwapBytes => a.swap_bytes() >> (128 - width),
                Self::ReverseBits => a.reverse_bits() >> (128 - width),
                Self::FunnelLeft | Self::FunnelRight => {
                    let by = (*rest.get(1)? % u128::from(width)) as u32;
                    let left = match self {
                        Self::FunnelLeft => by,
                        _ => width - by,
                    };
                    let high = a.checked_shl(left).unwrap_or(0);
                    high | b?.checked_shr(width - left).unwrap_or(0)
                }
                Self::Expect => a,
            } & mask(width),
        )
    }
}

impl Overflow {
    /// The arithmetic of an intrinsic's name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Overflow); 6] = [
            ("uadd", Overflow::UAdd),
            ("usub", Overflow::USub),
            ("umul", Overflow::UMul),
            ("sadd", Overflow::SAdd),
            ("ssub", Overflow::SSub),
            ("smul", Overflow::SMul),
        ];
        let name = name.strip_prefix("llvm.")?;
        let (kind, _) = name.split_once(".with.overflow.")?;
        let found = NAMES.iter().find(|(it, _)| *it == kind);
        found.map(|(_, overflow)| *overflow)
    }

    /// The result, and whether it is not the right one.
    fn apply(self, a: u128, b: u128, width: u32) -> (u128, bool) {
        let (sa, sb) = (signed(a, width), signed(b, width));
        let within = |it: Option<i128>| it.is_some_and(|it| signed(it as u128, width) == it);
        let below = |it: Option<u128>| it.is_some_and(|it| it <= mask(width));
        match self {
            Self::UAdd => (a.wrapping_add(b), !below(a.checked_add(b))),
            Self::USub => (a.wrapping_sub(b), a < b),
            Self::UMul => (a.wrapping_mul(b), !below(a.checked_mul(b))),
            Self::SAdd => (a.wrapping_add(b), !within(sa.checked_add(sb))),
            Self::SSub => (a.wrapping_sub(b), !within(sa.checked_sub(sb))),
            Self::SMul => (a.wrapping_mul(b), !within(sa.checked_mul(sb))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(intrinsic: Intrinsic, operands: &[u128]) -> Option<u128> {
        let width = 32;
        Operation::Intrinsic { intrinsic, width }.apply(operands)
    }

    proptest! {
        #[test]
        fn intrinsics_are_what_the_machine_does(a: u32, b: u32, by: u32) {
            let (wide_a, wide_b, wide_by) = (u128::from(a), u128::from(b), u128::from(by));
            let two = [wide_a, wide_b];
            let number = |it: i32| Some(u128::from(it as u32));
            let (sa, sb) = (a as i32, b as i32);
            prop_assert_eq!(of(Intrinsic::SMax, &two), number(sa.max(sb)));
            prop_assert_eq!(of(Intrinsic::UMin, &two), Some(a.min(b).into()));
            prop_assert_eq!(of(Intrinsic::UAddSat, &two), Some(a.saturating_add(b).into()));
            prop_assert_eq!(of(Intrinsic::USubSat, &two), Some(a.saturating_sub(b).into()));
            prop_assert_eq!(of(Intrinsic::SAddSat, &two), number(sa.saturating_add(sb)));
            prop_assert_eq!(of(Intrinsic::SSubSat, &two), number(sa.saturating_sub(sb)));
            prop_assert_eq!(of(Intrinsic::Abs, &[wide_a]), Some(sa.unsigned_abs().into()));
            prop_assert_eq!(of(Intrinsic::CountOnes, &[wide_a]), Some(a.count_ones().into()));
            prop_assert_eq!(of(Intrinsic::LeadingZeros, &[wide_a]), Some(a.leading_zeros().into()));
            prop_assert_eq!(of(Intrinsic::TrailingZeros, &[wide_a]), Some(a.trailing_zeros().into()));
            prop_assert_eq!(of(Intrinsic::SwapBytes, &[wide_a]), Some(a.swap_bytes().into()));
            prop_assert_eq!(of(Intrinsic::ReverseBits, &[wide_a]), Some(a.reverse_bits().into()));
            let both = u64::from(a) << 32 | u64::from(b);
            let shift = by % 32;
            let left = (both << shift >> 32) as u32;
            let right = (both >> shift) as u32;
            let three = [wide_a, wide_b, wide_by];
            prop_assert_eq!(of(Intrinsic::FunnelLeft, &three), Some(left.into()));
            prop_assert_eq!(of(Intrinsic::FunnelRight, &three), Some(right.into()));
        }

        #[test]
        fn overflow_is_what_the_machine_says(a: i64, b: i64) {
            let bits = |it: i64| u128::from(it as u64);
            let checked = |overflow, part| {
                Operation::Checked { overflow, width: 64, part }.apply(&[bits(a), bits(b)])
            };
            let (ua, ub) = (a as u64, b as u64);
            for (overflow, (result, flag)) in [
                (Overflow::SAdd, a.overflowing_add(b)),
                (Overflow::SSub, a.overflowing_sub(b)),
                (Overflow::SMul, a.overflowing_mul(b)),
            ] {
                prop_assert_eq!(checked(overflow, Part::Result), Some(bits(result)));
                prop_assert_eq!(checked(overflow, Part::Flag), Some(flag.into()));
            }
            for (overflow, (result, flag)) in [
                (Overflow::UAdd, ua.overflowing_add(ub)),
                (Overflow::USub, ua.overflowing_sub(ub)),
                (Overflow::UMul, ua.overflowing_mul(ub)),
            ] {
                prop_assert_eq!(checked(overflow, Part::Result), Some(result.into()));
                prop_assert_eq!(checked(overflow, Part::Flag), Some(flag.into()));
            }
        }

        #[test]
        fn integers_become_floats_as_on_the_machine(a: u64, b: f64, c: f32) {
            let cast = |opcode, from, to, bits| Operation::Cast { opcode, from, to }.apply(&[bits]);
            let wide = u128::from(a);
            prop_assert_eq!(cast(Opcode::UiToFp, 64, 32, wide), Some((a as f32).to_bits().into()));
            prop_assert_eq!(cast(Opcode::SiToFp, 64, 32, wide), Some((a as i64 as f32).to_bits().into()));
            prop_assert_eq!(cast(Opcode::UiToFp, 64, 64, wide), Some((a as f64).to_bits().into()));
            let fits = b > -9e18 && b < 9e18;
            let expected = fits.then_some((b as i64 as u64).into());
            let bits = b.to_bits().into();
            prop_assert!(!fits || cast(Opcode::FpToSi, 64, 64, bits) == expected);
            let wider = f64::from(c).to_bits();
            if !c.is_nan() {
                prop_assert_eq!(cast(Opcode::FpExt, 32, 64, c.to_bits().into()), Some(wider.into()));
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_not_defined() {
        let cast = |value: f64| {
            let opcode = Opcode::FpToUi;
            let cast = Operation::Cast {
                opcode,
                from: 64,
                to: 8,
            };
            cast.apply(&[value.to_bits().into()])
        };
        assert_eq!(cast(255.9), Some(255));
        assert_eq!(cast(-0.5), Some(0));
        assert_eq!(cast(256.0), None);
        assert_eq!(cast(f64::NAN), None);
        let shift = |by| {
            let opcode = Opcode::Shl;
            Operation::Binary { opcode, width: 8 }.apply(&[3, by])
        };
        assert_eq!(shift(7), Some(0x80));
        assert_eq!(shift(8), None);
    }

    #[test]
    fn the_widest_numbers_are_whole() {
        let shift = |intrinsic| Operation::Intrinsic {
            intrinsic,
            width: 128,
        };
        let (a, b) = (3 << 126, 5);
        let left = shift(Intrinsic::FunnelLeft);
        assert_eq!(left.apply(&[a, b, 0]), Some(a));
        assert_eq!(left.apply(&[a, b, 1]), Some(1 << 127));
        let right = shift(Intrinsic::FunnelRight);
        assert_eq!(right.apply(&[a, b, 0]), Some(b));
        assert_eq!(right.apply(&[a | 1, b, 1]), Some(1 << 127 | 2));
        let most = Operation::Intrinsic {
            intrinsic: Intrinsic::SAddSat,
            width: 128,
        };
        assert_eq!(most.apply(&[u128::MAX >> 1, 1]), Some(u128::MAX >> 1));
    }
}
