//! What the threads of a deadlock wait for and hold, and where they took it.

use std::collections::{BTreeMap, BTreeSet};

use raddle_report::{Access, Finding, Kind, Location, Moment, doing};
use raddle_run::outcome::Stuck;
use raddle_run::symbols::interesting;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockChange};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, EventIndex, ThreadId};
use raddle_trace::outcome::Wait;
use raddle_trace::packages::Packages;
use raddle_trace::position::{SourcePosition, Variable};
use raddle_trace::wire::{Mark, Role};

use crate::clips::{Extent, Kept};
use crate::naming::lock_name;
use crate::places::Places;
use crate::tasks::suspended;

/// Says of each thread that stands still in a kept run what it waits for, and which thread holds that since when.
pub(crate) fn tell_standstill(finding: &mut Finding, kept: &Kept) {
    let failure = kept.result.failure.as_ref();
    let stuck = failure.map_or(&[][..], |it| it.stuck.as_slice());
    if finding.kind != Kind::Deadlock || stuck.is_empty() || kept.extent == Extent::Beginning {
        return;
    }
    // Where a thread waits for a lock that another one holds, the tasks are not what stands still.
    let is_of_locks = stuck.iter().any(|it| {
        let lock = it.info.wait.filter(|it| it.wants != Mark::Join);
        lock.is_some_and(|it| it.held_by.is_some())
    });
    let tasks = suspended(&kept.events, &kept.trailer);
    if !tasks.is_empty() && !is_of_locks {
        // The threads wait in the executor, for any task to go on.
        finding.story = tasks.iter().map(|it| moment(it, None)).collect();
        finding.locations = tasks;
        return;
    }
    let held = Held::new(&kept.events, &kept.trailer);
    let mut waits = Vec::new();
    let mut wanted = Vec::new();
    for it in stuck {
        let Some(wait) = it.info.wait else { continue };
        let Some(location) = waiting_location(&mut finding.locations, it, &kept.trailer.packages)
        else {
            continue;
        };
        wanted.push(describe_wait(location, wait, &held));
        waits.push(moment(location, None));
    }
    let is_wait = |it: &Moment| {
        let mut waits = waits.iter();
        waits.any(|wait| (wait.thread, &wait.position) == (it.thread, &it.position))
    };
    finding.story.retain(|it| !is_wait(it));
    finding.story.splice(0..0, held.taken(&wanted));
    finding.story.append(&mut waits);
}

/// The location of a finding at which a thread waits.
fn waiting_location<'a>(
    locations: &'a mut [Location],
    stuck: &Stuck,
    packages: &Packages,
) -> Option<&'a mut Location> {
    let at = interesting(&stuck.stack, packages)?;
    locations.iter_mut().rev().find(|it| {
        let place = (it.position.file.as_str(), it.position.line);
        it.thread == stuck.info.thread && place == (at.file.as_str(), at.line)
    })
}

/// Says what a thread waits for; returns the lock, or what else it is.
fn describe_wait(location: &mut Location, wait: Wait, held: &Held<'_>) -> Address {
    // What was inlined from a library has been recognised by its calls.
    if !matches!(location.access, Access::Request | Access::RequestShared) {
        location.access = match wait.wants {
            Mark::Lock | Mark::WriteLock => Access::Request,
            Mark::ReadLock => Access::RequestShared,
            Mark::Join => Access::Join,
            _ => Access::Wait,
        };
    }
    let thread = location.thread;
    let mut notes = Vec::new();
    let mut wanted = wait.object;
    if wait.wants == Mark::Join {
        notes.push(ThreadId(wait.object.0 as u32).to_string());
    } else {
        if matches!(location.access, Access::Request | Access::RequestShared) {
            wanted = held.attempted(thread).unwrap_or(wanted);
            if held.name(wanted, thread).is_none() {
                notes.push(held.described(wanted));
            }
        }
        if let Some(name) = held.name(wanted, thread) {
            location.set_variable(&name);
        }
        notes.extend(held.holder(wanted, wait.held_by));
    }
    notes.extend(held.holds(thread, wanted));
    location.note = (!notes.is_empty()).then(|| notes.join("; "));
    wanted
}

/// The locks that are held at the end of a run.
struct Held<'a> {
    events: &'a [Event],
    trailer: &'a Trailer,
    /// By lock: the threads that hold it, with the events by which they took it.
    locks: BTreeMap<Address, Vec<(ThreadId, EventIndex)>>,
    places: Places,
}

impl<'a> Held<'a> {
    fn new(events: &'a [Event], trailer: &'a Trailer) -> Self {
        let mut locks: BTreeMap<Address, Vec<(ThreadId, EventIndex)>> = BTreeMap::new();
        for (index, event) in (0..).map(EventIndex).zip(events) {
            let Some(action) = event.lock_action() else {
                continue;
            };
            let holders = locks.entry(action.lock).or_default();
            match action.change {
                LockChange::Acquire(_) => holders.push((event.thread, index)),
                LockChange::Release(_) => {
                    if let Some(at) = holders.iter().rposition(|it| it.0 == event.thread) {
                        holders.remove(at);
                    }
                }
                LockChange::Downgrade => {}
            }
        }
        let wanted = locks.values().flatten().map(|it| it.1).collect();
        Self {
            events,
            trailer,
            places: Places::new(events, trailer, &wanted),
            locks,
        }
    }

