//! Recognises a thread that spins: it re-reads the same values at the same sites.
//!
//! A history keeps fingerprints of a thread's latest read-like events since its last effect. When
//! their tail is three times the same sequence, nothing the thread does can change what it sees:
//! it is parked until one of the values it reads has changed. An atomic exchange that stores what
//! was there already counts as a read, so test-and-set locks are covered; so does a failed
//! `trylock`, as a read of the lock's first word.
//!
//! A loop that counts in a register looks the same, although it would end by itself: locks spin a
//! hundred times before they go to sleep. Therefore a thread that is first seen to spin goes on
//! undisturbed for [`FIRST_PARDON`] slots, and is parked only if it spins still. A parked thread is
//! let go on when no other can run; nothing is cut by a count.
//!
//! Nor is a thread parked for ever while others run: what it waits for may be something that no event shows (code
//! without bitcode, assembly that computes addresses). It gets another look after others have executed
//! [`FIRST_PATIENCE`] slots, then twice as many each time, up to [`LAST_PATIENCE`], until what it reads changes.

use raddle_trace::wire::{FIRST_SITE_ADDRESS, Mark, Role, SiteKind, SiteRecord, Slot};

use crate::sys;

/// Longest loop body recognised, in events.
const LONGEST_PERIOD: usize = 48;
/// How often the body must have repeated.
const REPEATS: usize = 3;
const CAPACITY: usize = LONGEST_PERIOD * REPEATS + 16;
/// Events between two looks.
const LOOK_EVERY: usize = 12;
/// Slots for which a spin is left alone when it is first seen.
const FIRST_PARDON: u64 = 1024;
/// Slots that others execute before a parked thread gets another look, at first.
const FIRST_PATIENCE: u64 = 1 << 14;
/// The same at last.
const LAST_PATIENCE: u64 = 1 << 20;
/// Most different locations that a parked thread watches.
const MOST_WATCHED: usize = 8;

/// A value read that a waiting thread waits to see changed.
#[derive(Clone, Copy)]
pub struct Watched {
    /// Address read.
    pub addr: u64,
    /// Bytes read.
    pub size: u8,
    /// What was there.
    pub value: u64,
}

impl Watched {
    /// In the place of a value.
    pub const NOTHING: Watched = Watched {
        addr: 0,
        size: 0,
        value: 0,
    };

    /// Whether something else is there now.
    pub fn is_changed(&self) -> bool {
        sys::peek(self.addr, self.size.into()).is_none_or(|now| now != self.value)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    fingerprint: u64,
    read: Option<Watched>,
}

/// The latest read-like events of a thread.
pub struct History {
    entries: [Entry; CAPACITY],
    /// Entries ever pushed since the last effect.
    len: usize,
    /// The thread's tick up to which events were taken in.
    seen: u64,
    /// Events in a row that were taken in since the last look.
    unlooked: usize,
    /// While it spins: no look, and no scheduling point, before this tick.
    pardoned_until: Option<u64>,
    /// What the thread watches while parked.
    pub watched: [Watched; MOST_WATCHED],
    /// Valid entries of `watched`.
    pub watched_len: usize,
    /// Slots for which it was parked last, 0 if it was not since its last effect.
    patience: u64,
    /// What it watched then, as one number.
    awaited: u64,
    /// The tick of the whole program at which it gets another look.
    look_at: u64,
}

/// What a history says of its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It gets on.
    Works,
    /// It spins, perhaps not for ever: it is to go on undisturbed.
    Pardoned,
    /// It polls, and has done so for long enough: others are to go first.
    GivesWay,
    /// It spins.
    Spins,
}

impl History {
    /// Empty.
    pub const fn new() -> Self {
        let none = Entry {
            fingerprint: 0,
            read: None,
        };
        History {
            entries: [none; CAPACITY],
            len: 0,
            seen: 0,
            unlooked: 0,
            pardoned_until: None,
            watched: [Watched::NOTHING; MOST_WATCHED],
            watched_len: 0,
            patience: 0,
            awaited: 0,
            look_at: 0,
        }
    }

