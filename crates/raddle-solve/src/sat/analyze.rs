//! Conflict analysis: learns a clause that would have prevented the conflict.
//!
//! Starting from a clause whose literals are all false, literals of the highest level are replaced by
//! their reasons, the latest first, until one of them is left (the first unique implication point).
//! The clause then loses the literals that follow from its others, and the search goes back to the
//! level in which its first literal follows from the rest.
//!
//! Sources: Marques-Silva and Sakallah, *GRASP* (1999); Zhang et al. (ICCAD 2001) for the first UIP;
//! Audemard and Simon (IJCAI 2009) for LBD.

use crate::lit::{Lit, Var};

use super::Search;
use super::clauses::{ClauseRef, Kind};
use super::propagate::Clash;
use super::theory::Theory;
use super::trail::{Reason, Trail};

/// What is known of a variable during one analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// Not met yet.
    #[default]
    None,
    /// In the learnt clause, or of the highest level and replaced by its reason.
    Seen,
    /// Follows from the learnt clause's literals.
    Removable,
    /// Does not.
    Poison,
}

/// What an analysis needs, kept to save allocations.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    pub(super) marks: Vec<Mark>,
    /// Variables with a mark.
    pub(super) marked: Vec<Var>,
    /// The clause being learnt. Its first literal is of the highest level.
    pub(super) learnt: Vec<Lit>,
    /// Variables whose scores go up.
    involved: Vec<Var>,
    /// By level: how many literals of the learnt clause it has, and the earliest of them.
    pub(super) levels: Vec<LevelMark>,
    /// Levels with such literals.
    pub(super) touched: Vec<u32>,
    /// By level: the stamp of the last LBD computation that met it.
    stamps: Vec<u64>,
    stamp: u64,
}

/// What the learnt clause has of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelMark {
    pub(super) count: u32,
    pub(super) earliest: u32,
}

impl LevelMark {
    const EMPTY: Self = Self {
        count: 0,
        earliest: u32::MAX,
    };
}

/// How much of its weight a conflict keeps when the next one comes.
const DECAY: f64 = 0.95;
/// Learnt clauses of at most this LBD are worth keeping for a while.
pub(super) const TIER2_LBD: u32 = 6;

impl Analysis {
    /// Adds one more variable.
    pub(super) fn grow(&mut self) {
        self.marks.push(Mark::None);
    }

    /// Makes room for this many levels.
    fn reserve_levels(&mut self, levels: usize) {
        if self.levels.len() < levels {
            self.levels.resize(levels, LevelMark::EMPTY);
            self.stamps.resize(levels, 0);
        }
    }

    /// Marks a variable and remembers to take the mark off.
    #[inline]
    pub(super) fn mark(&mut self, var: Var, mark: Mark) {
        if self.marks[var.index()] == Mark::None {
            self.marked.push(var);
        }
        self.marks[var.index()] = mark;
    }

    /// Meets a false literal. Says whether it is of the highest level and new.
    #[inline]
    fn meet(&mut self, lit: Lit, trail: &Trail) -> bool {
        let var = lit.var();
        if self.marks[var.index()] != Mark::None {
            return false;
        }
        debug_assert!(trail.value(lit) < 0, "{lit:?} is not false");
        let place = trail.place(var);
        if place.level == 0 {
            return false;
        }
        self.mark(var, Mark::Seen);
        self.involved.push(var);
        if place.level == trail.level() {
            return true;
        }
        self.learnt.push(lit);
        let level = &mut self.levels[place.level as usize];
        if level.count == 0 {
            self.touched.push(place.level);
        }
        level.count += 1;
        level.earliest = level.earliest.min(place.position);
        false
    }

    /// The number of levels among assigned literals.
    pub(super) fn lbd(&mut self, lits: impl Iterator<Item = Lit>, trail: &Trail) -> u32 {
        self.stamp += 1;
        let mut lbd = 0;
        for lit in lits {
            let stamp = &mut self.stamps[trail.level_of(lit) as usize];
            if *stamp != self.stamp {
                *stamp = self.stamp;
                lbd += 1;
            }
        }
        lbd
    }

    fn clear(&mut self) {
        for var in self.marked.drain(..) {
            self.marks[var.index()] = Mark::None;
        }
        for level in self.touched.drain(..) {
            self.levels[level as usize] = LevelMark::EMPTY;
        }
        self.learnt.clear();
        self.involved.clear();
    }
}

