//! Hands out the events of one block, many at a time.

use super::forms::{Given, take};
use super::memory::{Known, Memory, Shape, mark_at};
use super::{
    ACTION, ADDRS, BRANCHES, COLUMNS, MOST_EVENTS, OPS, OTHER, OTHER_SITE, REST, SAME_OBJECT,
    SEGMENT, SITES, VALUES, WIDE_PLACE,
};
use crate::action::{Action, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::file::MAX_SITES;
use crate::file::bytes::Cursor;
use crate::file::columns::{ColumnReader, PADDING, unfold};
use crate::file::rows::Malformed;
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;

/// Events decoded at once: they stay in the processor's nearest cache.
const BATCH: u64 = 256;

/// What is left of one block.
#[derive(Debug)]
pub struct BlockDecoder {
    /// The block's bytes and [`PADDING`].
    raw: Vec<u8>,
    columns: [ColumnReader; COLUMNS],
    left: u64,
    memory: Memory,
}

impl BlockDecoder {
    /// A decoder without a block.
    pub fn new() -> Self {
        Self {
            raw: Vec::new(),
            columns: [ColumnReader::new(0, 0); COLUMNS],
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
        let left = cursor.number()?;
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
        if left > MOST_EVENTS {
            return Err(cursor.malformed("more events than a block may have"));
        }
        self.left = left;
        self.raw.extend([0; PADDING]);
        Ok(())
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
        if op == SEGMENT {
            self.segment()?;
            op = self.columns[OPS].byte(&self.raw)?;
        }
        let Some(thread) = self.memory.thread else {
            return Err(self.columns[OPS].malformed("an event without a thread"));
        };
        let kind = match op {
            _ if op & OTHER != OTHER => self.site(op)?,
            ACTION => self.action()?,
            BRANCHES => self.branches()?,
            SEGMENT => return Err(self.columns[OPS].malformed("a segment without events")),
            _ => return Err(self.columns[OPS].malformed("an event of unknown kind")),
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
        let memory = &self.memory;
        let mut place = memory.known[usize::from(memory.place)].next;
        if op & OTHER_SITE != 0 {
            place = self.place()?;
        }
        let Self {
            raw,
            columns,
            memory,
            ..
        } = self;
        memory.place = place;
        let Some(known) = memory
            .known
            .get_mut(usize::from(place))
            .filter(|_| place != 0)
        else {
            return Err(columns[OPS].malformed("an event of a site that has not come up"));
        };
        let mut given = Given {
            forms: op & !OTHER_SITE,
            addr: 0,
            value: 0,
        };
        given.addr = columns[ADDRS].word(raw, given.addr_width())?;
        given.value = columns[VALUES].word(raw, given.value_width())?;
        let taken = take(known, memory.before, given);
        let Some(event) = taken else {
            return Err(columns[OPS].malformed("a value that is given in an unknown way"));
        };
        memory.before = event;
        let Shape { shape, stored } = known.shape;
        let mut new = 0;
        if shape.has_second_slot() {
            new = event
                .value
                .wrapping_add(unfold(columns[VALUES].number(raw)?));
        }
        let parts = SiteParts {
            site: SiteId(known.site),
            shape,
            addr: event.addr,
            value: event.value,
            new,
            stored,
        };
        Ok(parts.join())
    }

    /// Reads the place of a site that was not foreseen, and what the site is if it comes up.
    fn place(&mut self) -> Result<u16, Malformed> {
        let (memory, sites) = (&mut self.memory, &mut self.columns[SITES]);
        let place = match sites.byte(&self.raw)? {
            WIDE_PLACE => sites.word(&self.raw, 2)? as u16,
            byte => byte.into(),
        };
        memory.known[usize::from(memory.place)].next = place;
        if usize::from(place) == memory.known.len() {
            let delta = unfold(sites.number(&self.raw)?);
            let number = u64::from(memory.newest).wrapping_add(delta);
            if number >= MAX_SITES.into() {
                return Err(sites.malformed("a site number that no site has"));
            }
            memory.newest = number as u32;
            let packed = sites.word(&self.raw, 4)? as u32;
            let Some(shape) = Shape::unpack(packed) else {
                return Err(sites.malformed("a site of unknown kind"));
            };
            memory.known.push(Known::new(memory.newest, shape, packed));
        }
        Ok(place)
    }

    fn action(&mut self) -> Result<EventKind, Malformed> {
        let rest = &mut self.columns[REST];
        let index = rest.byte(&self.raw)?;
        let mark = mark_at(index).ok_or_else(|| rest.malformed("an action of unknown kind"))?;
        let numbers = &mut self.memory.actions[usize::from(index)];
        let changed = rest.byte(&self.raw)?;
        for (at, number) in numbers.iter_mut().enumerate() {
            if changed >> at & 1 == 1 {
                *number = number.wrapping_add(unfold(rest.number(&self.raw)?));
            }
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

    fn branches(&mut self) -> Result<EventKind, Malformed> {
        let rest = &mut self.columns[REST];
        let count = rest.byte(&self.raw)?;
        let width = usize::from(count).div_ceil(8);
        let Some(sentinel) = 1_u64.checked_shl(count.into()) else {
            return Err(rest.malformed("more branch outcomes than fit"));
        };
        let word = rest.word(&self.raw, width)?;
        let bits = word & u64::MAX.checked_shr(64 - 8 * width as u32).unwrap_or(0);
        if bits >= sentinel {
            return Err(rest.malformed("more branch outcomes than counted"));
        }
        let outcomes = Outcomes::from_sentinel(sentinel | bits);
        outcomes
            .map(EventKind::Branches)
            .ok_or_else(|| rest.malformed("no branch outcomes"))
    }
}
