//! Candidates for races: the hybrid condition.
//!
//! PECAN (section 4.2), after O'Callahan and Choi (PPoPP 2003): two conflicting accesses of
//! different threads are independent if they hold no common lock and must-order does not order
//! them. That is necessary for a race, and not sufficient: a candidate may die of the values that
//! threads would have to read, or of locks taken before. Differs from PECAN in that two shared holds
//! of one lock do not exclude each other.
//!
//! With all must-order edges, races are missed that need another choice than the trace's, such as
//! another notification for a waiter; with the certain edges alone no race of the trace's events is
//! missed.
//!
//! Accesses of a thread to a cell that come from one instruction, under the same locks, between the
//! same communications with other threads, behave alike and are looked at together.

use std::time::Instant;

use crate::clocks::Clocks;
use crate::findings::{Pair, Pairs};
use crate::instances::{Class, Groups};
use crate::locksets::Exclusions;
use crate::manners::{Manner, MannerNumbers, Manners};
use crate::view::{CellId, Pos, View};

/// Candidates found.
#[derive(Debug)]
pub struct Candidates {
    /// One for each pair of instructions, in the order of cells.
    pub pairs: Vec<Pair>,
    /// Cells of which some accesses were not compared, because they are too many.
    pub cut_cells: u64,
    /// By pair: the groups that its instances are in.
    pub(crate) groups: Vec<Groups>,
    /// How accesses are made.
    pub(crate) manners: Manners,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Comparisons for each cell and pair of threads.
    pub comparisons: u64,
    /// When to stop, but for a few cells; those that are left then count as cut.
    pub until: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            comparisons: 1 << 16,
            until: None,
        }
    }
}

/// Cells that are looked at even if there is no time: candidates are worth something without proofs.
const CERTAIN_CELLS: u32 = 64;

/// All pairs of independent conflicting accesses.
#[must_use]
pub fn candidates(view: &View, order: &Clocks, limits: Limits) -> Candidates {
    let manners = Manners::new(view, |_| true);
    let mut classes = Classes {
        view,
        manners: &manners,
        eras: era_starts(view),
        numbers: MannerNumbers::new(&manners),
        classes: Vec::new(),
    };
    let mut search = Search {
        view,
        order,
        manners: &manners,
        exclusions: Exclusions::default(),
        pairs: Pairs::default(),
        groups: Vec::new(),
    };
    let mut cut_cells = 0;
    let cells = view.cells().len() as u32;
    for cell in (0..cells).map(CellId) {
        if cell.0 >= CERTAIN_CELLS && limits.until.is_some_and(|until| Instant::now() > until) {
            cut_cells += u64::from(cells - cell.0);
            break;
        }
        let mut threads = classes.of(cell).chunk_by(|a, b| a.lane == b.lane);
        let mut is_cut = false;
        while let Some(left) = threads.next() {
            for right in threads.clone() {
                is_cut |= !search.compare(cell, left, right, limits.comparisons);
            }
        }
        cut_cells += u64::from(is_cut);
    }
    let Search { pairs, groups, .. } = search;
    Candidates {
        pairs: pairs.into_vec(),
        cut_cells,
        groups,
        manners,
    }
}

/// Puts accesses into classes, cell by cell.
struct Classes<'v> {
    view: &'v View,
    manners: &'v Manners,
    /// By thread: where eras begin.
    eras: Vec<Vec<Pos>>,
    /// Of the current era's manners.
    numbers: MannerNumbers,
    classes: Vec<Class>,
}

impl Classes<'_> {
    /// The classes of a cell, by thread, then first access.
    fn of(&mut self, cell: CellId) -> &[Class] {
        self.classes.clear();
        for (lane, accesses) in self.view.accesses(cell) {
            let mut eras = self.eras[lane.index()].as_slice();
            self.numbers.forget();
            for &pos in accesses {
                if eras.first().is_some_and(|start| *start <= pos) {
                    eras = &eras[eras.partition_point(|start| *start <= pos)..];
                    self.numbers.forget();
                }
                let Some(manner) = self.manners.of(pos) else {
                    continue;
                };
                let next = self.classes.len() as u32;
                let number = self.numbers.get_or_insert(manner, next);
                if number == next {
                    self.classes.push(Class {
                        lane,
                        manner,
                        first: pos,
                        last: pos,
                        count: 0,
                    });
                }
                let class = &mut self.classes[number as usize];
                class.last = pos;
                class.count += 1;
            }
        }
        &self.classes
    }
}

/// By thread: where eras begin, the stretches between communications. All events of one have the
/// same must-order to the events of other threads.
pub(crate) fn era_starts(view: &View) -> Vec<Vec<Pos>> {
    let mut starts = vec![Vec::new(); view.threads().len()];
    for edge in view.edges() {
        starts[view.lane(edge.from).index()].push(Pos(edge.from.0 + 1));
        starts[view.lane(edge.to).index()].push(edge.to);
    }
    for list in &mut starts {
        list.sort_unstable();
        list.dedup();
    }
    starts
}

struct Search<'v> {
    view: &'v View,
    order: &'v Clocks,
    manners: &'v Manners,
    exclusions: Exclusions,
    pairs: Pairs,
    /// By pair.
    groups: Vec<Groups>,
}

impl Search<'_> {
    /// Compares two threads' classes; false if there were too many.
    fn compare(&mut self, cell: CellId, left: &[Class], right: &[Class], limit: u64) -> bool {
        let ends = (left.first(), left.last(), right.first(), right.last());
        let (Some(left_first), Some(left_last), Some(right_first), Some(right_last)) = ends else {
            return true;
        };
        let (left_lane, right_lane) = (left_first.lane, right_first.lane);
        let (order, manners) = (self.order, self.manners);
        let bound_left = |a: &Class| order.bound(left_lane, a.first, right_lane);
        let bound_right = |b: &Class| order.bound(right_lane, b.first, left_lane);
        // Mostly, neither thread knows of any of the other's accesses.
        let left_knows = bound_left(left_last) > right_first.first.0;
        let right_knows = bound_right(right_last) > left_first.first.0;
        let mut comparisons = 0;
        // Classes that come before this one's first event come before all later ones'.
        let mut passed = 0;
        for a in left {
            let manner = manners.get(a.manner);
            let known = if left_knows { bound_left(a) } else { 0 };
            while right.get(passed).is_some_and(|b| b.last.0 < known) {
                passed += 1;
            }
            for b in &right[passed..] {
                let known_later = if right_knows { bound_right(b) } else { 0 };
                if a.last.0 < known_later {
                    break;
                }
                comparisons += 1;
                if comparisons > limit {
                    return false;
                }
                let is_ordered = b.first.0 < known || a.first.0 < known_later;
                let other = manners.get(b.manner);
                if !is_ordered && self.is_conflict(manner, other) {
                    let sources = (
                        manner.source.min(other.source),
                        manner.source.max(other.source),
                    );
                    let instances = a.count.saturating_mul(b.count);
                    let number = self.pairs.add_of(sources, a.first, b.first, instances);
                    if number == self.groups.len() {
                        self.groups.push(Groups::default());
                    }
                    self.groups[number].add(cell, a, b);
                }
            }
        }
        true
    }

    /// Whether one writes and nothing excludes them from each other.
    #[inline]
    fn is_conflict(&mut self, a: &Manner, b: &Manner) -> bool {
        a.conflicts(b) && !self.exclusions.exclude(self.view, a.lockset, b.lockset)
    }
}
