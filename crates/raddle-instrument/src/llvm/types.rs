//! Types and their layout.

use std::marker::PhantomData;

use super::ffi::{LayoutRef, TypeRef};
use super::llvm;

/// `LLVMTypeKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Void,
    Half,
    Float,
    Double,
    X86Fp80,
    Fp128,
    PpcFp128,
    Integer,
    Function,
    Struct,
    Array,
    Pointer,
    Vector,
    ScalableVector,
    BFloat,
    Other,
}

/// A type of a module's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ty<'m> {
    pub(super) raw: TypeRef,
    _module: PhantomData<&'m ()>,
}

impl<'m> Ty<'m> {
    pub(super) fn new(raw: TypeRef) -> Ty<'m> {
        debug_assert!(!raw.is_null());
        Ty {
            raw,
            _module: PhantomData,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match llvm!(LLVMGetTypeKind(self.raw)) {
            0 => Kind::Void,
            1 => Kind::Half,
            2 => Kind::Float,
            3 => Kind::Double,
            4 => Kind::X86Fp80,
            5 => Kind::Fp128,
            6 => Kind::PpcFp128,
            8 => Kind::Integer,
            9 => Kind::Function,
            10 => Kind::Struct,
            11 => Kind::Array,
            12 => Kind::Pointer,
            13 => Kind::Vector,
            17 => Kind::ScalableVector,
            18 => Kind::BFloat,
            _ => Kind::Other,
        }
    }

    /// Width of an integer type.
    pub(crate) fn int_width(self) -> u32 {
        debug_assert_eq!(self.kind(), Kind::Integer);
        llvm!(LLVMGetIntTypeWidth(self.raw))
    }

    /// Element of an array or vector type.
    pub(crate) fn element(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGetElementType(self.raw)))
    }

    /// Length of an array or vector type.
    pub(crate) fn len(self) -> u64 {
        match self.kind() {
            Kind::Array => llvm!(LLVMGetArrayLength2(self.raw)),
            _ => u64::from(llvm!(LLVMGetVectorSize(self.raw))),
        }
    }

    /// Fields of a struct type.
    pub(crate) fn fields(self) -> Vec<Ty<'m>> {
        if llvm!(LLVMIsOpaqueStruct(self.raw)) != 0 {
            return Vec::new();
        }
        let count = llvm!(LLVMCountStructElementTypes(self.raw));
        (0..count)
            .map(|index| Ty::new(llvm!(LLVMStructGetTypeAtIndex(self.raw, index))))
            .collect()
    }

    pub(crate) fn is_packed(self) -> bool {
        llvm!(LLVMIsPackedStruct(self.raw)) != 0
    }

    pub(crate) fn is_sized(self) -> bool {
        llvm!(LLVMTypeIsSized(self.raw)) != 0
    }

    /// Address space of a pointer type.
    pub(crate) fn address_space(self) -> u32 {
        debug_assert_eq!(self.kind(), Kind::Pointer);
        llvm!(LLVMGetPointerAddressSpace(self.raw))
    }

    /// Result of a function type.
    pub(crate) fn result(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGetReturnType(self.raw)))
    }

    /// Parameters of a function type.
    pub(crate) fn params(self) -> Vec<Ty<'m>> {
        let count = llvm!(LLVMCountParamTypes(self.raw));
        let mut params = vec![TypeRef::NULL; count as usize];
        llvm!(LLVMGetParamTypes(self.raw, params.as_mut_ptr()));
        params.into_iter().map(Ty::new).collect()
    }

    pub(crate) fn is_variadic(self) -> bool {
        llvm!(LLVMIsFunctionVarArg(self.raw)) != 0
    }
}

/// A module's data layout.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m> {
    raw: LayoutRef,
    _module: PhantomData<&'m ()>,
}

impl<'m> Layout<'m> {
    pub(super) fn new(raw: LayoutRef) -> Layout<'m> {
        Layout {
            raw,
            _module: PhantomData,
        }
    }

    /// Bytes that a store of a sized type writes.
    pub(crate) fn store_size(self, ty: Ty<'m>) -> u64 {
        llvm!(LLVMStoreSizeOfType(self.raw, ty.raw))
    }

    /// Distance of two neighbours of a sized type in an array.
    pub(crate) fn alloc_size(self, ty: Ty<'m>) -> u64 {
        llvm!(LLVMABISizeOfType(self.raw, ty.raw))
    }

    /// Bits of a sized type.
    pub(crate) fn bits(self, ty: Ty<'m>) -> u64 {
        llvm!(LLVMSizeOfTypeInBits(self.raw, ty.raw))
    }

    /// Byte offset of a struct's field.
    pub(crate) fn offset(self, ty: Ty<'m>, field: u32) -> u64 {
        llvm!(LLVMOffsetOfElement(self.raw, ty.raw, field))
    }
}
