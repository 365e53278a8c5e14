//! Values of a module.

use std::ffi::c_uint;
use std::marker::PhantomData;

use raddle_model::Opcode;

use super::block::Block;
use super::ffi::ValueRef;
use super::library::{copy_c_text, copy_text, take_message};
use super::metadata::Metadata;
use super::types::Ty;
use super::{llvm, llvm_optional};

/// A value of a module: function, global, argument, instruction, constant or block.
///
/// Methods that only make sense for one kind of value say so; calling them on another is a mistake
/// of this crate, never of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m> {
    pub(super) raw: ValueRef,
    _module: PhantomData<&'m ()>,
}

/// `LLVMValueKind`, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Argument,
    Block,
    Function,
    Alias,
    IFunc,
    Global,
    ConstantExpr,
    ConstantAggregate,
    ConstantData,
    Zero,
    Undef,
    Poison,
    Null,
    Int,
    Float,
    Metadata,
    Assembly,
    Instruction,
    Other,
}

/// Index of a function's own attributes, as opposed to its result's or parameters'.
const FUNCTION_ATTRIBUTES: c_uint = c_uint::MAX;

impl<'m> Value<'m> {
    pub(super) fn new(raw: ValueRef) -> Value<'m> {
        debug_assert!(!raw.is_null());
        Value {
            raw,
            _module: PhantomData,
        }
    }

    pub(super) fn option(raw: ValueRef) -> Option<Value<'m>> {
        (!raw.is_null()).then(|| Value::new(raw))
    }

    pub(crate) fn kind(self) -> ValueKind {
        match llvm!(LLVMGetValueKind(self.raw)) {
            0 => ValueKind::Argument,
            1 => ValueKind::Block,
            5 => ValueKind::Function,
            6 => ValueKind::Alias,
            7 => ValueKind::IFunc,
            8 => ValueKind::Global,
            10 => ValueKind::ConstantExpr,
            11..=13 => ValueKind::ConstantAggregate,
            14 => ValueKind::Undef,
            15 => ValueKind::Zero,
            16 | 17 => ValueKind::ConstantData,
            18 => ValueKind::Int,
            19 => ValueKind::Float,
            20 => ValueKind::Null,
            22 => ValueKind::Metadata,
            23 => ValueKind::Assembly,
            24 => ValueKind::Instruction,
            25 => ValueKind::Poison,
            _ => ValueKind::Other,
        }
    }

    /// Whether a value is a function or global variable.
    pub(crate) fn is_global(self) -> bool {
        matches!(self.kind(), ValueKind::Function | ValueKind::Global)
    }

    pub(crate) fn ty(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMTypeOf(self.raw)))
    }

    pub(crate) fn name(self) -> String {
        let mut len = 0;
        let start = llvm!(LLVMGetValueName2(self.raw, &mut len));
        copy_text(start, len)
    }

    /// The value in LLVM's notation.
    pub(crate) fn print(self) -> String {
        take_message(llvm!(LLVMPrintValueToString(self.raw)))
    }

    /// The users, one entry a use.
    pub(crate) fn users(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = llvm!(LLVMGetFirstUse(self.raw));
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let user = Value::new(llvm!(LLVMGetUser(next)));
            next = llvm!(LLVMGetNextUse(next));
            Some(user)
        })
    }

    pub(crate) fn operand_count(self) -> u32 {
        llvm!(LLVMGetNumOperands(self.raw)).max(0) as u32
    }

    pub(crate) fn operand(self, index: u32) -> Value<'m> {
        Value::new(llvm!(LLVMGetOperand(self.raw, index)))
    }

    /// As [`Value::operand`], where there may be none.
    pub(crate) fn operand_or_none(self, index: u32) -> Option<Value<'m>> {
        Value::option(llvm!(LLVMGetOperand(self.raw, index)))
    }

    pub(crate) fn set_operand(self, index: u32, value: Value<'m>) {
        llvm!(LLVMSetOperand(self.raw, index, value.raw));
    }

    pub(crate) fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// Operation of a constant expression.
    pub(crate) fn expression_opcode(self) -> Option<Opcode> {
        let code = llvm!(LLVMGetConstOpcode(self.raw));
        Opcode::from_u8(u8::try_from(code).ok()?)
    }

    // Functions and globals.

    pub(crate) fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.raw)) != 0
    }

    pub(crate) fn linkage(self) -> u32 {
        llvm!(LLVMGetLinkage(self.raw))
    }

    pub(crate) fn set_internal(self) {
        const INTERNAL: c_uint = 8;
        llvm!(LLVMSetLinkage(self.raw, INTERNAL));
    }

    /// Makes a function save nearly all registers that it uses.
    pub(crate) fn set_preserve_most(self) {
        const PRESERVE_MOST: c_uint = 14;
        llvm!(LLVMSetFunctionCallConv(self.raw, PRESERVE_MOST));
    }

    pub(crate) fn section(self) -> String {
        copy_c_text(llvm!(LLVMGetSection(self.raw)))
    }

    pub(crate) fn set_section(self, name: &str) {
        let name = super::module::c_string(name);
        llvm!(LLVMSetSection(self.raw, name.as_ptr()));
    }

    /// Type of a function or of a global's content.
    pub(crate) fn value_type(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGlobalGetValueType(self.raw)))
    }

    pub(crate) fn is_constant_global(self) -> bool {
        llvm!(LLVMIsGlobalConstant(self.raw)) != 0
    }

    pub(crate) fn is_thread_local(self) -> bool {
        llvm!(LLVMIsThreadLocal(self.raw)) != 0
    }

    /// Whether a thread-local variable may lie in a library that is loaded while the program runs, as
    /// far as the variable itself says.
    pub(crate) fn is_dynamic_thread_local(self) -> bool {
        const GENERAL_DYNAMIC: c_uint = 1;
        const LOCAL_DYNAMIC: c_uint = 2;
        let mode = llvm!(LLVMGetThreadLocalMode(self.raw));
        mode == GENERAL_DYNAMIC || mode == LOCAL_DYNAMIC
    }

    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        Value::option(llvm!(LLVMGetInitializer(self.raw)))
    }

    /// Makes a global constant, with content and alignment.
    pub(crate) fn define_constant(self, content: Value<'m>, align: u32) {
        llvm!(LLVMSetInitializer(self.raw, content.raw));
        llvm!(LLVMSetGlobalConstant(self.raw, 1));
        llvm!(LLVMSetAlignment(self.raw, align));
    }

    pub(crate) fn params(self) -> impl Iterator<Item = Value<'m>> {
        let count = llvm!(LLVMCountParams(self.raw));
        (0..count).map(move |index| Value::new(llvm!(LLVMGetParam(self.raw, index))))
    }

    /// Number of an intrinsic function; 0 for any other.
    pub(crate) fn intrinsic(self) -> u32 {
        llvm!(LLVMGetIntrinsicID(self.raw))
    }

    pub(crate) fn subprogram(self) -> Option<Metadata<'m>> {
        Metadata::option(llvm!(LLVMGetSubprogram(self.raw)))
    }

    pub(crate) fn has_attribute(self, name: &str) -> bool {
        let kind = attribute_kind(name);
        kind != 0
            && !llvm!(LLVMGetEnumAttributeAtIndex(
                self.raw,
                FUNCTION_ATTRIBUTES,
                kind
            ))
            .is_null()
    }

    /// The value of a function's attribute that is text.
    pub(crate) fn text_attribute(self, name: &str) -> Option<String> {
        let found = llvm!(LLVMGetStringAttributeAtIndex(
            self.raw,
            FUNCTION_ATTRIBUTES,
            name.as_ptr().cast(),
            name.len() as c_uint
        ));
        if found.is_null() {
            return None;
        }
        let mut len = 0;
        let start = llvm!(LLVMGetStringAttributeValue(found, &mut len));
        Some(copy_text(start, len as usize))
    }

    /// Whether a function promises not to keep the address that it gets as an argument.
    pub(crate) fn only_borrows(self, argument: u32) -> bool {
        const NOTHING: u64 = 0;
        let attribute = |name| {
            let kind = attribute_kind(name);
            let found = (kind != 0)
                .then(|| llvm!(LLVMGetEnumAttributeAtIndex(self.raw, argument + 1, kind)));
            found.filter(|it| !it.is_null())
        };
        let captures = attribute("captures").map(|it| llvm!(LLVMGetEnumAttributeValue(it)));
        captures == Some(NOTHING) || attribute("nocapture").is_some()
    }

    pub(crate) fn remove_attribute(self, name: &str) {
        let kind = attribute_kind(name);
        if kind != 0 {
            llvm!(LLVMRemoveEnumAttributeAtIndex(
                self.raw,
                FUNCTION_ATTRIBUTES,
                kind
            ));
        }
    }

    pub(super) fn add_attribute(self, attribute: super::ffi::AttributeRef) {
        llvm!(LLVMAddAttributeAtIndex(
            self.raw,
            FUNCTION_ATTRIBUTES,
            attribute
        ));
    }

    /// Blocks of a function.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let mut next = llvm!(LLVMGetFirstBasicBlock(self.raw));
        std::iter::from_fn(move || {
            let block = Block::option(next)?;
            next = llvm!(LLVMGetNextBasicBlock(next));
            Some(block)
        })
    }

    /// A global's debug variable, if it has one.
    pub(crate) fn metadata(self, kind: u32) -> Option<Metadata<'m>> {
        let mut count = 0usize;
        let entries = llvm!(LLVMGlobalCopyAllMetadata(self.raw, &mut count));
        if entries.is_null() {
            return None;
        }
        let found = (0..count as c_uint)
            .find(|&index| llvm!(LLVMValueMetadataEntriesGetKind(entries, index)) == kind)
            .map(|index| llvm!(LLVMValueMetadataEntriesGetMetadata(entries, index)));
        llvm!(LLVMDisposeValueMetadataEntries(entries));
        found.and_then(Metadata::option)
    }

    // Constants.

    /// An integer constant's low 64 bits, if it is one.
    pub(crate) fn as_int(self) -> Option<u64> {
        let is_int = self.kind() == ValueKind::Int && self.ty().int_width() <= 64;
        is_int.then(|| llvm!(LLVMConstIntGetZExtValue(self.raw)))
    }

    /// An element of a constant array, struct or vector.
    pub(crate) fn aggregate_element(self, index: u32) -> Option<Value<'m>> {
        Value::option(llvm!(LLVMGetAggregateElement(self.raw, index)))
    }

    /// Bytes of an array or vector of numbers, where this LLVM can tell.
    pub(crate) fn raw_data(self) -> Option<Vec<u8>> {
        let mut len = 0;
        let start = llvm_optional!(LLVMGetRawDataValues(self.raw, &mut len))?;
        if start.is_null() {
            return None;
        }
        // SAFETY: LLVM returned both, and the bytes live as long as the constant.
        Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec())
    }

    /// A floating-point constant, exact for up to 64 bits.
    pub(crate) fn as_double(self) -> f64 {
        let mut lossy = 0;
        llvm!(LLVMConstRealGetDouble(self.raw, &mut lossy))
    }

    /// Text of inline assembly.
    pub(crate) fn assembly(self) -> String {
        let mut len = 0;
        let start = llvm!(LLVMGetInlineAsmAsmString(self.raw, &mut len));
        copy_text(start, len)
    }

    /// Constraints of inline assembly.
    pub(crate) fn constraints(self) -> String {
        let mut len = 0;
        let start = llvm!(LLVMGetInlineAsmConstraintString(self.raw, &mut len));
        copy_text(start, len)
    }

    /// Whether inline assembly is in Intel's dialect.
    pub(crate) fn is_intel(self) -> bool {
        const INTEL: c_uint = 1;
        llvm!(LLVMGetInlineAsmDialect(self.raw)) == INTEL
    }
}

pub(super) fn attribute_kind(name: &str) -> c_uint {
    llvm!(LLVMGetEnumAttributeKindForName(
        name.as_ptr().cast(),
        name.len()
    ))
}

/// Name of an intrinsic without type suffixes: `llvm.memcpy`.
pub(crate) fn intrinsic_name(id: u32) -> String {
    let mut len = 0;
    let start = llvm!(LLVMIntrinsicGetName(id, &mut len));
    copy_text(start, len)
}
