//! Basic blocks.

use std::marker::PhantomData;

use super::ffi::BlockRef;
use super::llvm;
use super::value::Value;

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block<'m> {
    raw: BlockRef,
    _module: PhantomData<&'m ()>,
}

impl<'m> Block<'m> {
    pub(super) fn new(raw: BlockRef) -> Block<'m> {
        debug_assert!(!raw.is_null());
        Block {
            raw,
            _module: PhantomData,
        }
    }

    pub(super) fn option(raw: BlockRef) -> Option<Block<'m>> {
        (!raw.is_null()).then(|| Block::new(raw))
    }

    pub(crate) fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = Value::option(llvm!(LLVMGetFirstInstruction(self.raw)));
        std::iter::from_fn(move || {
            let current = next?;
            next = current.next_instruction();
            Some(current)
        })
    }

    /// The block behind an operand of kind [`super::ValueKind::Block`].
    pub(crate) fn from_value(value: Value<'m>) -> Block<'m> {
        Block::new(llvm!(LLVMValueAsBasicBlock(value.raw)))
    }
}
