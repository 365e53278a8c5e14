//! Events become STD text.

use std::io::{self, Write};

use super::{NO_OPERAND, OPERAND_BYTES, location, operand};
use crate::action::Action;
use crate::allocations::{Allocations, Location};
use crate::event::{Event, EventKind, Footprint, LockChange, LockMode};
use crate::ids::{Address, EventIndex, ThreadId};
use crate::names::Names;
use crate::sharing::MAX_RANGE_BYTES;

/// Writes events as STD text, when shown each in trace order.
#[derive(Clone, Debug)]
pub struct StdExport<'a> {
    names: Option<&'a Names>,
    allocations: Allocations,
    index: EventIndex,
    /// The end of the line before, which the very last line may lack.
    pending_end: &'static str,
}

impl<'a> StdExport<'a> {
    /// An exporter at the start of a trace; an imported one gives its names.
    #[must_use]
    pub fn new(names: Option<&'a Names>) -> Self {
        Self {
            names,
            allocations: Allocations::default(),
            index: EventIndex(0),
            pending_end: "",
        }
    }

    /// Writes the lines for an event, if STD has any.
    pub fn write(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        self.allocations.observe(event);
        match event.kind {
            EventKind::Action { action, .. } => self.write_action(event, &action, out)?,
            _ => self.write_access(event, out)?,
        }
        self.index.0 += 1;
        Ok(())
    }

    /// Ends the text.
    pub fn finish(self, out: &mut impl Write) -> io::Result<()> {
        let unterminated = self.names.is_some_and(|names| names.unterminated);
        out.write_all(if unterminated {
            b""
        } else {
            self.pending_end.as_bytes()
        })
    }

    fn write_action(
        &mut self,
        event: &Event,
        action: &Action,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let thread = |id| self.thread(id);
        let lock = |lock| self.operand('L', lock);
        let (op, operand) = match *action {
            Action::Fork { child } => ("fork", thread(child)),
            Action::Join { thread: joined, .. } => ("join", thread(joined)),
            Action::Begin { .. } | Action::End => {
                let exception = self
                    .names
                    .and_then(|names| names.exceptions.get(&self.index));
                let operand = exception.map_or(NO_OPERAND, String::as_str).to_owned();
                (
                    if *action == Action::End {
                        "end"
                    } else {
                        "begin"
                    },
                    operand,
                )
            }
            Action::Request { lock: wanted, .. } => ("req", lock(wanted)),
            _ => return self.write_access(event, out),
        };
        self.line(event, op, &operand, out)
    }

    fn write_access(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        if let Some(action) = event.lock_action() {
            return self.write_lock(event, action.lock, action.change, out);
        }
        let Some(Footprint {
            addr,
            len,
            reads,
            writes,
            ..
        }) = event.footprint()
        else {
            return Ok(());
        };
        let is_range = matches!(
            event.kind,
            EventKind::RangeRead { .. } | EventKind::RangeWrite { .. } | EventKind::Action { .. }
        );
        let words = if is_range {
            len.min(MAX_RANGE_BYTES).div_ceil(OPERAND_BYTES)
        } else {
            1
        };
        for word in 0..words {
            let operand = self.operand('V', addr.after(word.wrapping_mul(OPERAND_BYTES)));
            if reads {
                self.line(event, "r", &operand, out)?;
            }
            if writes {
                self.line(event, "w", &operand, out)?;
            }
        }
        Ok(())
    }

    fn write_lock(
        &mut self,
        event: &Event,
        lock: Address,
        change: LockChange,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match change {
            LockChange::Acquire(LockMode::Exclusive) => {
                self.line(event, "acq", &self.operand('L', lock), out)
            }
            LockChange::Release(LockMode::Exclusive) | LockChange::Downgrade => {
                self.line(event, "rel", &self.operand('L', lock), out)
            }
            LockChange::Acquire(LockMode::Shared) => {
                self.line(event, "r", &self.operand('V', lock), out)
            }
            LockChange::Release(LockMode::Shared) => Ok(()),
        }
    }

    fn line(
        &mut self,
        event: &Event,
        op: &str,
        operand: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let end = self.pending_end;
        write!(out, "{end}{}|{op}({operand})|", self.thread(event.thread))?;
        self.pending_end = if self.names.is_some_and(|names| names.crlf) {
            "\r\n"
        } else {
            "\n"
        };
        match (
            self.names.and_then(|names| location(names, event)),
            event.kind,
        ) {
            (Some(name), _) => write!(out, "{name}"),
            (None, EventKind::Action { pc, .. }) => write!(out, "{}", pc.0),
            (None, kind) => write!(out, "{}", kind.site().unwrap_or_default().0),
        }
    }

    fn thread(&self, id: ThreadId) -> String {
        let name = self.names.and_then(|names| names.threads.get(&id));
        name.cloned().unwrap_or_else(|| id.to_string())
    }

    fn operand(&self, prefix: char, address: Address) -> String {
        if let Some(name) = self.names.and_then(|names| operand(names, address)) {
            return name.to_owned();
        }
        match self.allocations.locate(address) {
            Location::Heap { alloc, offset } => format!("{prefix}{}.{offset}", alloc.0),
            Location::Other(address) => format!("{prefix}{address}"),
        }
    }
}
