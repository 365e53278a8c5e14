//! The independent judge of witnesses.
//!
//! A predictor proposes a reordering of a prefix of a recorded run, with the bug that it is said to
//! show: a [`Witness`]. The judge says, from first principles, that the reordering is feasible and
//! shows the bug (a [`Verdict`]), or the first thing that is wrong with it (an [`Objection`], whose
//! text is a sentence). It shares types with the analyses through `raddle-trace` and `raddle-model`
//! and imports none of them.
//!
//! A trace is prepared once ([`Recording`]) for any number of witnesses; judging one takes time in
//! proportion to the bytes that its events touch.
//!
//! # What feasible means
//!
//! The program, started in the same surroundings, could execute the events of the witness in its
//! order. That is so if each thread does what it did in the trace, for the same reasons:
//!
//! - its events are the first ones of its trace, in program order;
//! - synchronisation allows each of them when it comes: see the files of `rules`;
//! - memory is there when it is accessed;
//! - every read is justified ([`ReadRule`]), so that the thread goes on as it did. The last event of
//!   a thread need not be justified if it is a plain or atomic load: nothing that the witness
//!   executes depends on it. Nor need a read-modify-write there; what it writes is then unknown, and
//!   justifies no other read. Both must be if the claim is about the thread's next event, which may
//!   depend on them. A compare-exchange has the outcome that it had.
//!
//! # What is taken for granted
//!
//! - Memory is sequentially consistent.
//! - Untraced code gives the same results when it is called again by the same thread, with the same
//!   arguments; it touches shared memory only as the events show. Where the trace itself shows that
//!   it wrote, the threads that may have done so keep their place.
//! - Time is no obstacle: a wait that timed out may do so whenever it comes to it, and clocks show
//!   again what they showed.
//! - Which address an allocation gets does not matter, but one address is not given out twice.
//!
//! # What it does not see
//!
//! An atomic operation of more than eight bytes is several events, which a witness may tear apart.
//! Whether the acquisition of an inlined lock was a try, which cannot deadlock, the trace does not
//! say. Whom a barrier's round unites is kept as it was; so some feasible witnesses are refused.

#![forbid(unsafe_code)]

mod claims;
mod judge;
mod memory;
mod objection;
mod order;
mod reads;
mod recording;
mod reexecution;
mod rules;
mod simulation;
mod sitting;
mod table;
pub mod text;
mod witness;

pub use judge::{Judge, Verdict};
pub use objection::Objection;
pub use raddle_path::Followed;
pub use recording::{BadTrace, EventName, Recording};
pub use sitting::Sitting;
pub use witness::{Claim, Listing, ReadRule, Region, Witness};
