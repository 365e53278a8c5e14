//! Results of instructions and intrinsics without effects.
//!
//! An operation that is not modelled gives the same result for the same operands, and an unknown one for others.

use raddle_model::{Detail, Instruction, Module, Opcode, Type, TypeId};

use crate::datum::Datum;
use crate::domain::Domain;
use crate::layout::{bits, size};
use crate::operation::{Intrinsic, Operation, Overflow, Part};
use crate::value::Value;

/// Values of a domain.
pub(crate) type ValueOf<D> = Value<<D as Domain>::Change>;
/// Scalars and aggregates of a domain.
pub(crate) type DatumOf<D> = Datum<<D as Domain>::Change>;

/// The result of an operation on these operands.
pub(crate) fn apply<D: Domain>(
    domain: &mut D,
    operation: &Operation,
    operands: &[ValueOf<D>],
) -> ValueOf<D> {
    let recorded = recorded_result(operation, operands);
    let is_same = operands.iter().all(Value::is_same);
    Value {
        recorded,
        change: match is_same {
            true => None,
            false => domain.compute(operation, operands, recorded),
        },
        is_made_up: operands.iter().any(|it| it.is_made_up),
    }
}

/// What the operation gave in the trace, if all of its operands are known.
fn recorded_result<C>(operation: &Operation, operands: &[Value<C>]) -> Option<u128> {
    /// Operations on more are rare.
    const FEW: usize = 8;
    if operands.len() > FEW {
        let bits: Option<Vec<u128>> = operands.iter().map(|it| it.recorded).collect();
        return operation.apply(&bits?);
    }
    let mut bits = [0; FEW];
    for (bits, value) in bits.iter_mut().zip(operands) {
        *bits = value.recorded?;
    }
    operation.apply(&bits[..operands.len()])
}

/// What follows from these operands in a way that is not modelled.
pub(crate) fn unknown<D: Domain>(domain: &mut D, operands: &[ValueOf<D>]) -> ValueOf<D> {
    let is_same = operands.iter().all(Value::is_same);
    Value {
        recorded: None,
        change: match is_same {
            true => None,
            false => domain.unknown(operands),
        },
        is_made_up: operands.iter().any(|it| it.is_made_up),
    }
}

/// The result of an instruction without effects, from its operands. The first one's type is given.
pub(crate) fn result<D: Domain>(
    domain: &mut D,
    module: &Module,
    instruction: &Instruction,
    operands: &[DatumOf<D>],
    operand_type: Option<TypeId>,
) -> DatumOf<D> {
    use Opcode as O;
    match (instruction.opcode, &instruction.detail, operands) {
        (O::Select, _, [condition, yes, no]) => {
            return select(domain, module, instruction.ty, condition, yes, no);
        }
        (O::ExtractValue, Detail::Indices(path), [of]) => return of.part(domain, path),
        (O::InsertValue, Detail::Indices(path), [of, part]) => {
            return of.with_part(domain, path, part.clone());
        }
        _ => {}
    }
    let values: Vec<ValueOf<D>> = operands.iter().map(|it| it.scalar(domain)).collect();
    let width = bits(module, instruction.ty);
    let from = operand_type.and_then(|ty| bits(module, ty));
    let opcode = instruction.opcode;
    let operation = match (opcode, &instruction.detail) {
        (O::ICmp, Detail::Compare(predicate)) => from.map(|width| Operation::Compare {
            predicate: *predicate,
            width,
        }),
        (O::FCmp, Detail::Compare(predicate)) => from.map(|width| Operation::FloatCompare {
            predicate: *predicate,
            width,
        }),
        (O::FAdd | O::FSub | O::FMul | O::FDiv | O::FRem, _) => {
            width.map(|width| Operation::FloatBinary { opcode, width })
        }
        (O::FNeg, _) => width.map(|width| Operation::FloatNegate { width }),
        _ => match (width, from, values.len()) {
            (Some(to), Some(from), 1) => Some(Operation::Cast { opcode, from, to }),
            (Some(width), _, 2) => Some(Operation::Binary { opcode, width }),
            _ => None,
        },
    };
    Datum::Scalar(match operation {
        Some(operation) => apply(domain, &operation, &values),
        None => unknown(domain, &values),
    })
}

/// One of two values: of aggregates that are known in parts, part by part.
fn select<D: Domain>(
    domain: &mut D,
    module: &Module,
    ty: TypeId,
    condition: &DatumOf<D>,
    yes: &DatumOf<D>,
    no: &DatumOf<D>,
) -> DatumOf<D> {
    let condition = condition.scalar(domain);
    if condition.is_same() {
        if let Some(chosen) = condition.real() {
            return if chosen == 0 { no } else { yes }.clone();
        }
        if yes.is_same() && no.is_same() {
            return Datum::SAME;
        }
    }
    select_parts(domain, module, Some(ty), &condition, yes, no)
}

