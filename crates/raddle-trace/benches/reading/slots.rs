//! A stream as the slots of a recording, and from there into blocks as a recorder does it.

use std::collections::BTreeMap;

use raddle_trace::action::RawAction;
use raddle_trace::decode::SlotDecoder;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::{BLOCK_EVENTS, BlockBuilder, EventBlock};
use raddle_trace::ids::{ThreadId, Tick};
use raddle_trace::parts::SiteParts;
use raddle_trace::sites::SiteTable;
use raddle_trace::wire::{Image, MODULE_MAGIC, Mark, ModuleHeader, SiteKind};

use crate::Pieces;

const IMAGE: u64 = 0x5555_0000_0000;

/// The slots of each block, with the thread and tick at which it begins.
pub struct Recording {
    sites: SiteTable,
    blocks: Vec<(ThreadId, Tick, Vec<u8>)>,
}

impl Recording {
    pub fn new(events: &[Event]) -> Self {
        let blocks = events.chunks(BLOCK_EVENTS as usize);
        Self {
            sites: sites(events),
            blocks: blocks
                .map(|it| (it[0].thread, it[0].tick, slots(it)))
                .collect(),
        }
    }

    /// Makes every block; the sum of their events shows that all were there.
    pub fn make_blocks(&self, pieces: &mut Pieces) -> u64 {
        pieces.next = 0;
        let (mut builder, mut block) = (BlockBuilder::new(), EventBlock::default());
        let mut events = 0;
        for (thread, tick, slots) in &self.blocks {
            pieces.time(|| {
                let mut decoder = SlotDecoder::at(*thread, *tick, 0);
                let decoded = decoder.decode_bytes(&self.sites, slots, &mut builder);
                decoded.expect("slots were made of events");
                let packed = builder.finish(&mut block);
                packed.expect("a block is not too long");
            });
            events += block.events;
        }
        events
    }
}

fn slots(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |slot: [u64; 3]| slot.iter().for_each(|it| bytes.extend(it.to_le_bytes()));
    let extra = Mark::Extra as u64;
    let mut at = None;
    for event in events {
        if at != Some((event.thread, event.tick)) {
            put([Mark::Switch as u64, event.thread.0.into(), event.tick.0]);
        }
        at = Some((event.thread, event.next_tick()));
        if let Some(parts) = SiteParts::split(&event.kind) {
            put([IMAGE + u64::from(parts.site.0) * 8, parts.addr, parts.value]);
            if parts.shape.has_second_slot() {
                put([extra, parts.new, parts.stored.into()]);
            }
        }
        match event.kind {
            EventKind::Branches(outcomes) => {
                put([Mark::Branches as u64, 0, outcomes.to_sentinel()]);
            }
            EventKind::Action { pc, action } => {
                let raw = RawAction::from(action);
                put([raw.mark as u64, raw.object, raw.argument]);
                put([extra, pc.0, raw.second]);
            }
            _ => {}
        }
    }
    bytes
}

fn sites(events: &[Event]) -> SiteTable {
    let parts = events.iter().filter_map(|it| SiteParts::split(&it.kind));
    let shapes: BTreeMap<u32, _> = parts.map(|it| (it.site.0, it.shape)).collect();
    let first = size_of::<ModuleHeader>() as u32 / 8;
    let last = shapes.keys().last().copied().unwrap_or(first);
    let mut bytes = MODULE_MAGIC.to_le_bytes().to_vec();
    bytes.extend((last + 1 - first).to_le_bytes());
    bytes.extend([0; 8]);
    for site in first..=last {
        let record = match shapes.get(&site) {
            Some(it) => [it.kind as u8, it.order as u8, it.size, it.role as u8],
            None => [SiteKind::Read as u8, 0, 8, 0],
        };
        bytes.extend(record);
        bytes.extend((site - first).to_le_bytes());
    }
    let image = Image {
        start: IMAGE,
        len: bytes.len() as u64,
        offset: 0,
    };
    SiteTable::new(&bytes, &[image]).expect("records as a program has them")
}
