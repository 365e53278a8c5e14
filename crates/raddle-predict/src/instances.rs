//! Which accesses of two instructions are put to the provers.
//!
//! Two instructions may have met millions of times, and one instance may be possible where another is not. What
//! can make them differ: the threads, the locks held, the cell, what each thread knew of others (must-order,
//! and the writes that it has read from). Instances that agree in all of these are a *group*, of which one is
//! tried.
//!
//! - The hybrid condition finds *classes* of accesses: one thread, cell, instruction and lockset, between the
//!   same communications. Of the pairs of classes a few are kept for each choice of threads and locksets.
//! - Within two classes, one walk through both lists meets the pairs that neither must-order nor reads-from
//!   orders. Of those between the same two times at which one thread learnt of the other, one is taken.
//!
//! Only the solver depends on this choice: the search for sync-preserving races looks at every instance.
//! What is left out is counted.

use crate::clocks::Clocks;
use crate::manners::{MannerId, Manners};
use crate::view::{CellId, Lane, Pos, View};

/// Accesses of a thread to a cell that behave alike, as far as locks and must-order tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) lane: Lane,
    pub(crate) manner: MannerId,
    pub(crate) first: Pos,
    pub(crate) last: Pos,
    pub(crate) count: u64,
}

/// Pairs of classes kept for two instructions.
const MOST_GROUPS: usize = 16;
/// Those of them of the same threads and locksets: the first ones and the last.
const MOST_ALIKE: usize = 4;
/// Pairs of accesses that are tried for two instructions, at most.
const MOST_PAIRS: usize = 12;
/// Those of them from the same two classes.
const MOST_OF_CLASSES: usize = 3;
/// Steps through the accesses of two instructions.
const MOST_STEPS: usize = 1 << 14;

/// Two classes of accesses to a cell.
#[derive(Clone, Copy, Debug)]
struct Group {
    cell: CellId,
    a: Class,
    b: Class,
}

impl Group {
    /// By threads, instructions and locksets.
    fn key(&self) -> (Lane, Lane, MannerId, MannerId) {
        (self.a.lane, self.b.lane, self.a.manner, self.b.manner)
    }
}

/// The groups that the instances of two instructions are in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    kept: Vec<Group>,
    left_out: u64,
}

/// Pairs of accesses to be tried, the earlier access first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instances {
    pub(crate) pairs: Vec<(Pos, Pos)>,
    /// Groups of which none is tried.
    pub(crate) left_out: u64,
}

impl Groups {
    /// Adds two classes.
    #[inline]
    pub(crate) fn add(&mut self, cell: CellId, a: &Class, b: &Class) {
        let group = Group { cell, a: *a, b: *b };
        if self.kept.is_empty() {
            self.kept.push(group);
        } else {
            self.add_another(group);
        }
    }

    fn add_another(&mut self, group: Group) {
        let key = group.key();
        let alike = || self.kept.iter().enumerate().filter(|it| it.1.key() == key);
        if alike().count() < MOST_ALIKE && self.kept.len() < MOST_GROUPS {
            self.kept.push(group);
            return;
        }
        self.left_out += 1;
        if let Some((last, _)) = alike().nth(MOST_ALIKE - 1) {
            self.kept[last] = group;
        }
    }

    /// The pairs of accesses that stand for the groups; `order` is what no reordering changes that keeps
    /// reads-from.
    pub(crate) fn instances(&self, view: &View, manners: &Manners, order: &Clocks) -> Instances {
        let mut instances = Instances {
            pairs: Vec::new(),
            left_out: self.left_out,
        };
        let mut steps = MOST_STEPS;
        let chosen = self.kept.iter().map(|group| {
            let met = group.meetings(view, manners, order, &mut steps);
            let chosen = telling(&met);
            instances.left_out += (met.len() - chosen.len()) as u64;
            chosen
        });
        let chosen: Vec<Vec<(Pos, Pos)>> = chosen.collect();
        // One of each group before a second one of any.
        for round in 0..MOST_OF_CLASSES {
            for pair in chosen.iter().filter_map(|it| it.get(round)) {
                match instances.pairs.len() < MOST_PAIRS {
                    _ if instances.pairs.contains(pair) => {}
                    true => instances.pairs.push(*pair),
                    false => instances.left_out += 1,
                }
            }
        }
        instances
    }
}

/// Of pairs that differ the first, the nearest to each other and the last.
fn telling(met: &[(Pos, Pos)]) -> Vec<(Pos, Pos)> {
    let nearest = met.iter().min_by_key(|(a, b)| b.0 - a.0);
    let mut chosen = Vec::with_capacity(MOST_OF_CLASSES);
    for pair in [met.first(), nearest, met.last()].into_iter().flatten() {
        if !chosen.contains(pair) {
            chosen.push(*pair);
        }
    }
    chosen
}

impl Group {
    /// Pairs of accesses that an order leaves open, one for each two states of what the threads know of each
    /// other.
    fn meetings(
        &self,
        view: &View,
        manners: &Manners,
        order: &Clocks,
        steps: &mut usize,
    ) -> Vec<(Pos, Pos)> {
        let left = accesses(view, manners, self.cell, &self.a);
        let right = accesses(view, manners, self.cell, &self.b);
        let (mut i, mut j) = (0, 0);
        let mut met = Vec::new();
        let mut known = None;
        while let (Some(&a), Some(&b), true) = (left.get(i), right.get(j), *steps > 0) {
            *steps -= 1;
            if order.before(view, a, b) {
                i += left[i..].partition_point(|a| order.before(view, *a, b));
                continue;
            }
            if order.before(view, b, a) {
                j += right[j..].partition_point(|b| order.before(view, *b, a));
                continue;
            }
            let (lane, other) = (self.a.lane, self.b.lane);
            let knowledge = (order.bound(lane, a, other), order.bound(other, b, lane));
            if known != Some(knowledge) {
                known = Some(knowledge);
                met.push((a.min(b), a.max(b)));
            }
            match a < b {
                true => i += 1,
                false => j += 1,
            }
        }
        met
    }
}

/// The accesses of a class, as far as they can be gone through.
fn accesses(view: &View, manners: &Manners, cell: CellId, class: &Class) -> Vec<Pos> {
    let mut of_threads = view.accesses(cell);
    let own = of_threads.find(|(lane, _)| *lane == class.lane);
    let own = own.map_or(&[][..], |(_, accesses)| accesses);
    let start = own.partition_point(|pos| *pos < class.first);
    let within = own[start..].iter().take_while(|pos| **pos <= class.last);
    let alike = within.filter(|pos| manners.of(**pos) == Some(class.manner));
    alike.take(MOST_STEPS).copied().collect()
}