fn select_parts<D: Domain>(
    domain: &mut D,
    module: &Module,
    ty: Option<TypeId>,
    condition: &ValueOf<D>,
    yes: &DatumOf<D>,
    no: &DatumOf<D>,
) -> DatumOf<D> {
    if let (Datum::Parts(all), Datum::Parts(others)) = (yes, no)
        && all.len() == others.len()
    {
        let pairs = all.iter().zip(others).enumerate();
        let chosen = pairs.map(|(place, (yes, no))| {
            let part = ty.and_then(|ty| part_type(module, ty, place));
            select_parts(domain, module, part, condition, yes, no)
        });
        return Datum::Parts(chosen.collect());
    }
    let operands = [condition.clone(), yes.scalar(domain), no.scalar(domain)];
    Datum::Scalar(match ty.and_then(|ty| bits(module, ty)) {
        Some(width) => apply(domain, &Operation::Select { width }, &operands),
        None => unknown(domain, &operands),
    })
}

/// The type of a part of an aggregate.
fn part_type(module: &Module, ty: TypeId, place: usize) -> Option<TypeId> {
    match &module.types.get(ty.index())?.ty {
        Type::Struct { fields, .. } => Some(fields.get(place)?.0),
        Type::Array { element, .. } => Some(*element),
        _ => None,
    }
}

/// An address that `getelementptr` computes, from a base and indices of these widths.
pub(crate) fn address<D: Domain>(
    domain: &mut D,
    module: &Module,
    source: TypeId,
    base: ValueOf<D>,
    indices: &[(ValueOf<D>, Option<u32>)],
) -> ValueOf<D> {
    let (mut offset, mut strides) = (0_u64, Vec::new());
    let mut operands = vec![base];
    let mut ty = source;
    for (place, (index, width)) in indices.iter().enumerate() {
        let fields = match module.types.get(ty.index()).map(|it| &it.ty) {
            Some(Type::Struct { fields, .. }) if place > 0 => fields,
            found => {
                match found {
                    _ if place == 0 => {}
                    Some(Type::Array { element, .. } | Type::Vector { element, .. }) => {
                        ty = *element;
                    }
                    _ => return unknown(domain, &all(operands, indices)),
                }
                let from = width.unwrap_or(64);
                let opcode = Opcode::SExt;
                let extend = Operation::Cast {
                    opcode,
                    from,
                    to: 64,
                };
                operands.push(match from {
                    64 => index.clone(),
                    _ => apply(domain, &extend, std::slice::from_ref(index)),
                });
                strides.push(size(module, ty));
                continue;
            }
        };
        // Which field is a constant.
        let field = index.recorded.and_then(|it| usize::try_from(it).ok());
        let Some(&(field, at)) = field.and_then(|it| fields.get(it)) else {
            return unknown(domain, &all(operands, indices));
        };
        offset = offset.wrapping_add(at);
        ty = field;
    }
    apply(domain, &Operation::Address { offset, strides }, &operands)
}

fn all<C: Clone>(operands: Vec<Value<C>>, indices: &[(Value<C>, Option<u32>)]) -> Vec<Value<C>> {
    let rest = indices.iter().map(|(index, _)| index.clone());
    operands.into_iter().take(1).chain(rest).collect()
}

/// The result of an intrinsic without effects.
pub(crate) fn intrinsic<D: Domain>(
    domain: &mut D,
    name: &str,
    values: &[ValueOf<D>],
    width: Option<u32>,
) -> DatumOf<D> {
    let Some(width) = width else {
        return overflow(domain, name, values);
    };
    let known = Intrinsic::named(name).filter(|it| values.len() >= it.operands());
    Datum::Scalar(match known {
        Some(intrinsic) => {
            let operands = &values[..intrinsic.operands()];
            apply(domain, &Operation::Intrinsic { intrinsic, width }, operands)
        }
        None => unknown(domain, values),
    })
}

/// Arithmetic that says whether it overflowed.
fn overflow<D: Domain>(domain: &mut D, name: &str, values: &[ValueOf<D>]) -> DatumOf<D> {
    let width = name.rsplit(".i").next().and_then(|it| it.parse().ok());
    let (Some(overflow), Some(width), [_, _]) = (Overflow::named(name), width, values) else {
        return Datum::Scalar(unknown(domain, values));
    };
    let parts = [Part::Result, Part::Flag].map(|part| {
        let checked = Operation::Checked {
            overflow,
            width,
            part,
        };
        Datum::Scalar(apply(domain, &checked, values))
    });
    Datum::Parts(parts.into())
}
