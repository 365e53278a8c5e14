//! A thread acts after its creation; it is joined after its end.

use raddle_trace::action::Action;
use raddle_trace::ids::ThreadId;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::Failed;
use crate::table::Set;

/// Threads created and ended so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    created: Set<ThreadId>,
    ended: Set<ThreadId>,
}

impl Threads {
    /// Whether a thread has ended.
    pub(crate) fn has_ended(&self, thread: ThreadId) -> bool {
        self.ended.contains(&thread)
    }
}

impl Rule for Threads {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let recording = step.recording;
        if let Some(fork) = recording.facts.fork(step.thread)
            && !self.created.contains(&step.thread)
            && !is_imported_begin(step)
        {
            return Err(Objection::NotCreated {
                event: step.name(),
                fork: recording.name(fork),
            });
        }
        match step.action() {
            Some(Action::Join { thread, .. }) if !self.ended.contains(&thread) => {
                Err(Objection::NotEnded {
                    event: step.name(),
                    thread: recording.thread_name(thread),
                })
            }
            Some(Action::Request { .. }) => match recording.facts.failed(step.at) {
                Some(Failed::Join(thread)) if self.ended.contains(&thread) => {
                    Err(Objection::TrySucceeds { event: step.name() })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        match step.action() {
            Some(Action::Fork { child }) => drop(self.created.insert(child)),
            Some(Action::End) => drop(self.ended.insert(step.thread)),
            _ => {}
        }
    }
}

/// Imported traces begin all threads at once, whoever creates them.
fn is_imported_begin(step: &Step<'_, '_>) -> bool {
    matches!(step.action(), Some(Action::Begin { creator: None, .. }))
}
