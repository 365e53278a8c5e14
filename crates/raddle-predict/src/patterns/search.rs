//! Pattern-directed search (PECAN, section 5.2).
//!
//! Patterns that differ only in reads and writes are searched for together. Such a group is taken apart
//! into what each thread contributes; for each thread's part all classes of tuples are listed once, and
//! the parts are joined by the cells that they have in common. What remains is held against the hybrid
//! condition, algorithms 1 and 2 made general: an event that stands between two steps of another thread
//! has to fit into a gap between their events, several such events into gaps in order, and no event may
//! have to come before one of an earlier step. That is necessary for a match to be possible, and not
//! sufficient: values and the order in which locks are taken are for a prover to look at.
//!
//! The cost is linear in the trace but for the joins, which depend on how many different ways there are
//! to access a cell, and are limited for each cell.

use std::time::Instant;

use super::alike::Orders;
use super::contents::Contents;
use super::following::Following;
use super::join::Join;
use super::language::Pattern;
use super::matches::{Cut, Matches};
use super::plan::{Group, Part, groups};
use super::spots::{SpotId, Spots};
use super::stretches::{Mutations, Stretches};
use super::tuples::{TupleClass, Tuples, Wanted};
use super::units::Units;
use crate::clocks::Clocks;
use crate::view::View;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Comparisons for each group of patterns and cell.
    pub comparisons: u64,
    /// Instances kept of a match besides the first.
    pub others: usize,
    /// Matches of a group of patterns between the same units of the program: what breaks one variable of a
    /// unit mostly breaks others.
    pub siblings: usize,
    /// Whether to list suspected matches apart that have the same lock regions in the same order.
    pub alike: bool,
    /// When to stop.
    pub until: Option<Instant>,
}

impl Limits {
    /// Whether it is time to stop.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            comparisons: 1 << 16,
            others: 7,
            siblings: 8,
            alike: false,
            until: None,
        }
    }
}

/// All matches of patterns.
///
/// A match of several patterns that are not the user's and differ in reads and writes alone is given for
/// the first of them.
#[must_use]
pub fn search(
    view: &View,
    order: &Clocks,
    patterns: &[Pattern],
    units: &Units,
    limits: Limits,
) -> Matches {
    let mut mutations = Mutations::new(view, order);
    let mut stretches = Stretches::new(view);
    let spots = Spots::new(view, &stretches);
    let contents = Contents::new(&mut mutations, &stretches, &spots, units, limits);
    let mut cut = Cut {
        accesses: spots.cut,
        units: contents.cut,
        ..Cut::default()
    };
    let groups = groups(patterns);
    let following = Following::new(view);
    let mut parts = Parts::default();
    let mut matches = Vec::new();
    let mut orders = Orders::new(view, &spots);
    for (number, group) in groups.iter().enumerate() {
        let mut tuples = Tuples {
            view,
            stretches: &mut stretches,
            spots: &spots,
            units,
            contents: &contents,
            following: &following,
            limits,
            cut: 0,
        };
        for part in &group.parts {
            parts.prepare(part, &mut tuples, limits);
        }
        cut.units += tuples.cut;
        let classes: Vec<&[TupleClass]> = group.parts.iter().map(|it| parts.of(it)).collect();
        let join = Join::new(group, &classes, &mut mutations, &stretches, &spots, limits);
        orders.begin(group);
        let found = join.run(units, &contents, &mut orders);
        cut.cells += found.cut_cells;
        cut.siblings += found.left_out;
        matches.extend(found.into_strongest());
        parts.retain(&groups[number + 1..]);
    }
    cut.units += parts.cut;
    cut.is_late = limits.is_late();
    Matches { matches, cut }
}

/// Classes of tuples, listed once for all groups that ask for the same, and kept as long as one of them is to come.
#[derive(Default)]
struct Parts {
    known: Vec<(Vec<Wanted>, Vec<TupleClass>)>,
    cut: u64,
}

impl Parts {
    fn of(&self, part: &Part) -> &[TupleClass] {
        let known = self
            .known
            .iter()
            .find(|(wanted, _)| *wanted == part.regions);
        known.map_or(&[], |(_, classes)| classes)
    }

    /// Forgets what these groups do not ask for.
    fn retain(&mut self, groups: &[Group]) {
        let parts = groups.iter().flat_map(|group| &group.parts);
        let is_wanted = |wanted: &[Wanted]| parts.clone().any(|it| it.regions == wanted);
        self.known.retain(|(wanted, _)| is_wanted(wanted));
    }

    fn prepare(&mut self, part: &Part, tuples: &mut Tuples<'_>, limits: Limits) {
        if self.known.iter().any(|(wanted, _)| *wanted == part.regions) {
            return;
        }
        let mut classes: Vec<TupleClass> = Vec::new();
        for (number, wanted) in part.regions.iter().enumerate() {
            let own = match wanted.variables.len() {
                1 => {
                    let exposure = &tuples.contents.exposure;
                    let may_match = |id: &&SpotId| !wanted.intrudes[0] || exposure.intrudes(**id);
                    let ids = tuples.spots.by_cell().iter().filter(may_match);
                    ids.map(|&id| TupleClass::single(tuples.view, tuples.spots, id))
                        .collect()
                }
                _ => tuples.of_region(wanted),
            };
            classes = match number {
                0 => own,
                _ => self.follow(&classes, &own, limits),
            };
        }
        self.known.push((part.regions.clone(), classes));
    }

    /// Regions of one thread, one after the other.
    fn follow(
        &mut self,
        first: &[TupleClass],
        second: &[TupleClass],
        limits: Limits,
    ) -> Vec<TupleClass> {
        let mut left = limits.comparisons;
        let mut both = Vec::new();
        for one in first {
            for other in second {
                if left == 0 {
                    self.cut += 1;
                    return both;
                }
                left -= 1;
                both.extend(one.followed_by(other));
            }
        }
        both
    }
}
