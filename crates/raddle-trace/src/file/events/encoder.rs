//! Gathers the events of one block.

use super::forms::{Before, Given, give};
use super::lookup::HEADS;
use super::memory::{Known, Memory, Shape, mark_index};
use super::stretch::Group;
use super::{
    ACTION, ADDRS, BRANCHES, COLUMNS, MOST_EVENTS, OPS, OTHER_SITE, REST, SAME_OBJECT, SEGMENT,
    SITES, VALUES, WIDE_PLACE,
};
use crate::action::{Action, RawAction};
use crate::event::{Event, EventKind, Outcomes};
use crate::file::bytes::put;
use crate::file::columns::{ColumnWriter, fold};
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::wire::SiteKind;

/// Sites whose place is kept, by the low bits of their number. Two that share an entry cost bytes, never
/// correctness: the one that comes up again gets another place.
pub(super) const PLACES: usize = 1 << 14;

/// One of so many bytes is a block's sample.
const SAMPLE: usize = 16;

/// Events of one block, so far.
#[derive(Debug)]
pub struct BlockEncoder {
    pub(super) count: u64,
    pub(super) columns: [ColumnWriter; COLUMNS],
    pub(super) memory: Memory,
    /// Where a site may have its place; what stands there has to be held against [`Known::site`].
    pub(super) places: Box<[u16; PLACES]>,
    /// Where a site may have its place, by the address of its record; see [`Known::is_met`].
    pub(super) heads: Box<[u16; HEADS]>,
    pub(super) group: Box<Group>,
    /// Return addresses of calls and program counters of actions: all that came up, some of them again and again.
    pub(super) pcs: Vec<Address>,
    pub(super) last: Option<Last>,
}

/// The last event that has a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub thread: ThreadId,
    /// Its site, whose memory has the rest.
    pub place: u16,
    /// The tick behind it.
    pub after: Tick,
    /// The number that its second slot added, or 0.
    pub new: u64,
}

impl BlockEncoder {
    pub fn new() -> Self {
        Self {
            count: 0,
            columns: Default::default(),
            memory: Memory::new(),
            places: Box::new([0; PLACES]),
            heads: Box::new([0; HEADS]),
            group: Box::new(Group::new()),
            last: None,
            pcs: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the block has to be closed before another event comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count >= MOST_EVENTS
    }

    /// Events so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sites of the events so far; one may come more than once.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> {
        self.memory.known[1..]
            .iter()
            .map(|known| SiteId(known.site))
    }

    /// Return addresses of calls and program counters of actions so far; one may come more than once.
    pub fn pcs(&self) -> &[Address] {
        &self.pcs
    }

    /// The last event that has a site: its thread, its tick and its parts.
    pub fn last(&self) -> Option<(ThreadId, Tick, SiteParts)> {
        let last = self.last?;
        let known = &self.memory.known[usize::from(last.place)];
        let Shape { shape, stored } = known.shape;
        let parts = SiteParts {
            site: SiteId(known.site),
            shape,
            addr: known.addr,
            value: known.value,
            new: last.new,
            stored,
        };
        Some((
            last.thread,
            Tick(last.after.0.wrapping_sub(shape.slots())),
            parts,
        ))
    }

    /// Puts a part of each column into `sample`, from which to tell how much shorter packing would make the
    /// block.
    pub fn sample(&self, sample: &mut Vec<u8>) {
        sample.clear();
        for column in &self.columns {
            let written = column.written();
            sample.extend_from_slice(&written[..written.len() / SAMPLE]);
        }
    }

    /// Puts the block's bytes into `raw`. The encoder is then at the start of another block.
    pub fn take(&mut self, raw: &mut Vec<u8>) {
        raw.clear();
        put(raw, self.count);
        for column in &self.columns {
            put(raw, column.len() as u64);
        }
        for column in &mut self.columns {
            raw.extend_from_slice(column.written());
            column.clear();
        }
        self.count = 0;
        self.memory.clear();
        self.pcs.clear();
        self.last = None;
    }

    #[inline]
    pub fn push(&mut self, event: &Event) {
        if let Some(parts) = SiteParts::split(&event.kind) {
            self.push_site(event.thread, event.tick, &parts);
            return;
        }
        self.go_to(event.thread, event.tick);
        self.memory.tick = event.next_tick();
        self.count += 1;
        match event.kind {
            EventKind::Branches(outcomes) => self.branches(outcomes),
            EventKind::Action { pc, action } => self.action(pc, action),
            _ => unreachable!("every other kind of event has a site"),
        }
    }

