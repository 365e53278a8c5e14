//! Runs a thread until it blocks, then the next one by id.
//!
//! A thread that has had the turn for long while others could run gives way as well: a loop that
//! works until another thread tells it to stop would never end otherwise. Most programs never get there.
//!
//! A thread that ends the process goes on, too, but threads that have never run start first: else the run
//! would show nothing of them, though on most machines they start while the process ends.

use super::{Strategy, View};
use crate::rng::Rng;

/// Slots between two looks at a thread that runs alone, so that a spin is noticed.
const LOOK_EVERY: u64 = 4096;

/// No preemption but that.
pub struct RoundRobin;

impl RoundRobin {
    /// A thread that has never run, if the process is about to end.
    fn forgotten(view: &View<'_>) -> Option<usize> {
        let is_new = |&i: &usize| view.threads.get(view.enabled[i]).is_new();
        let ends = view.threads.get(view.current).ends_process;
        (0..view.awake).find(is_new).filter(|_| ends)
    }
}

impl Strategy for RoundRobin {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        if let Some(forgotten) = Self::forgotten(view) {
            forgotten
        } else if view.may_go_on() && !view.is_overdue() {
            0
        } else {
            view.next_in_turn()
        }
    }

    fn budget(&mut self, _slice: u64, _rng: &mut Rng) -> u64 {
        LOOK_EVERY
    }

    fn overtakes(&mut self, _rng: &mut Rng) -> bool {
        false
    }
}
