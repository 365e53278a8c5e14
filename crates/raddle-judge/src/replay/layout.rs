//! How types lie in memory, and how the instrumenter cuts them into events of at most eight bytes.

use raddle_model::{Module, Type, TypeId};

use super::value::{Datum, Value};

/// Longest piece.
const PIECE_BYTES: u64 = 8;

/// Arrays of more elements are not taken apart.
const MOST_ELEMENTS: u64 = 64;

/// The bits of a scalar type; `None` for aggregates and what cannot be computed with.
pub(super) fn bits(module: &Module, ty: TypeId) -> Option<u32> {
    match module.types.get(ty.index())?.ty {
        Type::Int(bits) if bits <= 128 => Some(bits),
        Type::Pointer(_) | Type::Double => Some(64),
        Type::Float => Some(32),
        Type::Half | Type::BFloat => Some(16),
        _ => None,
    }
}

/// Bits below the width.
pub(super) fn mask(bits: u32) -> u128 {
    if bits >= 128 {
        u128::MAX
    } else {
        (1 << bits) - 1
    }
}

/// Distance of two neighbours of a type in an array.
pub(super) fn size(module: &Module, ty: TypeId) -> u64 {
    module.types.get(ty.index()).map_or(0, |info| info.size)
}

/// The scalars of a type, each with its offset and its bytes; `None` if some cannot be computed with.
pub(super) fn scalars(module: &Module, ty: TypeId) -> Option<Vec<(u64, u64)>> {
    let mut out = Vec::new();
    collect(module, ty, 0, &mut out)?;
    Some(out)
}

fn collect(module: &Module, ty: TypeId, offset: u64, out: &mut Vec<(u64, u64)>) -> Option<()> {
    let info = module.types.get(ty.index())?;
    match &info.ty {
        Type::Struct { fields, .. } => {
            for &(field, at) in fields {
                collect(module, field, offset + at, out)?;
            }
        }
        Type::Array { element, len } => {
            let stride = size(module, *element);
            for index in 0..Some(*len).filter(|&len| len <= MOST_ELEMENTS)? {
                collect(module, *element, offset + index * stride, out)?;
            }
        }
        _ => {
            bits(module, ty)?;
            out.push((offset, info.store_size));
        }
    }
    Some(())
}

/// Puts the pieces of an access together again: one value for each scalar.
pub(super) fn join(module: &Module, ty: TypeId, pieces: &[Value]) -> Option<Datum> {
    let mut pieces = pieces.iter().copied();
    build(module, ty, &mut |bytes| {
        let count = bytes.div_ceil(PIECE_BYTES);
        let parts: Option<Vec<Value>> = (0..count).map(|_| pieces.next()).collect();
        Some(Value::compute(&parts?, |bits| {
            let words = bits.iter().enumerate();
            Some(words.fold(0, |all, (index, word)| all | word << (64 * index)))
        }))
    })
}

/// An aggregate of a type whose scalars `next` gives, by their bytes.
pub(super) fn build(
    module: &Module,
    ty: TypeId,
    next: &mut impl FnMut(u64) -> Option<Value>,
) -> Option<Datum> {
    let info = module.types.get(ty.index())?;
    let parts: Option<Vec<Datum>> = match &info.ty {
        Type::Struct { fields, .. } => fields
            .iter()
            .map(|&(field, _)| build(module, field, next))
            .collect(),
        Type::Array { element, len } => (0..Some(*len).filter(|&len| len <= MOST_ELEMENTS)?)
            .map(|_| build(module, *element, next))
            .collect(),
        _ => {
            let bits = bits(module, ty)?;
            let value = next(info.store_size)?;
            let value = Value::compute(&[value], |word| Some(word[0] & mask(bits)));
            return Some(Datum::Scalar(value));
        }
    };
    parts.map(Datum::Parts)
}

/// The pieces of a value in the order of its events.
pub(super) fn split(module: &Module, ty: TypeId, datum: &Datum) -> Option<Vec<Value>> {
    let mut leaves = Vec::new();
    datum.leaves(&mut leaves);
    let scalars = scalars(module, ty)?;
    if leaves.len() != scalars.len() {
        return None;
    }
    let mut out = Vec::new();
    for ((_, bytes), value) in scalars.into_iter().zip(leaves) {
        for piece in 0..bytes.div_ceil(PIECE_BYTES) {
            let word = |bits: &[u128]| Some(bits[0] >> (64 * piece) & u128::from(u64::MAX));
            out.push(Value::compute(&[value], word));
        }
    }
    Some(out)
}
