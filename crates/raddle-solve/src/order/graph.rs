//! The order as far as it is known: edges, each with its reason, over their transitive closure.
//!
//! An edge is fixed, or stands for a true literal, or was derived from premises: true literals and
//! paths that were there before it. Edges are numbered in the order they were added; a path that
//! explains something is looked for among the edges that were there at the time.

use std::collections::BTreeSet;

use super::place::{Event, Place, Places};
use super::reach::{Change, Reach};
use crate::lit::Lit;

/// Something that a conclusion rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Premise {
    /// Nothing.
    None,
    /// A true literal.
    Lit(Lit),
    /// The first event is known to come before the second.
    Path(Event, Event),
}

/// All that a conclusion rests on.
pub(super) type Premises = [Premise; 3];

/// What rests on one event coming before another.
pub(super) fn path(a: Event, b: Event) -> Premises {
    [Premise::Path(a, b), Premise::None, Premise::None]
}

/// Premises of what always holds.
pub(super) const NO_PREMISES: Premises = [Premise::None; 3];

/// An edge that follows from premises.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derived {
    pub(super) from: Event,
    pub(super) to: Event,
    pub(super) because: Premises,
}

impl Derived {
    /// An edge that holds because a literal does.
    pub(super) fn by(lit: Lit, from: Event, to: Event) -> Self {
        Self {
            from,
            to,
            because: [Premise::Lit(lit), Premise::None, Premise::None],
        }
    }

    /// An edge that holds because a literal does and one event comes before another.
    pub(super) fn by_path(lit: Lit, path: (Event, Event), from: Event, to: Event) -> Self {
        Self {
            from,
            to,
            because: [
                Premise::Lit(lit),
                Premise::Path(path.0, path.1),
                Premise::None,
            ],
        }
    }
}

/// The known part of the order.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) places: Places,
    pub(super) reach: Reach,
    edges: Vec<Derived>,
    /// For each chain, the edges that leave it, oldest first.
    leaving: Vec<Vec<u32>>,
    search: PathSearch,
}

/// What became of an edge.
pub(super) enum Added {
    /// It is there now, or was implied already.
    Fine,
    /// It would close a cycle: its head comes before its tail.
    Cycle,
}

/// A state of the graph to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    edges: usize,
    reach: usize,
}

/// Scratch space of the path search.
#[derive(Debug, Default)]
struct PathSearch {
    /// For each chain, the first position reached so far.
    reached: Vec<u32>,
    touched: Vec<u32>,
    /// Edges found, each with the one before it on the path.
    found: Vec<(u32, u32)>,
    /// Indices into `found`, by cost.
    queue: Vec<Vec<u32>>,
}

/// No edge before this one.
const START: u32 = u32::MAX;

impl Graph {
    pub(super) fn reaches(&self, a: Event, b: Event) -> bool {
        self.reach.reaches(self.places.of(a), self.places.of(b))
    }

    /// The number of edges: the time at which a conclusion is drawn.
    pub(super) fn time(&self) -> u32 {
        self.edges.len() as u32
    }

