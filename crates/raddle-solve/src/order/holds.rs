//! Intervals that exclude each other.
//!
//! Two holds of a resource exclude each other if both count and one of them is exclusive: one ends
//! before the other begins. If hold `A` begins before `B` ends, `B` cannot be first, so `A` ends before
//! `B` begins. This conclusion is drawn whenever its premises hold; pairs whose order is open are left
//! to the schedule, and get a clause when a schedule violates them.
//!
//! A new step of the closure, from position `i` of one chain to position `j` of another, says something
//! new only about holds that `i` or `j` lie within: for the others, the end of the one and the
//! beginning of the other are on the right side of the step already. For each of those, the nearest
//! hold of the same resource in the other chain is enough, as the rest follows along the chain.
//!
//! Holds that end in another chain than they began, or overlap others of their resource in their chain,
//! are rare; they are left to the schedule.

use std::collections::BTreeMap;

use super::by_place::within;
use super::graph::{Derived, Graph, Premise};
use super::place::{Event, Place, index};
use super::reach::Change;
use super::{Values, When};

/// Something that can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(pub(super) u32);

/// Whom a hold tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No other hold.
    Exclusive,
    /// Other shared holds.
    Shared,
}

/// An interval during which a resource is held.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// The event with which it begins.
    pub from: Event,
    /// The event with which it ends; `None` if it never does.
    pub to: Option<Event>,
    /// Whom it tolerates.
    pub mode: Mode,
    /// When it counts.
    pub when: When,
}

/// A hold's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HoldId(pub(super) u32);

/// A hold with its place.
#[derive(Debug)]
pub(super) struct HoldInfo {
    pub(super) resource: Resource,
    pub(super) hold: Hold,
    /// The chain that it is in, apart from other holds of the resource; none for the rare ones.
    chain: Option<u32>,
    from: u32,
    /// The last position possible if it never ends.
    to: u32,
}

/// The holds of a resource in one chain, by position.
#[derive(Debug, Default)]
struct Row {
    all: Vec<HoldId>,
    exclusive: Vec<HoldId>,
}

/// The holds that begin in a chain, and those that any position lies within.
#[derive(Debug, Default)]
struct Index {
    begin: Vec<(u32, HoldId)>,
    /// From this position on, these of `within` are held.
    held: Vec<(u32, std::ops::Range<u32>)>,
    within: Vec<HoldId>,
    stale: bool,
}

/// All holds.
#[derive(Debug, Default)]
pub(super) struct Holds {
    infos: Vec<HoldInfo>,
    /// For each resource, its holds in each chain.
    rows: Vec<BTreeMap<u32, Row>>,
    /// For each resource, the holds that never end.
    endless: Vec<Vec<HoldId>>,
    by_chain: Vec<Index>,
    /// Added since the last propagation.
    fresh: Vec<HoldId>,
}

impl HoldInfo {
    /// Whether the two must not overlap, if both count. Listed ones of one chain do not anyway.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        (self.chain.is_none() || self.chain != other.chain)
            && (self.hold.mode == Mode::Exclusive || other.hold.mode == Mode::Exclusive)
    }
}

impl Row {
    /// Those that exclude a hold of this mode.
    fn against(&self, mode: Mode) -> &[HoldId] {
        match mode {
            Mode::Exclusive => &self.all,
            Mode::Shared => &self.exclusive,
        }
    }
}

impl Holds {
    pub(super) fn add_resource(&mut self) -> Resource {
        self.rows.push(BTreeMap::new());
        self.endless.push(Vec::new());
        Resource(index(self.rows.len() - 1))
    }

    pub(super) fn add(&mut self, graph: &Graph, resource: Resource, hold: Hold) -> HoldId {
        let begin = graph.places.of(hold.from);
        let end = hold.to.map(|to| graph.places.of(to));
        let id = HoldId(index(self.infos.len()));
        let to = end.map_or(u32::MAX, |end| end.pos);
        let simple =
            end.is_none_or(|end| end.chain == begin.chain) && !self.overlaps(resource, begin, to);
        self.infos.push(HoldInfo {
            resource,
            hold,
            chain: simple.then_some(begin.chain),
            from: begin.pos,
            to,
        });
        if simple {
            self.list(resource, id, begin);
        }
        id
    }

