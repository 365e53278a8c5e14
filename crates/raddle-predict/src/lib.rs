//! Prediction: which bugs other interleavings of a recorded run would show.
//!
//! Everything works on a [`view`]: the events of a trace that can matter to another thread, with
//! their locks, regions, cells and must-order. [`clocks`] answer which of two events comes first.
//! On these stand the analyses, from cheap to dear:
//!
//! | analysis | finds | sound | complete |
//! | --- | --- | --- | --- |
//! | [`hb`] | races that happens-before leaves open | the first one | no |
//! | [`races`] | data races of the run itself, by the language's rule | yes | no |
//! | [`sync_preserving`] | races, each with a witness | yes | for reorderings that keep critical sections in order |
//! | [`maximal`] | whether given events can be next together | yes | but for a few listed there |
//! | [`hybrid`] | candidates for races | no | yes, with the certain edges and without cut cells |
//! | [`deadlock`] | candidates for deadlocks | no | of locks |
#![forbid(unsafe_code)]

mod abridge;
mod case;
mod findings;
mod forest;
mod guess;
mod instances;
mod locksets;
mod manners;
mod order;
mod provers;
mod proving;
mod suspects;
mod table;

pub mod branches;
pub mod candidate;
pub mod clocks;
pub mod deadlock;
pub mod goal;
pub mod hb;
pub mod hybrid;
pub mod maximal;
pub mod memory;
pub mod patterns;
pub mod predictor;
pub mod races;
pub mod reads_from;
pub mod sync_preserving;
pub mod view;

pub use findings::Pair;
pub use order::Order;
