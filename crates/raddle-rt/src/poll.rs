//! Recognises a thread that polls: it goes round a loop that looks at shared memory and finds the same each time.
//!
//! [`crate::spin`] covers loops that only read. Many loops that wait also write: they count their attempts, back off, or
//! take a lock to look and release it again. Such a loop may end by itself, so its thread is not parked, but gives way: the
//! scheduler asks the strategy as if the thread had yielded.
//!
//! A loop is a sequence of at most [`LONGEST_ROUND`] events, at the same sites and addresses, that the thread's latest
//! [`EVIDENCE`] events repeat. It polls if one of these events is a *look*: an atomic or volatile load, or an attempt that changes
//! nothing (a compare-exchange that fails, a `trylock` of a lock that is held), with the same result in the last rounds.
//!
//! A loop may look at something and work all the same. Three things keep it from losing time:
//!
//! - If a round leaves something behind for other threads (memory outside the thread's stack has another value than
//!   after the round before) and no attempt has failed, the loop gives way after [`WORK_PATIENCE`] slots only. A counter of
//!   attempts in shared memory, incremented by an atomic operation, does not count as something left behind.
//! - Giving way in vain doubles the patience: nothing that the loop looked at has changed when the thread gets the turn back.
//! - Once it was not in vain, the thread gives way in this loop at once, and is looked at more often for a while ([`ALERT`]).

use core::ops::Range;

use raddle_trace::wire::{FIRST_SITE_ADDRESS, Mark, Role, SiteKind, Slot, TRIED, VOLATILE};

use crate::spin::{Watched, changes_nothing, mix, site_of};

/// Longest round of a loop, in events.
const LONGEST_ROUND: usize = 96;
/// Rounds that must be the same.
const ROUNDS: usize = 3;
/// Events that must be the same rounds over and over.
const EVIDENCE: usize = 256;
/// Most events that are looked at.
const MOST_EVENTS: usize = LONGEST_ROUND * ROUNDS;
/// Slots in which these are looked for.
const MOST_SLOTS: usize = 2 * MOST_EVENTS;
/// Slots between two looks at a thread, at least: at first after it gave way, and then, twice as many each time, up to those
/// between looks at one that has not polled for long.
const ALERT: Range<u64> = 256..8192;
/// The same for one that goes round a loop and works.
const LAST_LOOK: u64 = 1 << 14;
/// First and last number of slots for which a loop goes on after it gave way in vain.
const PATIENCE: (u64, u64) = (512, 2048);
/// The same of a loop that leaves something behind.
const WORK_PATIENCE: (u64, u64) = (1 << 14, 1 << 16);
/// Most looks of a loop that are remembered.
const MOST_WATCHED: usize = 4;

const _: () = assert!(EVIDENCE <= MOST_EVENTS);

/// What is known of a thread's polling.
pub struct Polling {
    /// The thread's tick before which there is no look.
    next_look: u64,
    /// Slots between two looks.
    alert: u64,
    /// The loop of the last look: its sites as one number, which does not depend on where its round begins.
    seen: u64,
    /// The thread's tick since which it goes round that loop without having given way.
    since: u64,
    /// The loop in which it was last right to give way.
    trusted: u64,
    /// How often it gave way in vain since.
    in_vain: u32,
    /// What it looked at when it gave way, until it gets the turn back.
    watched: [Watched; MOST_WATCHED],
    watched_len: usize,
}

impl Polling {
    /// Of a thread that has done nothing yet.
    pub const fn new() -> Self {
        Polling {
            next_look: 0,
            alert: ALERT.end,
            seen: 0,
            since: 0,
            trusted: 0,
            in_vain: 0,
            watched: [Watched::NOTHING; MOST_WATCHED],
            watched_len: 0,
        }
    }

    /// Slots after which the thread should be looked at again.
    pub fn budget(&self) -> u64 {
        if ALERT.contains(&self.alert) {
            self.alert
        } else {
            u64::MAX
        }
    }

    /// Whether the thread polls, and should give way now. `slots` are the latest that it has written, the last of them
    /// before its tick `tick`.
    pub fn gives_way(&mut self, slots: &[Slot], tick: u64, own_stack: Range<u64>) -> bool {
        if tick < self.next_look {
            return false;
        }
        self.next_look = tick + self.alert;
        let latest = &slots[slots.len().saturating_sub(MOST_SLOTS)..];
        let Some(polled) = Round::find(latest).and_then(|it| it.polls(own_stack)) else {
            self.alert = (self.alert * 2).min(ALERT.end);
            return false;
        };
        if self.seen != polled.key {
            self.seen = polled.key;
            self.since = tick;
        }
        let end = self.since + self.patience(&polled);
        if tick < end {
            self.next_look = end.min(tick + LAST_LOOK);
            return false;
        }
        self.since = tick;
        if !polled.works {
            self.alert = ALERT.start;
        }
        self.watched = polled.watched;
        self.watched_len = polled.watched_len;
        true
    }

