//! Access anomalies as patterns.
//!
//! PECAN (Huang, Zhang, ISSTA 2011) describes anomalies as sequences of accesses ([`Pattern`]), searches
//! the recorded run and what the hybrid condition allows of its reorderings for them ([`search`]), and
//! generates a schedule for each ([`schedule`]), to be tried on the program. Where it differs:
//!
//! - what is atomic is a matter of its own ([`Units`]): lock regions, marked calls, and calls that take
//!   locks one after the other, which are only suspected to be;
//! - on two variables all sequences are searched for that no serial order explains, of which the eleven
//!   that the paper names are a part ([`builtin`]);
//! - a schedule has to respect locks and must-order, or there is none, and what a prover finds is cut down
//!   to what the anomaly needs ([`tighten`]).

pub mod builtin;

mod alike;
mod classes;
mod contents;
mod execution;
mod exposure;
mod following;
mod found;
mod index;
mod join;
mod language;
mod matches;
mod plan;
mod rehearsal;
mod schedule;
mod search;
mod spots;
mod stretches;
mod tighten;
mod tuples;
mod units;

pub use language::{
    Access, MAX_STEPS, Pattern, PatternError, PatternFault, PatternKind, Shape, Step,
};
pub use matches::{Cut, Instance, Match, Matches};
pub use schedule::{Scheduler, schedule};
pub use search::{Limits, search};
pub use tighten::tighten;
pub use units::{Basis, Stretch, Unit, Units};
