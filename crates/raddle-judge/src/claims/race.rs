//! Data races.
//!
//! Two accesses that are both next and that nothing keeps from happening may happen in either order,
//! one right after the other: no lock that both need is between them, and no other synchronisation.

use raddle_trace::event::EventKind;

use crate::objection::Objection;
use crate::reads;
use crate::simulation::Simulation;

pub(super) fn check(simulation: &Simulation<'_, '_>, a: usize, b: usize) -> Result<(), Objection> {
    let recording = simulation.recording;
    let names = || (recording.name(a), recording.name(b));
    let footprint = |at: usize| {
        let found = recording.event(at).footprint();
        found.ok_or_else(|| Objection::NotAnAccess {
            event: recording.name(at),
        })
    };
    let (left, right) = (footprint(a)?, footprint(b)?);
    if recording.lines.line(a) == recording.lines.line(b) {
        let (a, b) = names();
        return Err(Objection::SameThread { a, b });
    }
    if !left.writes && !right.writes {
        let (a, b) = names();
        return Err(Objection::BothRead { a, b });
    }
    if left.atomic && right.atomic {
        let (a, b) = names();
        return Err(Objection::BothAtomic { a, b });
    }
    if !recording.places.overlap(a, b) {
        let (a, b) = names();
        return Err(Objection::NoOverlap { a, b });
    }
    for (at, access, other) in [(a, left, right), (b, right, left)] {
        simulation.rules.check(recording, at)?;
        // Whether a compare-exchange writes depends on what it finds.
        let is_exchange = matches!(recording.event(at).kind, EventKind::Cas { .. });
        if is_exchange && access.writes && !other.writes {
            reads::justify(simulation, at)?;
        }
    }
    Ok(())
}
