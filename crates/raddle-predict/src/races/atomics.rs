//! What atomic operations make known, by C++20's rules ([intro.races], [atomics.order], [atomics.fences]).
//!
//! - An acquiring load synchronises with the release whose value it takes, or with one that heads a release
//!   sequence in which that value stands. Only read-modify-writes continue a release sequence: any other store
//!   ends it, that of the releasing thread included (C++11 and C17 let that one continue it).
//! - A release fence stands in for each later relaxed store of its thread, an acquire fence for each earlier
//!   relaxed load. A sequentially consistent fence is both. That such fences stand in one order adds nothing to
//!   happens-before.
//! - A compare-exchange that fails is a load, with the ordering for failure.
//!
//! Where accesses of several sizes meet (a load of two counters at once), a load takes part in what was released to
//! any byte of it.

use raddle_trace::wire::Ordering;

use super::clock::{Clock, Lane};
use crate::table::Table;

/// Bytes of one word that were released together.
#[derive(Debug)]
struct Released {
    mask: u8,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Fences {
    /// What relaxed loads have seen: an acquire fence learns it.
    seen: Clock,
    /// The clock at the last release fence: relaxed stores release it.
    released: Option<Clock>,
}

/// What has been released, by word of memory.
#[derive(Debug, Default)]
pub(super) struct Atomics {
    words: Table<u64, Vec<Released>>,
    fences: Vec<Fences>,
}

pub(super) fn acquires(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
    )
}

pub(super) fn releases(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
    )
}

impl Atomics {
    /// What a load of some bytes of a word may learn, if it acquires; else it is kept for a fence.
    pub(super) fn load(
        &mut self,
        lane: Lane,
        (word, mask): (u64, u8),
        order: Ordering,
        mut learn: impl FnMut(&Clock),
    ) {
        let Some(released) = self.words.get(&word) else {
            return;
        };
        let taken = released.iter().filter(|it| it.mask & mask != 0);
        if acquires(order) {
            taken.for_each(|it| learn(&it.clock));
        } else {
            let fences = fences_of(&mut self.fences, lane);
            for it in taken {
                fences.seen.join(&it.clock);
            }
        }
    }

    /// A store; `clock` is that of its thread, after it. `continues`: it is a read-modify-write.
    pub(super) fn store(
        &mut self,
        lane: Lane,
        place: (u64, u8),
        order: Ordering,
        clock: &Clock,
        continues: bool,
    ) {
        if !continues {
            self.overwrite(place.0, place.1);
        }
        let fence = self
            .fences
            .get(lane.index())
            .and_then(|it| it.released.as_ref());
        let released = if releases(order) { Some(clock) } else { fence };
        if let Some(clock) = released.cloned() {
            self.release(place, &clock);
        }
    }

    /// Whatever loads of these bytes acquire, they learn this from now on.
    pub(super) fn release(&mut self, (word, mask): (u64, u8), clock: &Clock) {
        let list = self.words.entry(word).or_default();
        match list.iter_mut().find(|it| it.mask == mask) {
            Some(known) => {
                known.clock.join(clock);
            }
            None => list.push(Released {
                mask,
                clock: clock.clone(),
            }),
        }
    }

    /// A value that nothing released takes the place of these bytes.
    pub(super) fn overwrite(&mut self, word: u64, mask: u8) {
        if let Some(list) = self.words.get_mut(&word) {
            list.retain(|it| it.mask & !mask != 0);
        }
    }

    /// The memory is another object's from now on.
    pub(super) fn forget(&mut self, word: u64) {
        self.words.remove(&word);
    }

    /// The first half of a fence: what it learns.
    pub(super) fn acquire_fence(&mut self, lane: Lane) -> Option<&Clock> {
        self.fences.get(lane.index()).map(|it| &it.seen)
    }

    /// The second half: what later stores release.
    pub(super) fn release_fence(&mut self, lane: Lane, clock: &Clock) {
        fences_of(&mut self.fences, lane).released = Some(clock.clone());
    }
}

fn fences_of(fences: &mut Vec<Fences>, lane: Lane) -> &mut Fences {
    if fences.len() <= lane.index() {
        fences.resize_with(lane.index() + 1, Fences::default);
    }
    &mut fences[lane.index()]
}
