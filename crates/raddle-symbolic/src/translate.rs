//! From LLVM's operations to terms.

use raddle_model::Opcode;
use raddle_path::{Intrinsic, Operation, Overflow, Part};

use crate::terms::{Binary, Comparison, TermId, Terms};

/// Most bits of a term.
const WIDEST: u32 = 64;

/// A number of an operation: known, or a term.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Known(u128),
    Term(TermId),
}

impl Terms {
    /// The term of an operation's result; none if that is not modelled.
    pub(crate) fn apply(&mut self, operation: &Operation, operands: &[Number]) -> Option<TermId> {
        let term = match (operation, operands) {
            (Operation::Binary { opcode, width }, [a, b]) => {
                let operation = binary(*opcode)?;
                let (a, b) = (self.number(*a, *width)?, self.number(*b, *width)?);
                self.binary(operation, a, b)
            }
            (Operation::Cast { opcode, from, to }, [a]) => {
                let a = self.number(*a, *from)?;
                fits(*to)?;
                match opcode {
                    Opcode::SExt => self.sign_extend(a, *to),
                    Opcode::Trunc
                    | Opcode::ZExt
                    | Opcode::PtrToInt
                    | Opcode::IntToPtr
                    | Opcode::PtrToAddr
                    | Opcode::BitCast
                    | Opcode::Freeze
                    | Opcode::AddrSpaceCast => self.resize(a, *to),
                    _ => return None,
                }
            }
            (Operation::Compare { predicate, width }, [a, b]) => {
                let (a, b) = (self.number(*a, *width)?, self.number(*b, *width)?);
                self.predicate(*predicate, a, b)?
            }
            (Operation::Select { width }, [condition, yes, no]) => {
                let condition = self.bit(*condition)?;
                let (yes, no) = (self.number(*yes, *width)?, self.number(*no, *width)?);
                self.select(condition, yes, no)
            }
            (Operation::Address { offset, strides }, [base, indices @ ..]) => {
                let base = self.number(*base, 64)?;
                let offset = self.constant(64, *offset);
                let mut address = self.binary(Binary::Add, base, offset);
                for (index, stride) in indices.iter().zip(strides) {
                    let index = self.number(*index, 64)?;
                    let stride = self.constant(64, *stride);
                    let distance = self.binary(Binary::Mul, index, stride);
                    address = self.binary(Binary::Add, address, distance);
                }
                address
            }
            (Operation::Update { operation, width }, [old, operand]) => {
                let (a, b) = (self.number(*old, *width)?, self.number(*operand, *width)?);
                self.update(*operation, a, b)?
            }
            (Operation::Intrinsic { intrinsic, width }, operands) => {
                self.intrinsic(*intrinsic, operands, *width)?
            }
            (
                Operation::Checked {
                    overflow,
                    width,
                    part,
                },
                [a, b],
            ) => {
                let (a, b) = (self.number(*a, *width)?, self.number(*b, *width)?);
                self.checked(*overflow, *part, a, b)?
            }
            (Operation::Truncate { width }, [a]) => self.number(*a, *width)?,
            (Operation::Byte { index }, [Number::Term(a)]) => self.part(*a, 8 * index, 8),
            (Operation::Word { index }, [Number::Term(a)]) => self.part(*a, 64 * index, 64),
            (Operation::Bytes, bytes) => self.join(bytes, 8)?,
            (Operation::Words, words) => self.join(words, 64)?,
            _ => return None,
        };
        Some(term)
    }

    /// A number as a term of so many bits.
    pub(crate) fn number(&mut self, number: Number, width: u32) -> Option<TermId> {
        fits(width)?;
        Some(match number {
            Number::Known(value) => self.constant(width, value as u64),
            Number::Term(term) => self.resize(term, width),
        })
    }

    /// A number as a bit: whether it is not zero.
    fn bit(&mut self, number: Number) -> Option<TermId> {
        Some(match number {
            Number::Known(value) => self.constant(1, (value != 0).into()),
            Number::Term(term) if self.width(term) == 1 => term,
            Number::Term(term) => {
                let zero = self.constant(self.width(term), 0);
                let is_zero = self.compare(Comparison::Equal, term, zero);
                self.not(is_zero)
            }
        })
    }

