//! For tests: clauses in a list, and the simplest search over them.

use super::Clauses;
use crate::lit::{Lit, Var};

/// Takes clauses and keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formula {
    phases: Vec<bool>,
    clauses: Vec<Vec<Lit>>,
}

/// Davis, Putnam, Logemann and Loveland's search, without learning.
#[derive(Debug)]
pub(crate) struct Naive {
    clauses: Vec<Vec<Lit>>,
    /// For each literal, the clauses in which it is one of the first two.
    watches: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
    done: usize,
    consistent: bool,
}

impl Formula {
    pub(crate) fn new() -> Self {
        Self {
            phases: vec![true],
            clauses: vec![vec![Lit::TRUE]],
        }
    }

    pub(crate) fn clauses(&self) -> &[Vec<Lit>] {
        &self.clauses
    }

    /// A model that agrees with the assumptions.
    pub(crate) fn solve(&self, assumptions: &[Lit]) -> Option<Vec<bool>> {
        let mut search = Naive::new(self);
        if !search.assume(assumptions) {
            return None;
        }
        // Where each decision that can still be flipped stands on the trail.
        let mut decisions: Vec<usize> = Vec::new();
        loop {
            let Some(free) = search.values.iter().position(Option::is_none) else {
                return search.values.into_iter().collect();
            };
            decisions.push(search.trail.len());
            let mut lit = Var::new(free).is(self.phases[free]);
            while !search.assume(&[lit]) {
                let at = decisions.pop()?;
                lit = !search.trail[at];
                search.undo(at);
            }
        }
    }
}

impl Clauses for Formula {
    fn fresh(&mut self, phase: bool) -> Lit {
        self.phases.push(phase);
        Var::new(self.phases.len() - 1).is(true)
    }

    fn clause(&mut self, lits: &[Lit]) {
        let constant = lits.iter().any(|lit| lit.var() == Lit::TRUE.var());
        assert!(!constant, "constants are folded: {lits:?}");
        self.clauses.push(lits.to_vec());
    }

    fn phase(&self, lit: Lit) -> bool {
        self.phases[lit.var().index()] == lit.is_positive()
    }
}

impl Naive {
    pub(crate) fn new(formula: &Formula) -> Self {
        let variables = formula.phases.len();
        let mut search = Self {
            clauses: formula.clauses.clone(),
            watches: vec![Vec::new(); 2 * variables],
            values: vec![None; variables],
            trail: Vec::new(),
            done: 0,
            consistent: true,
        };
        for (index, clause) in formula.clauses.iter().enumerate() {
            match **clause {
                [] => search.consistent = false,
                [unit] => search.consistent &= search.set(unit),
                [a, b, ..] => {
                    search.watches[a.code()].push(index);
                    search.watches[b.code()].push(index);
                }
            }
        }
        search.consistent = search.consistent && search.propagate();
        search
    }

    /// The value that follows, if one does.
    pub(crate) fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.var().index()].map(|value| value == lit.is_positive())
    }

    /// Makes the literals true and propagates; false if that is a conflict.
    pub(crate) fn assume(&mut self, lits: &[Lit]) -> bool {
        self.consistent && lits.iter().all(|&lit| self.set(lit)) && self.propagate()
    }

    /// How much is assigned, for [`Naive::undo`].
    pub(crate) fn height(&self) -> usize {
        self.trail.len()
    }

    /// Forgets all that was assigned since.
    pub(crate) fn undo(&mut self, height: usize) {
        for lit in self.trail.drain(height..) {
            self.values[lit.var().index()] = None;
        }
        self.done = height;
    }

    fn set(&mut self, lit: Lit) -> bool {
        match self.value(lit) {
            Some(value) => value,
            None => {
                self.values[lit.var().index()] = Some(lit.is_positive());
                self.trail.push(lit);
                true
            }
        }
    }

    fn propagate(&mut self) -> bool {
        while self.done < self.trail.len() {
            let falsified = !self.trail[self.done];
            self.done += 1;
            let watching = std::mem::take(&mut self.watches[falsified.code()]);
            let mut conflict = false;
            for index in watching {
                let clause = &mut self.clauses[index];
                if clause[0] == falsified {
                    clause.swap(0, 1);
                }
                let values = &self.values;
                let is_false = |lit: &Lit| values[lit.var().index()] == Some(!lit.is_positive());
                let other = (2..clause.len()).find(|&place| !is_false(&clause[place]));
                match other {
                    Some(place) if !conflict => {
                        clause.swap(1, place);
                        let watched = clause[1];
                        self.watches[watched.code()].push(index);
                    }
                    _ => {
                        let unit = clause[0];
                        self.watches[falsified.code()].push(index);
                        conflict = conflict || !self.set(unit);
                    }
                }
            }
            if conflict {
                return false;
            }
        }
        true
    }
}
