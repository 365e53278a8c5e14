//! Which event is known to come before which.
//!
//! The order so far is a set of edges between the places of a few chains. For each pair of chains
//! `s`, `d` a staircase says, for every position of `s`, the first position of `d` that comes after
//! it: steps `(from, to)`, both strictly increasing, where `(from, to)` means that everything up to
//! `from` in `s` comes before everything from `to` in `d`. The staircases are transitively closed, so
//! a question takes one binary search, in either direction, whatever the length of the chains. A new
//! edge costs at most one step for each pair of a chain that reaches its tail and a chain that its
//! head reaches; backtracking takes steps off in the reverse order.
//!
//! This is the chain decomposition of Tunç, Deshmukh, Çirisci, Enea and Pavlogiannis, "CSSTs: A Dynamic
//! Data Structure for Partial Orders in Concurrent Execution Analysis" (ASPLOS 2024), with sorted
//! arrays in the place of their sparse segment trees: backtracking is last in, first out, so that
//! the closure can be kept and undone instead of being searched for at each question.

use super::place::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: u32,
    to: u32,
}

/// The steps from one chain to another.
#[derive(Clone, Debug, Default)]
struct Stair(Vec<Step>);

/// A step that was added, and what it says anew: every position of `from_chain` from `from_first` to
/// `from` now comes before every position of `to_chain` from `to` on. For the positions of `to_chain`
/// from `to` to before `to_end`, the last position of `from_chain` that comes before is now `from`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) from_chain: u32,
    pub(super) from_first: u32,
    pub(super) from: u32,
    pub(super) to_chain: u32,
    pub(super) to: u32,
    pub(super) to_end: u32,
}

#[derive(Debug)]
struct Undo {
    from_chain: u32,
    to_chain: u32,
    /// Where the step stands, and how many it replaced.
    at: u32,
    replaced: u32,
}

/// The closure of a growing and shrinking set of edges.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// By chain of the tail, then chain of the head; missing staircases are empty.
    rows: Vec<Vec<Stair>>,
    undo: Vec<Undo>,
    replaced: Vec<Step>,
    tails: Vec<Place>,
    heads: Vec<Place>,
}

impl Stair {
    /// The first position after `from`.
    fn first_after(&self, from: u32) -> Option<u32> {
        let at = self.0.partition_point(|step| step.from < from);
        self.0.get(at).map(|step| step.to)
    }

    /// The last position before `to`.
    fn last_before(&self, to: u32) -> Option<u32> {
        let at = self.0.partition_point(|step| step.to <= to);
        at.checked_sub(1).map(|at| self.0[at].from)
    }
}

impl Reach {
    /// The first position of chain `to` known to come after `from`, an event of another chain.
    pub(super) fn first_after(&self, from: Place, to: u32) -> Option<u32> {
        self.stair(from.chain, to)?.first_after(from.pos)
    }

    /// The last position of chain `from` known to come before `to`, an event of another chain.
    pub(super) fn last_before(&self, from: u32, to: Place) -> Option<u32> {
        self.stair(from, to.chain)?.last_before(to.pos)
    }

    /// The first position of a chain known to come after `place`, in its own chain too.
    pub(super) fn next_in(&self, chain: u32, place: Place) -> Option<u32> {
        if chain == place.chain {
            Some(place.pos + 1)
        } else {
            self.first_after(place, chain)
        }
    }

    /// The last position of a chain known to come before `place`, in its own chain too.
    pub(super) fn previous_in(&self, chain: u32, place: Place) -> Option<u32> {
        if chain == place.chain {
            place.pos.checked_sub(1)
        } else {
            self.last_before(chain, place)
        }
    }

    /// Whether `a` is known to come before `b`.
    pub(super) fn reaches(&self, a: Place, b: Place) -> bool {
        if a.chain == b.chain {
            a.pos < b.pos
        } else {
            self.first_after(a, b.chain).is_some_and(|to| to <= b.pos)
        }
    }

    /// Chains with events known to come after some event of `from`.
    pub(super) fn chains_after(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let row = self.rows.get(from as usize).map_or(&[][..], Vec::as_slice);
        (0..)
            .zip(row)
            .filter(|(_, stair)| !stair.0.is_empty())
            .map(|(chain, _)| chain)
    }

