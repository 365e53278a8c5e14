//! Which locks threads hold where an ideal ends.
//!
//! Holds of one thread on one lock in one mode do not overlap. So of a lock's holds that begin in an
//! ideal, only those can end outside that last beyond the bound of their thread, and a lock that no
//! thread holds at its bound needs no look. There are few such holds, however many locks there are.
//!
//! That is not so if a lock is given back by another thread than took it: such a lock counts as held
//! all the time.

use std::ops::Range;

use super::locks::{LockTable, count_below};
use crate::view::{Hold, Lane, SyncId};

/// A hold, as its thread comes by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquisition {
    at: u32,
    pub(super) lock: SyncId,
    /// Its release, if that is an event of the same thread.
    until: u32,
    /// The latest of the thread's earlier ones that lasts longer.
    outlasted_by: Option<u32>,
}

/// A thread's holds, by their acquisitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Acquisitions {
    list: Vec<Acquisition>,
}

impl Acquisitions {
    /// Adds the next hold. If it ends in another thread, `is_local` is false.
    pub(super) fn push(&mut self, hold: &Hold, is_local: bool) {
        let until = match hold.release {
            _ if !is_local => hold.acquire.0,
            Some(release) => release.0,
            None => u32::MAX,
        };
        let mut outlasted_by = (self.list.len() as u32).checked_sub(1);
        while let Some(earlier) = outlasted_by.map(|earlier| self.list[earlier as usize])
            && earlier.until <= until
        {
            outlasted_by = earlier.outlasted_by;
        }
        self.list.push(Acquisition {
            at: hold.acquire.0,
            lock: hold.lock,
            until,
            outlasted_by,
        });
    }

    /// Some of them by their numbers.
    pub(super) fn get(&self, numbers: Range<usize>) -> &[Acquisition] {
        &self.list[numbers]
    }

    /// The locks held at a bound; `begun` acquisitions are below it.
    fn held(&self, begun: usize, bound: u32) -> impl Iterator<Item = SyncId> {
        let mut next = begun.checked_sub(1);
        std::iter::from_fn(move || {
            loop {
                let number = next?;
                let hold = &self.list[number];
                if hold.until >= bound {
                    next = number.checked_sub(1);
                    return Some(hold.lock);
                }
                // What is skipped has ended before this one did.
                next = hold.outlasted_by.map(|earlier| earlier as usize);
            }
        })
    }
}

/// Where threads stand, and what they hold there.
pub(super) struct Frontier<'s> {
    locks: &'s LockTable,
    /// By thread.
    stands: Vec<Stand>,
    /// By lock: how many threads hold it.
    holders: Vec<u32>,
    held_count: usize,
}

#[derive(Clone, Debug, Default)]
struct Stand {
    bound: u32,
    /// Acquisitions below the bound.
    begun: usize,
    held: Vec<SyncId>,
}

impl<'s> Frontier<'s> {
    /// All threads stand at their beginnings.
    pub(super) fn new(locks: &'s LockTable, threads: usize, syncs: usize) -> Self {
        let mut holders = vec![0; syncs];
        for lock in locks.passed_on() {
            holders[lock.index()] = 1;
        }
        Self {
            locks,
            stands: vec![Stand::default(); threads],
            holders,
            held_count: locks.passed_on().len(),
        }
    }

    /// Sends all threads back to their beginnings.
    pub(super) fn clear(&mut self) {
        for stand in &mut self.stands {
            (stand.bound, stand.begun) = (0, 0);
            self.held_count -= stand.held.len();
            for lock in stand.held.drain(..) {
                self.holders[lock.index()] -= 1;
            }
        }
    }

    /// Lets a thread go on to a bound; the numbers of the acquisitions that it comes by.
    #[inline]
    pub(super) fn advance(&mut self, lane: Lane, bound: u32) -> Range<usize> {
        let stand = &mut self.stands[lane.index()];
        if stand.bound >= bound {
            return stand.begun..stand.begun;
        }
        let acquisitions = self.locks.acquisitions(lane);
        let from = stand.begun;
        stand.bound = bound;
        stand.begun = count_below(&acquisitions.list, from, |it| it.at < bound);
        if from == stand.begun {
            // What has ended since does no harm: a lock too many is looked at.
            return from..from;
        }
        self.held_count -= stand.held.len();
        for lock in stand.held.drain(..) {
            self.holders[lock.index()] -= 1;
        }
        stand.held.extend(acquisitions.held(stand.begun, bound));
        self.held_count += stand.held.len();
        for lock in &stand.held {
            self.holders[lock.index()] += 1;
        }
        from..stand.begun
    }

    /// Whether a thread holds a lock.
    #[inline]
    pub(super) fn is_held(&self, lock: SyncId) -> bool {
        self.holders[lock.index()] > 0
    }

    /// The locks that threads hold; one that several hold comes several times.
    pub(super) fn held(&self) -> impl Iterator<Item = SyncId> {
        let by_threads = self.stands.iter().flat_map(|stand| &stand.held);
        by_threads.chain(self.locks.passed_on()).copied()
    }

    /// How many `held` gives.
    #[inline]
    pub(super) fn held_count(&self) -> usize {
        self.held_count
    }
}