    /// The thread is parked, when all threads together have executed `ticks` slots.
    pub fn park(&mut self, ticks: u64) {
        let watched = &self.watched[..self.watched_len];
        let awaited = watched
            .iter()
            .fold(0, |all, it| mix(mix(all, it.addr), it.value));
        if self.awaited != awaited {
            self.awaited = awaited;
            self.patience = 0;
        }
        self.patience = (2 * self.patience).clamp(FIRST_PATIENCE, LAST_PATIENCE);
        self.look_at = ticks + self.patience;
    }

    /// Whether the parked thread gets another look, though nothing that it watches has changed.
    pub fn is_due(&self, ticks: u64) -> bool {
        ticks >= self.look_at
    }

    /// Takes in what is new in `slots`, whose first one the thread wrote at tick `first`. What lies
    /// between the last call and `first`, if anything, may have been an effect.
    pub fn take_in_new(&mut self, slots: &[Slot], first: u64) {
        if first > self.seen {
            self.effect();
            self.seen = first;
        }
        let mut new = &slots[((self.seen - first) as usize).min(slots.len())..];
        if new.len() > CAPACITY {
            if self.pardoned_until.is_none() {
                self.len = 0;
            }
            new = &new[new.len() - CAPACITY..];
        }
        self.seen = first + slots.len() as u64;
        self.unlooked += new.len();
        let tail = behind_last_effect(new);
        if tail.len() < new.len() {
            self.effect();
        }
        self.take_in(tail);
    }

    /// What the thread, now at `tick`, is doing.
    pub fn judge(&mut self, tick: u64) -> Verdict {
        match self.pardoned_until {
            Some(until) if tick < until => return Verdict::Pardoned,
            _ if self.unlooked < LOOK_EVERY => return Verdict::Works,
            _ => self.unlooked = 0,
        }
        if !self.spins() {
            return Verdict::Works;
        }
        if self.pardoned_until.is_some() {
            return Verdict::Spins;
        }
        self.pardoned_until = Some(tick + FIRST_PARDON);
        Verdict::Pardoned
    }

    /// The tick up to which the thread may spin undisturbed, if it does.
    pub fn pardoned_until(&self) -> Option<u64> {
        self.pardoned_until
    }

    /// Lets the thread spin on until `tick`.
    pub fn pardon(&mut self, tick: u64) {
        self.pardoned_until = Some(tick);
    }

    /// It did something that others can see.
    fn effect(&mut self) {
        self.len = 0;
        self.pardoned_until = None;
        self.patience = 0;
    }

    /// Takes in slots without an effect.
    fn take_in(&mut self, slots: &[Slot]) {
        let mut at = 0;
        while at < slots.len() {
            let extra = slots.get(at + 1).filter(|s| s.head == Mark::Extra as u64);
            if let Some(entry) = entry(&slots[at], extra) {
                self.entries[self.len % CAPACITY] = entry;
                self.len += 1;
            }
            at += 1 + usize::from(extra.is_some());
        }
    }

    /// Whether the thread spins; `watched` is filled in if it does.
    fn spins(&mut self) -> bool {
        let longest = LONGEST_PERIOD.min(self.len / REPEATS);
        let Some(period) = (1..=longest).find(|&p| self.repeats(p)) else {
            return false;
        };
        self.watched_len = 0;
        for back in 0..period {
            let Some(read) = self.back(back).read else {
                continue;
            };
            let known = self.watched[..self.watched_len]
                .iter()
                .any(|w| w.addr == read.addr);
            if known {
                continue;
            }
            if self.watched_len == MOST_WATCHED {
                return false;
            }
            self.watched[self.watched_len] = read;
            self.watched_len += 1;
        }
        self.watched_len > 0
    }

