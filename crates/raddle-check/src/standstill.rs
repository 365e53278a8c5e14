//! What the threads of a deadlock wait for and hold, and where they took it.

use std::collections::{BTreeMap, BTreeSet};

use raddle_report::{Access, Finding, Kind, Location, Moment, doing};
use raddle_run::outcome::Stuck;
use raddle_run::symbols::interesting;
use raddle_trace::event::{Event, EventKind, LockChange};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, EventIndex, ThreadId};
use raddle_trace::outcome::Wait;
use raddle_trace::position::SourcePosition;
use raddle_trace::wire::{Mark, Role};

use crate::clips::Kept;
use crate::places::Places;
use crate::tasks::suspended;

/// Says of each thread that stands still in a kept run what it waits for, and which thread holds that since when.
pub(crate) fn tell_standstill(finding: &mut Finding, kept: &Kept) {
    let failure = kept.result.failure.as_ref();
    let stuck = failure.map_or(&[][..], |it| it.stuck.as_slice());
    if finding.kind != Kind::Deadlock || stuck.is_empty() {
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
        let Some(location) = waiting_location(&mut finding.locations, it) else {
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
fn waiting_location<'a>(locations: &'a mut [Location], stuck: &Stuck) -> Option<&'a mut Location> {
    let at = interesting(&stuck.stack)?;
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
                notes.push(format!("lock {wanted}"));
            }
        }
        location.variable = held.name(wanted, thread).or(location.variable.take());
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

    /// What a lock is called, by this thread if it has touched it, else by any.
    fn name(&self, lock: Address, thread: ThreadId) -> Option<String> {
        let mut any = None;
        for event in self.events.iter().rev() {
            let touched = match event.lock_action() {
                Some(action) => Some(action.lock),
                None => event.footprint().map(|it| it.addr),
            };
            if touched != Some(lock) {
                continue;
            }
            let site = event.site().and_then(|it| self.trailer.site(it));
            let Some(name) = site.and_then(|it| it.variable.as_ref()) else {
                continue;
            };
            if thread == event.thread {
                return Some(name.clone());
            }
            any.get_or_insert_with(|| name.clone());
        }
        any
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
                let name = name.map_or_else(|| format!("lock {lock}"), |it| format!("`{it}`"));
                format!("{name}{}", self.since(event))
            })
            .collect();
        (!told.is_empty()).then(|| format!("holds {}", told.join(" and ")))
    }

    fn since(&self, event: EventIndex) -> String {
        match self.position(event) {
            SourcePosition { line: 0, .. } => String::new(),
            SourcePosition { file, line, .. } => {
                format!(
                    " since {}:{line}",
                    file.rsplit('/').next().unwrap_or_default()
                )
            }
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
            location.variable = lock.and_then(|it| self.name(it, event.thread));
            moment(&location, Some(index))
        });
        moments.collect()
    }
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
