//! Initialisers that run once: one at a time, until one succeeds; who passes finds it done.

use raddle_trace::action::Action;
use raddle_trace::ids::ThreadId;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::ObjectId;
use crate::table::Table;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Fresh,
    Running(ThreadId),
    Done,
}

/// The initialisers.
#[derive(Clone, Debug, Default)]
pub(super) struct Onces {
    stages: Table<ObjectId, Stage>,
}

impl Rule for Onces {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return Ok(());
        };
        let stage = self.stages.get(&object).copied().unwrap_or_default();
        let event = || step.name();
        match (action, stage) {
            (Action::OnceStart { .. }, Stage::Running(by)) => Err(Objection::OnceRuns {
                event: event(),
                thread: step.recording.thread_name(by),
            }),
            (Action::OnceStart { .. }, Stage::Done) => {
                Err(Objection::OnceDoneAlready { event: event() })
            }
            (Action::OncePass { .. }, Stage::Fresh | Stage::Running(_)) => {
                Err(Objection::OnceNotDone { event: event() })
            }
            (Action::OnceDone { .. }, stage) if stage != Stage::Running(step.thread) => {
                Err(Objection::OnceNotDone { event: event() })
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return;
        };
        let stage = match action {
            Action::OnceStart { .. } => Stage::Running(step.thread),
            Action::OnceDone {
                succeeded: false, ..
            } => Stage::Fresh,
            Action::OnceDone { .. } | Action::OncePass { .. } => Stage::Done,
            _ => return,
        };
        self.stages.insert(object, stage);
    }
}
