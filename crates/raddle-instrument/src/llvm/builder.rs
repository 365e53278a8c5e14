//! Making new instructions.

use std::ffi::c_uint;

use raddle_model::Opcode;

use super::ffi::{BuilderRef, MetadataRef, ValueRef};
use super::llvm;
use super::metadata::Metadata;
use super::module::Module;
use super::types::Ty;
use super::value::Value;

/// Puts instructions before a chosen one.
pub(crate) struct Builder<'m> {
    raw: BuilderRef,
    module: &'m Module,
}

/// LLVM copies names; new instructions get none.
const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl<'m> Builder<'m> {
    pub(crate) fn new(module: &'m Module) -> Builder<'m> {
        Builder {
            raw: llvm!(LLVMCreateBuilderInContext(module.context())),
            module,
        }
    }

    pub(crate) fn module(&self) -> &'m Module {
        self.module
    }

    /// Goes before an instruction, and gives what is built the debug location.
    pub(crate) fn position(&self, before: Value<'m>, location: Option<Metadata<'m>>) {
        llvm!(LLVMPositionBuilderBefore(self.raw, before.raw));
        let location = location.map_or(MetadataRef::NULL, |location| location.raw);
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, location));
    }

    /// Puts a detached instruction here.
    pub(crate) fn insert(&self, instruction: Value<'m>) {
        llvm!(LLVMInsertIntoBuilder(self.raw, instruction.raw));
    }

    /// A stack slot of a type.
    pub(crate) fn slot(&self, ty: Ty<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMBuildAlloca(self.raw, ty.raw, NO_NAME)))
    }

    pub(crate) fn call(&self, function: Value<'m>, args: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<ValueRef> = args.iter().map(|arg| arg.raw).collect();
        let ty = function.value_type();
        let call = llvm!(LLVMBuildCall2(
            self.raw,
            ty.raw,
            function.raw,
            raw.as_mut_ptr(),
            raw.len() as c_uint,
            NO_NAME
        ));
        let convention = llvm!(LLVMGetFunctionCallConv(function.raw));
        llvm!(LLVMSetInstructionCallConv(call, convention));
        Value::new(call)
    }

    /// `pointer` plus a constant number of bytes.
    pub(crate) fn offset(&self, pointer: Value<'m>, bytes: u64) -> Value<'m> {
        if bytes == 0 {
            return pointer;
        }
        let index = self.module.const_int(self.module.int_type(64), bytes);
        let mut index = [index.raw];
        Value::new(llvm!(LLVMBuildGEP2(
            self.raw,
            self.module.int_type(8).raw,
            pointer.raw,
            index.as_mut_ptr(),
            1,
            NO_NAME
        )))
    }

    /// An address computed from another one by indices into a type.
    pub(crate) fn element(&self, ty: Ty<'m>, base: Value<'m>, indices: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<ValueRef> = indices.iter().map(|index| index.raw).collect();
        Value::new(llvm!(LLVMBuildGEP2(
            self.raw,
            ty.raw,
            base.raw,
            raw.as_mut_ptr(),
            raw.len() as c_uint,
            NO_NAME
        )))
    }

    /// What memory holds now, at an address that need not be aligned.
    pub(crate) fn peek(&self, ty: Ty<'m>, address: Value<'m>) -> Value<'m> {
        let load = llvm!(LLVMBuildLoad2(self.raw, ty.raw, address.raw, NO_NAME));
        llvm!(LLVMSetAlignment(load, 1));
        llvm!(LLVMSetVolatile(load, 1));
        Value::new(load)
    }

    pub(crate) fn binary(&self, opcode: Opcode, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMBuildBinOp(
            self.raw,
            opcode as c_uint,
            left.raw,
            right.raw,
            NO_NAME
        )))
    }

    pub(crate) fn cast(&self, opcode: Opcode, value: Value<'m>, ty: Ty<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMBuildCast(
            self.raw,
            opcode as c_uint,
            value.raw,
            ty.raw,
            NO_NAME
        )))
    }

    /// An integer comparison, with LLVM's predicate number.
    pub(crate) fn compare(&self, predicate: u32, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMBuildICmp(
            self.raw, predicate, left.raw, right.raw, NO_NAME
        )))
    }

    pub(crate) fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMBuildSelect(
            self.raw,
            condition.raw,
            yes.raw,
            no.raw,
            NO_NAME
        )))
    }

    pub(crate) fn extract_value(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        Value::new(llvm!(LLVMBuildExtractValue(
            self.raw,
            aggregate.raw,
            index,
            NO_NAME
        )))
    }

    pub(crate) fn extract_element(&self, vector: Value<'m>, index: u32) -> Value<'m> {
        let index = self
            .module
            .const_int(self.module.int_type(32), u64::from(index));
        Value::new(llvm!(LLVMBuildExtractElement(
            self.raw, vector.raw, index.raw, NO_NAME
        )))
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.raw));
    }
}
