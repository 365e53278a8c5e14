//! Instructions: what can be asked of a [`Value`] that is one.

use std::ffi::c_uint;

use raddle_model::Opcode;

use super::block::Block;
use super::ffi::MetadataRef;
use super::metadata::Metadata;
use super::types::Ty;
use super::value::{Value, ValueKind};
use super::{llvm, llvm_optional};

impl<'m> Value<'m> {
    pub(crate) fn is_instruction(self) -> bool {
        self.kind() == ValueKind::Instruction
    }

    /// Operation of an instruction; `None` for one that this version of Raddle does not know.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        let code = llvm!(LLVMGetInstructionOpcode(self.raw));
        Opcode::from_u8(u8::try_from(code).ok()?)
    }

    /// Whether a value is an instruction with this operation.
    pub(crate) fn is(self, opcode: Opcode) -> bool {
        self.is_instruction() && self.opcode() == Some(opcode)
    }

    pub(crate) fn next_instruction(self) -> Option<Value<'m>> {
        Value::option(llvm!(LLVMGetNextInstruction(self.raw)))
    }

    pub(crate) fn parent(self) -> Block<'m> {
        Block::new(llvm!(LLVMGetInstructionParent(self.raw)))
    }

    pub(crate) fn detach(self) {
        llvm!(LLVMInstructionRemoveFromParent(self.raw));
    }

    /// Deletes an instruction that nothing uses.
    pub(crate) fn erase(self) {
        llvm!(LLVMInstructionEraseFromParent(self.raw));
    }

    pub(crate) fn predicate(self) -> u8 {
        match self.opcode() {
            Some(Opcode::FCmp) => llvm!(LLVMGetFCmpPredicate(self.raw)) as u8,
            _ => llvm!(LLVMGetICmpPredicate(self.raw)) as u8,
        }
    }

    /// Ordering of a load, store, fence or read-modify-write.
    pub(crate) fn ordering(self) -> u8 {
        llvm!(LLVMGetOrdering(self.raw)) as u8
    }

    /// Orderings of a compare-exchange.
    pub(crate) fn exchange_orderings(self) -> (u8, u8) {
        let success = llvm!(LLVMGetCmpXchgSuccessOrdering(self.raw)) as u8;
        (
            success,
            llvm!(LLVMGetCmpXchgFailureOrdering(self.raw)) as u8,
        )
    }

    /// Operation of a read-modify-write.
    pub(crate) fn rmw_operation(self) -> u8 {
        llvm!(LLVMGetAtomicRMWBinOp(self.raw)) as u8
    }

    pub(crate) fn is_single_thread(self) -> bool {
        llvm!(LLVMIsAtomicSingleThread(self.raw)) != 0
    }

    pub(crate) fn is_volatile(self) -> bool {
        llvm!(LLVMGetVolatile(self.raw)) != 0
    }

    /// Whether an instruction has a node of this kind.
    pub(crate) fn is_tagged(self, kind: u32) -> bool {
        !llvm!(LLVMGetMetadata(self.raw, kind)).is_null()
    }

    pub(crate) fn set_volatile(self, is_volatile: bool) {
        llvm!(LLVMSetVolatile(self.raw, is_volatile.into()));
    }

    pub(crate) fn is_weak(self) -> bool {
        llvm!(LLVMGetWeak(self.raw)) != 0
    }

    /// Alignment of an alloca, load or store, or of an atomic operation.
    pub(crate) fn align(self) -> u32 {
        llvm!(LLVMGetAlignment(self.raw))
    }

    pub(crate) fn allocated_type(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGetAllocatedType(self.raw)))
    }

    /// Type that an address computation (instruction or constant) runs over.
    pub(crate) fn gep_source(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGetGEPSourceElementType(self.raw)))
    }

    pub(crate) fn is_inbounds(self) -> bool {
        llvm!(LLVMIsInBounds(self.raw)) != 0
    }

    /// No unsigned wrap, of an `add`, `sub`, `mul`, `shl`.
    pub(crate) fn nuw(self) -> bool {
        llvm_optional!(LLVMGetNUW(self.raw)).unwrap_or(0) != 0
    }

    /// No signed wrap, of an `add`, `sub`, `mul`, `shl`.
    pub(crate) fn nsw(self) -> bool {
        llvm_optional!(LLVMGetNSW(self.raw)).unwrap_or(0) != 0
    }

    /// Exactness of a division or right shift.
    pub(crate) fn exact(self) -> bool {
        llvm_optional!(LLVMGetExact(self.raw)).unwrap_or(0) != 0
    }

    /// Non-negativity of a `zext`'s operand.
    pub(crate) fn nneg(self) -> bool {
        llvm_optional!(LLVMGetNNeg(self.raw)).unwrap_or(0) != 0
    }

    /// Disjointness of an `or`.
    pub(crate) fn disjoint(self) -> bool {
        llvm_optional!(LLVMGetIsDisjoint(self.raw)).unwrap_or(0) != 0
    }

    /// Successors of a terminator.
    pub(crate) fn successors(self) -> Vec<Block<'m>> {
        let count = llvm!(LLVMGetNumSuccessors(self.raw));
        (0..count)
            .map(|index| Block::new(llvm!(LLVMGetSuccessor(self.raw, index))))
            .collect()
    }

    /// Condition of a branch, if it has one.
    pub(crate) fn branch_condition(self) -> Option<Value<'m>> {
        (llvm!(LLVMIsConditional(self.raw)) != 0)
            .then(|| Value::new(llvm!(LLVMGetCondition(self.raw))))
    }

    pub(crate) fn switch_default(self) -> Block<'m> {
        Block::new(llvm!(LLVMGetSwitchDefaultDest(self.raw)))
    }

    /// Value of a switch's case; successors count from 1.
    pub(crate) fn case_value(self, successor: u32) -> Value<'m> {
        // Newer versions keep case values apart; older ones list value and block as operands.
        let apart = llvm_optional!(LLVMGetSwitchCaseValue(self.raw, successor));
        apart.map_or_else(|| self.operand(successor * 2), Value::new)
    }

    /// Incoming values of a phi.
    pub(crate) fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        let count = llvm!(LLVMCountIncoming(self.raw));
        (0..count)
            .map(|index| {
                let value = Value::new(llvm!(LLVMGetIncomingValue(self.raw, index)));
                let block = Block::new(llvm!(LLVMGetIncomingBlock(self.raw, index)));
                (value, block)
            })
            .collect()
    }

    /// What a call calls.
    pub(crate) fn callee(self) -> Value<'m> {
        Value::new(llvm!(LLVMGetCalledValue(self.raw)))
    }

    /// The function that a call names directly.
    pub(crate) fn direct_callee(self) -> Option<Value<'m>> {
        Some(self.callee()).filter(|callee| callee.kind() == ValueKind::Function)
    }

    pub(crate) fn called_type(self) -> Ty<'m> {
        Ty::new(llvm!(LLVMGetCalledFunctionType(self.raw)))
    }

    pub(crate) fn args(self) -> Vec<Value<'m>> {
        let count = llvm!(LLVMGetNumArgOperands(self.raw));
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// What the argument of a call that is handed over by its address points to, where the call says so.
    pub(crate) fn pointee(self, argument: usize) -> Option<Ty<'m>> {
        let kind = super::value::attribute_kind("elementtype");
        // Attributes of the result have index 0.
        let index = c_uint::try_from(argument).ok()? + 1;
        let attribute = llvm!(LLVMGetCallSiteEnumAttribute(self.raw, index, kind));
        (!attribute.is_null()).then(|| Ty::new(llvm!(LLVMGetTypeAttributeValue(attribute))))
    }

    /// Whether a call must be in tail position.
    pub(crate) fn is_musttail(self) -> bool {
        const MUST: c_uint = 2;
        self.is(Opcode::Call) && llvm_optional!(LLVMGetTailCallKind(self.raw)) == Some(MUST)
    }

    /// Where an invoke goes on, normally and when unwinding.
    pub(crate) fn invoke_targets(self) -> (Block<'m>, Block<'m>) {
        let normal = Block::new(llvm!(LLVMGetNormalDest(self.raw)));
        (normal, Block::new(llvm!(LLVMGetUnwindDest(self.raw))))
    }

    /// Path of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let count = llvm!(LLVMGetNumIndices(self.raw)) as usize;
        let start = llvm!(LLVMGetIndices(self.raw));
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: LLVM returned both, and the array lives as long as the instruction.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    }

    /// Mask of a `shufflevector`.
    pub(crate) fn mask(self) -> Vec<u32> {
        let count = llvm!(LLVMGetNumMaskElements(self.raw));
        (0..count)
            .map(|index| llvm!(LLVMGetMaskValue(self.raw, index)) as u32)
            .collect()
    }

    /// Whether a landing pad is a cleanup.
    pub(crate) fn is_cleanup(self) -> bool {
        llvm!(LLVMIsCleanup(self.raw)) != 0
    }

    pub(crate) fn debug_location(self) -> Option<Metadata<'m>> {
        Metadata::option(llvm!(LLVMInstructionGetDebugLoc(self.raw)))
    }

    /// Debug variables recorded just before an instruction.
    pub(crate) fn debug_variables(self) -> Vec<DebugVariable<'m>> {
        const LABEL: c_uint = 0;
        const DECLARE: c_uint = 1;
        let mut found = Vec::new();
        let mut record = llvm_optional!(LLVMGetFirstDbgRecord(self.raw));
        while let Some(current) = record.filter(|record| !record.is_null()) {
            record = llvm_optional!(LLVMGetNextDbgRecord(current));
            let kind = llvm_optional!(LLVMDbgRecordGetKind(current));
            if kind == Some(LABEL) {
                continue;
            }
            let value = llvm_optional!(LLVMDbgVariableRecordGetValue(current, 0));
            let node = |raw: Option<MetadataRef>| raw.and_then(Metadata::option);
            if let (Some(value), Some(variable), Some(expression), Some(location)) = (
                value.and_then(Value::option),
                node(llvm_optional!(LLVMDbgVariableRecordGetVariable(current))),
                node(llvm_optional!(LLVMDbgVariableRecordGetExpression(current))),
                node(llvm_optional!(LLVMDbgRecordGetDebugLoc(current))),
            ) {
                found.push(DebugVariable {
                    value,
                    variable,
                    expression,
                    location,
                    is_declaration: kind == Some(DECLARE),
                });
            }
        }
        found
    }
}

/// What debug information says of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DebugVariable<'m> {
    pub(crate) value: Value<'m>,
    pub(crate) variable: Metadata<'m>,
    /// How the variable's address, or its content, is computed from the value.
    pub(crate) expression: Metadata<'m>,
    /// In the function that the variable belongs to, with the call through which that was inlined.
    pub(crate) location: Metadata<'m>,
    /// The expression gives the variable's address, not its content.
    pub(crate) is_declaration: bool,
}
