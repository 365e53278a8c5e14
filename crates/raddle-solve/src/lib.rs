//! Can these events be ordered so that these constraints hold?
//!
//! A [`Solver`] is given events (in the order of a run that is known to be nearly right), chains of
//! events whose order is fixed, and constraints: Boolean combinations of order atoms, intervals that
//! exclude each other, reads that must take their value from certain writes, events that must be
//! adjacent, and bit-vector conditions on the values read. It answers with an order, or with the
//! assumptions that clash, or, when its budget ends, that it does not know.
//!
//! It knows nothing of threads, locks or bugs.

#![forbid(unsafe_code)]

mod answer;
mod bits;
mod budget;
mod gates;
mod hash;
mod joint;
mod lit;
mod order;
mod sat;
mod solver;

pub use answer::{Answer, Model};
pub use bits::Term;
pub use budget::{Budget, Exhausted};
pub use lit::Lit;
pub use order::{Chain, Event, Hold, Location, Mode, Read, Resource, Source, Sources, When, Write};
pub use sat::Statistics;
pub use solver::Solver;