    /// For how long the loop may go on.
    fn patience(&self, polled: &Polled) -> u64 {
        let is_trusted = self.trusted == polled.key || !polled.works;
        let (first, last) = match polled.works {
            _ if is_trusted && self.in_vain == 0 => return 0,
            true => WORK_PATIENCE,
            false => PATIENCE,
        };
        let doublings = self.in_vain.saturating_sub(1).min(16);
        (first << doublings).min(last)
    }

    /// Finds out whether it was right to give way, if the thread did: it has the turn again.
    pub fn settle(&mut self) {
        let watched = &self.watched[..self.watched_len];
        if watched.is_empty() {
            return;
        }
        if watched.iter().any(Watched::is_changed) {
            self.trusted = self.seen;
            self.in_vain = 0;
            self.alert = ALERT.start;
        } else {
            self.in_vain = self.in_vain.saturating_add(1);
        }
        self.watched_len = 0;
    }
}

/// What a loop polls.
struct Polled {
    key: u64,
    /// Whether it leaves something behind for others.
    works: bool,
    watched: [Watched; MOST_WATCHED],
    watched_len: usize,
}

/// The last round of a loop, and those before.
struct Round<'a> {
    slots: &'a [Slot],
    /// Where the events begin, the latest first.
    events: [u16; MOST_EVENTS],
    len: usize,
}

impl<'a> Round<'a> {
    /// The loop that a thread goes round, if its latest slots show one.
    fn find(slots: &'a [Slot]) -> Option<Self> {
        let mut all = Round {
            slots,
            events: [0; MOST_EVENTS],
            len: 0,
        };
        let mut count = 0;
        let mut looks = false;
        for (at, slot) in slots.iter().enumerate().rev() {
            if slot.head == Mark::Extra as u64 || slot.head == Mark::Branches as u64 {
                continue;
            }
            if count == MOST_EVENTS {
                break;
            }
            all.events[count] = at as u16;
            count += 1;
            looks = looks || count <= LONGEST_ROUND && may_look(slot);
            // Most threads are done with here: they do not look, or their latest two events are no repetition.
            if count == LONGEST_ROUND + 2
                && !(looks && (1..=LONGEST_ROUND).any(|it| all.begins(it)))
            {
                return None;
            }
        }
        let repeats = |len: &usize| {
            let span = EVIDENCE.max(len * ROUNDS);
            let is_repeated = |it| is_same(all.slot(it), all.slot(it + len));
            span <= count && (0..span - len).all(is_repeated)
        };
        all.len = (1..=LONGEST_ROUND).find(repeats)?;
        Some(all)
    }

    /// Whether the latest two events may end a round of this length.
    fn begins(&self, len: usize) -> bool {
        (0..2).all(|it| is_same(self.slot(it), self.slot(it + len)))
    }

