//! Branches that go the other way.

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
    match simulation.executions.get_mut(&line) {
        Some(execution) => execution.flips(branch),
        // Every read was as in the trace, so every branch is.
        None => Err(Objection::SameBranch {
            thread: recording.thread_name(thread),
            branch,
        }),
    }
}
