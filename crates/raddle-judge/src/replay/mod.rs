//! Executes a thread again, on the program model, with other values than it read in the trace.
//!
//! The thread's recorded events lead the way: the model says which instruction each of them reports,
//! the outcomes of branches say which way it went between them. What the thread reads now may differ
//! from what it read then; every value is kept as both (see [`value`]). The thread still does what it
//! did as long as every branch, switch, address, callee and argument of untraced code is the same;
//! what it writes is computed from what it reads.
//!
//! A call that cannot be followed (an exception passed through it, a signal handler, code whose
//! instrumentation the model does not describe) is *lost*: nothing is known of its values, but that
//! they are as they were as long as nothing flows into it that is not. Only then is the thread
//! refused.

mod assembly;
mod compute;
mod executor;
mod flow;
mod frame;
mod layout;
mod lead;
mod outcomes;
mod private;
mod report;
mod value;

pub use executor::Rehearsal;
pub(crate) use executor::Replayer;
pub(crate) use lead::Lead;
