//! Reads that find null, or nothing, where the trace had a value.

use raddle_trace::event::{Access, EventKind};

use crate::memory::Writer;
use crate::objection::Objection;
use crate::reads;
use crate::simulation::Simulation;

/// An access so near to an address is an access through it: a field of what it points to.
const NEAR_BYTES: u64 = 4096;

pub(super) fn null(
    simulation: &mut Simulation<'_, '_>,
    read: usize,
    access: usize,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let pointer = loaded(simulation, read)?;
    if pointer.size != 8 || pointer.value == 0 {
        return Err(Objection::NoPointer {
            event: recording.name(read),
        });
    }
    simulation.rules.check(recording, read)?;
    reads::show_unseen(simulation, read)?;
    let bytes = simulation.memory.read(recording, read);
    if reads::known_value(&bytes, recording) != Some(0) {
        return Err(Objection::NotNull {
            event: recording.name(read),
        });
    }
    let footprint = recording.event(access).footprint();
    let near = footprint
        .is_some_and(|footprint| footprint.addr.0.wrapping_sub(pointer.value) < NEAR_BYTES);
    let lines = &recording.lines;
    let follows = lines.line(access) == lines.line(read) && lines.rank(access) > lines.rank(read);
    if !near || !follows {
        return Err(not_through(simulation, read, access));
    }
    follow(simulation, read, access)
}

fn not_through(simulation: &Simulation<'_, '_>, read: usize, access: usize) -> Objection {
    Objection::NotThrough {
        access: simulation.recording.name(access),
        read: simulation.recording.name(read),
    }
}

/// Executes the thread from the read to the access on the model: it must come there, and then go to
/// an address near null.
fn follow(
    simulation: &mut Simulation<'_, '_>,
    read: usize,
    access: usize,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let line = recording.lines.line(read);
    let mut execution = match simulation.executions.remove(&line) {
        Some(execution) => execution,
        None => simulation.execute_to(line, read)?,
    };
    let ranks = recording.lines.rank(read) as usize..=recording.lines.rank(access) as usize;
    for &event in &recording.lines.events(line)[ranks] {
        let event = event as usize;
        let seen = simulation.seen(event);
        match execution.step(event, seen.as_deref()) {
            Err(Objection::AddressDiffers { now, .. }) if event == access && now < NEAR_BYTES => {
                return Ok(());
            }
            other => drop(other?),
        }
    }
    Err(not_through(simulation, read, access))
}

pub(super) fn uninitialised(
    simulation: &mut Simulation<'_, '_>,
    read: usize,
) -> Result<(), Objection> {
    let recording = simulation.recording;
    loaded(simulation, read)?;
    simulation.rules.check(recording, read)?;
    reads::show_unseen(simulation, read)?;
    let on_heap = |at: usize| {
        let segments = recording.places.segments(at);
        segments.iter().any(|segment| segment.allocation.is_some())
    };
    let bytes = simulation.memory.read(recording, read);
    if let Some(written) = bytes.iter().find(|byte| byte.writer != Writer::Initial) {
        return Err(Objection::Initialised {
            event: recording.name(read),
            by: reads::writer_name(recording, written.writer),
        });
    }
    if !on_heap(read) {
        return Err(Objection::Initialised {
            event: recording.name(read),
            by: "the program's start".to_owned(),
        });
    }
    let origins = recording.origins.of(read);
    if origins
        .iter()
        .any(|origin| origin.writer == Writer::Initial)
    {
        return Err(Objection::AlwaysUninitialised {
            event: recording.name(read),
        });
    }
    Ok(())
}

fn loaded(simulation: &Simulation<'_, '_>, at: usize) -> Result<Access, Objection> {
    match simulation.recording.event(at).kind {
        EventKind::Read(access) | EventKind::AtomicLoad(access, _) => Ok(access),
        _ => Err(Objection::NotAnAccess {
            event: simulation.recording.name(at),
        }),
    }
}
