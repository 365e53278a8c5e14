//! Circles of threads, each about to take a lock that the next one holds.
//!
//! Every acquisition under other locks is a *wish*: a thread, the lock it takes, and what it holds
//! meanwhile. Wishes that agree in all three are one, with the events as its instances, so that the
//! number of circles depends on the program and not on the length of the run (Tunç, Mathur,
//! Pavlogiannis and Viswanathan, "Sound Dynamic Deadlock Prediction in Linear Time", PLDI 2023, call
//! them abstract acquires). A circle is a list of wishes of different threads in which each takes a
//! lock that the next one holds, in modes that exclude each other, and no two hold a lock that excludes
//! the other's: such a gate lock would keep them apart (Goodlock: Havelund, SPIN 2000). Circles have
//! any length.
//!
//! They are candidates: whether the threads can get there is for the analyses to say.

use raddle_trace::event::LockMode;

use crate::table::Table;
use crate::view::{Kind, Lane, LocksetId, Pos, SyncId, View};

/// Threads that may wait for each other: for each of them, where in the trace it took its lock.
pub type Circle = Vec<Vec<Pos>>;

/// Acquisitions of one lock by one thread under the same locks.
#[derive(Debug)]
struct Wish {
    lane: Lane,
    lock: SyncId,
    mode: LockMode,
    held: LocksetId,
    instances: Vec<Pos>,
}

/// The circles of a view, at most `most`.
#[must_use]
pub fn circles(view: &View, most: usize) -> Vec<Circle> {
    let wishes = wishes(view);
    let mut search = Search {
        view,
        wishes: &wishes,
        path: Vec::new(),
        found: Vec::new(),
        most,
    };
    for first in 0..wishes.len() {
        search.extend(first);
    }
    let instances = |circle: &Vec<usize>| {
        let of = circle.iter().map(|wish| wishes[*wish].instances.clone());
        of.collect()
    };
    search.found.iter().map(instances).collect()
}

/// All wishes, in the order of their first instances.
fn wishes(view: &View) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = Vec::new();
    let mut numbers: Table<(Lane, SyncId, bool, LocksetId), usize> = Table::default();
    for hold in view.holds() {
        let pos = hold.acquire;
        let held = view.lockset_of(pos);
        if view.kind(pos) != Kind::Acquire || view.lockset(held).is_empty() {
            continue;
        }
        let shared = hold.mode == LockMode::Shared;
        let key = (hold.lane, hold.lock, shared, held);
        let number = *numbers.entry(key).or_insert_with(|| {
            wishes.push(Wish {
                lane: hold.lane,
                lock: hold.lock,
                mode: hold.mode,
                held,
                instances: Vec::new(),
            });
            wishes.len() - 1
        });
        wishes[number].instances.push(pos);
    }
    wishes
}

/// A search for circles in depth first order. Each is found once, from its first wish.
struct Search<'v> {
    view: &'v View,
    wishes: &'v [Wish],
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    most: usize,
}

impl Search<'_> {
    fn extend(&mut self, wish: usize) {
        if self.found.len() >= self.most || !self.fits(wish) {
            return;
        }
        self.path.push(wish);
        let first = self.path[0];
        if self.path.len() > 1 && self.waits_for(wish, first) {
            self.found.push(self.path.clone());
        }
        for next in first + 1..self.wishes.len() {
            if self.waits_for(wish, next) {
                self.extend(next);
            }
        }
        self.path.pop();
    }

    /// Whether a wish can be pending together with those of the path.
    fn fits(&self, wish: usize) -> bool {
        let new = &self.wishes[wish];
        self.path.iter().all(|other| {
            let other = &self.wishes[*other];
            other.lane != new.lane && !self.gated(other.held, new.held)
        })
    }

    /// Whether what one thread holds keeps the other from what it holds.
    fn gated(&self, a: LocksetId, b: LocksetId) -> bool {
        let (a, b) = (self.view.lockset(a), self.view.lockset(b));
        a.iter().any(|(lock, mode)| {
            b.iter()
                .any(|(other, other_mode)| lock == other && excludes(*mode, *other_mode))
        })
    }

    /// Whether a wish takes a lock that the thread of another wish holds.
    fn waits_for(&self, wish: usize, other: usize) -> bool {
        let (wish, other) = (&self.wishes[wish], &self.wishes[other]);
        wish.lane != other.lane
            && self
                .view
                .lockset(other.held)
                .iter()
                .any(|(lock, mode)| *lock == wish.lock && excludes(*mode, wish.mode))
    }
}

fn excludes(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}
