//! Which value a decided variable gets.
//!
//! Every variable has an initial phase, given with it, which is often nearly right. A decision uses the
//! value that the variable had last (phase saving), or, in stable mode, the value it had in the largest
//! assignment without a conflict since the last rephasing (target phases). From time to time all saved
//! phases are thrown away: more often than in other solvers for the initial ones, because these are
//! good, else for those of the largest assignment without a conflict (best phases), and rarely for the
//! opposite of the initial ones.
//!
//! Source: Biere and Fleury, *Chasing Target Phases* (POS 2020).

use crate::lit::{Lit, Var};

use super::trail::Trail;

/// The phases of all variables.
#[derive(Debug, Default)]
pub(super) struct Phases {
    initial: Vec<bool>,
    saved: Vec<bool>,
    /// 1 for true, -1 for false, 0 for none.
    target: Vec<i8>,
    best: Vec<i8>,
    /// The sizes of the assignments that `target` and `best` come from.
    target_size: usize,
    best_size: usize,
    rephasings: usize,
    next_rephasing: u64,
}

/// Where the saved phases are taken from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Initial,
    Best,
    Inverted,
}

const CYCLE: [Origin; 6] = [
    Origin::Initial,
    Origin::Best,
    Origin::Initial,
    Origin::Best,
    Origin::Inverted,
    Origin::Best,
];
/// Conflicts to the first rephasing; the n-th comes n times this after the one before it.
const INTERVAL: u64 = 1000;

impl Phases {
    /// Adds one more variable.
    pub(super) fn grow(&mut self, initial: bool) {
        self.initial.push(initial);
        self.saved.push(initial);
        self.target.push(0);
        self.best.push(0);
    }

    /// The initial phase.
    pub(super) fn initial(&self, var: Var) -> bool {
        self.initial[var.index()]
    }

    /// Remembers the value that is being taken back.
    #[inline]
    pub(super) fn save(&mut self, lit: Lit) {
        self.saved[lit.var().index()] = lit.is_positive();
    }

    /// The literal to decide for a variable.
    pub(super) fn choose(&self, var: Var, stable: bool) -> Lit {
        match self.target[var.index()] {
            value if stable && value != 0 => var.is(value > 0),
            _ => var.is(self.saved[var.index()]),
        }
    }

    /// A query begins: phases left over from the one before are of no use, as the initial ones are
    /// close to many solutions.
    pub(super) fn begin(&mut self, conflicts: u64) {
        self.saved.copy_from_slice(&self.initial);
        self.forget_target();
        self.forget_best();
        self.rephasings = 0;
        self.next_rephasing = conflicts + INTERVAL;
    }

    /// A conflict was found in the current level; all of the trail below is without one.
    pub(super) fn observe(&mut self, trail: &Trail) {
        let size = trail.start_of(trail.level());
        let copy = |to: &mut [i8]| {
            for lit in &trail.lits()[..size] {
                to[lit.var().index()] = if lit.is_positive() { 1 } else { -1 };
            }
        };
        if size > self.target_size {
            self.target_size = size;
            copy(&mut self.target);
        }
        if size > self.best_size {
            self.best_size = size;
            copy(&mut self.best);
        }
    }

    /// Whether it is time to replace the saved phases.
    pub(super) fn is_rephasing_due(&self, conflicts: u64) -> bool {
        conflicts >= self.next_rephasing
    }

    /// Replaces the saved phases. The trail should hold no decisions, since the phases of assigned
    /// variables are saved again when these lose their values.
    pub(super) fn rephase(&mut self, conflicts: u64) {
        match CYCLE[self.rephasings % CYCLE.len()] {
            Origin::Initial => self.saved.copy_from_slice(&self.initial),
            Origin::Inverted => {
                for (saved, initial) in self.saved.iter_mut().zip(&self.initial) {
                    *saved = !initial;
                }
            }
            Origin::Best => {
                for (saved, best) in self.saved.iter_mut().zip(&self.best) {
                    if *best != 0 {
                        *saved = *best > 0;
                    }
                }
                self.forget_best();
            }
        }
        self.forget_target();
        self.rephasings += 1;
        self.next_rephasing = conflicts + INTERVAL * (self.rephasings as u64 + 1);
    }

    fn forget_target(&mut self) {
        self.target.fill(0);
        self.target_size = 0;
    }

    fn forget_best(&mut self) {
        self.best.fill(0);
        self.best_size = 0;
    }
}
