//! Event blocks: how events become few bytes.
//!
//! A block is its first event's index, its number of events, then one control byte an event with
//! what could not be foreseen behind it. The lowest two bits of a control byte say which of four:
//!
//! - a site's event: bit 2 clear if the site is the one that followed last time, bit 3 clear if
//!   the site is of the same kind as last time, bits 4–5 the address (as last time, last time's
//!   step further, else a difference), bits 6–7 the value (as last time, a difference, plain);
//! - an action: mark in the bits above, then a byte that says which numbers changed since the
//!   last such action, then their differences;
//! - branch outcomes: their count in the bits above, then the outcomes, eight a byte;
//! - a segment: the events that follow are another thread's, or its ticks jumped.
//!
//! What happened last time is kept in a table of fixed size, by the low bits of the site's number.
//! Two sites that share an entry cost bytes, never correctness, since writer and reader update it
//! alike. The table starts afresh in every block.

use std::collections::BTreeMap;

use super::bytes::{Cursor, put, put_delta};
use super::rows::Malformed;
use crate::action::{Action, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::SiteShape;
use crate::wire::{Mark, SiteKind};

const SITE: u8 = 0;
const ACTION: u8 = 1;
const BRANCHES: u8 = 2;
const SEGMENT: u8 = 3;

const OTHER_SITE: u8 = 1 << 2;
const OTHER_SHAPE: u8 = 1 << 3;
const ADDR_SHIFT: u8 = 4;
const VALUE_SHIFT: u8 = 6;

const SAME: u8 = 0;
const STEP: u8 = 1;
const DELTA: u8 = 2;
const PLAIN: u8 = 1;

const TABLE: usize = 1024;
const MARKS: usize = 64;

/// Set in the kind of a compare-exchange that stored.
const STORED: u8 = 0x80;

/// Marks are stored in six bits, counted from the first action.
const FIRST_ACTION: u16 = Mark::Fork as u16;
const _: () = {
    let mut index = 0;
    while index < Mark::ALL.len() {
        assert!((Mark::ALL[index] as u16) < FIRST_ACTION + MARKS as u16);
        index += 1;
    }
};

#[derive(Clone, Copy, Debug, Default)]
struct SiteMemory {
    /// Kind (with [`STORED`]), order, size, role.
    shape: [u8; 4],
    addr: u64,
    step: u64,
    value: u64,
    /// The site that came after this one.
    next: u32,
}

/// What writer and reader remember within a block.
#[derive(Clone, Debug)]
struct Memory {
    sites: Vec<SiteMemory>,
    actions: [[u64; 4]; MARKS],
    /// The tick at which each thread goes on.
    ticks: BTreeMap<ThreadId, Tick>,
    thread: Option<ThreadId>,
    tick: Tick,
    previous: u32,
}

impl Memory {
    fn new() -> Self {
        Self {
            sites: vec![SiteMemory::default(); TABLE],
            actions: [[0; 4]; MARKS],
            ticks: BTreeMap::new(),
            thread: None,
            tick: Tick(0),
            previous: 0,
        }
    }

    fn site(&mut self, site: u32) -> &mut SiteMemory {
        &mut self.sites[site as usize % TABLE]
    }

    fn resume(&mut self, thread: ThreadId) -> Tick {
        if let Some(stopped) = self.thread.replace(thread) {
            self.ticks.insert(stopped, self.tick);
        }
        self.ticks.get(&thread).copied().unwrap_or_default()
    }

    fn learn_successor(&mut self, site: u32) {
        let previous = std::mem::replace(&mut self.previous, site);
        self.site(previous).next = site;
    }
}

impl SiteMemory {
    fn learn(&mut self, event: &SiteParts, shape: [u8; 4]) {
        self.shape = shape;
        self.step = event.addr.wrapping_sub(self.addr);
        self.addr = event.addr;
        self.value = event.value;
    }
}

/// Gathers the events of one block.
#[derive(Debug)]
pub struct BlockEncoder {
    first: EventIndex,
    count: u64,
    body: Vec<u8>,
    memory: Memory,
}

impl BlockEncoder {
    pub fn new(first: EventIndex) -> Self {
        Self {
            first,
            count: 0,
            body: Vec::new(),
            memory: Memory::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.body.len()
    }

    pub fn next_index(&self) -> EventIndex {
        EventIndex(self.first.0 + self.count)
    }

    pub fn push(&mut self, event: &Event) {
        if self.memory.thread != Some(event.thread) || self.memory.tick != event.tick {
            let expected = self.memory.resume(event.thread);
            self.body.push(SEGMENT);
            put(&mut self.body, event.thread.0.into());
            put_delta(&mut self.body, expected.0, event.tick.0);
        }
        self.memory.tick = event.next_tick();
        self.count += 1;
        match event.kind {
            EventKind::Branches(outcomes) => self.push_branches(outcomes),
            EventKind::Action { pc, action } => self.push_action(pc, action),
            _ => {
                let parts = SiteParts::split(&event.kind);
                self.push_site(&parts.expect("every other kind of event has a site"));
            }
        }
    }

    /// The block's bytes. The encoder is then at the start of the next block.
    pub fn take(&mut self) -> Vec<u8> {
        let mut raw = Vec::with_capacity(self.body.len() + 16);
        put(&mut raw, self.first.0);
        put(&mut raw, self.count);
        raw.append(&mut self.body);
        let body = std::mem::take(&mut self.body);
        *self = Self {
            body,
            ..Self::new(self.next_index())
        };
        raw
    }

    fn push_site(&mut self, event: &SiteParts) {
        let (site, shape) = (event.site.0, shape_bytes(event));
        let previous = self.memory.previous;
        let foreseen = self.memory.site(previous).next;
        let known = *self.memory.site(site);
        let mut control = SITE;
        if site != foreseen {
            control |= OTHER_SITE;
        }
        if shape != known.shape {
            control |= OTHER_SHAPE;
        }
        let addr = match event.addr.wrapping_sub(known.addr) {
            0 => SAME,
            step if step == known.step => STEP,
            _ => DELTA,
        };
        let value = match event.value {
            value if value == known.value => SAME,
            value if value < 0x80 => PLAIN,
            _ => DELTA,
        };
        let out = &mut self.body;
        out.push(control | addr << ADDR_SHIFT | value << VALUE_SHIFT);
        if control & OTHER_SITE != 0 {
            put_delta(out, previous.into(), site.into());
        }
        if control & OTHER_SHAPE != 0 {
            out.extend_from_slice(&shape);
        }
        if addr == DELTA {
            put_delta(out, known.addr, event.addr);
        }
        match value {
            PLAIN => out.push(event.value as u8),
            DELTA => put_delta(out, known.value, event.value),
            _ => {}
        }
        if event.shape.has_second_slot() {
            put_delta(out, event.value, event.new);
        }
        self.memory.learn_successor(site);
        self.memory.site(site).learn(event, shape);
    }

    fn push_action(&mut self, pc: Address, action: Action) {
        let RawAction {
            mark,
            object,
            argument,
            second,
        } = action.into();
        let index = (mark as u16 - FIRST_ACTION) as u8;
        let numbers = [object, argument, second, pc.0];
        let known = std::mem::replace(&mut self.memory.actions[usize::from(index)], numbers);
        self.body.push(ACTION | index << 2);
        let changed = (0..4).filter(|&at| numbers[at] != known[at]);
        self.body.push(changed.clone().map(|at| 1 << at).sum());
        for at in changed {
            put_delta(&mut self.body, known[at], numbers[at]);
        }
    }

    fn push_branches(&mut self, outcomes: Outcomes) {
        // At most 63 outcomes, so the count fits in six bits.
        let count = outcomes.count() as u8;
        self.body.push(BRANCHES | count << 2);
        let bytes = outcomes.to_sentinel().to_le_bytes();
        self.body
            .extend_from_slice(&bytes[..usize::from(count).div_ceil(8)]);
        if !count.is_multiple_of(8) {
            let last = self.body.len() - 1;
            self.body[last] &= (1 << (count % 8)) - 1;
        }
    }
}

/// Hands out the events of one block.
#[derive(Debug)]
pub struct BlockDecoder {
    raw: Vec<u8>,
    at: usize,
    next: EventIndex,
    left: u64,
    memory: Memory,
}

impl BlockDecoder {
    pub fn new(raw: Vec<u8>) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(&raw, 0);
        let (first, left) = (cursor.number()?, cursor.number()?);
        let at = cursor.at();
        Ok(Self {
            raw,
            at,
            next: EventIndex(first),
            left,
            memory: Memory::new(),
        })
    }

    /// Index of the next event.
    pub fn next_index(&self) -> EventIndex {
        self.next
    }

    /// The next event, or `None` behind the last.
    pub fn next(&mut self) -> Result<Option<Event>, Malformed> {
        let mut cursor = Cursor::new(&self.raw, self.at);
        if self.left == 0 {
            let rest = cursor.is_at_end();
            return if rest {
                Ok(None)
            } else {
                Err(cursor.malformed("bytes behind the last event"))
            };
        }
        let event = decode_event(&mut cursor, &mut self.memory)?;
        self.at = cursor.at();
        self.left -= 1;
        self.next = EventIndex(self.next.0.wrapping_add(1));
        Ok(Some(event))
    }
}

fn decode_event(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Event, Malformed> {
    let mut control = cursor.byte()?;
    if control & 3 == SEGMENT {
        let thread = ThreadId(cursor.number_u32()?);
        let expected = memory.resume(thread);
        memory.tick = Tick(cursor.delta(expected.0)?);
        control = cursor.byte()?;
    }
    let thread = memory
        .thread
        .ok_or_else(|| cursor.malformed("an event without a thread"))?;
    let kind = match control & 3 {
        SITE => decode_site(cursor, memory, control)?,
        ACTION => decode_action(cursor, memory, control >> 2)?,
        BRANCHES => decode_branches(cursor, control >> 2)?,
        _ => return Err(cursor.malformed("a segment without events")),
    };
    let event = Event {
        thread,
        tick: memory.tick,
        kind,
    };
    memory.tick = event.next_tick();
    Ok(event)
}

fn decode_site(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    control: u8,
) -> Result<EventKind, Malformed> {
    let previous = memory.previous;
    let site = if control & OTHER_SITE == 0 {
        memory.site(previous).next
    } else {
        let site = cursor.delta(previous.into())?;
        u32::try_from(site).map_err(|_| cursor.malformed("a site number of more than 32 bits"))?
    };
    let known = *memory.site(site);
    let mut shape = known.shape;
    if control & OTHER_SHAPE != 0 {
        shape.copy_from_slice(cursor.take(4)?);
    }
    let addr = match control >> ADDR_SHIFT & 3 {
        SAME => known.addr,
        STEP => known.addr.wrapping_add(known.step),
        DELTA => cursor.delta(known.addr)?,
        _ => return Err(cursor.malformed("an address of unknown form")),
    };
    let value = match control >> VALUE_SHIFT & 3 {
        SAME => known.value,
        PLAIN => cursor.byte()?.into(),
        DELTA => cursor.delta(known.value)?,
        _ => return Err(cursor.malformed("a value of unknown form")),
    };
    let (decoded, stored) =
        read_shape(shape).ok_or_else(|| cursor.malformed("a site of unknown kind"))?;
    let new = if decoded.has_second_slot() {
        cursor.delta(value)?
    } else {
        0
    };
    let event = SiteParts {
        site: SiteId(site),
        shape: decoded,
        addr,
        value,
        new,
        stored,
    };
    memory.learn_successor(site);
    memory.site(site).learn(&event, shape);
    Ok(event.join())
}

fn decode_action(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    index: u8,
) -> Result<EventKind, Malformed> {
    let mark = Mark::from_u16(FIRST_ACTION + u16::from(index));
    let mark = mark.ok_or_else(|| cursor.malformed("an action of unknown kind"))?;
    let numbers = &mut memory.actions[usize::from(index)];
    let changed = cursor.byte()?;
    for (at, number) in numbers.iter_mut().enumerate() {
        if changed >> at & 1 == 1 {
            *number = cursor.delta(*number)?;
        }
    }
    let [object, argument, second, pc] = *numbers;
    let action = Action::try_from(RawAction {
        mark,
        object,
        argument,
        second,
    });
    let action = action.map_err(|_| cursor.malformed("an action whose numbers make no sense"))?;
    Ok(EventKind::Action {
        pc: Address(pc),
        action,
    })
}

fn decode_branches(cursor: &mut Cursor<'_>, count: u8) -> Result<EventKind, Malformed> {
    let stored = cursor.take(u64::from(count.div_ceil(8)))?;
    let mut bytes = [0; 8];
    bytes[..stored.len()].copy_from_slice(stored);
    let bits = u64::from_le_bytes(bytes);
    let sentinel = 1 << count;
    if bits >= sentinel {
        return Err(cursor.malformed("more branch outcomes than counted"));
    }
    let outcomes = Outcomes::from_sentinel(sentinel | bits);
    outcomes
        .map(EventKind::Branches)
        .ok_or_else(|| cursor.malformed("no branch outcomes"))
}

fn shape_bytes(event: &SiteParts) -> [u8; 4] {
    let SiteShape {
        kind,
        order,
        size,
        role,
    } = event.shape;
    let stored = if event.stored { STORED } else { 0 };
    [kind as u8 | stored, order as u8, size, role as u8]
}

fn read_shape([kind, order, size, role]: [u8; 4]) -> Option<(SiteShape, bool)> {
    let stored = kind & STORED != 0;
    let shape = SiteShape::from_raw(kind & !STORED, order, size, role)?;
    (!stored || shape.kind == SiteKind::Cas).then_some((shape, stored))
}