    fn not(&mut self, term: TermId) -> TermId {
        let ones = self.constant(self.width(term), u64::MAX);
        self.binary(Binary::Xor, term, ones)
    }

    /// Bits of a number that has zeros above its own.
    fn part(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        let has = self.width(term);
        match has.checked_sub(low) {
            None | Some(0) => self.constant(width, 0),
            Some(left) => {
                let part = self.extract(term, low, left.min(width));
                self.resize(part, width)
            }
        }
    }

    /// The number that parts make, lowest first.
    fn join(&mut self, parts: &[Number], width: u32) -> Option<TermId> {
        fits(parts.len() as u32 * width)?;
        let (first, rest) = parts.split_first()?;
        let mut joined = self.number(*first, width)?;
        for part in rest {
            let part = self.number(*part, width)?;
            joined = self.concat(part, joined);
        }
        Some(joined)
    }

    /// A comparison with LLVM's number.
    fn predicate(&mut self, predicate: u8, a: TermId, b: TermId) -> Option<TermId> {
        use Comparison as C;
        Some(match predicate {
            32 => self.compare(C::Equal, a, b),
            33 => {
                let equal = self.compare(C::Equal, a, b);
                self.not(equal)
            }
            34 => self.compare(C::UnsignedLess, b, a),
            35 => self.compare(C::UnsignedAtMost, b, a),
            36 => self.compare(C::UnsignedLess, a, b),
            37 => self.compare(C::UnsignedAtMost, a, b),
            38 => self.compare(C::SignedLess, b, a),
            39 => self.compare(C::SignedAtMost, b, a),
            40 => self.compare(C::SignedLess, a, b),
            41 => self.compare(C::SignedAtMost, a, b),
            _ => return None,
        })
    }

    /// The first if it compares so with the second, else the second.
    fn extreme(&mut self, comparison: Comparison, a: TermId, b: TermId) -> TermId {
        let chosen = self.compare(comparison, a, b);
        self.select(chosen, a, b)
    }

    /// What a read-modify-write stores; the numbers are LLVM's.
    fn update(&mut self, operation: u8, old: TermId, operand: TermId) -> Option<TermId> {
        use Comparison as C;
        Some(match operation {
            0 => operand,
            1 => self.binary(Binary::Add, old, operand),
            2 => self.binary(Binary::Sub, old, operand),
            3 => self.binary(Binary::And, old, operand),
            4 => {
                let both = self.binary(Binary::And, old, operand);
                self.not(both)
            }
            5 => self.binary(Binary::Or, old, operand),
            6 => self.binary(Binary::Xor, old, operand),
            7 => {
                let less = self.compare(C::SignedLess, old, operand);
                self.select(less, operand, old)
            }
            8 => self.extreme(C::SignedLess, old, operand),
            9 => {
                let less = self.compare(C::UnsignedLess, old, operand);
                self.select(less, operand, old)
            }
            10 => self.extreme(C::UnsignedLess, old, operand),
            _ => return None,
        })
    }

    fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        operands: &[Number],
        width: u32,
    ) -> Option<TermId> {
        use Comparison as C;
        let a = self.number(*operands.first()?, width)?;
        let b = match operands.get(1) {
            Some(b) => self.number(*b, width)?,
            None => a,
        };
        Some(match intrinsic {
            Intrinsic::UMin => self.extreme(C::UnsignedLess, a, b),
            Intrinsic::SMin => self.extreme(C::SignedLess, a, b),
            Intrinsic::UMax => {
                let less = self.compare(C::UnsignedLess, a, b);
                self.select(less, b, a)
            }
            Intrinsic::SMax => {
                let less = self.compare(C::SignedLess, a, b);
                self.select(less, b, a)
            }
            Intrinsic::UAddSat => {
                let sum = self.binary(Binary::Add, a, b);
                let over = self.compare(C::UnsignedLess, sum, a);
                let most = self.constant(width, u64::MAX);
                self.select(over, most, sum)
            }
            Intrinsic::USubSat => {
                let difference = self.binary(Binary::Sub, a, b);
                let below = self.compare(C::UnsignedLess, a, b);
                let zero = self.constant(width, 0);
                self.select(below, zero, difference)
            }
            Intrinsic::Abs => {
                let zero = self.constant(width, 0);
                let is_negative = self.compare(C::SignedLess, a, zero);
                let negated = self.binary(Binary::Sub, zero, a);
                self.select(is_negative, negated, a)
            }
            Intrinsic::SwapBytes if width.is_multiple_of(8) => {
                let bytes: Vec<Number> = (0..width / 8)
                    .rev()
                    .map(|index| Number::Term(self.part(a, 8 * index, 8)))
                    .collect();
                self.join(&bytes, 8)?
            }
            Intrinsic::Expect => a,
            _ => return None,
        })
    }

    /// Arithmetic that tells overflow.
    fn checked(&mut self, overflow: Overflow, part: Part, a: TermId, b: TermId) -> Option<TermId> {
        use Comparison as C;
        let width = self.width(a);
        let operation = match overflow {
            Overflow::UAdd | Overflow::SAdd => Binary::Add,
            Overflow::USub | Overflow::SSub => Binary::Sub,
            Overflow::UMul | Overflow::SMul => Binary::Mul,
        };
        let result = self.binary(operation, a, b);
        if part == Part::Result {
            return Some(result);
        }
        Some(match overflow {
            Overflow::UAdd => self.compare(C::UnsignedLess, result, a),
            Overflow::USub => self.compare(C::UnsignedLess, a, b),
            // The sign differs from that of both addends, or of the minuend alone.
            Overflow::SAdd | Overflow::SSub => {
                let one = self.binary(Binary::Xor, a, result);
                let other = match overflow {
                    Overflow::SAdd => self.binary(Binary::Xor, b, result),
                    _ => self.binary(Binary::Xor, a, b),
                };
                let both = self.binary(Binary::And, one, other);
                self.extract(both, width - 1, 1)
            }
            Overflow::UMul | Overflow::SMul => {
                fits(2 * width)?;
                let is_signed = overflow == Overflow::SMul;
                let mut widen = |term| match is_signed {
                    true => self.sign_extend(term, 2 * width),
                    false => self.resize(term, 2 * width),
                };
                let (a, b, cut) = (widen(a), widen(b), widen(result));
                let product = self.binary(Binary::Mul, a, b);
                let is_right = self.compare(C::Equal, product, cut);
                self.not(is_right)
            }
        })
    }
}

fn fits(width: u32) -> Option<()> {
    (1..=WIDEST).contains(&width).then_some(())
}

