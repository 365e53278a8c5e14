//! Races by the language's own rule: which accesses of a recorded run are data races in C11, C++20 and Rust.
//!
//! Two conflicting accesses, not both atomic, that happens-before leaves unordered *are* a data race, in the very
//! run that executed them: no simultaneous moment is needed as proof. A run under Raddle is sequentially
//! consistent, and so one of the executions that the language allows.
//!
//! # Which races are certain
//!
//! What a thread does after it has read a value in a race may follow from that race. So an order is added
//! to happens-before: from a write to each read that takes its value, if one of the two is not atomic and
//! nothing else orders them (schedulable happens-before: Mathur, Kini and Viswanathan, "What Happens-After the
//! First Race?", OOPSLA 2018). Two accesses that even this leaves unordered are a race whatever comes of the races
//! before: the events that lead to them, in the order of the trace, are an execution of the program by
//! themselves.
//!
//! # What orders events
//!
//! Program order; creating and joining threads; [`objects`] of synchronisation; [`atomics`] and fences. An inlined
//! lock is what it consists of, atomic operations. Freeing memory orders what its next user does, so accesses
//! to a heap block, or a thread's stack, are held against those of the same life only. To free a block is to write all
//! of it: an earlier access that the freeing thread does not know of may come after.
//!
//! # Where synchronisation may hide
//!
//! One false alarm costs more than many misses. Whenever order may come from what no event shows, it is taken to
//! be there:
//!
//! - Code that is not traced, and calls that may block: what a thread did before it was there is known to every
//!   thread that has been there since ([`frames`], [`code`]).
//! - An atomic operation that finds another value than the trace has left there: something else wrote it, and
//!   everything before is taken to be known. The first access to an atomic may find what unknown code wrote.
//! - A thread that nothing in the trace created knows of everything before.
//!
//! What is missed therefore: races of threads that both were in unknown code in between.
//!
//! # Cost
//!
//! One pass, in the order of the trace, and so near to linear: an event costs a look into a table, a
//! synchronisation a step a thread. Memory grows with the words that the program touches.

mod atomics;
mod clock;
mod code;
mod detector;
mod frames;
mod harmless;
mod objects;
mod shadow;

use raddle_trace::event::Event;
use raddle_trace::ids::{Address, EventIndex, SiteId};

pub use code::Code;
pub use detector::Detector;

/// Two accesses of a run that are a data race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The earlier one.
    pub a: EventIndex,
    /// The later one.
    pub b: EventIndex,
    /// The two instructions, in an order that does not depend on which access came first.
    pub instructions: [Instruction; 2],
    /// How many pairs of accesses of the same two instructions were seen; these are the first.
    pub instances: u64,
}

/// What makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instruction {
    /// An instrumented instruction.
    Site(SiteId),
    /// A call into the runtime, by its return address.
    Call(Address),
}

/// The certain races of a run, one for each pair of instructions, by the later access.
///
/// `code` has to have learnt the run's sites.
#[must_use]
pub fn certain(events: &[Event], code: &Code<'_>) -> Vec<Race> {
    let mut detector = Detector::new(code);
    for event in events {
        detector.observe(event);
    }
    detector.finish()
}
