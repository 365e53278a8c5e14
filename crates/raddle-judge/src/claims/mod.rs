//! Whether a witness, carried out, shows the bug that it claims.

mod branch;
mod deadlock;
mod heap;
mod pointer;
mod race;
mod serial;

use raddle_trace::ids::EventIndex;

use crate::objection::Objection;
use crate::recording::LineId;
use crate::simulation::Simulation;
use crate::witness::Claim;

/// Checks the claim in the state that the order leads to.
pub(crate) fn check(simulation: &mut Simulation<'_, '_>, claim: &Claim) -> Result<(), Objection> {
    for index in claim.next_events() {
        is_next(simulation, index)?;
    }
    confirm_executed(simulation, claim)?;
    match claim {
        Claim::Feasible => Ok(()),
        Claim::Race { a, b } => race::check(simulation, at(*a), at(*b)),
        Claim::Unserialisable { events, regions } => serial::check(simulation, events, regions),
        Claim::Sequence { events } => serial::in_order(simulation, events),
        Claim::Deadlock { cycle } => deadlock::check(simulation, cycle),
        Claim::BranchFlip { thread, branch } => branch::check(simulation, *thread, *branch),
        Claim::UseAfterFree { free, access } => {
            heap::use_after_free(simulation, at(*free), at(*access))
        }
        Claim::DoubleFree { first, second } => {
            heap::double_free(simulation, at(*first), at(*second))
        }
        Claim::NullDereference { read, access } => {
            pointer::null(simulation, at(*read), at(*access))
        }
        Claim::UninitialisedRead { read } => pointer::uninitialised(simulation, at(*read)),
    }
}

/// A thread that reads other values is seen to come to an event when the model shows the way there.
/// An action of the runtime's is no instruction of the model; that the thread came to it, the next
/// event that is one shows. So does it for the event that the claim says is next. Where no such event follows, the thread
/// has returned from all traced code, with the results that it had in the trace: what comes then is libc's doing.
fn confirm_executed(simulation: &mut Simulation<'_, '_>, claim: &Claim) -> Result<(), Objection> {
    let recording = simulation.recording;
    let next_events = claim.next_events();
    let mut lines: Vec<LineId> = simulation.executions.keys().copied().collect();
    lines.sort_unstable();
    for line in lines {
        let events = recording.lines.events(line);
        let (executed, left) = events.split_at(simulation.executed[line.index()] as usize);
        let last = executed.last().map(|&at| at as usize);
        let is_instruction = |at: usize| recording.event(at).site().is_some();
        let after_action = last.filter(|&at| !is_instruction(at));
        let next = left.first().map(|&at| at as usize);
        let claimed = next.filter(|&at| next_events.contains(&EventIndex(at as u64)));
        let checks_itself = match claim {
            // It goes on from there to the branch.
            Claim::BranchFlip { thread, .. } => recording.lines.line_of(*thread) == Some(line),
            // It begins with the read.
            Claim::NullDereference { read, .. } => recording.lines.line(at(*read)) == line,
            _ => false,
        };
        if checks_itself {
            continue;
        }
        let Some(unconfirmed) = claimed.or(after_action) else {
            continue;
        };
        let shows = left
            .iter()
            .map(|&at| at as usize)
            .find(|&at| is_instruction(at));
        match (shows, simulation.executions.get_mut(&line)) {
            (Some(shows), Some(execution)) => drop(execution.step(shows, None)?),
            (None, Some(execution)) if execution.has_returned() => {}
            _ => {
                return Err(Objection::Undecided {
                    event: recording.name(unconfirmed),
                    why: "nothing shows that its thread, with other values, comes to it".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Events that a claim names were held against the trace when the order was completed.
fn at(index: EventIndex) -> usize {
    index.0 as usize
}

fn is_next(simulation: &Simulation<'_, '_>, index: EventIndex) -> Result<(), Objection> {
    let at = at(index);
    if simulation.is_next(at) {
        return Ok(());
    }
    let recording = simulation.recording;
    let line = recording.lines.line(at);
    let executed = simulation.executed[line.index()] as usize;
    let last = executed
        .checked_sub(1)
        .map(|rank| recording.lines.events(line)[rank]);
    Err(Objection::NotNext {
        event: recording.name(at),
        where_it_ends: match last {
            Some(last) => format!("its thread after {}", recording.name(last as usize)),
            None => "before its thread has begun".to_owned(),
        },
    })
}

/// Whether an event was executed.
fn is_executed(simulation: &Simulation<'_, '_>, at: usize) -> Result<usize, Objection> {
    let position = simulation.position(at);
    position.ok_or_else(|| Objection::NotInOrder {
        event: simulation.recording.name(at),
    })
}
