//! Takes the slots of a recording into a block, many at a time.
//!
//! Most slots of a recording are events of sites that came up before. They are taken here, straight from
//! shared memory's layout into columns. The loops do not branch on what differs from event to event; where
//! events have become regular, one only looks whether they go on so. Outcomes of branches and operations on locks, which
//! stand between such events, are taken on the way.

use super::encoder::{BlockEncoder, Last, put_action, put_outcomes};
use super::forms::{Before, Given, give};
use super::lookup::{Bytes, Found, find, head_entry, mark, numbers};
use super::memory::{Takes, mark_index};
use super::{ACTION, BRANCHES, MOST_EVENTS, OPS, OTHER_SITE, WIDE_PLACE};
use crate::file::columns::{MOST_BYTES, fold, number_bytes};
use crate::ids::{ThreadId, Tick};
use crate::sites::Window;
use crate::wire::{FIRST_SITE_ADDRESS, Mark};

/// Events that are taken at once.
const GROUP: usize = 256;

/// The same where events have become regular: so long a group is a look at what has disturbed that.
const SHORT_GROUP: usize = 4;

/// So many events that were foreseen as a whole, one after another, show that events have become regular.
const REGULAR: usize = 4;

/// Bytes of a value, and of the one that an atomic operation leaves.
const MOST_VALUE_BYTES: usize = 8 + MOST_BYTES;

/// How much of a group was taken.
#[derive(Clone, Copy, Default)]
struct Taken {
    slots: usize,
    /// Events, and those of them that have a site.
    events: usize,
    sited: usize,
}

/// An event of a group that has a site.
#[derive(Clone, Copy, Debug, Default)]
struct Sited {
    /// Which slot of the group is its first.
    slot: u16,
    /// Which event of the group it is.
    event: u16,
    place: u16,
    /// Whether a second slot follows.
    is_pair: bool,
}

/// What one round of the work on a group leaves to the next.
#[derive(Debug)]
pub(super) struct Group {
    sited: [Sited; GROUP],
    given: [Given; GROUP],
}

impl BlockEncoder {
    /// Appends the events of `slots`, from the first on, as far as what each stands for came up before. Returns how many
    /// slots that took.
    pub fn stretch(
        &mut self,
        thread: ThreadId,
        mut tick: Tick,
        window: &Window,
        slots: &[u8],
    ) -> usize {
        let (slots, _) = slots.as_chunks();
        let mut done = 0;
        if !self.is_at(thread, tick) {
            // Where another segment begins, there has to be an event.
            if self.is_full() || !slots.first().is_some_and(|it| self.has_met(it)) {
                return 0;
            }
            self.go_to(thread, tick);
        }
        let mut length = GROUP;
        loop {
            length = GROUP.min(2 * length);
            if self.is_foreseen() {
                let regular = self.regular(&slots[done..]);
                tick = tick.after(regular as u64);
                done += regular;
                if regular >= REGULAR {
                    length = SHORT_GROUP;
                }
            }
            let most = length.min((MOST_EVENTS - self.count) as usize);
            let slots = &slots[done..];
            let taken = self.group(window, slots, most);
            self.count += taken.events as u64;
            if let Some(last) = taken.sited.checked_sub(1).map(|it| self.group.sited[it]) {
                let slot = usize::from(last.slot);
                let new = if last.is_pair {
                    numbers(&slots[slot + 1]).1
                } else {
                    0
                };
                self.last = Some(Last {
                    thread,
                    place: last.place,
                    after: tick.after(slot as u64 + 1 + u64::from(last.is_pair)),
                    new,
                });
            }
            tick = tick.after(taken.slots as u64);
            self.memory.tick = tick;
            done += taken.slots;
            if taken.events < most || most == 0 {
                return done;
            }
        }
    }

    /// Whether the latest events were foreseen as a whole.
    #[inline]
    fn is_foreseen(&self) -> bool {
        self.columns[OPS].written().ends_with(&[0; 2])
    }

    /// Takes the events, from the first on, that are foreseen as a whole, and says how many.
    #[inline(never)]
    fn regular(&mut self, slots: &[Bytes]) -> usize {
        let most = (MOST_EVENTS - self.count) as usize;
        let slots = &slots[..slots.len().min(most)];
        let (known, mut last) = (&mut self.memory.known[..], self.memory.place);
        let mut count = 0;
        for slot in slots {
            let place = known[usize::from(last)].next;
            let it = &mut known[usize::from(place)];
            let (head, addr, value) = numbers(slot);
            let differs = (head ^ it.head)
                | (addr ^ it.addr.wrapping_add(it.step))
                | (value ^ it.value.wrapping_add(it.difference));
            if differs != 0 || it.takes != Takes::One {
                break;
            }
            (it.addr, it.value) = (addr, value);
            last = place;
            count += 1;
        }
        if count == 0 {
            return 0;
        }
        self.memory.before = known[usize::from(last)].latest();
        self.memory.place = last;
        self.memory.tick = self.memory.tick.after(count as u64);
        self.columns[OPS].zeros(count);
        self.count += count as u64;
        if let Some(thread) = self.memory.thread {
            self.last = Some(Last {
                thread,
                place: last,
                after: self.memory.tick,
                new: 0,
            });
        }
        count
    }

    /// Whether a slot is the event of a site that was met before.
    #[inline]
    fn has_met(&self, slot: &Bytes) -> bool {
        let (head, ..) = numbers(slot);
        let place = self.heads[head_entry(head)];
        let known = self.memory.known.get(usize::from(place));
        known.is_some_and(|it| it.head == head && it.takes == Takes::One)
    }

