//! Which events of a trace are of interest.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::action::Action;
use crate::event::{Event, EventKind};
use crate::file::Trailer;
use crate::ids::{Address, ThreadId};
use crate::position::SourcePosition;

/// What an event has to be, as far as that is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// An event of this thread.
    pub thread: Option<ThreadId>,
    /// One of this place in the source.
    pub place: Option<Place>,
    /// One that touches the byte at this address, or acts on the object there.
    pub address: Option<Address>,
}

/// A file, or a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file: its name, or the end of its path.
    pub file: PathBuf,
    /// The line.
    pub line: Option<u32>,
}

impl FromStr for Place {
    type Err = NotAPlace;

    /// Reads `queue.rs`, `src/queue.rs` or `queue.rs:14`.
    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => {
                let line = line.parse().map_err(|_| NotAPlace(text.to_owned()))?;
                (file, Some(line))
            }
            None => (text, None),
        };
        match file {
            "" => Err(NotAPlace(text.to_owned())),
            _ => Ok(Self {
                file: file.into(),
                line,
            }),
        }
    }
}

/// A text that names no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no file such as queue.rs, or line of one such as queue.rs:14")]
pub struct NotAPlace(String);

impl Filter {
    /// Whether an event is one of those. Without a trailer no event is known to be of a place.
    #[must_use]
    pub fn admits(&self, event: &Event, trailer: Option<&Trailer>) -> bool {
        self.thread.is_none_or(|it| it == event.thread)
            && self.address.is_none_or(|it| touches(event, it))
            && self.place.as_ref().is_none_or(|it| {
                let positions = trailer.map_or(&[][..], |trailer| positions(event, trailer));
                positions.iter().any(|position| it.contains(position))
            })
    }
}

impl Place {
    fn contains(&self, position: &SourcePosition) -> bool {
        Path::new(&position.file).ends_with(&self.file)
            && self.line.is_none_or(|it| it == position.line)
    }
}

/// Where an event is in the source: the innermost function first, then those that it was inlined into.
fn positions<'t>(event: &Event, trailer: &'t Trailer) -> &'t [SourcePosition] {
    if let EventKind::Action { pc, .. } = event.kind {
        return trailer.code(pc);
    }
    let site = event.site().and_then(|it| trailer.site(it));
    site.map_or(&[], |it| &it.positions)
}

fn touches(event: &Event, address: Address) -> bool {
    let within = |start: Address, len: u64| address.0.wrapping_sub(start.0) < len;
    if let Some(it) = event.footprint() {
        return within(it.addr, it.len);
    }
    if let Some(it) = event.lock_action() {
        return it.lock == address;
    }
    let EventKind::Action { action, .. } = event.kind else {
        return false;
    };
    match action {
        Action::Alloc { addr, size, .. } | Action::Free { addr, size, .. } => {
            within(addr, size.max(1))
        }
        Action::CondWait { cond, mutex } => [cond, mutex].contains(&address),
        Action::CondWake { cond: object, .. }
        | Action::CondNotify { cond: object, .. }
        | Action::FutexWait { futex: object, .. }
        | Action::FutexWake { futex: object, .. }
        | Action::FutexNotify { futex: object, .. }
        | Action::SemWait {
            semaphore: object, ..
        }
        | Action::SemPost {
            semaphore: object, ..
        }
        | Action::BarrierArrive {
            barrier: object, ..
        }
        | Action::BarrierLeave {
            barrier: object, ..
        }
        | Action::OnceStart { once: object }
        | Action::OnceDone { once: object, .. }
        | Action::OncePass { once: object }
        | Action::Destroy { object }
        | Action::Request { lock: object, .. } => object == address,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Access;
    use crate::ids::{SiteId, Tick};
    use crate::position::CodePosition;

    fn event(thread: u32, kind: EventKind) -> Event {
        Event {
            thread: ThreadId(thread),
            tick: Tick(0),
            kind,
        }
    }

    fn write(site: u32, addr: u64) -> EventKind {
        EventKind::Write(Access {
            site: SiteId(site),
            addr: Address(addr),
            size: 4,
            value: 0,
        })
    }

    #[test]
    fn addresses_are_within_accesses_or_those_of_objects() {
        let lock = EventKind::Action {
            action: Action::Lock {
                lock: Address(0x20),
                tried: false,
            },
            pc: Address(0),
        };
        let at = |address, kind| {
            let filter = Filter {
                address: Some(Address(address)),
                ..Filter::default()
            };
            filter.admits(&event(1, kind), None)
        };
        assert!(at(0x13, write(0, 0x10)) && !at(0x14, write(0, 0x10)));
        assert!(at(0x20, lock) && !at(0x21, lock));
    }

    #[test]
    fn places_are_ends_of_paths() {
        let position = |file: &str, line| SourcePosition {
            function: "f".into(),
            file: file.into(),
            line,
            column: 1,
        };
        let place = |text: &str| text.parse::<Place>().unwrap();
        let position = position("/work/src/queue.rs", 14);
        for text in ["queue.rs", "src/queue.rs", "queue.rs:14"] {
            assert!(place(text).contains(&position), "{text}");
        }
        for text in ["eue.rs", "queue.rs:15", "lib/queue.rs"] {
            assert!(!place(text).contains(&position), "{text}");
        }
        for text in ["", ":3", "queue.rs:x"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    #[test]
    fn all_that_is_said_has_to_hold() {
        let trailer = Trailer {
            code: vec![CodePosition {
                pc: Address(8),
                positions: vec![SourcePosition {
                    file: "a.c".into(),
                    ..SourcePosition::default()
                }],
                object: None,
            }],
            ..Trailer::default()
        };
        let filter = Filter {
            thread: Some(ThreadId(1)),
            place: Some("a.c".parse().unwrap()),
            address: None,
        };
        let yields = |thread, pc| {
            let action = Action::Yield;
            let pc = Address(pc);
            event(thread, EventKind::Action { action, pc })
        };
        assert!(filter.admits(&yields(1, 8), Some(&trailer)));
        assert!(!filter.admits(&yields(2, 8), Some(&trailer)));
        assert!(!filter.admits(&yields(1, 9), Some(&trailer)));
        assert!(!filter.admits(&yields(1, 8), None));
    }
}
