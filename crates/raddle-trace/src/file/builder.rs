//! Blocks of events that are made one by one, by whoever has the time.
//!
//! A block does not depend on those before it, so the blocks of a recording can be made by several threads and
//! still be the same, byte by byte, if each holds the same events.

use super::WriteError;
use super::block::{BlockKind, Payload};
use super::events::{BlockEncoder, MOST_EVENTS};
use crate::decode::EventSink;
use crate::event::{Event, EventKind};
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sharing::Private;
use crate::sites::Window;
use crate::wire::{FIRST_SITE_ADDRESS, SLOT_BYTES};

/// Most events of a block.
pub const BLOCK_EVENTS: u64 = MOST_EVENTS;

/// A block is packed if its sample gets so many times shorter. Packing takes long where it gains little.
const LEAST_FOLD: usize = 2;

/// Makes blocks, one after another.
#[derive(Debug)]
pub struct BlockBuilder {
    encoder: BlockEncoder,
    raw: Vec<u8>,
}

/// A block that is ready to be written.
#[derive(Clone, Debug, Default)]
pub struct EventBlock {
    /// How many events it holds.
    pub events: u64,
    /// Sites of its events; one may come more than once.
    pub sites: Vec<SiteId>,
    /// Return addresses of calls and program counters of actions; one may come more than once.
    pub pcs: Vec<Address>,
    /// Its last event that has a site: thread, tick and parts.
    pub last: Option<(ThreadId, Tick, SiteParts)>,
    pub(super) payload: Payload,
}

impl Default for BlockBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BlockBuilder {
    /// A builder at the start of a block.
    #[must_use]
    pub fn new() -> Self {
        Self {
            encoder: BlockEncoder::new(),
            raw: Vec::new(),
        }
    }

    /// Whether the block has no events yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.encoder.is_empty()
    }

    /// Whether the block has to be finished before another event comes.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.encoder.is_full()
    }

    /// Appends an event. The block must not be full.
    pub fn push(&mut self, event: &Event) {
        self.encoder.push(event);
    }

    /// Packs the block, in place of what `block` held. The builder is then at the start of another one.
    pub fn finish(&mut self, block: &mut EventBlock) -> Result<(), WriteError> {
        block.events = self.encoder.count();
        block.sites.clear();
        block.sites.extend(self.encoder.sites());
        block.pcs.clear();
        block.pcs.extend_from_slice(self.encoder.pcs());
        block.last = self.encoder.last();
        self.encoder.sample(&mut self.raw);
        let is_worth_it = block.payload.try_pack(&self.raw)? * LEAST_FOLD <= self.raw.len();
        self.encoder.take(&mut self.raw);
        if is_worth_it {
            block.payload.pack(BlockKind::Events, &self.raw)?;
        } else {
            block.payload.keep(&self.raw)?;
        }
        Ok(())
    }
}

impl EventSink for BlockBuilder {
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        self.encoder.push_site(thread, tick, parts);
    }

    fn other(&mut self, event: &Event) {
        self.encoder.push(event);
    }

    fn stretch(&mut self, thread: ThreadId, tick: Tick, window: &Window, slots: &[u8]) -> usize {
        self.encoder.stretch(thread, tick, window, slots)
    }
}

/// A builder that passes over what concerns one thread only: events of private sites, and outcomes of branches. What is
/// not passed over quickly is kept, and so is an event that no other of a site follows: it may be the last of the run. The
/// event after a hidden site is kept where the two are taken together.
#[derive(Debug)]
pub struct Sifting<'a> {
    /// Takes what is left.
    pub builder: &'a mut BlockBuilder,
    /// What is passed over.
    pub private: &'a Private,
}

impl Sifting<'_> {
    /// Whether the first slot is of a site in this window that is passed over.
    #[inline]
    fn passes_over(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> bool {
        let [slot, next, ..] = slots else {
            return false;
        };
        let is_private = |site| self.private.sites.contains(SiteId(site));
        head(next) >= FIRST_SITE_ADDRESS && window.number(head(slot)).is_some_and(is_private)
    }

    /// How many slots there are, from the first on, that are not passed over.
    fn kept(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> usize {
        let is_hidden = |site| self.private.hidden.contains(SiteId(site));
        let mut kept = 0;
        while kept < slots.len() && !self.passes_over(window, &slots[kept..]) {
            let site = window.number(head(&slots[kept]));
            kept += 1 + usize::from(site.is_some_and(is_hidden));
        }
        kept.min(slots.len())
    }
}

impl EventSink for Sifting<'_> {
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        self.builder.site(thread, tick, parts);
    }

    fn other(&mut self, event: &Event) {
        if !matches!(event.kind, EventKind::Branches(_)) {
            self.builder.other(event);
        }
    }

    fn stretch(&mut self, thread: ThreadId, tick: Tick, window: &Window, slots: &[u8]) -> usize {
        let (slots, _) = slots.as_chunks();
        let mut done = 0;
        loop {
            while self.passes_over(window, &slots[done..]) {
                done += 1;
            }
            let kept = self.kept(window, &slots[done..]);
            let bytes = slots[done..done + kept].as_flattened();
            let at = tick.after(done as u64);
            let taken = self.builder.stretch(thread, at, window, bytes);
            done += taken;
            if kept == 0 || taken < kept {
                return done;
            }
        }
    }
}

#[inline]
fn head(slot: &[u8; SLOT_BYTES]) -> u64 {
    let (words, _) = slot.as_chunks();
    u64::from_le_bytes(words[0])
}
