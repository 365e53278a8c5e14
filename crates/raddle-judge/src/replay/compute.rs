//! What LLVM's operations do to numbers.
//!
//! An operation that is not here gives the same result for the same operands, and an unknown one for
//! others.

use raddle_model::{Detail, Instruction, Module, Opcode, Type, TypeId};

use super::layout::{bits, mask, size};
use super::value::{Datum, Value};

/// The value as a signed number of its width.
fn signed(value: u128, width: u32) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    (value << shift) as i128 >> shift
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

/// Whether a comparison of floating-point numbers holds: the predicate's bits are equal, greater,
/// less, unordered.
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
        Opcode::UiToFp => from_float(value as f64, to)?,
        Opcode::SiToFp => from_float(signed(value, from) as f64, to)?,
        Opcode::FpToUi => to_float(value, from)? as u128,
        Opcode::FpToSi => to_float(value, from)? as i128 as u128,
        Opcode::FpExt | Opcode::FpTrunc => from_float(to_float(value, from)?, to)?,
        _ => return None,
    };
    Some(result & mask(to))
}

/// The result of an instruction without effects, from its operands.
pub(super) fn result(
    module: &Module,
    instruction: &Instruction,
    operands: &[Datum],
    operand_type: Option<TypeId>,
) -> Datum {
    use Opcode as O;
    let values: Vec<Value> = operands.iter().map(Datum::scalar).collect();
    let width = bits(module, instruction.ty);
    let from = operand_type.and_then(|ty| bits(module, ty));
    let scalar = |operation: &dyn Fn(&[u128]) -> Option<u128>| {
        Datum::Scalar(Value::compute(&values, operation))
    };
    match (instruction.opcode, &instruction.detail) {
        (O::Select, _) => select(operands),
        (O::ExtractValue, Detail::Indices(path)) => operands[0].part(path),
        (O::InsertValue, Detail::Indices(path)) => operands[0].with_part(path, operands[1].clone()),
        (O::GetElementPtr, Detail::Address(source)) => {
            Datum::Scalar(address(module, *source, &values))
        }
        (O::ICmp, Detail::Compare(predicate)) => {
            let Some(width) = from else {
                return unknown(&values);
            };
            scalar(&|bits| compare(*predicate, bits[0], bits[1], width).map(u128::from))
        }
        (O::FCmp, Detail::Compare(predicate)) => {
            let Some(width) = from else {
                return unknown(&values);
            };
            scalar(&|bits| {
                let (a, b) = (to_float(bits[0], width)?, to_float(bits[1], width)?);
                compare_floats(*predicate, a, b).map(u128::from)
            })
        }
        (O::FAdd | O::FSub | O::FMul | O::FDiv | O::FRem, _) => {
            let Some(width) = width else {
                return unknown(&values);
            };
            scalar(&|bits| float_binary(instruction.opcode, bits[0], bits[1], width))
        }
        (O::FNeg, _) => {
            let Some(width) = width else {
                return unknown(&values);
            };
            scalar(&|bits| Some(bits[0] ^ 1 << (width - 1)))
        }
        (opcode, _) => match (width, from, values.len()) {
            (Some(to), Some(from), 1) => scalar(&|bits| cast(opcode, bits[0], from, to)),
            (Some(width), _, 2) => scalar(&|bits| binary(opcode, bits[0], bits[1], width)),
            _ => unknown(&values),
        },
    }
}

/// The result of an operation that is not modelled.
pub(super) fn unknown(operands: &[Value]) -> Datum {
    Datum::Scalar(Value::compute(operands, |_| None))
}

fn select(operands: &[Datum]) -> Datum {
    let [condition, yes, no] = operands else {
        return Datum::SAME;
    };
    let condition = condition.scalar();
    let (yes_value, no_value) = (yes.scalar(), no.scalar());
    if condition.same && condition.old.is_some() && !condition.fake {
        return match condition.old {
            Some(0) => no.clone(),
            _ => yes.clone(),
        };
    }
    if condition.same && yes.is_same() && no.is_same() {
        return Datum::SAME;
    }
    Datum::Scalar(Value::compute(&[condition, yes_value, no_value], |bits| {
        Some(if bits[0] == 0 { bits[2] } else { bits[1] })
    }))
}

/// `getelementptr`.
fn address(module: &Module, source: TypeId, values: &[Value]) -> Value {
    Value::compute(values, |bits| {
        let mut ty = source;
        let mut address = bits[0];
        for (place, &index) in bits[1..].iter().enumerate() {
            if place == 0 {
                address = address.wrapping_add(index.wrapping_mul(size(module, ty).into()));
                continue;
            }
            match &module.types.get(ty.index())?.ty {
                Type::Struct { fields, .. } => {
                    let &(field, offset) = fields.get(usize::try_from(index).ok()?)?;
                    address = address.wrapping_add(offset.into());
                    ty = field;
                }
                Type::Array { element, .. } | Type::Vector { element, .. } => {
                    ty = *element;
                    address = address.wrapping_add(index.wrapping_mul(size(module, ty).into()));
                }
                _ => return None,
            }
        }
        Some(address & mask(64))
    })
}

