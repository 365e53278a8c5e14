//! Runs a thread until it blocks, then the next one by id.
//!
//! A thread that has run for [`QUANTUM`] slots while others could gives way as well: a loop that
//! works until another thread tells it to stop would never end otherwise.

use super::{Strategy, View};
use crate::rng::Rng;
use crate::thread::{NOBODY, Tid};

/// Slots between two looks at a thread that runs alone, so that a spin is noticed.
const LOOK_EVERY: u64 = 4096;
/// Slots after which a thread gives way. Most programs never get there.
const QUANTUM: u64 = 1 << 20;

/// No preemption but that.
pub struct RoundRobin {
    /// The thread that has the turn, and the progress at which it got it.
    turn: (Tid, u64),
}

impl RoundRobin {
    /// Before the first choice.
    pub const fn new() -> Self {
        RoundRobin { turn: (NOBODY, 0) }
    }

    /// The cyclic successor of the running thread among the enabled ones.
    fn next_after(view: &View<'_>) -> usize {
        let after = |id: u32| (id.wrapping_sub(view.current).wrapping_sub(1), id);
        (0..view.enabled.len())
            .min_by_key(|&i| after(view.enabled[i]))
            .unwrap_or(0)
    }
}

impl Strategy for RoundRobin {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        let (thread, since) = self.turn;
        let is_over = thread == view.current && view.progress.saturating_sub(since) >= QUANTUM;
        if view.may_go_on() && !is_over {
            if thread != view.current {
                self.turn = (view.current, view.progress);
            }
            return 0;
        }
        let next = Self::next_after(view);
        self.turn = (view.enabled[next], view.progress);
        next
    }

    fn budget(&mut self, _rng: &mut Rng) -> u64 {
        LOOK_EVERY
    }
}
