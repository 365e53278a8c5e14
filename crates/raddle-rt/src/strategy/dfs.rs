//! Follows the launcher's choices, then the first alternative, and writes all of them down.
//!
//! The search (backtracking, preemption bound) is the launcher's; here is one run of it. The first
//! alternative goes on with the running thread, so an unguided run has no preemption. A thread that has had the turn for
//! very long gives way all the same, and one that could run for very long gets it: the first may wait for another one
//! in a way that no event shows, and may work for as long as the process lives. Neither is a choice.

use raddle_trace::wire::Choice;

use super::{Strategy, View};
use crate::rng::Rng;

/// See the module's documentation.
pub struct Dfs {
    given: *const u32,
    given_count: usize,
    made: *mut Choice,
    capacity: usize,
    count: usize,
}

impl Dfs {
    /// With the launcher's regions, which stay mapped for the process's life.
    pub fn new(given: *mut [u32], made: *mut [Choice]) -> Self {
        Dfs {
            given: given.cast(),
            given_count: given.len(),
            made: made.cast(),
            capacity: made.len(),
            count: 0,
        }
    }

    /// Number of choices so far.
    pub fn made(&self) -> usize {
        self.count
    }
}

impl Strategy for Dfs {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        let alternatives = view.enabled.len();
        if alternatives == 1 || self.count == self.capacity {
            return 0;
        }
        if view.may_go_on() && view.is_overdue() {
            return view.next_in_turn();
        }
        if let Some(starved) = view.starved() {
            return starved;
        }
        // SAFETY: below the number of choices given.
        let given = (self.count < self.given_count).then(|| unsafe { *self.given.add(self.count) });
        let chosen = (given.unwrap_or(0) as usize).min(alternatives - 1);
        let choice = Choice {
            alternatives: alternatives as u32,
            chosen: chosen as u32,
            free: if view.may_go_on() {
                1
            } else {
                view.awake as u32
            },
            thread: view.enabled[chosen],
        };
        // SAFETY: below the region's capacity.
        unsafe { self.made.add(self.count).write(choice) };
        self.count += 1;
        chosen
    }

    fn budget(&mut self, _slice: u64, _rng: &mut Rng) -> u64 {
        1
    }

    /// Each is a choice.
    fn overtakes(&mut self, _rng: &mut Rng) -> bool {
        true
    }
}
