//! Blocks of events that are made one by one, by whoever has the time.
//!
//! A block does not depend on those before it, so the blocks of a recording can be made by several threads and
//! still be the same, byte by byte, if each holds the same events.

use super::WriteError;
use super::block::{BlockKind, Payload};
use super::events::{BlockEncoder, MOST_EVENTS};
use crate::decode::EventSink;
use crate::event::Event;
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::Window;

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
