//! Vector clocks that share what they have in common.
//!
//! A clock is a tree of which each leaf has the bounds of sixteen threads in a row. Trees are never changed: a clock that
//! differs from another in one bound has new nodes on the way to it and shares the others, and what two clocks share is
//! passed over when they are joined. So a clock costs what it says anew, not the number of threads. Up to sixteen threads a
//! clock is one leaf, no longer than there are threads. The idea is that of tree clocks (Mathur, Pavlogiannis, Tunç,
//! Viswanathan, ASPLOS 2022); here threads have fixed places in the tree, so that clocks can be kept.

use crate::clocks::{Clock, raise};
use crate::view::Lane;

/// Nodes below a node, and bounds in a leaf.
const WIDTH: usize = 16;
/// Bits of a place below a node.
const BITS: u32 = 4;

/// A clock of a forest; by default one that knows of no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Root(u32);

/// Clocks of one trace.
#[derive(Clone, Debug)]
pub(crate) struct Forest {
    /// How many threads have a bound in each leaf.
    stride: usize,
    /// Levels above the leaves.
    height: u32,
    /// Leaves, one after another; the first one has no bounds.
    leaves: Vec<u32>,
    /// Nodes above them; the first one has nothing below it.
    inner: Vec<[u32; WIDTH]>,
}

/// What a join does besides.
#[derive(Clone, Copy)]
struct Change {
    /// A thread whose bound stays as it is.
    except: Option<usize>,
    /// A bound to be raised to a value.
    raised: Option<(usize, u32)>,
}

impl Change {
    /// The part of it that concerns the nodes at a place of a level.
    fn below(self, level: u32, place: usize) -> Self {
        let shift = BITS * level;
        let rest = |lane: usize| (lane >> shift == place).then_some(lane & ((1 << shift) - 1));
        Self {
            except: self.except.and_then(rest),
            raised: self.raised.and_then(|(lane, to)| Some((rest(lane)?, to))),
        }
    }
}

impl Forest {
    /// No clocks yet, of so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        let stride = threads.clamp(1, WIDTH);
        let mut height = 0;
        while WIDTH << (BITS * height) < threads {
            height += 1;
        }
        Self {
            stride,
            height,
            leaves: vec![0; stride],
            inner: vec![[0; WIDTH]],
        }
    }

    /// The bound of a thread.
    #[inline]
    pub(crate) fn get(&self, clock: Root, lane: Lane) -> u32 {
        let mut node = clock.0 as usize;
        for level in (1..=self.height).rev() {
            node = self.inner[node][lane.index() >> (BITS * level) & (WIDTH - 1)] as usize;
        }
        self.leaves[node * self.stride + (lane.index() & (WIDTH - 1))]
    }

    /// A clock with the greater bounds of two.
    pub(crate) fn join(&mut self, one: Root, other: Root) -> Root {
        let change = Change {
            except: None,
            raised: None,
        };
        Root(self.merge(self.height, one.0, other.0, change))
    }

    /// A clock with a bound raised.
    pub(crate) fn raised(&mut self, clock: Root, lane: Lane, to: u32) -> Root {
        let change = Change {
            except: None,
            raised: Some((lane.index(), to)),
        };
        Root(self.merge(self.height, clock.0, 0, change))
    }

    /// What a thread knows when it learns of another's event: its own clock, joined with the other's at that event. What
    /// the other knows of the thread itself is no news to it.
    pub(crate) fn learn(&mut self, own: Root, lane: Lane, other: Root, event: (Lane, u32)) -> Root {
        let change = Change {
            except: Some(lane.index()),
            raised: Some((event.0.index(), event.1)),
        };
        Root(self.merge(self.height, own.0, other.0, change))
    }

    /// Raises bounds to those of a clock; false if all were as high.
    pub(crate) fn join_into(&self, clock: Root, into: &mut Clock) -> bool {
        self.join_node(self.height, clock.0, into)
    }

    fn join_node(&self, level: u32, node: u32, into: &mut Clock) -> bool {
        let mut changed = false;
        if level == 0 {
            let leaf = &self.leaves[node as usize * self.stride..][..self.stride];
            for (bound, to) in into.iter_mut().zip(leaf) {
                changed |= raise(bound, *to);
            }
            return changed;
        }
        let below = &self.inner[node as usize];
        let parts = into.chunks_mut(1 << (BITS * level));
        for (part, &node) in parts.zip(below).filter(|(_, node)| **node != 0) {
            changed |= self.join_node(level - 1, node, part);
        }
        changed
    }

    /// Joins two nodes of a level. The result is one of them if it is the same.
    fn merge(&mut self, level: u32, one: u32, other: u32, change: Change) -> u32 {
        if change.raised.is_none() && (one == other || other == 0) {
            return one;
        }
        if level == 0 {
            return self.merge_leaves(one, other, change);
        }
        if change.raised.is_none() && change.except.is_none() && one == 0 {
            return other;
        }
        let (left, right) = (self.inner[one as usize], self.inner[other as usize]);
        let mut both = left;
        for place in 0..WIDTH {
            let change = change.below(level, place);
            both[place] = self.merge(level - 1, left[place], right[place], change);
        }
        if both == left {
            return one;
        }
        if both == right {
            return other;
        }
        self.inner.push(both);
        self.inner.len() as u32 - 1
    }

    fn merge_leaves(&mut self, one: u32, other: u32, change: Change) -> u32 {
        let stride = self.stride;
        let (mut left, mut both) = ([0; WIDTH], [0; WIDTH]);
        left[..stride].copy_from_slice(&self.leaves[one as usize * stride..][..stride]);
        both[..stride].copy_from_slice(&self.leaves[other as usize * stride..][..stride]);
        let right = both;
        for (bound, to) in both.iter_mut().zip(left) {
            *bound = to.max(*bound);
        }
        if let Some(lane) = change.except {
            both[lane] = left[lane];
        }
        if let Some((lane, to)) = change.raised {
            raise(&mut both[lane], to);
        }
        if both == left {
            return one;
        }
        if both == right {
            return other;
        }
        let number = (self.leaves.len() / stride) as u32;
        self.leaves.extend_from_slice(&both[..stride]);
        number
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.leaves.len() / self.stride + self.inner.len()
    }

    /// Forgets all clocks but these, which get new names.
    pub(crate) fn retain<'r>(&mut self, clocks: impl Iterator<Item = &'r mut Root>) {
        let mut moved = Moved {
            leaves: vec![0; self.leaves.len() / self.stride],
            inner: vec![0; self.inner.len()],
            kept: Self {
                leaves: vec![0; self.stride],
                inner: vec![[0; WIDTH]],
                ..*self
            },
        };
        for clock in clocks {
            clock.0 = moved.take(self, self.height, clock.0);
        }
        *self = moved.kept;
    }
}

