//! Semaphores: none is taken below zero, and a try that failed finds none.

use raddle_trace::action::Action;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::{Failed, ObjectId};
use crate::table::Table;

/// Posts minus waits so far, of each semaphore.
#[derive(Clone, Debug, Default)]
pub(super) struct Semaphores {
    change: Table<ObjectId, i64>,
}

impl Semaphores {
    fn value(&self, step: &Step<'_, '_>, object: ObjectId) -> i64 {
        let change = self.change.get(&object).copied().unwrap_or(0);
        step.recording.facts.initial(object) + change
    }
}

impl Rule for Semaphores {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return Ok(());
        };
        match action {
            Action::SemWait { .. } if self.value(step, object) <= 0 => {
                Err(Objection::SemaphoreEmpty { event: step.name() })
            }
            Action::Request { .. }
                if step.recording.facts.failed(step.at) == Some(Failed::Semaphore)
                    && self.value(step, object) > 0 =>
            {
                Err(Objection::TrySucceeds { event: step.name() })
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return;
        };
        match action {
            Action::SemWait { .. } => *self.change.entry(object).or_default() -= 1,
            Action::SemPost { .. } => *self.change.entry(object).or_default() += 1,
            _ => {}
        }
    }
}
