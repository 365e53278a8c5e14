//! Suspected matches that come to the same.
//!
//! Where locks guard all conflicts of a match, it is an order of lock regions: which of its accesses match does
//! not matter, since nobody who conflicts gets between those of one region. What one such match does to the
//! program any other one of the same regions does, too. So one is enough: on one variable rather than on two,
//! and that which is over first, so that least has to go as in the trace.
//!
//! An order counts as far as the last access of the first thread, as what other threads do later follows by
//! itself: who has done `a1-b1-a2` gets to `a1-b1-a2-b2`.

use std::collections::HashMap;

use super::plan::Group;
use super::spots::Spots;
use crate::findings::source_number;
use crate::view::{Hold, Pos, View};

/// Where a lock region is in the program: its acquisition, its first and its last access. An access without a
/// lock is a region by itself.
type Code = [u64; 3];

/// An order of regions.
type Order = Vec<(u8, Code)>;

/// The orders of regions that were found, over all groups.
pub(super) struct Orders<'a> {
    view: &'a View,
    spots: &'a Spots,
    known: HashMap<Order, Known>,
    threads: Vec<u8>,
    group: usize,
}

/// The match that stands for an order.
#[derive(Debug)]
struct Known {
    group: usize,
    number: usize,
    /// Its events, the last one first.
    events: Vec<Pos>,
}

impl<'a> Orders<'a> {
    pub(super) fn new(view: &'a View, spots: &'a Spots) -> Self {
        Self {
            view,
            spots,
            known: HashMap::new(),
            threads: Vec::new(),
            group: 0,
        }
    }

    /// Another group of patterns comes.
    pub(super) fn begin(&mut self, group: &Group) {
        self.group += 1;
        self.threads = group.steps.iter().map(|step| step.thread).collect();
    }

    /// The number that a match of the group gets: the next one, or that of a worse match; none if a match as
    /// good is known.
    pub(super) fn place(&mut self, events: &[Pos], next: usize) -> Option<usize> {
        let order = self.order(events);
        let group = self.group;
        let events: Vec<Pos> = events.iter().rev().copied().collect();
        match self.known.get_mut(&order) {
            Some(known) if known.group == group && events < known.events => {
                known.events = events;
                Some(known.number)
            }
            Some(_) => None,
            None => {
                let number = next;
                let known = Known {
                    group,
                    number,
                    events,
                };
                self.known.insert(order, known);
                Some(next)
            }
        }
    }

    fn order(&self, events: &[Pos]) -> Order {
        let first = self.threads[0];
        let last = self.threads.iter().rposition(|it| *it == first);
        let mut order = Order::new();
        let mut latest = None;
        for (&thread, &pos) in self.threads.iter().zip(events).take(last.unwrap_or(0) + 1) {
            let hold = self.innermost(pos);
            let begins = hold.map(|it| it.acquire);
            if begins.is_none() || begins != latest {
                order.push((thread, self.code(pos, hold)));
            }
            latest = begins;
        }
        order
    }

    /// The newest hold at an event.
    fn innermost(&self, pos: Pos) -> Option<&'a Hold> {
        let (lane, holds) = (self.view.lane(pos), self.view.holds());
        let taken = &holds[..holds.partition_point(|hold| hold.acquire < pos)];
        let is_held =
            |hold: &&Hold| hold.lane == lane && hold.release.is_none_or(|release| release >= pos);
        taken.iter().rev().find(is_held)
    }

    fn code(&self, pos: Pos, hold: Option<&Hold>) -> Code {
        let source = |pos: Pos| source_number(self.view.source(pos));
        let Some(hold) = hold else {
            return [source(pos), 0, 0];
        };
        let events = self.view.lane_events(hold.lane);
        let start = events.partition_point(|it| *it < hold.acquire);
        let end = hold.release.map_or(events.len(), |release| {
            events.partition_point(|it| *it < release)
        });
        let mut accesses = events[start..end]
            .iter()
            .filter(|pos| !self.spots.of(**pos).is_empty());
        let first = accesses.next().copied().unwrap_or(pos);
        let last = accesses.next_back().copied().unwrap_or(first);
        [source(hold.acquire), source(first), source(last)]
    }
}
