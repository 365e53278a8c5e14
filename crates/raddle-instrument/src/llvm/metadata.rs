//! Metadata nodes: debug locations and scopes.

use std::marker::PhantomData;

use super::ffi::{MetadataRef, ValueRef};
use super::library::copy_text;
use super::{llvm, llvm_optional};

/// A metadata node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Metadata<'m> {
    pub(super) raw: MetadataRef,
    _module: PhantomData<&'m ()>,
}

impl<'m> Metadata<'m> {
    pub(super) fn new(raw: MetadataRef) -> Metadata<'m> {
        debug_assert!(!raw.is_null());
        Metadata {
            raw,
            _module: PhantomData,
        }
    }

    pub(super) fn option(raw: MetadataRef) -> Option<Metadata<'m>> {
        (!raw.is_null()).then(|| Metadata::new(raw))
    }

    /// `LLVMMetadataKind`.
    pub(crate) fn kind(self) -> u32 {
        llvm!(LLVMGetMetadataKind(self.raw))
    }

    /// Line and column of a debug location.
    pub(crate) fn line_column(self) -> (u32, u32) {
        let line = llvm!(LLVMDILocationGetLine(self.raw));
        (line, llvm!(LLVMDILocationGetColumn(self.raw)))
    }

    /// Scope of a debug location.
    pub(crate) fn scope(self) -> Option<Metadata<'m>> {
        Metadata::option(llvm!(LLVMDILocationGetScope(self.raw)))
    }

    /// Call that a debug location was inlined through.
    pub(crate) fn inlined_at(self) -> Option<Metadata<'m>> {
        Metadata::option(llvm!(LLVMDILocationGetInlinedAt(self.raw)))
    }

    /// Line of a subprogram.
    pub(crate) fn subprogram_line(self) -> u32 {
        llvm!(LLVMDISubprogramGetLine(self.raw))
    }

    /// DWARF's tag of a node; 0 where this LLVM cannot tell.
    pub(crate) fn tag(self) -> u16 {
        llvm_optional!(LLVMGetDINodeTag(self.raw)).unwrap_or(0)
    }

    /// Bits that a type takes.
    pub(crate) fn type_bits(self) -> u64 {
        llvm!(LLVMDITypeGetSizeInBits(self.raw))
    }

    /// Bits between the start of a record and this member of it.
    pub(crate) fn member_offset_bits(self) -> u64 {
        llvm!(LLVMDITypeGetOffsetInBits(self.raw))
    }

    /// Whether a member belongs to the class rather than to each object.
    pub(crate) fn is_static_member(self) -> bool {
        const STATIC_MEMBER: u32 = 1 << 12;
        llvm!(LLVMDITypeGetFlags(self.raw)) & STATIC_MEMBER != 0
    }

    /// Directory and name of a scope's file.
    pub(crate) fn scope_file(self) -> Option<(String, String)> {
        let file = llvm!(LLVMDIScopeGetFile(self.raw));
        if file.is_null() {
            return None;
        }
        let mut len = 0;
        let start = llvm!(LLVMDIFileGetDirectory(file, &mut len));
        let directory = copy_text(start, len as usize);
        let start = llvm!(LLVMDIFileGetFilename(file, &mut len));
        Some((directory, copy_text(start, len as usize)))
    }

    /// Text of a metadata string seen as a value.
    pub(super) fn string(value: ValueRef) -> Option<String> {
        let mut len = 0;
        let start = llvm!(LLVMGetMDString(value, &mut len));
        (!start.is_null()).then(|| copy_text(start, len as usize))
    }
}