    /// Takes a group of events in three rounds, each of which needs few registers: which site each is of, how its numbers are
    /// given, and their bytes.
    fn group(&mut self, window: &Window, slots: &[Bytes], most: usize) -> Taken {
        let taken = self.meet(window, slots, most);
        self.give(slots, taken.sited);
        self.put(slots, taken.sited);
        self.columns[OPS].grow(taken.events);
        taken
    }

    /// Finds the sites of the first events, and takes those that have none.
    #[inline(never)]
    fn meet(&mut self, window: &Window, slots: &[Bytes], most: usize) -> Taken {
        let Self {
            columns: [ops, .., rest],
            memory,
            places,
            heads,
            group,
            pcs,
            ..
        } = self;
        let ops: &mut [u8; GROUP] = ops.room();
        let known = &mut memory.known[..];
        let mut taken = Taken::default();
        while taken.events < most {
            let Some(slot) = slots.get(taken.slots) else {
                break;
            };
            let (head, ..) = numbers(slot);
            let mut place = heads[head_entry(head)];
            let mut is_pair = false;
            let met = known.get(usize::from(place));
            if !met.is_some_and(|it| it.head == head && it.takes == Takes::One) {
                let next = slots.get(taken.slots + 1);
                let is_pair_met = met.is_some_and(|it| it.head == head && it.takes == Takes::Pair)
                    && next.is_some_and(|it| numbers(it).0 == Mark::Extra as u64);
                let found = match head < FIRST_SITE_ADDRESS {
                    true => mark(slot, next, &memory.actions[..]),
                    false if is_pair_met => Found::Pair(place),
                    false => find(known, places, heads, window, slot, next),
                };
                match found {
                    Found::Nothing => break,
                    Found::Event(found) => {
                        place = found;
                        let it = &mut known[usize::from(found)];
                        if it.takes == Takes::Entry {
                            it.enter(numbers(slot).2, pcs);
                        }
                    }
                    Found::Pair(found) => (place, is_pair) = (found, true),
                    Found::Branches(outcomes) => {
                        ops[taken.events] = BRANCHES;
                        put_outcomes(rest, outcomes);
                        taken.events += 1;
                        taken.slots += 1;
                        continue;
                    }
                    Found::Action(mark, action) => {
                        ops[taken.events] = ACTION;
                        let index = mark_index(mark);
                        let known = &mut memory.actions[usize::from(index)];
                        put_action(rest, pcs, known, &mut memory.object, index, action);
                        taken.events += 1;
                        taken.slots += 2;
                        continue;
                    }
                }
            }
            group.sited[taken.sited] = Sited {
                slot: taken.slots as u16,
                event: taken.events as u16,
                place,
                is_pair,
            };
            taken.sited += 1;
            taken.events += 1;
            taken.slots += 1 + usize::from(is_pair);
        }
        taken
    }

    /// Finds out how the numbers of these events are given.
    #[inline(never)]
    fn give(&mut self, slots: &[Bytes], sited: usize) {
        let Self { memory, group, .. } = self;
        let known = &mut memory.known[..];
        let (mut last, mut before) = (memory.place, memory.before);
        for (event, given) in group.sited[..sited].iter().zip(&mut group.given) {
            let (_, addr, value) = numbers(&slots[usize::from(event.slot)]);
            let next = &mut known[usize::from(last)].next;
            let is_other = *next != event.place;
            *next = event.place;
            last = event.place;
            *given = give(&mut known[usize::from(last)], before, addr, value);
            given.forms |= u8::from(is_other) * OTHER_SITE;
            before = Before { addr, value };
        }
        (memory.place, memory.before) = (last, before);
    }

    /// Appends the bytes of these events; the ops have their places already.
    #[inline(never)]
    fn put(&mut self, slots: &[Bytes], sited: usize) {
        let Self {
            columns: [ops, sites, addrs, values, _],
            group,
            ..
        } = self;
        let ops: &mut [u8; GROUP] = ops.room();
        let site_room: &mut [u8; 3 * GROUP] = sites.room();
        let addr_room: &mut [u8; 8 * GROUP] = addrs.room();
        let value_room: &mut [u8; MOST_VALUE_BYTES * GROUP] = values.room();
        let (mut site_at, mut addr_at, mut value_at) = (0, 0, 0);
        for (event, given) in group.sited[..sited].iter().zip(&group.given) {
            ops[usize::from(event.event)] = given.forms;
            if event.place < u16::from(WIDE_PLACE) {
                site_room[site_at] = event.place as u8;
                site_at += usize::from(given.forms >> 7);
            } else if given.forms & OTHER_SITE != 0 {
                let [low, high] = event.place.to_le_bytes();
                site_room[site_at..site_at + 3].copy_from_slice(&[WIDE_PLACE, low, high]);
                site_at += 3;
            }
            put(addr_room, addr_at, given.addr);
            addr_at += given.addr_width();
            put(value_room, value_at, given.value);
            value_at += given.value_width();
            if event.is_pair {
                let slot = usize::from(event.slot);
                let ((_, _, value), (_, new, _)) =
                    (numbers(&slots[slot]), numbers(&slots[slot + 1]));
                let (bytes, len) = number_bytes(fold(new.wrapping_sub(value)));
                value_room[value_at..value_at + MOST_BYTES].copy_from_slice(&bytes);
                value_at += len;
            }
        }
        sites.grow(site_at);
        addrs.grow(addr_at);
        values.grow(value_at);
    }
}

#[inline(always)]
fn put(column: &mut [u8], at: usize, word: u64) {
    column[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

impl Group {
    pub fn new() -> Self {
        Self {
            sited: [Sited::default(); GROUP],
            given: [Given::default(); GROUP],
        }
    }
}
