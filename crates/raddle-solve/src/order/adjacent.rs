//! Pairs of events with nothing between them.
//!
//! Events that must be adjacent are, to all others, one event: what comes before the one comes before
//! the other. This is kept up for the steps of the closure; what they leave open is left to the
//! schedule.

use super::graph::{Derived, Graph};
use super::place::{Event, Place};
use super::reach::Change;
use crate::lit::Lit;

/// A pair that is adjacent if its literal holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: Event,
    pub(super) b: Event,
    pub(super) lit: Lit,
}

/// All pairs.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) pairs: Vec<Pair>,
    /// Those that hold, in the order in which they became true.
    active: Vec<u32>,
}

impl Pairs {
    /// The pairs that hold, with their numbers.
    pub(super) fn active(&self) -> impl Iterator<Item = (u32, Pair)> + '_ {
        self.active
            .iter()
            .map(|number| (*number, self.pairs[*number as usize]))
    }

    pub(super) fn mark(&self) -> usize {
        self.active.len()
    }

    pub(super) fn undo_to(&mut self, mark: usize) {
        self.active.truncate(mark);
    }

    /// A pair's literal has become true: what surrounds the one surrounds the other.
    pub(super) fn activate(&mut self, graph: &Graph, number: u32, derived: &mut Vec<Derived>) {
        self.active.push(number);
        let Pair { a, b, lit } = self.pairs[number as usize];
        for (one, other) in [(a, b), (b, a)] {
            let place = graph.places.of(one);
            let around = graph.places.before(one).filter(|before| *before != other);
            derived.extend(around.map(|before| Derived::by(lit, before, other)));
            let around = graph.places.after(one).filter(|after| *after != other);
            derived.extend(around.map(|after| Derived::by(lit, other, after)));
            for chain in graph.reach.chains_before(place.chain) {
                if let Some(pos) = graph.reach.last_before(chain, place) {
                    let before = graph.places.at(chain, pos);
                    derived.extend(shared_before(lit, before, one, other));
                }
            }
            for chain in graph.reach.chains_after(place.chain) {
                if let Some(pos) = graph.reach.first_after(place, chain) {
                    let after = graph.places.at(chain, pos);
                    derived.extend(shared_after(lit, after, one, other));
                }
            }
        }
    }

    /// Conclusions from a new step of the closure.
    pub(super) fn derive_from(&self, graph: &Graph, change: &Change, derived: &mut Vec<Derived>) {
        for (_, Pair { a, b, lit }) in self.active() {
            for (one, other) in [(a, b), (b, a)] {
                let Place { chain, pos } = graph.places.of(one);
                if chain == change.to_chain && (change.to..change.to_end).contains(&pos) {
                    let before = graph.places.at(change.from_chain, change.from);
                    derived.extend(shared_before(lit, before, one, other));
                }
                if chain == change.from_chain && (change.from_first..=change.from).contains(&pos) {
                    let after = graph.places.at(change.to_chain, change.to);
                    derived.extend(shared_after(lit, after, one, other));
                }
            }
        }
    }
}

fn shared_before(lit: Lit, before: Event, one: Event, other: Event) -> Option<Derived> {
    (before != other).then(|| Derived::by_path(lit, (before, one), before, other))
}

fn shared_after(lit: Lit, after: Event, one: Event, other: Event) -> Option<Derived> {
    (after != other).then(|| Derived::by_path(lit, (one, after), other, after))
}
