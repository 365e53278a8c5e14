//! Deadlocks: a circle of threads, each waiting for the next.

use raddle_trace::action::Action;
use raddle_trace::event::{EventKind, LockChange, LockMode};
use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::wire::Mark;

use super::at;
use crate::objection::Objection;
use crate::simulation::Simulation;
use crate::table::Set;

/// What a thread that is about to execute an event may have to wait for.
enum Awaited {
    Lock(LockMode),
    End(ThreadId),
}

pub(super) fn check(
    simulation: &Simulation<'_, '_>,
    cycle: &[EventIndex],
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let thread = |index: EventIndex| recording.event(at(index)).thread;
    if cycle.is_empty() {
        return Err(Objection::ShortCycle(0));
    }
    let mut threads = Set::default();
    for &index in cycle {
        if !threads.insert(thread(index)) {
            return Err(Objection::SameThread {
                a: recording.name(at(cycle[0])),
                b: recording.name(at(index)),
            });
        }
    }
    for (place, &index) in cycle.iter().enumerate() {
        let next = thread(cycle[(place + 1) % cycle.len()]);
        waits_for(simulation, at(index), next)?;
    }
    Ok(())
}

fn waits_for(simulation: &Simulation<'_, '_>, at: usize, other: ThreadId) -> Result<(), Objection> {
    let recording = simulation.recording;
    let me = recording.event(at).thread;
    let awaited = awaited(simulation, at).ok_or_else(|| Objection::NotBlocking {
        event: recording.name(at),
    })?;
    let waits = match awaited {
        Awaited::End(thread) => thread == other && !simulation.rules.threads.has_ended(thread),
        Awaited::Lock(mode) => {
            let lock = recording.objects.of(at);
            let holds = lock.map_or(&[][..], |lock| simulation.rules.locks.holds(lock));
            let excludes = |held| mode == LockMode::Exclusive || held == LockMode::Exclusive;
            // A lock that its holder could take again was taken again in the trace; a request that
            // was never granted shows that it cannot.
            holds.iter().any(|hold| {
                hold.thread == other
                    && excludes(hold.mode)
                    && (other != me || is_request(simulation, at))
            })
        }
    };
    match waits {
        true => Ok(()),
        false => Err(Objection::NotWaitingFor {
            event: recording.name(at),
            thread: recording.thread_name(other),
        }),
    }
}

fn is_request(simulation: &Simulation<'_, '_>, at: usize) -> bool {
    let recording = simulation.recording;
    let request = matches!(
        recording.event(at).kind,
        EventKind::Action {
            action: Action::Request { .. },
            ..
        }
    );
    request && recording.lines.after(at).is_none()
}

fn awaited(simulation: &Simulation<'_, '_>, at: usize) -> Option<Awaited> {
    let recording = simulation.recording;
    let event = recording.event(at);
    // A try does not wait.
    if matches!(event.kind, EventKind::Action { action, .. } if action.is_try()) {
        return None;
    }
    if let Some(action) = event.lock_action() {
        return match action.change {
            LockChange::Acquire(mode) => Some(Awaited::Lock(mode)),
            _ => None,
        };
    }
    let EventKind::Action { action, .. } = event.kind else {
        return None;
    };
    match action {
        Action::Join { thread, .. } => Some(Awaited::End(thread)),
        // Nor does it last for ever if it ends by a timeout.
        Action::Request { .. } if recording.facts.failed(at).is_some() => None,
        Action::Request { wants, lock, .. } => match wants {
            Mark::Lock | Mark::WriteLock => Some(Awaited::Lock(LockMode::Exclusive)),
            Mark::ReadLock => Some(Awaited::Lock(LockMode::Shared)),
            Mark::Join => u32::try_from(lock.0)
                .ok()
                .map(|id| Awaited::End(ThreadId(id))),
            _ => None,
        },
        _ => None,
    }
}
