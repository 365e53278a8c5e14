//! Small runs for tests.

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::{Address, SiteId, ThreadId, Tick};
use raddle_trace::wire::Mark;

const MUTEX: Address = Address(0x80);

pub(crate) fn event(thread: u32, tick: u64, kind: EventKind) -> Event {
    Event {
        thread: ThreadId(thread),
        tick: Tick(tick),
        kind,
    }
}

fn access(site: u32) -> Access {
    Access {
        site: SiteId(site),
        addr: Address(0x10),
        size: 4,
        value: 0,
    }
}

/// A read of the one variable by an instruction.
pub(crate) fn read(site: u32) -> EventKind {
    EventKind::Read(access(site))
}

/// A write of the one variable by an instruction.
pub(crate) fn write(site: u32) -> EventKind {
    EventKind::Write(access(site))
}

pub(crate) fn act(action: Action) -> EventKind {
    EventKind::Action {
        pc: Address(0x400),
        action,
    }
}

pub(crate) fn fork(child: u32) -> EventKind {
    act(Action::Fork {
        child: ThreadId(child),
    })
}

pub(crate) fn lock() -> EventKind {
    act(Action::Lock {
        lock: MUTEX,
        tried: false,
    })
}

pub(crate) fn unlock() -> EventKind {
    act(Action::Unlock { lock: MUTEX })
}

pub(crate) fn request() -> EventKind {
    act(Action::Request {
        lock: MUTEX,
        wants: Mark::Lock,
        tried: false,
    })
}
