//! The main job: record a run, predict its bugs, and show each on the real program.
#![forbid(unsafe_code)]

mod allotment;
pub mod atomic;
mod attempts;
mod baseline;
pub mod bench;
mod case;
mod cause;
pub mod check;
pub mod clips;
mod coincidence;
pub mod confirm;
pub mod describe;
pub mod divergence;
mod failures;
mod ground;
pub mod guide;
mod last_runs;
mod lock_calls;
pub mod memory;
pub mod minimise;
mod naming;
pub mod observe;
pub mod offline;
mod other_sides;
pub mod own;
mod own_first;
pub mod places;
mod reading;
mod sampler;
pub mod search_races;
pub mod searched;
mod shows;
mod standstill;
mod story;
mod tasks;
mod thinning;
pub mod timeline;
mod tries;
mod unordered;
mod volatile;

#[cfg(test)]
mod testing;
