//! Memory that is used, or freed, after it was freed.

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::Address;

use super::is_executed;
use crate::objection::Objection;
use crate::simulation::Simulation;

pub(super) fn use_after_free(
    simulation: &Simulation<'_, '_>,
    free: usize,
    access: usize,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    freed_address(simulation, free)?;
    is_executed(simulation, free)?;
    if recording.event(access).footprint().is_none() {
        return Err(Objection::NotAnAccess {
            event: recording.name(access),
        });
    }
    let freed = recording.places.about(free);
    let touched = recording.places.segments(access).iter();
    let hit = touched
        .filter_map(|segment| segment.allocation)
        .find(|&index| Some(index) == freed);
    match hit {
        None => Err(Objection::NotFreedThere {
            event: recording.name(access),
            free: recording.name(free),
        }),
        Some(index) if !simulation.rules.heap.is_freed(index) => Err(Objection::StillAllocated {
            event: recording.name(access),
        }),
        Some(_) => is_created(simulation, access),
    }
}

pub(super) fn double_free(
    simulation: &Simulation<'_, '_>,
    first: usize,
    second: usize,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let (freed, again) = (
        freed_address(simulation, first)?,
        freed_address(simulation, second)?,
    );
    is_executed(simulation, first)?;
    if freed != again {
        return Err(Objection::NotFreedThere {
            event: recording.name(second),
            free: recording.name(first),
        });
    }
    if simulation.rules.heap.live_at(again.0).is_some() {
        return Err(Objection::StillAllocated {
            event: recording.name(second),
        });
    }
    is_created(simulation, second)
}

fn freed_address(simulation: &Simulation<'_, '_>, at: usize) -> Result<Address, Objection> {
    match simulation.recording.event(at).kind {
        EventKind::Action {
            action: Action::Free { addr, .. },
            ..
        } => Ok(addr),
        _ => Err(Objection::NotAFree {
            event: simulation.recording.name(at),
        }),
    }
}

/// The heap refuses the event, as it should; that its thread exists is still to be seen.
fn is_created(simulation: &Simulation<'_, '_>, at: usize) -> Result<(), Objection> {
    match simulation.rules.check(simulation.recording, at) {
        Err(objection @ Objection::NotCreated { .. }) => Err(objection),
        _ => Ok(()),
    }
}
