//! Threads that are executed again as far as in the trace, once for many witnesses.
//!
//! A thread that reads what it read has one state at each of its events, whatever the witness. So it is followed along the
//! trace once; some states on the way are kept, and a witness that has the thread read something else goes on from a copy
//! of the nearest.

use std::cell::RefCell;

use super::Execution;
use crate::objection::Objection;
use crate::recording::{LineId, Recording};
use crate::table::Table;

/// A thread's states are kept at so many places, evenly.
const PARTS: usize = 64;

/// But no closer to one another than so many of its events.
const LEAST_PART: usize = 1024;

/// A state of a thread.
struct State<'r, 'a> {
    /// How many of its events it has executed.
    rank: usize,
    execution: Execution<'r, 'a>,
}

/// The states of a recording's threads that have been kept, by thread and then in order.
#[derive(Default)]
pub(crate) struct Lead<'r, 'a> {
    states: RefCell<Table<LineId, Vec<State<'r, 'a>>>>,
}

impl<'r, 'a> Lead<'r, 'a> {
    /// A thread that has executed everything before `at` as in the trace.
    pub(crate) fn up_to(
        &self,
        recording: &'r Recording<'a>,
        line: LineId,
        at: usize,
    ) -> Result<Execution<'r, 'a>, Objection> {
        let events = recording.lines.events(line);
        let part = events.len().div_ceil(PARTS).max(LEAST_PART);
        let end = recording.lines.rank(at) as usize;
        let mut states = self.states.borrow_mut();
        let states = states.entry(line).or_default();
        let before = states.partition_point(|it| it.rank <= end);
        let nearest = before.checked_sub(1).map(|it| &states[it]);
        let (mut rank, mut execution) = match nearest {
            Some(state) => (state.rank, state.execution.fork()),
            None => {
                let start = Execution::new(recording, line);
                let start = start.ok_or_else(|| Objection::NoModel {
                    event: recording.name(at),
                })?;
                (0, start)
            }
        };
        while rank < end {
            execution.step(events[rank] as usize, None)?;
            rank += 1;
            let is_known = states.last().is_some_and(|it| it.rank >= rank);
            if rank.is_multiple_of(part) && !is_known {
                let execution = execution.fork();
                states.push(State { rank, execution });
            }
        }
        Ok(execution)
    }
}
