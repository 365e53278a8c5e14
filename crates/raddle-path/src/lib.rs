//! Follows the recorded path of a thread on the program model.
//!
//! The thread's recorded events lead the way: the model says which instruction each of them reports, the outcomes of
//! branches say which way the thread went between them. Every value is known as it was in the trace, as far as events
//! and computations tell. What the thread reads may have *changed* since: it reads another value in another schedule, or
//! any value at all. What a change is says the caller's [`Domain`]: another number for a judge of schedules, a term for
//! a symbolic execution. An operation whose operands have not changed gives what it gave; for one whose operands have,
//! the domain is asked.
//!
//! Wherever the path depends on a value that has changed, the domain is told: branches, switches, addresses, callees and
//! arguments of code that is not traced, outcomes of compare-exchanges. It refuses, or takes note of what has to hold for
//! the thread to do what it did.
//!
//! A call that cannot be followed (an exception passed through it, a signal handler, code whose instrumentation the
//! model does not describe) is *lost*: nothing is known of its values, but that they are as they were for as long as no
//! changed value flows into it, which the domain is told of as well.
//!
//! # What is not modelled
//!
//! Vectors, floating-point functions, arithmetic of more than 128 bits and inline assembly. Of these it is known that the
//! same operands give the same result.

#![forbid(unsafe_code)]

mod assembly;
mod calls;
mod compute;
mod datum;
mod domain;
mod flow;
mod follower;
mod frame;
mod layout;
mod operation;
mod outcomes;
mod report;
mod slots;
mod value;

pub use domain::{Branch, Domain, Exchange, Kept, Spot, Stop, Switch};
pub use follower::{Followed, Follower, Ran, Track};
pub use operation::{Intrinsic, Operation, Overflow, Part};
pub use value::Value;
