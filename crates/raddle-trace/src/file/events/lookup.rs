//! What stands in a slot: an event whose site came up before, outcomes of branches, an operation on a lock, or something that
//! has to be decoded with more care.
//!
//! A slot names its site by the address of a record. Where the site of such an address has its place is kept in a table, by
//! some bits of the address; what stands there has to be held against [`Known::head`], since two may share an entry.

use super::encoder::{PLACES, entry};
use super::memory::{Known, Takes, mark_index};
use crate::event::Outcomes;
use crate::sites::Window;
use crate::wire::{Mark, SLOT_BYTES, SiteRecord};

/// Sites whose place is found by their record's address, by its low bits.
pub(super) const HEADS: usize = 1 << 13;

/// A slot as it is in shared memory.
pub(super) type Bytes = [u8; SLOT_BYTES];

/// What stands in a slot that is not simply the event of a site that was met before.
pub(super) enum Found {
    /// Nothing that is taken here.
    Nothing,
    /// An event of one slot, whose site has this place.
    Event(u16),
    /// An event of two slots.
    Pair(u16),
    Branches(Outcomes),
    /// An operation on a lock: its mark, and the numbers that tell it.
    Action(Mark, [u64; 4]),
}

/// Where the place of a site whose record is at this address is kept.
#[inline(always)]
pub(super) fn head_entry(head: u64) -> usize {
    (head as usize >> size_of::<SiteRecord>().trailing_zeros()) % HEADS
}

/// Looks up the site of a slot whose event takes two slots, or has to be looked at, or is met for the first time.
#[inline(never)]
pub(super) fn find(
    known: &mut [Known],
    places: &[u16; PLACES],
    heads: &mut [u16; HEADS],
    window: &Window,
    slot: &Bytes,
    next: Option<&Bytes>,
) -> Found {
    let (head, ..) = numbers(slot);
    let kept = heads[head_entry(head)];
    let met = known.get(usize::from(kept)).filter(|it| it.is_met(head));
    let number = met.map(|it| it.site).or_else(|| window.number(head));
    let Some(site) = number else {
        return Found::Nothing;
    };
    let extra = next.map(numbers).filter(|it| it.0 == Mark::Extra as u64);
    // Of a compare-exchange that stored there is another place.
    let stored = extra.is_some_and(|(_, _, stored)| stored != 0);
    let mut at = |is_stored: bool| {
        let place = places[entry(site, is_stored)];
        let it = known.get_mut(usize::from(place))?;
        let fits = it.site == site && it.shape.stored == is_stored;
        fits.then(|| {
            it.meet(head);
            heads[head_entry(head)] = place;
            (place, it.takes)
        })
    };
    let found = at(stored).filter(|(_, takes)| *takes == Takes::PairIfStored || !stored);
    match (found.or_else(|| at(false)), extra) {
        (Some((place, Takes::One | Takes::Entry)), _) => Found::Event(place),
        (Some((place, Takes::Pair)), Some(_)) => Found::Pair(place),
        (Some((place, Takes::PairIfStored)), Some(_))
            if known[usize::from(place)].shape.stored == stored =>
        {
            Found::Pair(place)
        }
        _ => Found::Nothing,
    }
}

/// Operations on locks, whose second and third number say little.
const LOCKS: [Mark; 6] = [
    Mark::Lock,
    Mark::Unlock,
    Mark::ReadLock,
    Mark::ReadUnlock,
    Mark::WriteLock,
    Mark::WriteUnlock,
];

/// What a mark says if it is known to make sense: a lock's numbers, but for the lock, are those of the last such operation,
/// or zeros.
#[inline(never)]
pub(super) fn mark(slot: &Bytes, next: Option<&Bytes>, actions: &[[u64; 4]]) -> Found {
    let (head, object, argument) = numbers(slot);
    if head == Mark::Branches as u64 {
        let outcomes = Outcomes::from_sentinel(argument);
        return outcomes.map_or(Found::Nothing, Found::Branches);
    }
    let lock = LOCKS.into_iter().find(|it| *it as u64 == head);
    let (Some(lock), Some((extra, pc, second))) = (lock, next.map(numbers)) else {
        return Found::Nothing;
    };
    let known = &actions[usize::from(mark_index(lock))];
    match extra == Mark::Extra as u64 && [argument, second] == known[1..3] {
        true => Found::Action(lock, [object, argument, second, pc]),
        false => Found::Nothing,
    }
}

/// Head, address and value of a slot.
#[inline(always)]
pub(super) fn numbers(slot: &Bytes) -> (u64, u64, u64) {
    let (words, _) = slot.as_chunks::<8>();
    let number = |at: usize| u64::from_le_bytes(words[at]);
    (number(0), number(1), number(2))
}
