//! Order atoms: Boolean variables that say which of two events comes first.
//!
//! There is one variable for a pair of events; it is true if the event that was created first comes
//! first, so that the observed order is the phase `true`.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::place::Event;
use super::reach::Change;
use crate::lit::{Lit, Var};

/// An atom as seen from one of its chains.
#[derive(Clone, Copy, Debug)]
struct Sided {
    /// The event's position in the chain from which it is seen, and that of the other event.
    from: u32,
    to: u32,
    /// Holds if the event comes before the other.
    before: Lit,
}

/// All atoms.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    by_pair: BTreeMap<(Event, Event), Var>,
    /// For each ordered pair of chains, the atoms between them, by position in the first.
    by_chains: BTreeMap<(u32, u32), Vec<Sided>>,
    /// Added since the last propagation.
    fresh: Vec<(Event, Event, Lit)>,
}

impl Atoms {
    /// The literal that `a` comes before `b`, if there is an atom for the pair.
    pub(super) fn find(&self, a: Event, b: Event) -> Option<Lit> {
        let var = self.by_pair.get(&(a.min(b), a.max(b)))?;
        Some(var.is(a < b))
    }

    /// Makes `var` the atom of a pair of events of different chains.
    pub(super) fn insert(&mut self, graph: &Graph, first: Event, second: Event, var: Var) {
        assert!(
            first < second,
            "an atom's events are in the order of creation"
        );
        self.by_pair.insert((first, second), var);
        self.fresh.push((first, second, var.is(true)));
        for (a, b, before) in [
            (first, second, var.is(true)),
            (second, first, var.is(false)),
        ] {
            let (a, b) = (graph.places.of(a), graph.places.of(b));
            let list = self.by_chains.entry((a.chain, b.chain)).or_default();
            let at = list.partition_point(|other| other.from < a.pos);
            list.insert(
                at,
                Sided {
                    from: a.pos,
                    to: b.pos,
                    before,
                },
            );
        }
    }

    /// Calls `found` for each literal that follows from a change.
    pub(super) fn implied_by(
        &self,
        graph: &Graph,
        change: &Change,
        mut found: impl FnMut(Event, Event, Lit),
    ) {
        let Some(list) = self.by_chains.get(&(change.from_chain, change.to_chain)) else {
            return;
        };
        let begin = list.partition_point(|atom| atom.from < change.from_first);
        for atom in list[begin..]
            .iter()
            .take_while(|atom| atom.from <= change.from)
        {
            if atom.to >= change.to {
                let a = graph.places.at(change.from_chain, atom.from);
                let b = graph.places.at(change.to_chain, atom.to);
                found(a, b, atom.before);
            }
        }
    }

    /// Calls `found` for each literal of a new atom that the graph implies.
    pub(super) fn implied_fresh(
        &mut self,
        graph: &Graph,
        mut found: impl FnMut(Event, Event, Lit),
    ) {
        for (first, second, before) in self.fresh.drain(..) {
            if graph.reaches(first, second) {
                found(first, second, before);
            } else if graph.reaches(second, first) {
                found(second, first, !before);
            }
        }
    }
}
