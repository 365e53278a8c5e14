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

use crate::clocks::Clocks;
use crate::findings::{Pair, Pairs, source_number};
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{CellId, Lane, LocksetId, Pos, View};

/// Candidates found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// One for each pair of instructions, in the order of cells.
    pub pairs: Vec<Pair>,
    /// Cells of which some accesses were not compared, because they are too many.
    pub cut_cells: u64,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Comparisons for each cell and pair of threads.
    pub comparisons: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            comparisons: 1 << 16,
        }
    }
}

/// Accesses of a thread to a cell that behave alike.
#[derive(Clone, Copy, Debug)]
struct Class {
    cell: CellId,
    lane: Lane,
    lockset: LocksetId,
    first: Pos,
    last: Pos,
    count: u64,
}

/// All pairs of independent conflicting accesses.
#[must_use]
pub fn candidates(view: &View, order: &Clocks, limits: Limits) -> Candidates {
    let mut search = Search {
        view,
        order,
        exclusions: Exclusions::default(),
        pairs: Pairs::default(),
    };
    let mut cut_cells = 0;
    let classes = classes(view);
    for of_cell in classes.chunk_by(|a, b| a.cell == b.cell) {
        let threads: Vec<&[Class]> = of_cell.chunk_by(|a, b| a.lane == b.lane).collect();
        let mut is_cut = false;
        for (index, left) in threads.iter().enumerate() {
            for right in &threads[index + 1..] {
                is_cut |= !search.compare(left, right, limits.comparisons);
            }
        }
        cut_cells += u64::from(is_cut);
    }
    Candidates {
        pairs: search.pairs.into_vec(),
        cut_cells,
    }
}

/// All classes, by cell, then thread, then first access.
fn classes(view: &View) -> Vec<Class> {
    let starts = era_starts(view);
    let mut eras = vec![0; starts.len()];
    let mut numbers: Table<(u64, u64, u64), u32> = Table::default();
    let mut classes: Vec<Class> = Vec::new();
    for pos in view.positions() {
        let mut cells = view.cells_of(pos).peekable();
        if cells.peek().is_none() {
            continue;
        }
        let lane = view.lane(pos);
        let era = &mut eras[lane.index()];
        let own = &starts[lane.index()];
        while own.get(*era).is_some_and(|start| *start <= pos) {
            *era += 1;
        }
        let lockset = view.lockset_of(pos);
        let context = (*era as u64) << 32 | u64::from(lockset.0);
        let flags = u64::from(view.writes(pos)) << 1 | u64::from(view.is_atomic(pos));
        let source = source_number(view.source(pos));
        for cell in cells {
            let place = u64::from(cell.0) << 32 | u64::from(lane.0) << 8 | flags;
            let number = *numbers.entry((context, source, place)).or_insert_with(|| {
                classes.push(Class {
                    cell,
                    lane,
                    lockset,
                    first: pos,
                    last: pos,
                    count: 0,
                });
                classes.len() as u32 - 1
            });
            let class = &mut classes[number as usize];
            class.last = pos;
            class.count += 1;
        }
    }
    classes.sort_by_key(|class| (class.cell, class.lane, class.first));
    classes
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
    exclusions: Exclusions,
    pairs: Pairs,
}

impl Search<'_> {
    /// Compares two threads' classes; false if there were too many.
    fn compare(&mut self, left: &[Class], right: &[Class], limit: u64) -> bool {
        let mut comparisons = 0;
        // Classes that come before this one's first event come before all later ones'.
        let mut passed = 0;
        for a in left {
            while passed < right.len() && self.order.before(self.view, right[passed].last, a.first)
            {
                passed += 1;
            }
            for b in &right[passed..] {
                if self.order.before(self.view, a.last, b.first) {
                    break;
                }
                comparisons += 1;
                if comparisons > limit {
                    return false;
                }
                self.compare_classes(a, b);
            }
        }
        true
    }

    fn compare_classes(&mut self, a: &Class, b: &Class) {
        let view = self.view;
        if !view.conflict(a.first, b.first)
            || self.exclusions.exclude(view, a.lockset, b.lockset)
            || self.order.before(view, a.first, b.first)
            || self.order.before(view, b.first, a.first)
        {
            return;
        }
        self.pairs
            .add(view, a.first, b.first, a.count.saturating_mul(b.count));
    }
}