    /// Appends an event that has a site.
    pub fn push_site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        self.go_to(thread, tick);
        let after = tick.after(parts.shape.slots());
        self.memory.tick = after;
        self.count += 1;
        self.site(parts);
        self.last = Some(Last {
            thread,
            place: self.memory.place,
            after,
            new: parts.new,
        });
    }

    /// Whether this thread's event at `tick` is expected next.
    #[inline]
    pub(super) fn is_at(&self, thread: ThreadId, tick: Tick) -> bool {
        self.memory.thread == Some(thread) && self.memory.tick == tick
    }

    /// Turns to this thread's events from `tick` on.
    #[inline]
    pub(super) fn go_to(&mut self, thread: ThreadId, tick: Tick) {
        if !self.is_at(thread, tick) {
            self.segment(thread, tick);
        }
    }

    #[cold]
    fn segment(&mut self, thread: ThreadId, tick: Tick) {
        let expected = self.memory.resume(thread);
        self.columns[OPS].byte(SEGMENT);
        let rest = &mut self.columns[REST];
        rest.number(thread.0.into());
        rest.number(fold(tick.0.wrapping_sub(expected.0)));
    }

    fn site(&mut self, event: &SiteParts) {
        let packed = Shape::pack(event);
        let entry = entry(event.site.0, event.stored);
        let found = self.places[entry];
        let memory = &mut self.memory;
        let is_known = memory
            .known
            .get(usize::from(found))
            .is_some_and(|it| it.site == event.site.0 && it.packed == packed && found != 0);
        let place = if is_known {
            found
        } else {
            memory.known.len() as u16
        };
        let before = &mut memory.known[usize::from(memory.place)];
        let mut op = 0;
        if before.next != place {
            op = OTHER_SITE;
            before.next = place;
            put_place(&mut self.columns[SITES], place);
        }
        memory.place = place;
        if !is_known {
            self.places[entry] = place;
            self.define(event, packed);
        }
        let memory = &mut self.memory;
        let known = &mut memory.known[usize::from(place)];
        if event.shape.kind == SiteKind::Enter {
            known.enter(event.value, &mut self.pcs);
        }
        let given: Given = give(known, memory.before, event.addr, event.value);
        memory.before = Before {
            addr: event.addr,
            value: event.value,
        };
        self.columns[OPS].byte(op | given.forms);
        self.columns[ADDRS].word(given.addr, given.addr_width());
        let values = &mut self.columns[VALUES];
        values.word(given.value, given.value_width());
        if event.shape.has_second_slot() {
            values.number(fold(event.new.wrapping_sub(event.value)));
        }
    }

    #[cold]
    fn define(&mut self, event: &SiteParts, packed: u32) {
        let memory = &mut self.memory;
        let sites = &mut self.columns[SITES];
        let number = u64::from(event.site.0);
        sites.number(fold(number.wrapping_sub(memory.newest.into())));
        sites.word(packed.into(), 4);
        memory.newest = event.site.0;
        let shape = Shape {
            shape: event.shape,
            stored: event.stored,
        };
        memory.known.push(Known::new(event.site.0, shape, packed));
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
        let Self {
            columns,
            memory,
            pcs,
            ..
        } = self;
        columns[OPS].byte(ACTION);
        let known = &mut memory.actions[usize::from(index)];
        let before = &mut memory.object;
        put_action(&mut columns[REST], pcs, known, before, index, numbers);
    }

    fn branches(&mut self, outcomes: Outcomes) {
        self.columns[OPS].byte(BRANCHES);
        put_outcomes(&mut self.columns[REST], outcomes);
    }
}

/// Appends what is to be said of an action (object, two arguments, program counter) to column *rest*; `known` are the numbers
/// of the last one of this kind, and `before` is the object of the last one of any kind.
pub(super) fn put_action(
    rest: &mut ColumnWriter,
    pcs: &mut Vec<Address>,
    known: &mut [u64; 4],
    before: &mut u64,
    index: u8,
    numbers: [u64; 4],
) {
    let known = std::mem::replace(known, numbers);
    let before = std::mem::replace(before, numbers[0]);
    if numbers[3] != known[3] {
        pcs.push(Address(numbers[3]));
    }
    let mut changed = 0;
    for at in 0..4 {
        changed |= u8::from(numbers[at] != known[at]) << at;
    }
    if numbers[0] != known[0] && numbers[0] == before {
        changed ^= 1 | SAME_OBJECT;
    }
    rest.byte(index);
    rest.byte(changed);
    for at in 0..4 {
        if changed >> at & 1 == 1 {
            rest.number(fold(numbers[at].wrapping_sub(known[at])));
        }
    }
}

/// Appends outcomes of branches, of which there are at most 63, to column *rest*.
pub(super) fn put_outcomes(rest: &mut ColumnWriter, outcomes: Outcomes) {
    let count = outcomes.count() as u8;
    let bits = outcomes.to_sentinel() ^ 1 << count;
    rest.byte(count);
    rest.word(bits, usize::from(count).div_ceil(8));
}

/// Where the place of a site is kept. One that stored has a place of its own.
#[inline]
pub(super) fn entry(site: u32, stored: bool) -> usize {
    (site as usize * 2 + usize::from(stored)) % PLACES
}

/// Appends a place to column *sites*.
fn put_place(sites: &mut ColumnWriter, place: u16) {
    match u8::try_from(place) {
        Ok(byte) if byte != WIDE_PLACE => sites.byte(byte),
        _ => {
            sites.byte(WIDE_PLACE);
            sites.word(place.into(), 2);
        }
    }
}
