//! Whether a read sees what it saw in the trace.

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;

use crate::memory::{Byte, Writer, read_value_bytes};
use crate::objection::Objection;
use crate::recording::Recording;
use crate::simulation::Simulation;
use crate::witness::ReadRule;

/// Lets a write that was not recorded happen before the read that shows it, if whoever may have done
/// it has come as far as in the trace.
pub(crate) fn show_unseen(simulation: &mut Simulation<'_, '_>, at: usize) -> Result<(), Objection> {
    let recording = simulation.recording;
    let Some(unseen) = recording.origins.unseen(at) else {
        return Ok(());
    };
    for &(line, events) in &unseen.needs {
        if simulation.executed[line.index()] < events {
            return Err(Objection::UnseenWrite {
                event: recording.name(at),
                thread: recording.thread_name(recording.lines.thread(line)),
            });
        }
    }
    let values = read_value_bytes(recording, at).unwrap_or_default();
    let now = simulation.memory.read(recording, at);
    let mut shown = Vec::with_capacity(now.len());
    for (byte, before) in now.iter().zip(&unseen.bytes) {
        if let Some(before) = before
            && *before != byte.writer
        {
            return Err(other_write(recording, at, *before, byte.writer));
        }
        shown.push(before.is_some());
    }
    simulation.memory.overwrite(recording, at, &shown, &values);
    Ok(())
}

/// Whether a read is justified, by the witness's rule.
pub(crate) fn justify(simulation: &Simulation<'_, '_>, at: usize) -> Result<(), Objection> {
    let bytes = simulation.memory.read(simulation.recording, at);
    match simulation.rule {
        ReadRule::SameWrite => same_write(simulation.recording, at, &bytes),
        ReadRule::SameValue | ReadRule::Relaxed => same_value(simulation.recording, at, &bytes),
    }
}

fn same_write(recording: &Recording<'_>, at: usize, bytes: &[Byte]) -> Result<(), Objection> {
    let mut bytes = bytes.iter();
    for origin in recording.origins.of(at) {
        for byte in bytes.by_ref().take(origin.len as usize) {
            if byte.content.is_lost() {
                return Err(Objection::UnknownValue {
                    event: recording.name(at),
                    from: writer_name(recording, byte.writer),
                });
            }
            if byte.writer != origin.writer {
                return Err(other_write(recording, at, origin.writer, byte.writer));
            }
        }
    }
    Ok(())
}

fn same_value(recording: &Recording<'_>, at: usize, bytes: &[Byte]) -> Result<(), Objection> {
    let origins = &recording.origins;
    if let Some(values) = read_value_bytes(recording, at) {
        for (byte, &value) in bytes.iter().zip(&values) {
            match origins.resolve(byte.content).value() {
                Some(now) if now == value => {}
                Some(_) => return Err(other_value(recording, at, bytes, &values)),
                None => {
                    return Err(Objection::UnknownValue {
                        event: recording.name(at),
                        from: writer_name(recording, byte.writer),
                    });
                }
            }
        }
        return Ok(());
    }
    if let EventKind::Action {
        action: Action::FutexWait { expected, .. },
        ..
    } = recording.event(at).kind
    {
        return refused_again(recording, at, bytes, expected);
    }
    for (byte, &seen) in bytes.iter().zip(origins.seen(at)) {
        if origins.resolve(byte.content) != origins.resolve(seen) {
            return Err(Objection::OtherRange {
                event: recording.name(at),
                from: writer_name(recording, byte.writer),
            });
        }
    }
    Ok(())
}

/// Whether a futex word that was not as expected is not so now.
fn refused_again(
    recording: &Recording<'_>,
    at: usize,
    bytes: &[Byte],
    expected: u64,
) -> Result<(), Objection> {
    let origins = &recording.origins;
    let contents = bytes.iter().map(|byte| origins.resolve(byte.content));
    let seen = origins.seen(at).iter().map(|&seen| origins.resolve(seen));
    let same = contents.clone().eq(seen);
    match known_value(bytes, recording) {
        Some(now) if now == expected & u64::from(u32::MAX) => Err(Objection::FutexWord {
            event: recording.name(at),
            now,
        }),
        None if !same => Err(Objection::UnknownValue {
            event: recording.name(at),
            from: writer_name(recording, bytes[0].writer),
        }),
        _ => Ok(()),
    }
}

/// The number that bytes hold, if all of them are known.
pub(crate) fn known_value(bytes: &[Byte], recording: &Recording<'_>) -> Option<u64> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let known = recording.origins.resolve(byte.content).value()?;
        value |= u64::from(known) << (8 * index);
    }
    Some(value)
}

fn other_value(recording: &Recording<'_>, at: usize, bytes: &[Byte], values: &[u8]) -> Objection {
    let mut now = 0;
    for (index, (byte, &recorded)) in bytes.iter().zip(values).enumerate() {
        let value = recording.origins.resolve(byte.content).value();
        now |= u64::from(value.unwrap_or(recorded)) << (8 * index);
    }
    Objection::OtherValue {
        event: recording.name(at),
        now,
    }
}

fn other_write(recording: &Recording<'_>, at: usize, recorded: Writer, now: Writer) -> Objection {
    Objection::OtherWrite {
        event: recording.name(at),
        recorded: writer_name(recording, recorded),
        now: writer_name(recording, now),
    }
}

/// A writer in words.
pub(crate) fn writer_name(recording: &Recording<'_>, writer: Writer) -> String {
    match writer {
        Writer::Initial => "memory that nobody has written".to_owned(),
        Writer::Event(at) => recording.name(at as usize).to_string(),
        Writer::Unseen(at) => {
            let shown = recording.name(at as usize);
            format!("a write that was not recorded, which {shown} shows")
        }
    }
}
