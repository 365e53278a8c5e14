//! Splitting values into pieces of at most eight bytes.
//!
//! An event holds one 64-bit value. Wider scalars, vectors and aggregates become several events,
//! in the order of their addresses.

use raddle_model::Opcode;

use crate::llvm::{Builder, Kind, Layout, Ty, Value};

/// Most pieces that one access is split into; larger ones are recorded as ranges.
pub(super) const MAX_PIECES: usize = 16;

/// A part of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Byte offset from the access's address.
    pub(super) offset: u64,
    /// Bytes, 1 to 8.
    pub(super) size: u8,
}

/// The pieces of a type; `None` if it cannot be split or has too many.
pub(super) fn pieces_of<'m>(layout: Layout<'m>, ty: Ty<'m>) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    collect(layout, ty, 0, &mut pieces)?;
    Some(pieces)
}

fn collect<'m>(layout: Layout<'m>, ty: Ty<'m>, offset: u64, out: &mut Vec<Piece>) -> Option<()> {
    match ty.kind() {
        Kind::Struct => {
            for (index, field) in ty.fields().into_iter().enumerate() {
                let inner = layout.offset(ty, u32::try_from(index).ok()?);
                collect(layout, field, offset + inner, out)?;
            }
        }
        Kind::Array => {
            let element = ty.element();
            let stride = layout.alloc_size(element);
            if ty.len() > MAX_PIECES as u64 {
                return None;
            }
            for index in 0..ty.len() {
                collect(layout, element, offset + index * stride, out)?;
            }
        }
        Kind::Void | Kind::Function | Kind::ScalableVector | Kind::Other => return None,
        _ => {
            let size = layout.store_size(ty);
            for start in (0..size).step_by(8) {
                out.push(Piece {
                    offset: offset + start,
                    size: (size - start).min(8) as u8,
                });
                if out.len() > MAX_PIECES {
                    return None;
                }
            }
        }
    }
    (out.len() <= MAX_PIECES).then_some(())
}

/// Computes the 64-bit values of a value's pieces, in the order of [`pieces_of`].
pub(super) fn split<'m>(builder: &Builder<'m>, value: Value<'m>) -> Vec<Value<'m>> {
    let mut out = Vec::new();
    extract(builder, value, &mut out);
    out
}

fn extract<'m>(builder: &Builder<'m>, value: Value<'m>, out: &mut Vec<Value<'m>>) {
    let module = builder.module();
    let word = module.int_type(64);
    let ty = value.ty();
    match ty.kind() {
        Kind::Integer => extract_int(builder, value, ty.int_width(), out),
        Kind::Pointer => out.push(builder.cast(Opcode::PtrToInt, value, word)),
        Kind::Struct => {
            for index in 0..ty.fields().len() as u32 {
                extract(builder, builder.extract_value(value, index), out);
            }
        }
        Kind::Array => {
            for index in 0..ty.len() as u32 {
                extract(builder, builder.extract_value(value, index), out);
            }
        }
        Kind::Vector => {
            let mut value = value;
            if ty.element().kind() == Kind::Pointer {
                let words = module.vector_type(word, ty.len() as u32);
                value = builder.cast(Opcode::PtrToInt, value, words);
            }
            let bits = module.layout().bits(value.ty()) as u32;
            if bits > 64 && bits.is_multiple_of(64) {
                let words = module.vector_type(word, bits / 64);
                let vector = builder.cast(Opcode::BitCast, value, words);
                out.extend((0..bits / 64).map(|index| builder.extract_element(vector, index)));
            } else {
                let int = builder.cast(Opcode::BitCast, value, module.int_type(bits));
                extract_int(builder, int, bits, out);
            }
        }
        _ => {
            let bits = module.layout().bits(ty) as u32;
            let int = builder.cast(Opcode::BitCast, value, module.int_type(bits));
            extract_int(builder, int, bits, out);
        }
    }
}

fn extract_int<'m>(builder: &Builder<'m>, value: Value<'m>, bits: u32, out: &mut Vec<Value<'m>>) {
    let module = builder.module();
    let word = module.int_type(64);
    match bits {
        64 => out.push(value),
        0..64 => out.push(builder.cast(Opcode::ZExt, value, word)),
        _ => {
            for start in (0..bits).step_by(64) {
                let shift = module.const_int(value.ty(), u64::from(start));
                let low = builder.binary(Opcode::LShr, value, shift);
                out.push(builder.cast(Opcode::Trunc, low, word));
            }
        }
    }
}
