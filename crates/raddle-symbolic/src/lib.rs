//! What a recorded thread would compute from other values than it read.
//!
//! A thread is followed along its recorded path ([`raddle_path`]). What it reads from memory that others write becomes a
//! *symbol*: it may be any value. What is computed from symbols is a *term* ([`Terms`]), and so is what the thread writes. For
//! the thread to take the path that it took, *conditions* on such terms have to hold ([`Condition`]): branches go the way
//! they went, addresses, callees and arguments of code that is not traced are what they were. This is the dynamic symbolic
//! execution of TAME (Huang and Rauchwerger, ESEC/FSE 2015, section 4) and of RECIPE; branches caused by data, such as the
//! address of an access (TAME, section 3.3; RECIPE's heap invariant), are conditions like others.
//!
//! What is not modelled is *concretised*: the symbols that went into it keep their recorded values, which is a condition,
//! too. So fewer schedules satisfy the conditions than could, and none that could not: these are floating-point numbers,
//! vectors, numbers of more than 64 bits, some intrinsics, inline assembly, terms of very many symbols.

#![forbid(unsafe_code)]

mod concrete;
mod path;
mod terms;
mod translate;

pub use path::{Condition, Decision, Path, Place, follow};
pub use terms::{Binary, Comparison, Expression, TermId, Terms};
