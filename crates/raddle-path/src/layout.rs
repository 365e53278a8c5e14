//! How types lie in memory, and how the instrumenter cuts them into events of at most eight bytes.

use raddle_model::{Module, Type, TypeId};

use crate::compute::{DatumOf, ValueOf, apply};
use crate::datum::Datum;
use crate::domain::Domain;
use crate::operation::Operation;

/// Longest piece.
const PIECE_BYTES: u64 = 8;

/// Arrays of more elements are not taken apart.
const MOST_ELEMENTS: u64 = 64;

/// The bits of a scalar type; none for aggregates and what cannot be computed with.
pub(crate) fn bits(module: &Module, ty: TypeId) -> Option<u32> {
    match module.types.get(ty.index())?.ty {
        Type::Int(bits) if bits <= 128 => Some(bits),
        Type::Pointer(_) | Type::Double => Some(64),
        Type::Float => Some(32),
        Type::Half | Type::BFloat => Some(16),
        _ => None,
    }
}

/// Distance of two neighbours of a type in an array.
pub(crate) fn size(module: &Module, ty: TypeId) -> u64 {
    module.types.get(ty.index()).map_or(0, |info| info.size)
}

/// The scalars of a type, each with its offset and its bytes; none if some cannot be computed with.
pub(crate) fn scalars(module: &Module, ty: TypeId) -> Option<Vec<(u64, u64)>> {
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
pub(crate) fn join<D: Domain>(
    domain: &mut D,
    module: &Module,
    ty: TypeId,
    pieces: &[ValueOf<D>],
) -> Option<DatumOf<D>> {
    let mut pieces = pieces.iter();
    build(domain, module, ty, &mut |domain, bytes| {
        let count = bytes.div_ceil(PIECE_BYTES);
        let parts: Option<Vec<ValueOf<D>>> = (0..count).map(|_| pieces.next().cloned()).collect();
        Some(match &parts?[..] {
            [whole] => whole.clone(),
            parts => apply(domain, &Operation::Words, parts),
        })
    })
}

/// Data of a type whose scalars `next` gives, by their bytes.
pub(crate) fn build<D: Domain>(
    domain: &mut D,
    module: &Module,
    ty: TypeId,
    next: &mut impl FnMut(&mut D, u64) -> Option<ValueOf<D>>,
) -> Option<DatumOf<D>> {
    let info = module.types.get(ty.index())?;
    let parts: Option<Vec<DatumOf<D>>> = match &info.ty {
        Type::Struct { fields, .. } => fields
            .iter()
            .map(|&(field, _)| build(domain, module, field, next))
            .collect(),
        Type::Array { element, len } => (0..Some(*len).filter(|&len| len <= MOST_ELEMENTS)?)
            .map(|_| build(domain, module, *element, next))
            .collect(),
        _ => {
            let width = bits(module, ty)?;
            let value = next(domain, info.store_size)?;
            return Some(Datum::Scalar(match width % 8 {
                0 => value,
                _ => apply(domain, &Operation::Truncate { width }, &[value]),
            }));
        }
    };
    parts.map(Datum::Parts)
}

/// The pieces of data in the order of their events.
pub(crate) fn split<D: Domain>(
    domain: &mut D,
    module: &Module,
    ty: TypeId,
    datum: &DatumOf<D>,
) -> Option<Vec<ValueOf<D>>> {
    let mut leaves = Vec::new();
    datum.leaves(&mut leaves);
    let scalars = scalars(module, ty)?;
    if leaves.len() != scalars.len() {
        return None;
    }
    let mut out = Vec::new();
    for ((_, bytes), value) in scalars.into_iter().zip(leaves) {
        match bytes.div_ceil(PIECE_BYTES) {
            1 => out.push(value),
            pieces => {
                for index in 0..pieces as u32 {
                    let word = Operation::Word { index };
                    out.push(apply(domain, &word, std::slice::from_ref(&value)));
                }
            }
        }
    }
    Some(out)
}
