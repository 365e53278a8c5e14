//! Whether a run that had to be ended would have gone on for ever.
//!
//! A strategy or a guide may keep the turn from the thread that others wait for, and a program may simply be slow here. So
//! the run is made again up to where it was ended, and goes on from there with all threads in turn. It hangs if nothing
//! changes any more in as many events as it had before: no write leaves another value than it found, no read finds
//! one or looks where no thread has been, no memory is allocated, no thread comes or goes; and if the same, without an end
//! to its events, is not over after a time that is long for this program. A loop that counts in memory is not taken for a
//! hang, though it may be one, nor is a hang that begins after [`LONGEST_LOOK`] events.
//!
//! A process whose threads are all asleep in the kernel when its time is over hangs as it is, unless its clock is the
//! machine's.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::file::TraceReader;
use raddle_trace::ids::{Address, ThreadId};
use raddle_trace::run::TimeMode;
use raddle_trace::schedule::Switch;
use raddle_trace::wire::DivergenceKind;

use crate::error::Error;
use crate::launch::{Cut, Detail, Plan, Record, RunResult, launch};
use crate::outcome::Failure;
use crate::program::Program;
use crate::replay;

/// What is said of a run that hangs.
const MESSAGE: &str = "it goes on for ever, and nothing changes any more";

/// Most events of a run up to where it is asked whether anything changes.
const LONGEST_LOOK: u64 = 2 << 20;

/// Fewest events in which nothing may change.
const SHORTEST_WINDOW: u64 = 1 << 18;

/// A run that hangs: what repeats it, and where its threads are.
#[derive(Debug)]
pub struct Hang {
    /// The switches that lead there. After them all threads go on in turn.
    pub switches: Vec<Switch>,
    /// Events after which a repetition may be ended, if it has that many.
    pub most_ticks: Option<u64>,
    /// How it fails.
    pub failure: Failure,
}

/// Runs that [`examine`] makes at most.
pub const MOST_RUNS: u64 = 2;

/// Finds out whether a run that was ended hangs. It may go on for `time` to show otherwise. Files go to `scratch`.
///
/// # Errors
/// If the program cannot be run.
pub fn examine(
    program: &Program,
    plan: &Plan,
    ended: &RunResult,
    time: Duration,
    scratch: &Path,
) -> Result<Option<Hang>, Error> {
    let (Some(cut), Some(failure)) = (ended.cut, &ended.failure) else {
        return Ok(None);
    };
    let is_certain = match cut {
        Cut::Output => true,
        Cut::Asleep(_) => program.time == TimeMode::Virtual,
        Cut::Timeout(_) | Cut::Ticks(_) => false,
    };
    if is_certain {
        return Ok(Some(Hang {
            switches: ended.switches.clone(),
            most_ticks: plan.most_ticks,
            failure: failure.clone(),
        }));
    }
    let before = ended.head.ticks.min(LONGEST_LOOK);
    let switches = made_within(&ended.switches, before);
    let path = scratch.join("hang.trace");
    let most_ticks = Some(before + before.max(SHORTEST_WINDOW));
    let mut again = replay::plan(plan, &switches);
    again.most_ticks = most_ticks;
    again.record = Some(Record {
        path: path.clone(),
        detail: Detail::Events,
    });
    let mut patient = program.clone();
    patient.timeout = program.timeout.saturating_add(time);
    let ran = launch(&patient, &again)?;
    let follows = ran.head.divergence.kind == DivergenceKind::None as u32;
    let is_ended = matches!(ran.cut, Some(Cut::Ticks(_)));
    if !follows || !is_ended || changes_after(&path, before)? {
        return Ok(None);
    }
    patient.timeout = time;
    again.most_ticks = None;
    again.record = None;
    if launch(&patient, &again)?.cut.is_none() {
        return Ok(None);
    }
    let hang = ran.failure.map(|mut failure| {
        MESSAGE.clone_into(&mut failure.outcome.message);
        Hang {
            switches,
            most_ticks,
            failure,
        }
    });
    Ok(hang)
}

