//! The outcomes of a thread's conditional branches, one after another.
//!
//! The recorder gathers outcomes in a word and writes it when it is full, or when the thread ends. So an outcome stands in
//! the trace after the events that came after the branch, and a `Branches` event tells exactly how many branches had been
//! executed when it was written.

use raddle_trace::event::EventKind;

use crate::follower::Track;

/// All outcomes of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes {
    taken: Vec<bool>,
}

impl Outcomes {
    pub(crate) fn new(track: &Track<'_>) -> Outcomes {
        let mut taken = Vec::new();
        for &at in track.own {
            if let EventKind::Branches(outcomes) = track.events[at as usize].kind {
                taken.extend(outcomes.iter());
            }
        }
        Outcomes { taken }
    }

    /// Whether the n-th branch was taken; none if the trace ends before it tells.
    pub(crate) fn get(&self, branch: u64) -> Option<bool> {
        let index = usize::try_from(branch).ok()?;
        self.taken.get(index).copied()
    }
}
