//! Takes the slots of a recording into a block, many at a time.
//!
//! Most slots of a recording are events of sites that came up before. They are taken here, straight from
//! shared memory's layout into columns. The loop does not branch on what differs from event to event; where
//! events have become regular, it only looks whether they go on so.

use super::encoder::{BlockEncoder, Last, PLACES, entry};
use super::forms::{Before, give};
use super::memory::Known;
use super::{ADDRS, MOST_EVENTS, OPS, OTHER_SITE, SITES, VALUES, WIDE_PLACE};
use crate::file::columns::{MOST_BYTES, fold, number_bytes};
use crate::ids::{Address, ThreadId, Tick};
use crate::sites::Window;
use crate::wire::{Mark, SLOT_BYTES, SiteKind};

/// Events that are taken at once.
const GROUP: usize = 256;

/// So many events in a row that were foreseen as a whole make the next ones likely to be.
const REGULAR: u32 = 2;

/// Bytes of a value, and of the one that an atomic operation leaves.
const MOST_VALUE_BYTES: usize = 8 + MOST_BYTES;

/// How much was written of the columns, and of how many slots.
#[derive(Clone, Copy, Default)]
struct Written {
    slots: usize,
    events: usize,
    sites: usize,
    addrs: usize,
    values: usize,
    /// The number that the last event's second slot added, or 0.
    new: u64,
}

impl BlockEncoder {
    /// Appends the events of `slots`, from the first on, as far as the site of each, of this window, is known
    /// here. Returns how many slots that took.
    pub fn stretch(
        &mut self,
        thread: ThreadId,
        mut tick: Tick,
        window: &Window,
        slots: &[u8],
    ) -> usize {
        let (slots, _) = slots.as_chunks();
        let mut done = 0;
        loop {
            if !self.knows(window, &slots[done..]) {
                return done;
            }
            self.go_to(thread, tick);
            let most = (MOST_EVENTS - self.count).min(GROUP as u64) as usize;
            let written = self.group(window, &slots[done..], most);
            self.columns[OPS].grow(written.events);
            self.columns[SITES].grow(written.sites);
            self.columns[ADDRS].grow(written.addrs);
            self.columns[VALUES].grow(written.values);
            self.count += written.events as u64;
            tick = tick.after(written.slots as u64);
            self.memory.tick = tick;
            self.last = Some(Last {
                thread,
                place: self.memory.place,
                after: tick,
                new: written.new,
            });
            done += written.slots;
            if written.events < GROUP {
                return done;
            }
        }
    }