    /// Whether the last events are the same sequence of `period` events over and over; there are as many.
    fn repeats(&self, period: usize) -> bool {
        (0..period * (REPEATS - 1))
            .all(|i| self.back(i).fingerprint == self.back(i + period).fingerprint)
    }

    fn back(&self, distance: usize) -> &Entry {
        &self.entries[(self.len - 1 - distance) % CAPACITY]
    }
}

/// The slots behind the last effect; looked for from the end, because it is mostly near.
fn behind_last_effect(slots: &[Slot]) -> &[Slot] {
    let mut end = slots.len();
    while end > 0 {
        let last = &slots[end - 1];
        let is_extra = last.head == Mark::Extra as u64 && end > 1;
        let (first, extra) = if is_extra {
            (end - 2, Some(last))
        } else {
            (end - 1, None)
        };
        if has_effect(&slots[first], extra) {
            return &slots[end..];
        }
        end = first;
    }
    slots
}

/// Whether instrumented code changes memory outside its own stack among these events, other than a
/// lock's.
pub fn any_writes(slots: &[Slot], own_stack: core::ops::Range<u64>) -> bool {
    slots.iter().enumerate().any(|(at, slot)| {
        let extra = slots.get(at + 1).filter(|it| it.head == Mark::Extra as u64);
        slot.head >= FIRST_SITE_ADDRESS
            && !own_stack.contains(&slot.addr)
            && has_effect(slot, extra)
            && site_of(slot).role == Role::None as u8
    })
}

/// Whether others may see a change by an event.
fn has_effect(slot: &Slot, extra: Option<&Slot>) -> bool {
    use SiteKind::{AtomicLoad, Cas, Enter, Exit, Fence, Read, Rmw, Value};
    if slot.head < FIRST_SITE_ADDRESS {
        const NONE: [Mark; 4] = [Mark::Yield, Mark::Request, Mark::Branches, Mark::Switch];
        return NONE.iter().all(|mark| slot.head != *mark as u64);
    }
    let kind = site_of(slot).kind;
    let is_one_of = |kinds: &[SiteKind]| kinds.iter().any(|it| kind == *it as u8);
    let reads = is_one_of(&[Read, AtomicLoad, Fence, Value, Enter, Exit]);
    !(reads || changes_nothing(slot, extra) && is_one_of(&[Cas, Rmw]))
}

/// Whether an atomic operation, of which this is the second slot, has left what was there.
pub fn changes_nothing(slot: &Slot, extra: Option<&Slot>) -> bool {
    extra.is_some_and(|it| it.value == 0 || it.addr == slot.value)
}

/// What a history keeps of an event without an effect.
fn entry(slot: &Slot, extra: Option<&Slot>) -> Option<Entry> {
    use SiteKind::{Enter, Exit, Fence, Value};
    const MARKS: [u64; 2] = [Mark::Branches as u64, Mark::Switch as u64];
    if MARKS.contains(&slot.head) {
        return None;
    }
    let watched = |size: u8, value: u64| Watched {
        addr: slot.addr,
        size,
        value,
    };
    let read = if slot.head == Mark::Request as u64 {
        extra.map(|e| watched(4, e.value))
    } else if slot.head < FIRST_SITE_ADDRESS {
        None
    } else {
        let site = site_of(slot);
        let reads = [Fence, Value, Enter, Exit]
            .iter()
            .all(|it| site.kind != *it as u8);
        reads.then(|| watched(site.size, slot.value))
    };
    Some(Entry {
        fingerprint: fingerprint(slot),
        read,
    })
}

/// The site of an event of instrumented code.
pub fn site_of(slot: &Slot) -> &'static SiteRecord {
    // SAFETY: a head at or above FIRST_SITE_ADDRESS is the address of a record in a loaded image.
    unsafe { &*(slot.head as *const SiteRecord) }
}

fn fingerprint(slot: &Slot) -> u64 {
    mix(mix(mix(0, slot.head), slot.addr), slot.value)
}

/// Makes one number of two.
pub fn mix(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}
