//! Branches that go the other way.
//!
//! The thread is executed on the model from its last event on. Calls into the runtime are untraced code there, like others: of
//! more calls than the runtime's events that the thread has executed one may be the runtime's next, which then has to be
//! executed, too.

use raddle_trace::event::EventKind;
use raddle_trace::ids::ThreadId;

use crate::objection::Objection;
use crate::simulation::Simulation;

pub(super) fn check(
    simulation: &mut Simulation<'_, '_>,
    thread: ThreadId,
    branch: u64,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let line = recording
        .lines
        .line_of(thread)
        .ok_or(Objection::NoSuchThread(thread))?;
    let events = recording.lines.events(line);
    let (executed, left) = events.split_at(simulation.executed[line.index()] as usize);
    let is_action = |at: &&u32| {
        let event = recording.event(**at as usize);
        matches!(event.kind, EventKind::Action { .. })
    };
    let actions = executed.iter().rev().take_while(is_action).count() as u64;
    let Some(execution) = simulation.executions.get_mut(&line) else {
        // Every read was as in the trace, so every branch is.
        let thread = recording.thread_name(thread);
        return Err(Objection::SameBranch { thread, branch });
    };
    let calls = execution.flips(branch)?;
    if calls > actions && left.first().filter(is_action).is_some() {
        let thread = recording.thread_name(thread);
        return Err(Objection::BranchElsewhere { thread, branch });
    }
    Ok(())
}