    /// The slot of an event, counted from the latest.
    fn slot(&self, event: usize) -> &'a Slot {
        &self.slots[usize::from(self.events[event])]
    }

    /// The second slot of an event that has one.
    fn extra(&self, event: usize) -> Option<&'a Slot> {
        let second = self.slots.get(usize::from(self.events[event]) + 1);
        second.filter(|it| it.head == Mark::Extra as u64)
    }

    /// What the loop polls, if it does.
    fn polls(&self, own_stack: Range<u64>) -> Option<Polled> {
        let mut polled = Polled {
            key: 0,
            works: false,
            watched: [Watched::NOTHING; MOST_WATCHED],
            watched_len: 0,
        };
        let mut fails = false;
        for event in 0..self.len {
            polled.key = polled.key.wrapping_add(mix(0, self.slot(event).head));
            polled.works |= self.leaves_behind(event, &own_stack);
            let Some(look) = self.look(event) else {
                continue;
            };
            fails |= self.extra(event).is_some();
            if polled.watched_len < MOST_WATCHED {
                polled.watched[polled.watched_len] = look;
                polled.watched_len += 1;
            }
        }
        polled.works &= !fails;
        (polled.watched_len > 0).then_some(polled)
    }

    /// What an event looks at, if it finds the same in every round.
    fn look(&self, event: usize) -> Option<Watched> {
        let look = look(self.slot(event), self.extra(event))?;
        let is_same = |round: usize| {
            let other = event + round * self.len;
            look_value(self.slot(other), self.extra(other)) == Some(look.value)
        };
        (1..ROUNDS).all(is_same).then_some(look)
    }

    /// Whether an event leaves another value behind for other threads than it did in the round before, and none after it
    /// in the round takes that back.
    fn leaves_behind(&self, event: usize, own_stack: &Range<u64>) -> bool {
        let slot = self.slot(event);
        if slot.head < FIRST_SITE_ADDRESS {
            return tells_others(slot.head);
        }
        let site = site_of(slot);
        if own_stack.contains(&slot.addr) {
            return false;
        }
        let is = |kind: SiteKind| site.kind == kind as u8;
        if is(SiteKind::RangeWrite) {
            return true;
        }
        let counts = is(SiteKind::Rmw) && site.role == Role::None as u8;
        if counts || written(slot, self.extra(event)).is_none() {
            return false;
        }
        let before = event + self.len;
        let is_last = (0..event).all(|later| {
            let other = self.slot(later);
            other.addr != slot.addr || written(other, self.extra(later)).is_none()
        });
        let changes =
            written(slot, self.extra(event)) != written(self.slot(before), self.extra(before));
        is_last && changes
    }
}

/// Whether two slots are the same step of a loop.
fn is_same(one: &Slot, other: &Slot) -> bool {
    one.head == other.head && (one.addr == other.addr || !is_placed(one))
}

/// Whether the address in a slot tells one step of a loop from another.
fn is_placed(slot: &Slot) -> bool {
    const ANYWHERE: [Mark; 3] = [Mark::Clock, Mark::Alloc, Mark::Free];
    if slot.head < FIRST_SITE_ADDRESS {
        ANYWHERE.iter().all(|it| slot.head != *it as u64)
    } else {
        site_of(slot).kind != SiteKind::Value as u8
    }
}

/// Whether an event of this kind may be a look.
fn may_look(slot: &Slot) -> bool {
    if slot.head < FIRST_SITE_ADDRESS {
        return slot.head == Mark::Request as u64;
    }
    let site = site_of(slot);
    let kinds = [SiteKind::AtomicLoad, SiteKind::Cas, SiteKind::Rmw];
    site.order & VOLATILE != 0 && site.kind == SiteKind::Read as u8
        || kinds.iter().any(|it| site.kind == *it as u8)
}

/// What an event looks at, if it is a look.
fn look(slot: &Slot, extra: Option<&Slot>) -> Option<Watched> {
    let size = match slot.head < FIRST_SITE_ADDRESS {
        true => 4,
        false => site_of(slot).size,
    };
    look_value(slot, extra).map(|value| Watched {
        addr: slot.addr,
        size,
        value,
    })
}

/// What an event found, if it is a look.
fn look_value(slot: &Slot, extra: Option<&Slot>) -> Option<u64> {
    if !may_look(slot) {
        return None;
    }
    if slot.head == Mark::Request as u64 {
        return extra.filter(|_| slot.value & TRIED != 0).map(|it| it.value);
    }
    let loads = [SiteKind::AtomicLoad, SiteKind::Read];
    let is_load = loads.iter().any(|it| site_of(slot).kind == *it as u8);
    let is_idle = is_load || changes_nothing(slot, extra);
    is_idle.then_some(slot.value)
}

/// What an event writes, if it does and says what.
fn written(slot: &Slot, extra: Option<&Slot>) -> Option<u64> {
    if slot.head < FIRST_SITE_ADDRESS {
        return None;
    }
    let kind = site_of(slot).kind;
    let is = |other: SiteKind| kind == other as u8;
    if is(SiteKind::Write) || is(SiteKind::AtomicStore) {
        Some(slot.value)
    } else if is(SiteKind::Rmw) || is(SiteKind::Cas) {
        extra.filter(|it| it.value != 0).map(|it| it.addr)
    } else {
        None
    }
}

/// Whether a mark is that of a call by which a thread tells others something.
fn tells_others(mark: u64) -> bool {
    const CALLS: [Mark; 7] = [
        Mark::Fork,
        Mark::CondNotify,
        Mark::SemPost,
        Mark::BarrierArrive,
        Mark::OnceDone,
        Mark::Input,
        Mark::Destroy,
    ];
    CALLS.iter().any(|it| mark == *it as u64)
}