fn binary(opcode: Opcode) -> Option<Binary> {
    Some(match opcode {
        Opcode::Add => Binary::Add,
        Opcode::Sub => Binary::Sub,
        Opcode::Mul => Binary::Mul,
        Opcode::UDiv => Binary::UDiv,
        Opcode::SDiv => Binary::SDiv,
        Opcode::URem => Binary::URem,
        Opcode::SRem => Binary::SRem,
        Opcode::Shl => Binary::Shl,
        Opcode::LShr => Binary::LShr,
        Opcode::AShr => Binary::AShr,
        Opcode::And => Binary::And,
        Opcode::Or => Binary::Or,
        Opcode::Xor => Binary::Xor,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPCODES: [Opcode; 13] = [
        Opcode::Add,
        Opcode::Sub,
        Opcode::Mul,
        Opcode::UDiv,
        Opcode::SDiv,
        Opcode::URem,
        Opcode::SRem,
        Opcode::Shl,
        Opcode::LShr,
        Opcode::AShr,
        Opcode::And,
        Opcode::Or,
        Opcode::Xor,
    ];

    const INTRINSICS: [Intrinsic; 11] = [
        Intrinsic::UMin,
        Intrinsic::UMax,
        Intrinsic::SMin,
        Intrinsic::SMax,
        Intrinsic::UAddSat,
        Intrinsic::USubSat,
        Intrinsic::SAddSat,
        Intrinsic::Abs,
        Intrinsic::SwapBytes,
        Intrinsic::CountOnes,
        Intrinsic::Expect,
    ];

    const OVERFLOWS: [Overflow; 6] = [
        Overflow::UAdd,
        Overflow::USub,
        Overflow::UMul,
        Overflow::SAdd,
        Overflow::SSub,
        Overflow::SMul,
    ];

    fn operation() -> impl Strategy<Value = Operation> {
        let width = || prop::sample::select(vec![8_u32, 16, 32, 64]);
        let binary = (prop::sample::select(OPCODES.to_vec()), width());
        let casts = vec![Opcode::SExt, Opcode::ZExt, Opcode::Trunc, Opcode::PtrToInt];
        let overflow = (
            prop::sample::select(OVERFLOWS.to_vec()),
            width(),
            any::<bool>(),
        );
        prop_oneof![
            binary.prop_map(|(opcode, width)| Operation::Binary { opcode, width }),
            (prop::sample::select(casts), width(), width())
                .prop_map(|(opcode, from, to)| Operation::Cast { opcode, from, to }),
            (32..42_u8, width())
                .prop_map(|(predicate, width)| Operation::Compare { predicate, width }),
            width().prop_map(|width| Operation::Select { width }),
            (any::<u64>(), 0..64_u64).prop_map(|(offset, stride)| Operation::Address {
                offset,
                strides: vec![stride],
            }),
            (0..11_u8, width())
                .prop_map(|(operation, width)| Operation::Update { operation, width }),
            (prop::sample::select(INTRINSICS.to_vec()), width())
                .prop_map(|(intrinsic, width)| Operation::Intrinsic { intrinsic, width }),
            overflow.prop_map(|(overflow, width, result)| Operation::Checked {
                overflow,
                width,
                part: if result { Part::Result } else { Part::Flag },
            }),
            (1..64_u32).prop_map(|width| Operation::Truncate { width }),
            (0..9_u32).prop_map(|index| Operation::Byte { index }),
            (0..2_u32).prop_map(|index| Operation::Word { index }),
            Just(Operation::Bytes),
        ]
    }

    /// How many operands it has, and how wide they are.
    fn shape(operation: &Operation) -> (usize, u32) {
        match operation {
            Operation::Select { width } => (3, *width),
            Operation::Cast { from, .. } => (1, *from),
            Operation::Binary { width, .. }
            | Operation::Compare { width, .. }
            | Operation::Update { width, .. }
            | Operation::Intrinsic { width, .. }
            | Operation::Checked { width, .. } => (2, *width),
            Operation::Address { .. } => (2, 64),
            Operation::Bytes => (3, 8),
            _ => (1, 64),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// A term has the value that the operation gives, whichever of the operands are symbols.
        #[test]
        fn terms_mean_what_operations_do(
            operation in operation(),
            values in prop::array::uniform3(prop_oneof![any::<u64>(), 0..3_u64, Just(u64::MAX), Just(1 << 63)]),
            symbols in prop::array::uniform3(any::<bool>()),
        ) {
            let (count, width) = shape(&operation);
            let values = values.map(|it| it & crate::terms::mask(width));
            let mut terms = Terms::default();
            let numbers: Vec<Number> = (0..count)
                .map(|at| match symbols[at] {
                    true => Number::Term(terms.symbol(at as u32, width)),
                    false => Number::Known(values[at].into()),
                })
                .collect();
            let operands: Vec<u128> = values[..count].iter().map(|it| u128::from(*it)).collect();
            let (Some(expected), Some(term)) = (operation.apply(&operands), terms.apply(&operation, &numbers)) else {
                return Ok(());
            };
            let value = terms.value(term, &|event| values[event as usize]);
            prop_assert_eq!(u128::from(value), expected, "{:?} {:?}", operation, numbers);
        }
    }
}