/// An index of `getelementptr`, sign-extended from its width.
pub(super) fn extend(index: Value, width: Option<u32>) -> Value {
    Value::compute(&[index], |bits| Some(signed(bits[0], width?) as u128))
}

/// What a read-modify-write operation stores; the numbers are LLVM's.
pub(super) fn update(operation: u8, old: u128, operand: u128, width: u32) -> Option<u128> {
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

/// The result of an intrinsic without effects.
pub(super) fn intrinsic(name: &str, values: &[Value], width: Option<u32>) -> Datum {
    let Some(width) = width else {
        return overflow(name, values);
    };
    let is = |prefix: &str| name.starts_with(prefix);
    let of_two = |operation: &dyn Fn(u128, u128) -> u128| match values {
        [a, b, ..] => Datum::Scalar(Value::compute(&[*a, *b], |bits| {
            Some(operation(bits[0], bits[1]) & mask(width))
        })),
        _ => unknown(values),
    };
    let of_one = |operation: &dyn Fn(u128) -> u128| match values {
        [a, ..] => Datum::Scalar(Value::compute(&[*a], |bits| {
            Some(operation(bits[0]) & mask(width))
        })),
        _ => unknown(values),
    };
    match name {
        _ if is("llvm.umax.") => of_two(&|a, b| a.max(b)),
        _ if is("llvm.umin.") => of_two(&|a, b| a.min(b)),
        _ if is("llvm.smax.") => of_two(&|a, b| signed(a, width).max(signed(b, width)) as u128),
        _ if is("llvm.smin.") => of_two(&|a, b| signed(a, width).min(signed(b, width)) as u128),
        _ if is("llvm.usub.sat.") => of_two(&u128::saturating_sub),
        _ if is("llvm.uadd.sat.") => of_two(&|a, b| (a.saturating_add(b)).min(mask(width))),
        _ if is("llvm.abs.") => of_one(&|a| signed(a, width).unsigned_abs()),
        _ if is("llvm.ctpop.") => of_one(&|a| a.count_ones().into()),
        _ if is("llvm.ctlz.") => of_one(&|a| (a.leading_zeros() - (128 - width)).into()),
        _ if is("llvm.cttz.") => of_one(&|a| a.trailing_zeros().min(width).into()),
        _ if is("llvm.bswap.") => of_one(&|a| a.swap_bytes() >> (128 - width)),
        _ if is("llvm.expect") => of_one(&|a| a),
        _ => unknown(values),
    }
}

/// Arithmetic that says whether it overflowed.
fn overflow(name: &str, values: &[Value]) -> Datum {
    let Some(width) = name
        .rsplit(".i")
        .next()
        .and_then(|width| width.parse::<u32>().ok())
    else {
        return unknown(values);
    };
    let [a, b] = values else {
        return unknown(values);
    };
    let exact = |a: u128, b: u128| -> Option<(u128, bool)> {
        let (sa, sb) = (signed(a, width), signed(b, width));
        let within =
            |wide: Option<i128>| wide.is_some_and(|wide| signed(wide as u128, width) == wide);
        let below = |wide: Option<u128>| wide.is_some_and(|wide| wide <= mask(width));
        Some(match name {
            _ if name.starts_with("llvm.uadd.with") => {
                (a.wrapping_add(b), !below(a.checked_add(b)))
            }
            _ if name.starts_with("llvm.usub.with") => (a.wrapping_sub(b), a < b),
            _ if name.starts_with("llvm.umul.with") => {
                (a.wrapping_mul(b), !below(a.checked_mul(b)))
            }
            _ if name.starts_with("llvm.sadd.with") => {
                (a.wrapping_add(b), !within(sa.checked_add(sb)))
            }
            _ if name.starts_with("llvm.ssub.with") => {
                (a.wrapping_sub(b), !within(sa.checked_sub(sb)))
            }
            _ if name.starts_with("llvm.smul.with") => {
                (a.wrapping_mul(b), !within(sa.checked_mul(sb)))
            }
            _ => return None,
        })
    };
    let part = |pick: &dyn Fn((u128, bool)) -> u128| {
        let value = Value::compute(&[*a, *b], |bits| exact(bits[0], bits[1]).map(pick));
        Datum::Scalar(value)
    };
    Datum::Parts(vec![
        part(&|(sum, _)| sum & mask(width)),
        part(&|(_, over)| over.into()),
    ])
}
