//! Runs a thread until it blocks, then the next one by id.

use super::{Strategy, View};
use crate::rng::Rng;

/// Slots between two looks at a thread that runs alone, so that a spin is noticed.
const LOOK_EVERY: u64 = 4096;

/// No preemption at all.
pub struct RoundRobin;

impl RoundRobin {
    /// The cyclic successor of the running thread among the enabled ones.
    pub fn next_after(view: &View<'_>) -> usize {
        let after = |id: u32| (id.wrapping_sub(view.current).wrapping_sub(1), id);
        (0..view.enabled.len())
            .min_by_key(|&i| after(view.enabled[i]))
            .unwrap_or(0)
    }
}

impl Strategy for RoundRobin {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        if view.may_go_on() {
            0
        } else {
            Self::next_after(view)
        }
    }

    fn budget(&mut self, _rng: &mut Rng) -> u64 {
        LOOK_EVERY
    }
}
