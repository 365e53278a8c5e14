//! Target machines.

use std::ffi::{c_char, c_uint};
use std::marker::PhantomData;

use super::ffi::{MachineRef, TargetRef};
use super::library::take_message;
use super::llvm;
use super::module::{Module, c_string};
use crate::error::Error;
use crate::settings::OptLevel;

/// A code generator for a module's target.
pub(crate) struct Machine<'m> {
    pub(super) raw: MachineRef,
    _module: PhantomData<&'m Module>,
}

impl<'m> Machine<'m> {
    pub(crate) fn new(module: &'m Module, opt: OptLevel) -> Result<Machine<'m>, Error> {
        const PIC: c_uint = 2;
        const DEFAULT_CODE_MODEL: c_uint = 0;
        let triple = c_string(&module.triple());
        let mut target = TargetRef::NULL;
        let mut message: *mut c_char = std::ptr::null_mut();
        if llvm!(LLVMGetTargetFromTriple(
            triple.as_ptr(),
            &mut target,
            &mut message
        )) != 0
        {
            return Err(module.error("choosing a target for", take_message(message)));
        }
        let empty = c"";
        let raw = llvm!(LLVMCreateTargetMachine(
            target,
            triple.as_ptr(),
            empty.as_ptr(),
            empty.as_ptr(),
            c_uint::from(opt.digit()),
            PIC,
            DEFAULT_CODE_MODEL
        ));
        if raw.is_null() {
            return Err(module.error(
                "choosing a target for",
                triple.to_string_lossy().into_owned(),
            ));
        }
        Ok(Machine {
            raw,
            _module: PhantomData,
        })
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeTargetMachine(self.raw));
    }
}