    /// Whether the site of the first slot is known, and there is room for its event.
    #[inline]
    fn knows(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> bool {
        let known = &self.memory.known;
        let (Some(slot), false) = (slots.first(), self.is_full()) else {
            return false;
        };
        window.number(numbers(slot).0).is_some_and(|site| {
            let place = self.places[entry(site, false)];
            let is_alone = |it: &Known| it.alone == site;
            let extra = || {
                slots
                    .get(1)
                    .and_then(|it| pair(known, &self.places, site, it))
            };
            known.get(usize::from(place)).is_some_and(is_alone) || extra().is_some()
        })
    }

    fn group(&mut self, window: &Window, slots: &[[u8; SLOT_BYTES]], most: usize) -> Written {
        let Self {
            columns: [ops, sites, addrs, values, _],
            memory,
            places,
            pcs,
            ..
        } = self;
        let ops: &mut [u8; GROUP] = ops.room();
        let sites: &mut [u8; 3 * GROUP] = sites.room();
        let addrs: &mut [u8; 8 * GROUP] = addrs.room();
        let values: &mut [u8; MOST_VALUE_BYTES * GROUP] = values.room();
        let known = &mut memory.known[..];
        let mut written = Written::default();
        let (mut last, mut before) = (memory.place, memory.before);
        let mut regular = 0;
        while written.events < most {
            let Some(slot) = slots.get(written.slots) else {
                break;
            };
            if regular >= REGULAR {
                let rest = &slots[written.slots..];
                let rest = &rest[..rest.len().min(most - written.events)];
                let events = regular_events(known, &mut last, &mut before, window, rest);
                ops[written.events..written.events + events].fill(0);
                written.events += events;
                written.slots += events;
                regular = 0;
                continue;
            }
            let (head, addr, value) = numbers(slot);
            let Some(site) = window.number(head) else {
                break;
            };
            let mut place = places[entry(site, false)];
            let mut new = None;
            if known
                .get(usize::from(place))
                .is_none_or(|it| it.alone != site)
            {
                let extra = slots.get(written.slots + 1);
                let Some(pair) = extra.and_then(|it| pair(known, places, site, it)) else {
                    break;
                };
                place = pair.0;
                new = Some(pair.1);
            }
            let it = &mut known[usize::from(place)];
            if it.shape.shape.kind == SiteKind::Enter && it.value != value {
                pcs.push(Address(value));
            }
            let given = give(it, before, addr, value);
            before = Before { addr, value };
            let next = &mut known[usize::from(last)].next;
            let is_other = *next != place;
            *next = place;
            last = place;
            if place < u16::from(WIDE_PLACE) {
                sites[written.sites] = place as u8;
                written.sites += usize::from(is_other);
            } else if is_other {
                let [low, high] = place.to_le_bytes();
                sites[written.sites..written.sites + 3].copy_from_slice(&[WIDE_PLACE, low, high]);
                written.sites += 3;
            }
            let op = given.forms | (u8::from(is_other) * OTHER_SITE);
            ops[written.events] = op;
            written.events += 1;
            written.slots += 1;
            put(addrs, written.addrs, given.addr);
            written.addrs += given.addr_width();
            put(values, written.values, given.value);
            written.values += given.value_width();
            regular = if op == 0 { regular + 1 } else { 0 };
            written.new = 0;
            if let Some(new) = new {
                let (bytes, len) = number_bytes(fold(new.wrapping_sub(value)));
                values[written.values..written.values + MOST_BYTES].copy_from_slice(&bytes);
                written.values += len;
                written.slots += 1;
                written.new = new;
                regular = 0;
            }
        }
        (memory.place, memory.before) = (last, before);
        written
    }
}

/// The place of a site whose events take two slots, and the number that the second one adds, if both are known.
fn pair(
    known: &[Known],
    places: &[u16; PLACES],
    site: u32,
    extra: &[u8; SLOT_BYTES],
) -> Option<(u16, u64)> {
    let (head, new, stored) = numbers(extra);
    if head != Mark::Extra as u64 {
        return None;
    }
    let at = |stored: bool| {
        let place = places[entry(site, stored)];
        let it = known.get(usize::from(place))?;
        let fits = it.site == site && it.shape.stored == stored;
        fits.then_some((place, it.shape.shape.kind))
    };
    // Only of a compare-exchange it is noted whether it stored.
    let found = at(stored != 0).filter(|(_, kind)| *kind == SiteKind::Cas);
    let found = found.or_else(|| at(false).filter(|(_, kind)| *kind == SiteKind::Rmw));
    found.map(|(place, _)| (place, new))
}

/// Counts the events, from the first on, that are foreseen as a whole, and takes note of them.
#[inline(never)]
fn regular_events(
    known: &mut [Known],
    last: &mut u16,
    before: &mut Before,
    window: &Window,
    slots: &[[u8; SLOT_BYTES]],
) -> usize {
    let mut events = 0;
    for slot in slots {
        let place = known[usize::from(*last)].next;
        let it = &mut known[usize::from(place)];
        let (head, addr, value) = numbers(slot);
        let is_foreseen = window.number(head) == Some(it.alone)
            && addr == it.addr.wrapping_add(it.step)
            && value == it.value.wrapping_add(it.difference)
            && it.shape.shape.kind != SiteKind::Enter;
        if !is_foreseen {
            break;
        }
        (it.addr, it.value) = (addr, value);
        (*last, *before) = (place, Before { addr, value });
        events += 1;
    }
    events
}

/// Head, address and value of a slot.
#[inline(always)]
fn numbers(slot: &[u8; SLOT_BYTES]) -> (u64, u64, u64) {
    let (words, _) = slot.as_chunks::<8>();
    let number = |at: usize| u64::from_le_bytes(words[at]);
    (number(0), number(1), number(2))
}

#[inline(always)]
fn put(column: &mut [u8], at: usize, word: u64) {
    column[at..at + 8].copy_from_slice(&word.to_le_bytes());
}
