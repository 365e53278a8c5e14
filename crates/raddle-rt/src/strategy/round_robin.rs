//! Runs a thread until it blocks, then the next one by id.
//!
//! A thread that has had the turn for long while others could run gives way as well: a loop that
//! works until another thread tells it to stop would never end otherwise. Most programs never get there.

use super::{Strategy, View};
use crate::rng::Rng;

/// Slots between two looks at a thread that runs alone, so that a spin is noticed.
const LOOK_EVERY: u64 = 4096;

/// No preemption but that.
pub struct RoundRobin;

impl Strategy for RoundRobin {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        if view.may_go_on() && !view.is_overdue() {
            0
        } else {
            view.next_in_turn()
        }
    }

    fn budget(&mut self, _slice: u64, _rng: &mut Rng) -> u64 {
        LOOK_EVERY
    }
}