    /// Whether a hold from `begin` to position `to` of the same chain overlaps a listed one there.
    fn overlaps(&self, resource: Resource, begin: Place, to: u32) -> bool {
        let Some(row) = self.rows[resource.0 as usize].get(&begin.chain) else {
            return false;
        };
        let next = row.all.partition_point(|id| self.info(*id).to < begin.pos);
        row.all
            .get(next)
            .is_some_and(|id| self.info(*id).from <= to)
    }

    /// Lists a hold by its place.
    fn list(&mut self, resource: Resource, id: HoldId, begin: Place) {
        let Place { chain, pos: from } = begin;
        let hold = self.info(id).hold;
        let infos = &self.infos;
        let row = self.rows[resource.0 as usize].entry(chain).or_default();
        let insert = |list: &mut Vec<HoldId>| {
            let at = list.partition_point(|other| infos[other.0 as usize].from < from);
            list.insert(at, id);
        };
        insert(&mut row.all);
        if hold.mode == Mode::Exclusive {
            insert(&mut row.exclusive);
        }
        if hold.to.is_none() {
            self.endless[resource.0 as usize].push(id);
        }
        if self.by_chain.len() <= chain as usize {
            self.by_chain
                .resize_with(chain as usize + 1, Index::default);
        }
        let index = &mut self.by_chain[chain as usize];
        let at = index.begin.partition_point(|(pos, _)| *pos < from);
        index.begin.insert(at, (from, id));
        index.stale = true;
        self.fresh.push(id);
    }