impl Search {
    /// Learns from the conflict whose literals are in [`Search::conflict`], goes back, and assigns what
    /// follows. `level` is the highest of its levels, and not 0.
    pub(super) fn learn<T: Theory>(&mut self, theory: &mut T, level: u32, clash: Clash) {
        self.backtrack(theory, level);
        self.statistics.conflicts += 1;
        if self.restarts.is_stable() {
            self.phases.observe(&self.trail);
        }
        self.derive(theory, clash.0);
        self.minimize(theory);
        self.adopt(theory);
    }

    /// Resolves the conflict with reasons until one literal of the highest level is left.
    fn derive<T: Theory>(&mut self, theory: &mut T, falsified: Option<ClauseRef>) {
        self.analysis
            .reserve_levels(self.trail.level() as usize + 1);
        self.analysis.learnt.push(Lit::FALSE);
        if let Some(clause) = falsified {
            self.use_clause(clause);
        }
        let mut open = 0;
        for &lit in &self.conflict {
            open += u32::from(self.analysis.meet(lit, &self.trail));
        }
        let mut position = self.trail.len();
        let uip = loop {
            position -= 1;
            let lit = self.trail.at(position);
            if self.analysis.marks[lit.var().index()] != Mark::Seen {
                continue;
            }
            open -= 1;
            if open == 0 {
                break lit;
            }
            match self.reason_of(theory, lit) {
                Reason::Binary(other) => {
                    open += u32::from(self.analysis.meet(other, &self.trail));
                }
                Reason::Clause(clause) => {
                    self.use_clause(clause);
                    for other in self.clauses.lits(clause).skip(1) {
                        open += u32::from(self.analysis.meet(other, &self.trail));
                    }
                }
                Reason::None | Reason::Theory => {
                    unreachable!("every literal after the decision of its level has a reason")
                }
            }
        };
        self.analysis.learnt[0] = !uip;
    }

    /// Why `lit` is true. A theory's reason is asked for once and kept as a clause.
    pub(super) fn reason_of<T: Theory>(&mut self, theory: &mut T, lit: Lit) -> Reason {
        let place = self.trail.place(lit.var());
        if place.reason != Reason::Theory {
            return place.reason;
        }
        let mut explanation = std::mem::take(&mut self.explanation);
        explanation.clear();
        theory.explain(lit, &mut explanation);
        self.statistics.explanations += 1;
        debug_assert!(
            explanation.iter().all(|&cause| self.trail.value(cause) > 0
                && self.trail.place(cause.var()).position < place.position),
            "the explanation of {lit:?} must have been true before it: {explanation:?}"
        );
        explanation.retain(|&cause| self.trail.level_of(cause) > 0);
        let reason = if let [cause] = explanation[..] {
            Reason::Binary(!cause)
        } else {
            for cause in &mut explanation {
                *cause = !*cause;
            }
            explanation.insert(0, lit);
            Reason::Clause(self.clauses.add(&explanation, Kind::Explanation, 0))
        };
        self.trail.set_reason(lit.var(), reason);
        self.explanation = explanation;
        reason
    }

    /// A clause took part in a conflict: it stays longer, and its LBD may have become better.
    fn use_clause(&mut self, clause: ClauseRef) {
        if self.clauses.kind(clause) != Kind::Learnt {
            return;
        }
        let old = self.clauses.lbd(clause);
        if old > 2 {
            let new = self.analysis.lbd(self.clauses.lits(clause), &self.trail);
            if new < old {
                self.clauses.set_lbd(clause, new);
            }
        }
        let used = if self.clauses.lbd(clause) <= TIER2_LBD {
            2
        } else {
            1
        };
        self.clauses.set_used(clause, used);
    }

    /// Adds the learnt clause, goes back and assigns its first literal.
    fn adopt<T: Theory>(&mut self, theory: &mut T) {
        let mut learnt = std::mem::take(&mut self.analysis.learnt);
        let lbd = self.analysis.lbd(learnt.iter().copied(), &self.trail);
        self.restarts.learnt(lbd);
        self.bump_involved();
        let highest = (1..learnt.len()).max_by_key(|&at| self.trail.level_of(learnt[at]));
        let (level, reason) = match highest {
            None => (0, Reason::None),
            Some(at) => {
                learnt.swap(1, at);
                let level = self.trail.level_of(learnt[1]);
                (level, self.attach(&learnt, Kind::Learnt, lbd))
            }
        };
        self.backtrack(theory, level);
        self.trail.assign(learnt[0], reason);
        self.analysis.learnt = learnt;
        self.analysis.clear();
    }

    fn bump_involved(&mut self) {
        for &var in &self.analysis.involved {
            self.heap.bump(var);
        }
        self.heap.decay(DECAY);
    }
}
