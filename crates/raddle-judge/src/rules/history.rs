//! An object is used in its own life, and an unexplained event sees its object's past as recorded.

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::{LineId, ObjectId, Tie};
use crate::table::{Set, Table};

/// What has happened to each object.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Its latest event, by the recorded order: its rank and itself.
    past: Table<ObjectId, (u32, usize)>,
    /// Destructions that have happened.
    destroyed: Set<usize>,
    /// How many events each thread has executed.
    executed: Table<LineId, u32>,
}

impl History {
    /// Whether the threads concerned have come as far as in the trace, and no event on the object
    /// has come before that came after.
    pub(super) fn check_as_recorded(
        &self,
        step: &Step<'_, '_>,
        tie: &Tie,
    ) -> Result<(), Objection> {
        for (line, needed) in &tie.needs {
            if self.executed.get(line).copied().unwrap_or(0) < *needed {
                let thread = step.recording.lines.thread(*line);
                return Err(Objection::UnexplainedEarly {
                    event: step.name(),
                    thread: step.recording.thread_name(thread),
                });
            }
        }
        let past = step.object.and_then(|object| self.past.get(&object));
        match past {
            Some(&(greatest, latest)) if greatest > step.recording.objects.rank(step.at) => {
                Err(Objection::Unexplained {
                    event: step.name(),
                    other: step.recording.name(latest),
                })
            }
            _ => Ok(()),
        }
    }
}

impl Rule for History {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let Some(object) = step.object else {
            return Ok(());
        };
        let objects = &step.recording.objects;
        if let Some(end) = objects.destroyed(object)
            && self.destroyed.contains(&end)
        {
            return Err(Objection::Destroyed {
                event: step.name(),
                destroy: step.recording.name(end),
            });
        }
        match objects.predecessor_destroyed(object) {
            Some(end) if !self.destroyed.contains(&end) => Err(Objection::NotYetMade {
                event: step.name(),
                destroy: step.recording.name(end),
            }),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let line = step.recording.lines.line(step.at);
        *self.executed.entry(line).or_default() += 1;
        let Some(object) = step.object else { return };
        let rank = step.recording.objects.rank(step.at);
        let latest = self.past.entry(object).or_insert((rank, step.at));
        *latest = (*latest).max((rank, step.at));
        if step.recording.objects.destroyed(object) == Some(step.at) {
            self.destroyed.insert(step.at);
        }
    }
}