    pub(super) fn resources(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn infos(&self) -> &[HoldInfo] {
        &self.infos
    }

    fn info(&self, id: HoldId) -> &HoldInfo {
        &self.infos[id.0 as usize]
    }

    /// Conclusions about holds added since the last time.
    pub(super) fn derive_fresh(
        &mut self,
        graph: &Graph,
        values: &Values<'_>,
        derived: &mut Vec<Derived>,
    ) {
        if self.fresh.is_empty() {
            return;
        }
        for chain in 0..self.by_chain.len() {
            self.refresh(chain);
        }
        for id in std::mem::take(&mut self.fresh) {
            self.derive_for(graph, values, id, derived);
        }
    }

    /// Conclusions about one hold: added, or come to count.
    pub(super) fn derive_for(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        id: HoldId,
        derived: &mut Vec<Derived>,
    ) {
        let hold = self.info(id);
        let (Some(chain), Some(counts)) = (
            hold.chain,
            values.counts(graph, hold.hold.when, hold.hold.from),
        ) else {
            return;
        };
        let begin = graph.places.of(hold.hold.from);
        let rows = &self.rows[hold.resource.0 as usize];
        for other in graph.reach.chains_after(chain) {
            if let (Some(row), Some(j)) = (rows.get(&other), graph.reach.first_after(begin, other))
                && let Some(later) = self.first_ending_from(row, hold.hold.mode, j)
            {
                self.exclude(graph, values, (id, Some(counts)), (later, None), derived);
            }
        }
        let end = Place {
            chain,
            pos: hold.to,
        };
        for other in graph.reach.chains_before(chain) {
            if let (Some(row), Some(i)) = (rows.get(&other), graph.reach.last_before(other, end))
                && let Some(earlier) = self.last_beginning_by(row, hold.hold.mode, i)
            {
                self.exclude(graph, values, (earlier, None), (id, Some(counts)), derived);
            }
        }
        for &endless in &self.endless[hold.resource.0 as usize] {
            let other = self.info(endless);
            if other.excludes(hold) {
                self.exclude(graph, values, (id, Some(counts)), (endless, None), derived);
            }
        }
        if hold.hold.to.is_none() {
            for (_, row) in rows.iter().filter(|(other, _)| **other != chain) {
                for &other in row.against(hold.hold.mode) {
                    self.exclude(graph, values, (other, None), (id, Some(counts)), derived);
                }
            }
        }
    }

    /// Conclusions from a new step of the closure.
    pub(super) fn derive_from(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        change: &Change,
        derived: &mut Vec<Derived>,
    ) {
        let around_tail = self.held_at(change.from_chain, Some(change.from));
        for &id in around_tail {
            let hold = self.info(id);
            let rows = &self.rows[hold.resource.0 as usize];
            if let Some(row) = rows.get(&change.to_chain)
                && let Some(later) = self.first_ending_from(row, hold.hold.mode, change.to)
            {
                self.exclude(graph, values, (id, None), (later, None), derived);
            }
        }
        let around_head = self.held_at(change.to_chain, change.to.checked_sub(1));
        for &id in around_head {
            let hold = self.info(id);
            let rows = &self.rows[hold.resource.0 as usize];
            if let Some(row) = rows.get(&change.from_chain)
                && let Some(earlier) = self.last_beginning_by(row, hold.hold.mode, change.from)
            {
                self.exclude(graph, values, (earlier, None), (id, None), derived);
            }
        }
        self.derive_counting(graph, values, change, derived);
    }

    /// Holds that count from now on, because they begin before the event that limits them.
    fn derive_counting(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        change: &Change,
        derived: &mut Vec<Derived>,
    ) {
        let Some(index) = self.by_chain.get(change.from_chain as usize) else {
            return;
        };
        if !values.limits_from(graph, change.to_chain, change.to) {
            return;
        }
        for id in within(&index.begin, change.from_first, change.from) {
            if self.info(id).hold.when.is_met_by(graph, change) {
                self.derive_for(graph, values, id, derived);
            }
        }
    }

    /// `a` begins before `b` ends: if both count, `a` ends before `b` begins.
    fn exclude(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        (a, a_counts): (HoldId, Option<Premise>),
        (b, b_counts): (HoldId, Option<Premise>),
        derived: &mut Vec<Derived>,
    ) {
        let (a, b) = (self.info(a).hold, self.info(b).hold);
        if a.to.is_some_and(|end| graph.reaches(end, b.from)) {
            return;
        }
        let counts = |known: Option<Premise>, hold: Hold| {
            known.or_else(|| values.counts(graph, hold.when, hold.from))
        };
        let (Some(a_counts), Some(b_counts)) = (counts(a_counts, a), counts(b_counts, b)) else {
            return;
        };
        let overlap = b.to.map_or(Premise::None, |end| Premise::Path(a.from, end));
        derived.push(Derived {
            // An endless hold that must come first is a contradiction, as an edge to itself is.
            from: a.to.unwrap_or(b.from),
            to: b.from,
            because: [overlap, a_counts, b_counts],
        });
    }

    /// The first hold of a row that ends at `pos` or later.
    fn first_ending_from(&self, row: &Row, mode: Mode, pos: u32) -> Option<HoldId> {
        let list = row.against(mode);
        let at = list.partition_point(|id| self.info(*id).to < pos);
        list.get(at).copied()
    }

    /// The last hold of a row that begins at `pos` or earlier.
    fn last_beginning_by(&self, row: &Row, mode: Mode, pos: u32) -> Option<HoldId> {
        let list = row.against(mode);
        let at = list.partition_point(|id| self.info(*id).from <= pos);
        at.checked_sub(1).map(|at| list[at])
    }

    /// The holds that have begun by `pos` and not ended.
    fn held_at(&self, chain: u32, pos: Option<u32>) -> &[HoldId] {
        let (Some(index), Some(pos)) = (self.by_chain.get(chain as usize), pos) else {
            return &[];
        };
        let at = index.held.partition_point(|(from, _)| *from <= pos);
        at.checked_sub(1).map_or(&[], |at| {
            let range = &index.held[at].1;
            &index.within[range.start as usize..range.end as usize]
        })
    }

    /// Brings up to date which holds the positions of a chain lie within.
    fn refresh(&mut self, chain: usize) {
        let index = &mut self.by_chain[chain];
        if !index.stale {
            return;
        }
        let mut bounds: Vec<(u32, bool, HoldId)> = Vec::with_capacity(2 * index.begin.len());
        for &(from, id) in &index.begin {
            bounds.push((from, true, id));
            let to = self.infos[id.0 as usize].to;
            if to != u32::MAX {
                bounds.push((to, false, id));
            }
        }
        bounds.sort_unstable();
        index.held.clear();
        index.within.clear();
        let mut now: Vec<HoldId> = Vec::new();
        for (at, &(pos, begins, id)) in bounds.iter().enumerate() {
            if begins {
                now.push(id);
            } else {
                now.retain(|other| *other != id);
            }
            if bounds.get(at + 1).is_none_or(|next| next.0 != pos) {
                let start = index.within.len() as u32;
                index.within.extend_from_slice(&now);
                index.held.push((pos, start..index.within.len() as u32));
            }
        }
        index.stale = false;
    }
}
