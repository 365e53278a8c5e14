//! From the slots in shared memory to events.
//!
//! Slots come from a program that may have been killed between any two of them, or that may have
//! written over them: what makes no sense is an error that says which slot, never a panic.

use crate::action::{Action, BadAction, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::ids::{Address, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::{SiteTable, Window};
use crate::wire::{FIRST_SITE_ADDRESS, Mark, SLOT_BYTES, SiteKind, Slot};

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

/// Takes the events of a run as they are decoded.
pub trait EventSink {
    /// Takes an event that has a site. Most events are such, so they come in parts.
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts);

    /// Takes any other event.
    fn other(&mut self, event: &Event);

    /// Takes this thread's events from the slots themselves, from the first on, as far as the site of each,
    /// of this window, came up before. Says how many slots it took.
    fn stretch(&mut self, thread: ThreadId, tick: Tick, window: &Window, slots: &[u8]) -> usize {
        let _ = (thread, tick, window, slots);
        0
    }
}

impl EventSink for Vec<Event> {
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        let kind = parts.join();
        self.push(Event { thread, tick, kind });
    }

    fn other(&mut self, event: &Event) {
        self.push(*event);
    }
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
    bytes.chunks_exact(SLOT_BYTES).map(slot_of)
}

fn slot_of(bytes: &[u8]) -> Slot {
    let number = |at: usize| {
        let bytes = bytes[at..at + 8].try_into();
        u64::from_le_bytes(bytes.expect("eight bytes"))
    };
    Slot {
        head: number(0),
        addr: number(8),
        value: number(16),
    }
}

impl SlotDecoder {
    /// A decoder at the start of a run, where the first thread runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder in the middle of a run, before slot `position`, which is this thread's at this tick.
    #[must_use]
    pub fn at(thread: ThreadId, tick: Tick, position: u64) -> Self {
        Self {
            thread,
            tick,
            position,
            pending: None,
        }
    }

    /// Hands a chunk's events to `sink`, up to the chunk's end or its first empty slot.
    ///
    /// After an error the sink has the chunk's earlier events and decoding cannot go on.
    pub fn decode(
        &mut self,
        sites: &SiteTable,
        slots: impl IntoIterator<Item = Slot>,
        sink: &mut impl EventSink,
    ) -> Result<(), DecodeError> {
        let mut window = Window::default();
        for slot in slots {
            if slot.head == Mark::Empty as u64 {
                break;
            }
            let stepped = self.step(sites, &mut window, slot, sink);
            stepped.map_err(|what| self.error(what))?;
            self.position += 1;
        }
        Ok(())
    }

    /// The same for the bytes of a chunk, of which the sink may take many at a time.
    pub fn decode_bytes(
        &mut self,
        sites: &SiteTable,
        mut bytes: &[u8],
        sink: &mut impl EventSink,
    ) -> Result<(), DecodeError> {
        let mut window = Window::default();
        loop {
            if self.pending.is_none() {
                let taken = sink.stretch(self.thread, self.tick, &window, bytes);
                self.tick = self.tick.after(taken as u64);
                self.position += taken as u64;
                bytes = &bytes[taken * SLOT_BYTES..];
            }
            let Some((slot, rest)) = bytes.split_at_checked(SLOT_BYTES) else {
                return Ok(());
            };
            let slot = slot_of(slot);
            if slot.head == Mark::Empty as u64 {
                return Ok(());
            }
            let stepped = self.step(sites, &mut window, slot, sink);
            stepped.map_err(|what| self.error(what))?;
            self.position += 1;
            bytes = rest;
        }
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

    #[inline(always)]
    fn step(
        &mut self,
        sites: &SiteTable,
        window: &mut Window,
        slot: Slot,
        sink: &mut impl EventSink,
    ) -> Result<(), BadSlot> {
        if let Some(first) = self.pending.take() {
            return self.second_slot(first, slot, sink);
        }
        if slot.head >= FIRST_SITE_ADDRESS {
            let head = Address(slot.head);
            let found = sites.resolve_near(head, window);
            let (site, mut shape) = found.ok_or(BadSlot::UnknownSite(head))?;
            if shape.kind > SiteKind::Cas {
                // Not an access of so many bytes, whatever its record says.
                shape.size = 0;
            }
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
            } else {
                sink.site(self.thread, self.tick, &parts);
                self.tick = self.tick.after(1);
            }
            return Ok(());
        }
        self.mark(slot, sink)
    }

    #[inline(never)]
    fn mark(&mut self, slot: Slot, sink: &mut impl EventSink) -> Result<(), BadSlot> {
        let mark = u16::try_from(slot.head).ok().and_then(Mark::from_u16);
        match mark.ok_or(BadSlot::UnknownMark(slot.head))? {
            // `decode` stops at the first empty slot.
            Mark::Empty => Ok(()),
            Mark::Extra => Err(BadSlot::LoneExtra),
            Mark::Switch => {
                let number = u32::try_from(slot.addr).map_err(|_| BadSlot::Thread(slot.addr))?;
                (self.thread, self.tick) = (ThreadId(number), Tick(slot.value));
                Ok(())
            }
            Mark::Branches => {
                let outcomes = Outcomes::from_sentinel(slot.value).ok_or(BadSlot::NoSentinel)?;
                self.emit(EventKind::Branches(outcomes), sink);
                Ok(())
            }
            mark => {
                self.pending = Some(Pending::Action { mark, slot });
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn second_slot(
        &mut self,
        first: Pending,
        extra: Slot,
        sink: &mut impl EventSink,
    ) -> Result<(), BadSlot> {
        if extra.head != Mark::Extra as u64 {
            return Err(BadSlot::MissingExtra);
        }
        match first {
            Pending::Site(parts) => {
                let stores = parts.shape.kind == SiteKind::Cas && extra.value != 0;
                let parts = SiteParts {
                    new: extra.addr,
                    stored: stores,
                    ..parts
                };
                sink.site(self.thread, self.tick, &parts);
                self.tick = self.tick.after(2);
            }
            Pending::Action { mark, slot } => {
                let (object, argument, second) = (slot.addr, slot.value, extra.value);
                let action = Action::try_from(RawAction {
                    mark,
                    object,
                    argument,
                    second,
                })?;
                let pc = Address(extra.addr);
                self.emit(EventKind::Action { pc, action }, sink);
            }
        }
        Ok(())
    }

    fn emit(&mut self, kind: EventKind, sink: &mut impl EventSink) {
        let event = Event {
            thread: self.thread,
            tick: self.tick,
            kind,
        };
        self.tick = event.next_tick();
        sink.other(&event);
    }
}