/// Where nodes have moved to; 0 if they have not yet.
struct Moved {
    leaves: Vec<u32>,
    inner: Vec<u32>,
    kept: Forest,
}

impl Moved {
    fn take(&mut self, from: &Forest, level: u32, node: u32) -> u32 {
        let at = node as usize;
        let known = match level {
            0 => self.leaves[at],
            _ => self.inner[at],
        };
        if node == 0 || known != 0 {
            return known;
        }
        if level == 0 {
            let stride = from.stride;
            let number = (self.kept.leaves.len() / stride) as u32;
            let leaf = &from.leaves[at * stride..][..stride];
            self.kept.leaves.extend_from_slice(leaf);
            self.leaves[at] = number;
            return number;
        }
        let below = from.inner[at].map(|node| self.take(from, level - 1, node));
        self.kept.inner.push(below);
        let number = self.kept.inner.len() as u32 - 1;
        self.inner[at] = number;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks of some threads beside plain vectors, through pseudo-random joins.
    fn check(threads: usize) {
        let mut forest = Forest::new(threads);
        let mut clocks = [Root::default(); 8];
        let mut plain = vec![vec![0; threads]; clocks.len()];
        let mut state = 1u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (state >> 33) as usize % bound
        };
        for step in 1..2000 {
            let (one, other) = (below(8), below(8));
            let (lane, from) = (below(threads), below(threads));
            let old = plain[one].clone();
            let theirs = plain[other].clone();
            match below(3) {
                0 => {
                    clocks[one] = forest.raised(clocks[one], Lane(lane as u16), step);
                    plain[one][lane] = step;
                }
                1 => {
                    clocks[one] = forest.join(clocks[one], clocks[other]);
                    plain[one]
                        .iter_mut()
                        .zip(theirs)
                        .for_each(|(a, b)| *a = b.max(*a));
                }
                _ if lane != from => {
                    let event = (Lane(from as u16), step);
                    let own = Lane(lane as u16);
                    clocks[one] = forest.learn(clocks[one], own, clocks[other], event);
                    plain[one]
                        .iter_mut()
                        .zip(theirs)
                        .for_each(|(a, b)| *a = b.max(*a));
                    plain[one][lane] = old[lane];
                    plain[one][from] = step;
                }
                _ => {}
            }
            if step % 100 == 0 {
                let before = forest.len();
                forest.retain(clocks.iter_mut());
                assert!(forest.len() <= before);
            }
            for (clock, plain) in clocks.iter().zip(&plain) {
                let lanes = (0..threads).map(|lane| forest.get(*clock, Lane(lane as u16)));
                assert!(lanes.eq(plain.iter().copied()));
            }
            let mut dense = old.clone();
            let changed = forest.join_into(clocks[one], &mut dense);
            assert_eq!((&dense, changed), (&plain[one], old != plain[one]));
        }
    }

    #[test]
    fn clocks_are_as_vectors() {
        for threads in [1, 3, 16, 17, 256, 300, 5000] {
            check(threads);
        }
    }

    #[test]
    fn a_clock_that_learns_nothing_stays_the_same() {
        let mut forest = Forest::new(1000);
        let one = forest.raised(Root::default(), Lane(700), 5);
        let both = forest.raised(one, Lane(3), 7);
        let nodes = forest.len();
        assert_eq!(forest.join(both, one), both);
        assert_eq!(forest.join(one, both), both);
        assert_eq!(forest.raised(both, Lane(3), 6), both);
        assert_eq!(forest.len(), nodes);
    }
}