    /// Chains with events known to come before some event of `to`.
    pub(super) fn chains_before(&self, to: u32) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(&self.rows)
            .filter(move |(_, row)| {
                row.get(to as usize)
                    .is_some_and(|stair| !stair.0.is_empty())
            })
            .map(|(chain, _)| chain)
    }

    /// Adds the edge from `a` to `b` and all that follows from it. `b` must not reach `a`.
    pub(super) fn add(&mut self, a: Place, b: Place, changes: &mut Vec<Change>) {
        debug_assert!(!self.reaches(b, a), "an edge closes a cycle");
        let mut tails = std::mem::take(&mut self.tails);
        let mut heads = std::mem::take(&mut self.heads);
        tails.clear();
        heads.clear();
        let before = (0..self.rows.len() as u32).filter_map(|chain| {
            Some(Place {
                chain,
                pos: self.last_before(chain, a)?,
            })
        });
        tails.extend(before.filter(|&tail| !self.reaches(tail, b)));
        tails.push(a);
        let width = self.rows.get(b.chain as usize).map_or(0, Vec::len) as u32;
        let after = (0..width).filter_map(|chain| {
            Some(Place {
                chain,
                pos: self.first_after(b, chain)?,
            })
        });
        heads.extend(after.filter(|&head| !self.reaches(a, head)));
        heads.push(b);
        for tail in &tails {
            for head in &heads {
                if tail.chain != head.chain {
                    changes.extend(self.step(*tail, *head));
                }
            }
        }
        self.tails = tails;
        self.heads = heads;
    }

    /// The point to come back to with [`Reach::undo_to`].
    pub(super) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Takes off what was added since the mark.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let undo = self.undo.pop().expect("longer than the mark");
            let stair = &mut self.rows[undo.from_chain as usize][undo.to_chain as usize].0;
            let kept = self.replaced.len() - undo.replaced as usize;
            let at = undo.at as usize;
            if let [one] = self.replaced[kept..] {
                stair[at] = one;
            } else {
                stair.splice(at..=at, self.replaced[kept..].iter().copied());
            }
            self.replaced.truncate(kept);
        }
    }

    fn stair(&self, from: u32, to: u32) -> Option<&Stair> {
        self.rows.get(from as usize)?.get(to as usize)
    }

    fn stair_mut(&mut self, from: u32, to: u32) -> &mut Stair {
        let (from, to) = (from as usize, to as usize);
        if self.rows.len() <= from {
            self.rows.resize_with(from + 1, Vec::new);
        }
        let row = &mut self.rows[from];
        if row.len() <= to {
            row.resize_with(to + 1, Stair::default);
        }
        &mut row[to]
    }

    fn step(&mut self, tail: Place, head: Place) -> Option<Change> {
        let new = Step {
            from: tail.pos,
            to: head.pos,
        };
        let stair = &mut self.stair_mut(tail.chain, head.chain).0;
        let begin = stair.partition_point(|step| step.to < new.to);
        let end = stair.partition_point(|step| step.from <= new.from);
        let implied = stair
            .get(stair.partition_point(|step| step.from < new.from))
            .is_some_and(|step| step.to <= new.to);
        if implied {
            return None;
        }
        let change = Change {
            from_chain: tail.chain,
            from_first: begin.checked_sub(1).map_or(0, |at| stair[at].from + 1),
            from: new.from,
            to_chain: head.chain,
            to: new.to,
            to_end: stair.get(end).map_or(u32::MAX, |step| step.to),
        };
        let replaced = end - begin;
        if replaced == 1 {
            let old = std::mem::replace(&mut stair[begin], new);
            self.replaced.push(old);
        } else {
            let old = stair.splice(begin..end, [new]);
            let old: Vec<Step> = old.collect();
            self.replaced.extend(old);
        }
        self.undo.push(Undo {
            from_chain: tail.chain,
            to_chain: head.chain,
            at: begin as u32,
            replaced: replaced as u32,
        });
        Some(change)
    }
}
