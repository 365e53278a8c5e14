//! Whether a run that had to be ended would have gone on for ever.
//!
//! A strategy may keep the turn from whom others wait for, and a program may simply be slow. So the run is made again up
//! to where it was ended, and goes on from there with all threads in turn. It hangs if nothing changes any more in as
//! many events as a whole run has: no write leaves another value than it found, no read finds one or looks where
//! nobody has been, no memory is allocated, no thread comes or goes; and if it is not over after a time that is
//! long for this program. A loop that counts in memory is not taken for a hang, though it may be one.

use std::collections::HashMap;
use std::time::Duration;

use raddle_run::Error;
use raddle_run::launch::{Plan, RunResult};
use raddle_run::replay;
use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::Address;

use crate::bench::Bench;

/// What is said of a run that hangs.
pub(crate) const MESSAGE: &str = "it goes on for ever, and nothing changes any more";

/// Makes a run again that was ended, and says whether it hangs. It may go on for `time`.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn is_one(
    bench: &mut Bench,
    plan: &Plan,
    ended: &RunResult,
    time: Duration,
) -> Result<bool, Error> {
    let mut again = replay::plan(plan, &ended.switches);
    again.most_ticks = Some(ended.head.ticks.saturating_add(bench.most_ticks()));
    let ran = bench.run(again.clone())?;
    if !ran.hangs() || changes_after(&ran.events, ended.head.ticks) {
        return Ok(false);
    }
    again.most_ticks = None;
    bench.is_over_within(&again, time).map(|is_over| !is_over)
}

/// Whether anything changes after so many ticks of all threads together.
fn changes_after(events: &[Event], ticks: u64) -> bool {
    let mut memory = Memory::default();
    let mut before = 0;
    let mut goes_on = false;
    for event in events {
        let is_changed = memory.is_changed_by(event);
        if before >= ticks {
            if is_changed {
                return true;
            }
            goes_on = true;
        }
        before += event.kind.slots();
    }
    !goes_on
}

/// What is where, as far as events have told.
#[derive(Default)]
struct Memory(HashMap<(Address, u8), u64>);

impl Memory {
    /// Whether an event leaves something else than it found, or nobody knows.
    fn is_changed_by(&mut self, event: &Event) -> bool {
        match event.kind {
            // Who reads where nobody has been yet gets on, be it to the end of its memory.
            EventKind::Read(access)
            | EventKind::AtomicLoad(access, _)
            | EventKind::Write(access)
            | EventKind::AtomicStore(access, _) => self.leave(access, access.value),
            EventKind::Rmw { access, new, .. } => {
                self.leave(access, new);
                new != access.value
            }
            EventKind::Cas {
                access,
                new,
                success,
                ..
            } => {
                let left = if success { new } else { access.value };
                self.leave(access, left);
                left != access.value
            }
            EventKind::RangeRead { .. } | EventKind::RangeWrite { .. } => true,
            EventKind::Action { action, .. } => !is_idle(&action),
            _ => false,
        }
    }

    fn leave(&mut self, access: Access, value: u64) -> bool {
        self.0.insert((access.addr, access.size), value) != Some(value)
    }
}

/// Whether a thread that does this only waits, or looks whether it has to.
fn is_idle(action: &Action) -> bool {
    matches!(
        action,
        Action::Lock { .. }
            | Action::Unlock { .. }
            | Action::ReadLock { .. }
            | Action::ReadUnlock { .. }
            | Action::WriteLock { .. }
            | Action::WriteUnlock { .. }
            | Action::Request { .. }
            | Action::CondWait { .. }
            | Action::FutexWait { .. }
            | Action::Block
            | Action::Yield
            | Action::Sleep { .. }
            | Action::Clock { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{act, event, lock, read, unlock, write};

    #[test]
    fn who_only_looks_changes_nothing() {
        let seen = |kinds: &[EventKind], ticks| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(1, 0, *kind)).collect();
            changes_after(&events, ticks)
        };
        assert!(!seen(&[read(1), read(1), act(Action::Yield), read(1)], 1));
        assert!(
            !seen(&[write(1), lock(), write(1), unlock()], 1),
            "the same value"
        );
        assert!(
            seen(&[lock(), write(1), unlock()], 1),
            "whatever was there before"
        );
        assert!(seen(&[read(1), act(Action::End)], 1));
        assert!(
            seen(&[act(Action::Yield), read(1), read(1)], 2),
            "a new place"
        );
        assert!(seen(&[read(1)], 1), "it is not known how it goes on");
    }
}
