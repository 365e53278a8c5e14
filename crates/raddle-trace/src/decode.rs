//! From the slots in shared memory to events.
//!
//! Slots come from a program that may have been killed between any two of them, or that may have
//! written over them: what makes no sense is an error that says which slot, never a panic.

use crate::action::{Action, BadAction, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::ids::{Address, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::SiteTable;
use crate::wire::{FIRST_SITE_ADDRESS, Mark, SLOT_BYTES, Slot};

/// Decodes chunk after chunk of one run.
#[derive(Clone, Debug, Default)]
pub struct SlotDecoder {
    thread: ThreadId,
    tick: Tick,
    /// Slots seen, for messages.
    position: u64,
    /// The first slot of an event of two.
    pending: Option<Pending>,
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    Site(SiteParts),
    Action { mark: Mark, slot: Slot },
}

/// A slot that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("slot {position} ({thread}@{tick}): {what}")]
pub struct DecodeError {
    /// Number of the slot in the run.
    pub position: u64,
    /// The thread whose slot it is.
    pub thread: ThreadId,
    /// Its tick.
    pub tick: Tick,
    /// What is wrong.
    pub what: BadSlot,
}

/// What is wrong with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSlot {
    /// A small number that is not a mark.
    #[error("unknown mark {0}")]
    UnknownMark(u64),
    /// A head that leads to no record.
    #[error("head {0} is not the address of a site of any loaded image")]
    UnknownSite(Address),
    /// A second slot without a first.
    #[error("second slot of an event whose first slot is missing")]
    LoneExtra,
    /// A first slot without a second.
    #[error("the second slot of the event before is missing")]
    MissingExtra,
    /// A switch to a thread whose number does not fit.
    #[error("switch to thread {0}, and thread numbers are 32 bits wide")]
    Thread(u64),
    /// Branch outcomes without their sentinel.
    #[error("branch outcomes without a sentinel bit")]
    NoSentinel,
    /// An action with a meaningless number.
    #[error(transparent)]
    Action(#[from] BadAction),
}

/// The run ended between the two slots of an event, which is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// The thread.
    pub thread: ThreadId,
    /// The event's tick.
    pub tick: Tick,
}

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { thread, tick } = self;
        write!(
            f,
            "the program stopped in the middle of event {thread}@{tick}, which is left out"
        )
    }
}

/// Splits shared memory into slots; bytes behind the last whole slot are ignored.
pub fn slots(bytes: &[u8]) -> impl Iterator<Item = Slot> {
    let number = |bytes: &[u8]| {
        u64::from_le_bytes(bytes.try_into().expect("chunks_exact gives eight bytes"))
    };
    bytes.chunks_exact(SLOT_BYTES).map(move |slot| Slot {
        head: number(&slot[..8]),
        addr: number(&slot[8..16]),
        value: number(&slot[16..]),
    })
}

impl SlotDecoder {
    /// A decoder at the start of a run, where the first thread runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a chunk's events to `events`, up to the chunk's end or its first empty slot.
    ///
    /// After an error the chunk's earlier events are in `events` and decoding cannot go on.
    pub fn decode(
        &mut self,
        sites: &SiteTable,
        slots: impl IntoIterator<Item = Slot>,
        events: &mut Vec<Event>,
    ) -> Result<(), DecodeError> {
        for slot in slots {
            if slot.head == Mark::Empty as u64 {
                break;
            }
            let event = self.step(sites, slot).map_err(|what| self.error(what))?;
            self.position += 1;
            if let Some(event) = event {
                events.push(event);
            }
        }
        Ok(())
    }

    /// The thread whose events come next, and its tick.
    #[must_use]
    pub fn current(&self) -> (ThreadId, Tick) {
        (self.thread, self.tick)
    }

    /// At the end of the run: whether its last event was cut in two.
    #[must_use]
    pub fn finish(self) -> Option<Incomplete> {
        self.pending.map(|_| Incomplete {
            thread: self.thread,
            tick: self.tick,
        })
    }

    fn error(&self, what: BadSlot) -> DecodeError {
        DecodeError {
            position: self.position,
            thread: self.thread,
            tick: self.tick,
            what,
        }
    }

    fn step(&mut self, sites: &SiteTable, slot: Slot) -> Result<Option<Event>, BadSlot> {
        if let Some(first) = self.pending {
            if slot.head != Mark::Extra as u64 {
                return Err(BadSlot::MissingExtra);
            }
            let kind = second_slot(first, slot)?;
            self.pending = None;
            return Ok(Some(self.emit(kind)));
        }
        if slot.head >= FIRST_SITE_ADDRESS {
            let head = Address(slot.head);
            let found = sites.resolve(head);
            let (site, shape) = found.ok_or(BadSlot::UnknownSite(head))?;
            let Slot { addr, value, .. } = slot;
            let parts = SiteParts {
                site,
                shape,
                addr,
                value,
                new: 0,
                stored: false,
            };
            if shape.has_second_slot() {
                self.pending = Some(Pending::Site(parts));
                return Ok(None);
            }
            return Ok(Some(self.emit(parts.join())));
        }
        let mark = u16::try_from(slot.head).ok().and_then(Mark::from_u16);
        match mark.ok_or(BadSlot::UnknownMark(slot.head))? {
            // `decode` stops at the first empty slot.
            Mark::Empty => Ok(None),
            Mark::Extra => Err(BadSlot::LoneExtra),
            Mark::Switch => {
                let number = u32::try_from(slot.addr).map_err(|_| BadSlot::Thread(slot.addr))?;
                (self.thread, self.tick) = (ThreadId(number), Tick(slot.value));
                Ok(None)
            }
            Mark::Branches => {
                let outcomes = Outcomes::from_sentinel(slot.value).ok_or(BadSlot::NoSentinel)?;
                Ok(Some(self.emit(EventKind::Branches(outcomes))))
            }
            mark => {
                self.pending = Some(Pending::Action { mark, slot });
                Ok(None)
            }
        }
    }

    fn emit(&mut self, kind: EventKind) -> Event {
        let event = Event {
            thread: self.thread,
            tick: self.tick,
            kind,
        };
        self.tick = event.next_tick();
        event
    }
}

fn second_slot(first: Pending, extra: Slot) -> Result<EventKind, BadSlot> {
    match first {
        Pending::Action { mark, slot } => {
            let (object, argument, second) = (slot.addr, slot.value, extra.value);
            let action = Action::try_from(RawAction {
                mark,
                object,
                argument,
                second,
            })?;
            Ok(EventKind::Action {
                pc: Address(extra.addr),
                action,
            })
        }
        Pending::Site(parts) => Ok(SiteParts {
            new: extra.addr,
            stored: extra.value != 0,
            ..parts
        }
        .join()),
    }
}