/// The switches that were made before all threads together had written so many slots.
fn made_within(switches: &[Switch], ticks: u64) -> Vec<Switch> {
    let mut written: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut total = 0;
    let is_within = |switch: &&Switch| {
        let before = written.insert(switch.from, switch.tick.0).unwrap_or(0);
        total += switch.tick.0.saturating_sub(before);
        total <= ticks
    };
    switches.iter().take_while(is_within).copied().collect()
}

/// Whether anything changes in a recorded run after so many ticks of all threads together.
fn changes_after(trace: &Path, ticks: u64) -> Result<bool, Error> {
    let reader = TraceReader::open(trace).map_err(Error::reading(trace))?;
    let mut watch = Watch::new(ticks);
    for event in reader {
        if watch.is_changed_by(&event.map_err(Error::reading(trace))?) {
            return Ok(true);
        }
    }
    Ok(!watch.goes_on)
}

/// Looks for changes after some time.
struct Watch {
    after: u64,
    now: u64,
    memory: Memory,
    /// Whether there are events after that time.
    goes_on: bool,
}

impl Watch {
    fn new(after: u64) -> Self {
        Self {
            after,
            now: 0,
            memory: Memory::default(),
            goes_on: false,
        }
    }

    /// Whether the next event of the run changes anything, and comes late enough.
    fn is_changed_by(&mut self, event: &Event) -> bool {
        let is_changed = self.memory.is_changed_by(event);
        let is_late = self.now >= self.after;
        self.goes_on |= is_late;
        self.now += event.kind.slots();
        is_changed && is_late
    }
}

/// What is where, as far as events have told.
#[derive(Default)]
struct Memory(HashMap<(Address, u8), u64>);

impl Memory {
    /// Whether an event leaves something else than it found, or that is not known.
    fn is_changed_by(&mut self, event: &Event) -> bool {
        match event.kind {
            // A thread that reads where none has been yet gets on, be it to the end of its memory.
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
    use raddle_trace::ids::{SiteId, Tick};
    use raddle_trace::wire::SwitchReason;

    const PLACE: Access = Access {
        site: SiteId(1),
        addr: Address(0x10),
        size: 4,
        value: 0,
    };

    fn act(action: Action) -> EventKind {
        let pc = Address(0x400);
        EventKind::Action { pc, action }
    }

    #[test]
    fn a_thread_that_only_looks_changes_nothing() {
        let (read, write) = (EventKind::Read(PLACE), EventKind::Write(PLACE));
        let lock = act(Action::Lock {
            lock: Address(0x80),
            tried: false,
        });
        let unlock = act(Action::Unlock {
            lock: Address(0x80),
        });
        let changes = |kinds: &[EventKind], ticks| {
            let mut watch = Watch::new(ticks);
            let is_changed = kinds.iter().any(|kind| {
                watch.is_changed_by(&Event {
                    thread: ThreadId(1),
                    tick: Tick(0),
                    kind: *kind,
                })
            });
            is_changed || !watch.goes_on
        };
        assert!(!changes(&[read, read, act(Action::Yield), read], 1));
        assert!(!changes(&[write, lock, write, unlock], 1), "the same value");
        assert!(changes(&[lock, write, unlock], 1), "an unknown one before");
        assert!(changes(&[read, act(Action::End)], 1));
        assert!(changes(&[act(Action::Yield), read, read], 2), "a new place");
        assert!(changes(&[read], 1), "it is not known how it goes on");
    }

    #[test]
    fn a_prefix_of_a_schedule_is_told_by_the_slots_of_all_threads() {
        let switch = |from, tick, to| Switch {
            from: ThreadId(from),
            tick: Tick(tick),
            to: ThreadId(to),
            reason: SwitchReason::Preempted,
            site: None,
        };
        let all = [switch(0, 5, 1), switch(1, 7, 0), switch(0, 9, 1)];
        let count = |ticks| made_within(&all, ticks).len();
        assert_eq!([4, 5, 11, 12, 15, 16].map(count), [0, 1, 1, 2, 2, 3]);
    }
}
