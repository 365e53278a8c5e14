//! Hands out the events of one block, many at a time.

use super::memory::{Memory, Shape, mark_at};
use super::{
    ACTION, ADDR_SHIFT, ADDRS, BRANCHES, COLUMNS, MOST_EVENTS, OPS, OTHER_SHAPE, OTHER_SITE, REST,
    SAME_OBJECT, SEGMENT, SITE, SITES, VALUE_SHIFT, VALUES,
};
use crate::action::{Action, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::file::MAX_SITES;
use crate::file::bytes::Cursor;
use crate::file::columns::{ColumnReader, PADDING, unfold};
use crate::file::rows::Malformed;
use crate::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;

/// Events decoded at once: they stay in the processor's nearest cache.
const BATCH: u64 = 256;

/// What is left of one block.
#[derive(Debug)]
pub struct BlockDecoder {
    /// The block's bytes and [`PADDING`].
    raw: Vec<u8>,
    columns: [ColumnReader; COLUMNS],
    first: EventIndex,
    left: u64,
    memory: Memory,
}

impl BlockDecoder {
    /// A decoder without a block.
    pub fn new() -> Self {
        Self {
            raw: Vec::new(),
            columns: [ColumnReader::new(0, 0); COLUMNS],
            first: EventIndex(0),
            left: 0,
            memory: Memory::new(),
        }
    }

    /// Turns to another block, whose bytes it exchanges for those of the last one.
    pub fn start(&mut self, raw: &mut Vec<u8>) -> Result<(), Malformed> {
        std::mem::swap(&mut self.raw, raw);
        self.memory.clear();
        self.left = 0;
        let mut cursor = Cursor::new(&self.raw, 0);
        let (first, left) = (cursor.number()?, cursor.number()?);
        let mut lengths = [0; COLUMNS];
        for length in &mut lengths {
            *length = cursor.number()?;
        }
        for (column, length) in self.columns.iter_mut().zip(lengths) {
            let at = cursor.at();
            cursor.take(length)?;
            *column = ColumnReader::new(at, cursor.at());
        }
        if !cursor.is_at_end() {
            return Err(cursor.malformed("bytes behind the last column"));
        }
        if left > MOST_EVENTS || first.checked_add(left).is_none() {
            return Err(cursor.malformed("more events than a block may have"));
        }
        (self.first, self.left) = (EventIndex(first), left);
        self.raw.extend([0; PADDING]);
        Ok(())
    }

    /// Index of the block's first event.
    pub fn first(&self) -> EventIndex {
        self.first
    }

    /// Puts the next events into `events`: none behind the last, and only after an error.
    pub fn next(&mut self, events: &mut Vec<Event>) -> Result<(), Malformed> {
        events.clear();
        let count = self.left.min(BATCH);
        for _ in 0..count {
            match self.event() {
                Ok(event) => events.push(event),
                Err(malformed) => {
                    events.clear();
                    return Err(malformed);
                }
            }
        }
        self.left -= count;
        let overrun = self.columns.iter().find_map(ColumnReader::overrun);
        let rest = self.columns.iter().find(|it| !it.is_at_end());
        let wrong = match (overrun, rest) {
            (None, Some(column)) if self.left == 0 => {
                Some(column.malformed("bytes behind the last event"))
            }
            (overrun, _) => overrun,
        };
        wrong.map_or(Ok(()), |malformed| {
            events.clear();
            Err(malformed)
        })
    }

    #[inline]
    fn event(&mut self) -> Result<Event, Malformed> {
        let mut op = self.columns[OPS].byte(&self.raw)?;
        if op & 3 == SEGMENT {
            self.segment()?;
            op = self.columns[OPS].byte(&self.raw)?;
        }
        let Some(thread) = self.memory.thread else {
            return Err(self.columns[OPS].malformed("an event without a thread"));
        };
        let kind = match op & 3 {
            SITE => self.site(op)?,
            ACTION => self.action(op >> 2)?,
            BRANCHES => self.branches(op >> 2)?,
            _ => return Err(self.columns[OPS].malformed("a segment without events")),
        };
        let event = Event {
            thread,
            tick: self.memory.tick,
            kind,
        };
        self.memory.tick = event.next_tick();
        Ok(event)
    }

    fn segment(&mut self) -> Result<(), Malformed> {
        let rest = &mut self.columns[REST];
        let number = rest.number(&self.raw)?;
        let number = u32::try_from(number);
        let thread = number.map_err(|_| rest.malformed("a thread number of more than 32 bits"))?;
        let expected = self.memory.resume(ThreadId(thread));
        let delta = unfold(rest.number(&self.raw)?);
        self.memory.tick = Tick(expected.0.wrapping_add(delta));
        Ok(())
    }

    #[inline]
    fn site(&mut self, op: u8) -> Result<EventKind, Malformed> {
        let Self {
            raw,
            columns,
            memory,
            ..
        } = self;
        let mut site = memory.foreseen();
        if op & OTHER_SITE != 0 {
            let sites = &mut columns[SITES];
            let delta = unfold(sites.number(raw)?);
            let number = u64::from(memory.site).wrapping_add(delta);
            if number >= MAX_SITES.into() {
                return Err(sites.malformed("a site number that no site has"));
            }
            site = number as u32;
        }
        let known = *memory.site(site);
        let (mut shape, mut packed) = (known.shape, known.packed);
        if op & OTHER_SHAPE != 0 {
            let sites = &mut columns[SITES];
            let mut bytes = [0; 4];
            for byte in &mut bytes {
                *byte = sites.byte(raw)?;
            }
            packed = u32::from_le_bytes(bytes);
            let read = Shape::unpack(packed);
            shape = read.ok_or_else(|| sites.malformed("a site of unknown kind"))?;
        }
        // In the order of `Form`; a difference is added where one follows.
        let form = op >> ADDR_SHIFT & 3;
        let stepped = known.addr.wrapping_add(known.step);
        let base = [known.addr, stepped, known.addr, memory.addr][usize::from(form)];
        let follows = form == 2;
        let delta = unfold(columns[ADDRS].number_if(raw, follows)?);
        let addr = base.wrapping_add(if follows { delta } else { 0 });
        let form = op >> VALUE_SHIFT & 3;
        let base = [known.value, 0, known.value, memory.value][usize::from(form)];
        let follows = form == 1 || form == 2;
        let delta = unfold(columns[VALUES].number_if(raw, follows)?);
        let value = base.wrapping_add(if follows { delta } else { 0 });
        let mut new = 0;
        if shape.shape.has_second_slot() {
            new = value.wrapping_add(unfold(columns[VALUES].number(raw)?));
        }
        let event = SiteParts {
            site: SiteId(site),
            shape: shape.shape,
            addr,
            value,
            new,
            stored: shape.stored,
        };
        memory.learn(&event, packed);
        Ok(event.join())
    }

    fn action(&mut self, index: u8) -> Result<EventKind, Malformed> {
        let rest = &mut self.columns[REST];
        let mark = mark_at(index).ok_or_else(|| rest.malformed("an action of unknown kind"))?;
        let numbers = &mut self.memory.actions[usize::from(index)];
        let changed = rest.byte(&self.raw)?;
        for (at, number) in numbers.iter_mut().enumerate() {
            let follows = changed >> at & 1 == 1;
            let delta = unfold(rest.number_if(&self.raw, follows)?);
            *number = number.wrapping_add(if follows { delta } else { 0 });
        }
        if changed & SAME_OBJECT != 0 {
            numbers[0] = self.memory.object;
        }
        let [object, argument, second, pc] = *numbers;
        self.memory.object = object;
        let action = Action::try_from(RawAction {
            mark,
            object,
            argument,
            second,
        });
        let action = action.map_err(|_| rest.malformed("an action whose numbers make no sense"))?;
        Ok(EventKind::Action {
            pc: Address(pc),
            action,
        })
    }

    fn branches(&mut self, count: u8) -> Result<EventKind, Malformed> {
        let rest = &mut self.columns[REST];
        let mut bytes = [0; 8];
        for byte in &mut bytes[..usize::from(count).div_ceil(8)] {
            *byte = rest.byte(&self.raw)?;
        }
        let bits = u64::from_le_bytes(bytes);
        let sentinel = 1 << count;
        if bits >= sentinel {
            return Err(rest.malformed("more branch outcomes than counted"));
        }
        let outcomes = Outcomes::from_sentinel(sentinel | bits);
        outcomes
            .map(EventKind::Branches)
            .ok_or_else(|| rest.malformed("no branch outcomes"))
    }
}
