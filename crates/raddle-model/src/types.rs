//! Types and their layouts.

use crate::TypeId;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of so many bits.
    Int(u32),
    /// 16-bit IEEE.
    Half,
    /// 16-bit brain float.
    BFloat,
    /// 32-bit IEEE.
    Float,
    /// 64-bit IEEE.
    Double,
    /// x87's 80 bits.
    X86Fp80,
    /// 128-bit IEEE.
    Fp128,
    /// A pair of doubles.
    PpcFp128,
    /// A pointer into an address space.
    Pointer(u32),
    /// A vector.
    Vector {
        /// Its elements' type.
        element: TypeId,
        /// Number of elements, or its unit if scalable.
        len: u32,
        /// Whether the length is a multiple known only to the machine.
        scalable: bool,
    },
    /// An array.
    Array {
        /// Its elements' type.
        element: TypeId,
        /// Number of elements.
        len: u64,
    },
    /// A struct.
    Struct {
        /// Its fields, with their byte offsets.
        fields: Vec<(TypeId, u64)>,
        /// Without padding.
        packed: bool,
    },
    /// A function's type.
    Function {
        /// What it returns.
        result: TypeId,
        /// Its parameters.
        params: Vec<TypeId>,
        /// Whether more arguments may follow.
        variadic: bool,
    },
    /// Block labels, metadata, tokens and target-specific types: nothing computes with them.
    Other,
}

/// A type with its layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeInfo {
    /// The type.
    pub ty: Type,
    /// Distance of two neighbours in an array, in bytes; 0 for types without a size.
    pub size: u64,
    /// Bytes that a store of it writes; 0 for types without a size.
    pub store_size: u64,
}
