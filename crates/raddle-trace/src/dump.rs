//! A trace as text, one line an event.

use std::io::{self, Write};
use std::sync::Arc;

use crate::action::Action;
use crate::allocations::Allocations;
use crate::display::Number;
use crate::event::{Access, Event, EventKind};
use crate::file::Trailer;
use crate::ids::{Address, EventIndex};
use crate::names::Names;
use crate::std_format;

/// Prints events, when shown each in trace order.
#[derive(Clone, Debug, Default)]
pub struct Dumper {
    trailer: Option<Arc<Trailer>>,
    allocations: Allocations,
    index: EventIndex,
}

impl Dumper {
    /// A dumper at the start of a trace; without a trailer positions are site numbers.
    #[must_use]
    pub fn new(trailer: Option<Arc<Trailer>>) -> Self {
        Self {
            trailer,
            ..Self::default()
        }
    }

    /// Passes an event by without printing it.
    pub fn skip(&mut self, event: &Event) {
        self.allocations.observe(event);
        self.index.0 += 1;
    }

    /// Prints an event: index, thread and tick, what it did, source position. Nothing is at the
    /// end of a line that is not known.
    pub fn write(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        // An allocation is at its address from its own event on, a freed one still is in its own.
        let freed = matches!(
            event.kind,
            EventKind::Action {
                action: Action::Free { .. },
                ..
            }
        );
        if !freed {
            self.allocations.observe(event);
        }
        let named = self
            .names()
            .and_then(|names| names.threads.get(&event.thread));
        let thread = named.map_or_else(|| event.thread.to_string(), String::clone);
        let moment = format!("{thread}@{}", event.tick);
        let name = event
            .lock_action()
            .map_or(event.kind.name(), |action| action.change.name());
        let object = self.object(event);
        let position = self.position(event);
        let line = format!(
            "{:>8}  {moment:<12} {name:<14} {object:<28} {position}",
            self.index
        );
        writeln!(out, "{}", line.trim_end())?;
        if freed {
            self.allocations.observe(event);
        }
        self.index.0 += 1;
        Ok(())
    }

    fn names(&self) -> Option<&Names> {
        self.trailer
            .as_ref()
            .and_then(|trailer| trailer.names.as_ref())
    }

    fn place(&self, address: Address) -> String {
        match self
            .names()
            .and_then(|names| std_format::operand(names, address))
        {
            Some(name) => name.to_owned(),
            None => self.allocations.locate(address).to_string(),
        }
    }

    /// What the event did to what.
    fn object(&self, event: &Event) -> String {
        let place = |Access { addr, size, .. }: Access| format!("{}:{size}", self.place(addr));
        match event.kind {
            EventKind::Read(access) | EventKind::Write(access) if self.names().is_some() => {
                self.place(access.addr)
            }
            EventKind::Read(access)
            | EventKind::Write(access)
            | EventKind::AtomicLoad(access, _)
            | EventKind::AtomicStore(access, _) => {
                format!("{} = {}", place(access), Number(access.value))
            }
            EventKind::Rmw { access, new, .. } => {
                format!(
                    "{} = {} -> {}",
                    place(access),
                    Number(access.value),
                    Number(new)
                )
            }
            EventKind::Cas {
                access,
                new,
                success,
                ..
            } => {
                let failed = if success { "" } else { " (failed)" };
                format!(
                    "{} = {} -> {}{failed}",
                    place(access),
                    Number(access.value),
                    Number(new)
                )
            }
            EventKind::RangeRead { addr, len, .. } | EventKind::RangeWrite { addr, len, .. } => {
                format!("{}:{len}", self.place(addr))
            }
            EventKind::Action { action, .. } => match action.lock_action() {
                Some(lock) if action.is_try() => format!("{} (tried)", self.place(lock.lock)),
                Some(lock) => self.place(lock.lock),
                None => without_first_word(&action.to_string()),
            },
            kind => without_first_word(&kind.to_string()),
        }
    }

    fn position(&self, event: &Event) -> String {
        if let Some(names) = self.names() {
            return std_format::location(names, event)
                .unwrap_or_default()
                .to_owned();
        }
        let trailer = self.trailer.as_deref();
        if let EventKind::Action { pc, .. } = event.kind {
            let position = trailer.and_then(|trailer| trailer.code(pc).first());
            let object = trailer.and_then(|trailer| trailer.object(pc));
            let object = object.map(|it| format!(" ({})", it.name));
            let object = object.unwrap_or_default();
            return match position {
                Some(position) => format!("{position} {}{object}", position.function),
                None if pc == Address(0) => String::new(),
                None => format!("pc {pc}"),
            };
        }
        let Some(site) = event.site() else {
            return String::new();
        };
        let Some(info) = trailer.and_then(|trailer| trailer.site(site)) else {
            return site.to_string();
        };
        let variable = info
            .variable
            .as_ref()
            .map(|it| format!(" ({})", it.name))
            .unwrap_or_default();
        match info.positions.first() {
            Some(position) => format!("{position} {}{variable}", position.function),
            None => format!("{site}{variable}"),
        }
    }
}

/// The name of the event has its own column.
fn without_first_word(text: &str) -> String {
    text.split_once(' ')
        .map_or_else(String::new, |(_, rest)| rest.to_owned())
}
