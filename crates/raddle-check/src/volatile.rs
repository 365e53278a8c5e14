//! Volatile accesses as atomic ones, where the user says that they are meant so.
//!
//! By the languages' rules `volatile` orders nothing. Code in the manner of kernels uses it as an atomic all the same, and
//! relies on what compilers and processors do: volatile accesses are neither merged nor reordered among themselves, and on
//! x86-64 each load acquires and each store releases. So that is what they are taken for. As relaxed ones they would still
//! not be races themselves, but everything that they publish would be one, and that is what such code uses them for.

use raddle_run::launch::RunResult;
use raddle_run::program::{Program, Volatile};
use raddle_trace::event::{Atomicity, Event, EventKind};
use raddle_trace::ids::SiteId;
use raddle_trace::wire::{Ordering, Role};

/// Said of a volatile access in a data race.
pub(crate) const NOTE: &str = "volatile, which orders nothing in C, C++ and Rust; make it atomic, or say volatile = \"atomic\" in raddle.toml (--volatile atomic)";

/// Whether an event of a run is a volatile access that is not taken for an atomic one.
pub(crate) fn is_plain(event: &Event, run: &RunResult) -> bool {
    match (event.kind, &run.executed) {
        (EventKind::Read(access) | EventKind::Write(access), Some(executed)) => {
            executed.is_volatile(access.site)
        }
        _ => false,
    }
}

/// Turns the volatile accesses of a run of this program into what the user takes them for.
pub(crate) fn interpret(program: &Program, run: &RunResult, events: &mut [Event]) {
    if let (Volatile::Atomic, Some(executed)) = (program.volatile, &run.executed) {
        order(events, |site| executed.is_volatile(site));
    }
}

/// Makes the plain accesses at volatile sites atomic.
pub(crate) fn order(events: &mut [Event], is_volatile: impl Fn(SiteId) -> bool) {
    for event in events {
        *event = ordered(*event, &is_volatile);
    }
}

/// An event, made atomic if it is a plain access at a volatile site.
pub(crate) fn ordered(event: Event, is_volatile: impl Fn(SiteId) -> bool) -> Event {
    let with = |order| Atomicity {
        order,
        role: Role::None,
    };
    let kind = match event.kind {
        EventKind::Read(access) if is_volatile(access.site) => {
            EventKind::AtomicLoad(access, with(Ordering::Acquire))
        }
        EventKind::Write(access) if is_volatile(access.site) => {
            EventKind::AtomicStore(access, with(Ordering::Release))
        }
        kind => kind,
    };
    Event { kind, ..event }
}
