//! Gathers the events of one block.

use super::memory::{Form, Memory, Shape, mark_index};
use super::{
    ACTION, ADDR_SHIFT, ADDRS, BRANCHES, COLUMNS, MOST_EVENTS, OPS, OTHER_SHAPE, OTHER_SITE, REST,
    SAME_OBJECT, SEGMENT, SITE, SITES, VALUE_SHIFT, VALUES,
};
use crate::action::{Action, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::file::TARGET_BLOCK_BYTES;
use crate::file::bytes::put;
use crate::file::columns::{COLUMN_BYTES, ColumnWriter, MOST_BYTES, fold};
use crate::ids::{Address, EventIndex, ThreadId, Tick};
use crate::parts::SiteParts;

/// Events between two looks at the block's length. What comes in between fits behind it.
const STRIDE: u64 = 64;
const _: () = {
    // An action's byte and its four numbers, with the two of a segment before it.
    let most = 1 + 6 * MOST_BYTES;
    assert!(TARGET_BLOCK_BYTES + STRIDE as usize * most + MOST_BYTES <= COLUMN_BYTES);
    assert!(MOST_EVENTS.is_multiple_of(STRIDE));
};

/// Events of one block, so far.
#[derive(Debug)]
pub struct BlockEncoder {
    first: EventIndex,
    count: u64,
    columns: [ColumnWriter; COLUMNS],
    memory: Memory,
}

impl BlockEncoder {
    pub fn new(first: EventIndex) -> Self {
        Self {
            first,
            count: 0,
            columns: std::array::from_fn(|_| ColumnWriter::new()),
            memory: Memory::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the block has to be closed before another event comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count.is_multiple_of(STRIDE)
            && (self.count >= MOST_EVENTS
                || self.columns.iter().map(ColumnWriter::len).sum::<usize>() >= TARGET_BLOCK_BYTES)
    }

    pub fn next_index(&self) -> EventIndex {
        EventIndex(self.first.0 + self.count)
    }

    #[inline]
    pub fn push(&mut self, event: &Event) {
        if let Some(parts) = SiteParts::split(&event.kind) {
            self.push_site(event.thread, event.tick, &parts);
            return;
        }
        self.go_to(event.thread, event.tick, event.next_tick());
        match event.kind {
            EventKind::Branches(outcomes) => self.branches(outcomes),
            EventKind::Action { pc, action } => self.action(pc, action),
            _ => unreachable!("every other kind of event has a site"),
        }
    }

    /// Appends an event that has a site.
    #[inline(always)]
    pub fn push_site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        let slots = if parts.shape.has_second_slot() { 2 } else { 1 };
        self.go_to(thread, tick, tick.after(slots));
        self.site(parts);
    }

    /// Counts an event of this thread that lasts until tick `after`.
    #[inline(always)]
    fn go_to(&mut self, thread: ThreadId, tick: Tick, after: Tick) {
        if self.memory.thread != Some(thread) || self.memory.tick != tick {
            self.segment(thread, tick);
        }
        self.memory.tick = after;
        self.count += 1;
    }

    /// Puts the block's bytes into `raw`. The encoder is then at the start of the next block.
    pub fn take(&mut self, raw: &mut Vec<u8>) {
        raw.clear();
        put(raw, self.first.0);
        put(raw, self.count);
        for column in &self.columns {
            put(raw, column.len() as u64);
        }
        for column in &mut self.columns {
            raw.extend_from_slice(column.written());
            column.clear();
        }
        self.first = self.next_index();
        self.count = 0;
        self.memory.clear();
    }

    #[cold]
    fn segment(&mut self, thread: ThreadId, tick: Tick) {
        let expected = self.memory.resume(thread);
        self.columns[OPS].byte(SEGMENT);
        let rest = &mut self.columns[REST];
        rest.number(thread.0.into());
        rest.number(fold(tick.0.wrapping_sub(expected.0)));
    }

    #[inline(always)]
    fn site(&mut self, event: &SiteParts) {
        let (memory, site) = (&mut self.memory, event.site.0);
        let (foreseen, previous) = (memory.foreseen(), memory.site);
        let (addr_before, value_before) = (memory.addr, memory.value);
        let known = *memory.site(site);
        let packed = Shape::pack(event);
        let mut op = SITE;
        if site != foreseen {
            op |= OTHER_SITE;
            let delta = u64::from(site).wrapping_sub(previous.into());
            self.columns[SITES].number(fold(delta));
        }
        if packed != known.packed {
            op |= OTHER_SHAPE;
            for byte in packed.to_le_bytes() {
                self.columns[SITES].byte(byte);
            }
        }
        let addr_delta = event.addr.wrapping_sub(known.addr);
        let addr = if addr_delta == 0 {
            Form::Same
        } else if addr_delta == known.step {
            Form::Usual
        } else if event.addr == addr_before {
            Form::Before
        } else {
            Form::Delta
        };
        let (plain, delta) = (
            fold(event.value),
            fold(event.value.wrapping_sub(known.value)),
        );
        let value = if delta == 0 {
            Form::Same
        } else if event.value == value_before {
            Form::Before
        } else if plain <= delta {
            Form::Usual
        } else {
            Form::Delta
        };
        op |= (addr as u8) << ADDR_SHIFT | (value as u8) << VALUE_SHIFT;
        self.columns[OPS].byte(op);
        self.columns[ADDRS].number_if(fold(addr_delta), addr == Form::Delta);
        let values = &mut self.columns[VALUES];
        values.number_if(
            plain.min(delta),
            value == Form::Usual || value == Form::Delta,
        );
        if event.shape.has_second_slot() {
            values.number(fold(event.new.wrapping_sub(event.value)));
        }
        memory.learn(event, packed);
    }

    fn action(&mut self, pc: Address, action: Action) {
        let RawAction {
            mark,
            object,
            argument,
            second,
        } = action.into();
        let index = mark_index(mark);
        let numbers = [object, argument, second, pc.0];
        let known = std::mem::replace(&mut self.memory.actions[usize::from(index)], numbers);
        let before = std::mem::replace(&mut self.memory.object, object);
        self.columns[OPS].byte(ACTION | index << 2);
        let mut changed = 0;
        for at in 0..4 {
            changed |= u8::from(numbers[at] != known[at]) << at;
        }
        if object != known[0] && object == before {
            changed ^= 1 | SAME_OBJECT;
        }
        let rest = &mut self.columns[REST];
        rest.byte(changed);
        for at in 0..4 {
            let delta = fold(numbers[at].wrapping_sub(known[at]));
            rest.number_if(delta, changed >> at & 1 == 1);
        }
    }

    fn branches(&mut self, outcomes: Outcomes) {
        // At most 63 outcomes, so the count fits in six bits.
        let count = outcomes.count() as u8;
        self.columns[OPS].byte(BRANCHES | count << 2);
        let bits = outcomes.to_sentinel() ^ 1 << count;
        let rest = &mut self.columns[REST];
        for byte in &bits.to_le_bytes()[..usize::from(count).div_ceil(8)] {
            rest.byte(*byte);
        }
    }
}
