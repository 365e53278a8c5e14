//! The outcomes of a thread's conditional branches, one after another.
//!
//! The recorder gathers outcomes in a word and writes it when it is full, or when the thread ends. So
//! an outcome stands in the trace behind the events that came after the branch, and a `Branches` event
//! tells exactly how many branches had been executed when it was written.

use raddle_trace::event::EventKind;

use crate::recording::{LineId, Recording};

/// All outcomes of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    taken: Vec<bool>,
}

impl Outcomes {
    pub(super) fn new(recording: &Recording<'_>, line: LineId) -> Outcomes {
        let mut taken = Vec::new();
        for &at in recording.lines.events(line) {
            if let EventKind::Branches(outcomes) = recording.event(at as usize).kind {
                taken.extend(outcomes.iter());
            }
        }
        Outcomes { taken }
    }

    /// Whether the n-th branch was taken; `None` if the trace ends before it tells.
    pub(super) fn get(&self, branch: u64) -> Option<bool> {
        let index = usize::try_from(branch).ok()?;
        self.taken.get(index).copied()
    }
}
