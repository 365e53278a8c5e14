//! Prediction: which bugs other interleavings of a recorded run would show.
//!
//! Everything works on a [`view`]: the events of a trace that can matter to another thread, with
//! their locks, regions, cells and must-order.
#![forbid(unsafe_code)]

mod findings;
mod locksets;
mod table;

pub mod clocks;
pub mod deadlock;
pub mod hb;
pub mod hybrid;
pub mod maximal;
pub mod reads_from;
pub mod sync_preserving;
pub mod view;

pub use findings::Pair;