    /// The lock that a thread tried to take last, where its code was inlined. Some let threads wait at another address
    /// than their own.
    fn attempted(&self, thread: ThreadId) -> Option<Address> {
        let mut events = self.events.iter().rev().filter(|it| it.thread == thread);
        events.find_map(|event| match event.kind {
            EventKind::Rmw {
                access, atomicity, ..
            }
            | EventKind::Cas {
                access, atomicity, ..
            } => {
                use Role::{Lock, ReadLock, WriteLock};
                matches!(atomicity.role, Lock | ReadLock | WriteLock).then_some(access.addr)
            }
            _ => None,
        })
    }

    /// What a lock is called.
    fn name(&self, lock: Address, thread: ThreadId) -> Option<Variable> {
        lock_name(lock, thread, self.events, self.trailer)
    }

    /// What a lock is called that has no name: where it comes from, if that is known.
    fn described(&self, lock: Address) -> String {
        let is_it = |event: &Event| match event.kind {
            EventKind::Action {
                action: Action::Alloc { addr, size, .. },
                ..
            } => (addr.0..addr.0.saturating_add(size)).contains(&lock.0),
            _ => false,
        };
        let made = self.events.iter().rposition(is_it);
        let made = made.map(|it| EventIndex(it as u64));
        let places = Places::new(self.events, self.trailer, &made.into_iter().collect());
        match made.map(|it| places.position(it)) {
            Some(at) if at.line != 0 => format!("lock in memory from {}", line_of(&at)),
            _ => format!("lock {lock}"),
        }
    }

    /// "held by T2 since a.rs:7".
    fn holder(&self, lock: Address, known: Option<ThreadId>) -> Option<String> {
        let holders = self.locks.get(&lock);
        let told: Vec<String> = holders
            .into_iter()
            .flatten()
            .map(|(thread, event)| format!("{thread}{}", self.since(*event)))
            .collect();
        match (told.is_empty(), known) {
            (false, _) => Some(format!("held by {}", told.join(" and "))),
            (true, Some(thread)) => Some(format!("held by {thread}")),
            (true, None) => None,
        }
    }

    /// "holds `a` since a.rs:7", but for the lock that the thread waits for.
    fn holds(&self, thread: ThreadId, wanted: Address) -> Option<String> {
        let of_thread = |holders: &[(ThreadId, EventIndex)]| {
            let held = holders.iter().rfind(|it| it.0 == thread);
            held.map(|it| it.1)
        };
        let locks = self.locks.iter().filter(|it| *it.0 != wanted);
        let mut held: Vec<(EventIndex, Address)> = locks
            .filter_map(|(lock, holders)| Some((of_thread(holders)?, *lock)))
            .filter(|(event, _)| self.position(*event).line != 0)
            .collect();
        held.sort_unstable();
        let told: Vec<String> = held
            .into_iter()
            .map(|(event, lock)| {
                let name = self.name(lock, thread);
                let name = name.map(|it| format!("`{}`", it.name));
                let name = name.unwrap_or_else(|| self.described(lock));
                format!("{name}{}", self.since(event))
            })
            .collect();
        (!told.is_empty()).then(|| format!("holds {}", told.join(" and ")))
    }

    fn since(&self, event: EventIndex) -> String {
        match self.position(event) {
            SourcePosition { line: 0, .. } => String::new(),
            position => format!(" since {}", line_of(&position)),
        }
    }

    fn position(&self, event: EventIndex) -> SourcePosition {
        self.places.position(event)
    }

    /// How these locks came to be held.
    fn taken(&self, locks: &[Address]) -> Vec<Moment> {
        let held = locks.iter().filter_map(|it| self.locks.get(it));
        let taken: BTreeSet<EventIndex> = held.flatten().map(|it| it.1).collect();
        let moments = taken.into_iter().map(|index| {
            let event = &self.events[index.0 as usize];
            let mut location = self.places.location(index, event, self.trailer);
            let lock = event.lock_action().map(|it| it.lock);
            if let Some(name) = lock.and_then(|it| self.name(it, event.thread)) {
                location.set_variable(&name);
            }
            moment(&location, Some(index))
        });
        moments.collect()
    }
}

/// `a.rs:7`.
fn line_of(position: &SourcePosition) -> String {
    SourcePosition {
        column: 0,
        ..position.clone()
    }
    .short()
}

fn moment(location: &Location, event: Option<EventIndex>) -> Moment {
    Moment {
        thread: location.thread,
        position: location.position.clone(),
        what: doing(location),
        value: None,
        event,
    }
}