    pub(super) fn edges(&self) -> &[Derived] {
        &self.edges
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            edges: self.edges.len(),
            reach: self.reach.mark(),
        }
    }

    pub(super) fn undo_to(&mut self, mark: Mark) {
        for edge in self.edges.drain(mark.edges..).rev() {
            let chain = self.places.of(edge.from).chain;
            self.leaving[chain as usize].pop();
        }
        self.reach.undo_to(mark.reach);
    }

    /// Adds an edge, unless it follows from those that are there.
    pub(super) fn add(&mut self, edge: Derived, changes: &mut Vec<Change>) -> Added {
        let (from, to) = (self.places.of(edge.from), self.places.of(edge.to));
        if self.reach.reaches(from, to) {
            return Added::Fine;
        }
        if from == to || self.reach.reaches(to, from) {
            return Added::Cycle;
        }
        let number = self.time();
        self.edges.push(edge);
        let chain = from.chain as usize;
        if self.leaving.len() <= chain {
            self.leaving.resize_with(chain + 1, Vec::new);
        }
        self.leaving[chain].push(number);
        self.reach.add(from, to, changes);
        Added::Fine
    }

    /// Appends the literals on which `premises` rested when the graph had `time` edges.
    pub(super) fn explain(&mut self, premises: Premises, time: u32, lits: &mut Vec<Lit>) {
        let mut open: Vec<(Premise, u32)> = premises.map(|premise| (premise, time)).to_vec();
        let mut expanded = BTreeSet::new();
        while let Some((premise, time)) = open.pop() {
            match premise {
                Premise::None => {}
                Premise::Lit(lit) => lits.push(lit),
                Premise::Path(a, b) => {
                    for edge in self.path(a, b, time) {
                        if expanded.insert(edge) {
                            let because = self.edges[edge as usize].because;
                            open.extend(because.map(|premise| (premise, edge)));
                        }
                    }
                }
            }
        }
        lits.sort_unstable();
        lits.dedup();
    }

    /// The edges of a path from `a` to `b` among the first `time`, with few premises: a breadth-first
    /// search by cost over the edges from which `b` can be reached at all.
    fn path(&mut self, a: Event, b: Event, time: u32) -> Vec<u32> {
        let (start, goal) = (self.places.of(a), self.places.of(b));
        if start.chain == goal.chain && start.pos < goal.pos {
            return Vec::new();
        }
        let mut search = std::mem::take(&mut self.search);
        search.begin(self.places.chains().len());
        self.enter(&mut search, start, START, 0, goal, time);
        let mut cost = 0;
        let last = loop {
            let Some(found) = search.next(&mut cost) else {
                unreachable!("a path that was used is no longer there");
            };
            let (edge, _) = search.found[found as usize];
            let head = self.places.of(self.edges[edge as usize].to);
            if head.chain == goal.chain && head.pos <= goal.pos {
                break found;
            }
            self.enter(&mut search, head, found, cost, goal, time);
        };
        let mut path = Vec::new();
        let mut at = last;
        while at != START {
            let (edge, before) = search.found[at as usize];
            path.push(edge);
            at = before;
        }
        search.end();
        self.search = search;
        path
    }

    /// The search has come to `place`: queues the edges that leave its chain from there on.
    fn enter(
        &self,
        search: &mut PathSearch,
        place: Place,
        by: u32,
        cost: usize,
        goal: Place,
        time: u32,
    ) {
        let end = search.reached[place.chain as usize];
        if place.pos >= end {
            return;
        }
        if end == u32::MAX {
            search.touched.push(place.chain);
        }
        search.reached[place.chain as usize] = place.pos;
        let Some(leaving) = self.leaving.get(place.chain as usize) else {
            return;
        };
        for &number in leaving.iter().take_while(|number| **number < time) {
            let edge = &self.edges[number as usize];
            let tail = self.places.of(edge.from).pos;
            let head = self.places.of(edge.to);
            let useful = head == goal || self.reach.reaches(head, goal);
            if (place.pos..end).contains(&tail) && useful {
                let premises = edge.because.iter();
                let weight = premises
                    .filter(|premise| **premise != Premise::None)
                    .count();
                search.push(number, by, cost + weight);
            }
        }
    }
}

impl PathSearch {
    fn begin(&mut self, chains: usize) {
        self.reached.resize(chains, u32::MAX);
    }

    fn push(&mut self, edge: u32, by: u32, cost: usize) {
        if self.queue.len() <= cost {
            self.queue.resize_with(cost + 1, Vec::new);
        }
        self.queue[cost].push(self.found.len() as u32);
        self.found.push((edge, by));
    }

    /// The cheapest edge found and not looked at yet; `cost` is raised to its cost.
    fn next(&mut self, cost: &mut usize) -> Option<u32> {
        while *cost < self.queue.len() {
            if let Some(found) = self.queue[*cost].pop() {
                return Some(found);
            }
            *cost += 1;
        }
        None
    }

    fn end(&mut self) {
        for chain in self.touched.drain(..) {
            self.reached[chain as usize] = u32::MAX;
        }
        self.found.clear();
        for queue in &mut self.queue {
            queue.clear();
        }
    }
}
