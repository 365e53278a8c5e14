//! LLVM, opened at run time.
//!
//! rustc ships its own LLVM as a shared library that exports the whole C interface; Raddle uses
//! that one, so that bitcode of this rustc is always readable and nothing has to be installed. One
//! library serves the whole process: [`open`] loads it once.

mod block;
mod buffer;
mod builder;
mod ffi;
mod instruction;
mod library;
mod machine;
mod metadata;
mod module;
mod types;
mod value;

pub(crate) use block::Block;
pub(crate) use builder::Builder;
pub(crate) use instruction::DebugVariable;
pub(crate) use library::open;
pub(crate) use machine::Machine;
pub(crate) use metadata::Metadata;
pub(crate) use module::{Module, NodeOperand};
pub(crate) use types::{Kind, Layout, Ty};
pub(crate) use value::{Value, ValueKind, intrinsic_name};

/// Calls an LLVM function by its C name.
macro_rules! llvm {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        let function = $crate::llvm::library::api().$name;
        // SAFETY: the function has the type that the table in `ffi.rs` declares. Handles come from
        // wrappers whose lifetime keeps their module and context alive; each wrapper method states
        // which kind of value it wants and is called with no other.
        #[allow(clippy::macro_metavars_in_unsafe)]
        unsafe { function($($arg),*) }
    }};
}

/// Calls an LLVM function that some versions lack; `None` then.
macro_rules! llvm_optional {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        $crate::llvm::library::api().$name.map(|function| {
            // SAFETY: as for `llvm!`.
            #[allow(clippy::macro_metavars_in_unsafe)]
            unsafe { function($($arg),*) }
        })
    }};
}

pub(crate) use {llvm, llvm_optional};
