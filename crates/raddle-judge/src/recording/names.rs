//! Events and objects in words, for sentences.

use std::fmt;

use raddle_trace::event::{Event, EventKind, Footprint};
use raddle_trace::ids::{Address, EventIndex, ThreadId};
use raddle_trace::std_format;

use super::Recording;

/// An event as sentences name it: `event 12 (T1 write 0x5000 (8 bytes) = 7 at counter.c:14:9)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// Its position in the trace.
    pub index: EventIndex,
    words: String,
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} ({})", self.index, self.words)
    }
}

impl Recording<'_> {
    /// An event in words.
    pub(crate) fn name(&self, at: usize) -> EventName {
        let event = self.event(at);
        let mut words = format!("{} {}", self.thread_name(event.thread), self.what(event));
        if let Some(position) = self.position(event) {
            words.push_str(" at ");
            words.push_str(&position);
        }
        EventName {
            index: EventIndex(at as u64),
            words,
        }
    }

    /// A thread in words.
    pub(crate) fn thread_name(&self, thread: ThreadId) -> String {
        let names = self.tables().and_then(|tables| tables.names.as_ref());
        let name = names.and_then(|names| names.threads.get(&thread));
        name.map_or_else(|| thread.to_string(), String::clone)
    }

    /// An address in words: the name it has in an imported trace.
    pub(crate) fn address_name(&self, address: Address) -> String {
        let names = self.tables().and_then(|tables| tables.names.as_ref());
        let name = names.and_then(|names| std_format::operand(names, address));
        name.map_or_else(|| address.to_string(), str::to_owned)
    }

    fn what(&self, event: &Event) -> String {
        if !self.has_values() {
            if let Some(Footprint { addr, .. }) = event.footprint() {
                return format!("{} {}", event.kind.name(), self.address_name(addr));
            }
            if let Some(lock) = event.lock_action() {
                return format!("{} {}", event.kind.name(), self.address_name(lock.lock));
            }
        }
        event.kind.to_string()
    }

    fn position(&self, event: &Event) -> Option<String> {
        let tables = self.tables()?;
        if let Some(names) = &tables.names {
            return std_format::location(names, event).map(str::to_owned);
        }
        let positions = match event.kind {
            EventKind::Action { pc, .. } => tables.code(pc),
            _ => &tables.site(event.site()?)?.positions[..],
        };
        let own = positions
            .iter()
            .find(|position| !raddle_model::is_library_file(&position.file));
        Some(own.or(positions.first())?.short())
    }
}
