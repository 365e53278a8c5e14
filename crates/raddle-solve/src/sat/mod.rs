//! The search: conflict-driven clause learning, with a theory at its side.
//!
//! [`Search`] owns the clauses and the assignment. A query decides assumptions and variables one after
//! the other, propagates what follows by clauses and by the [`Theory`], learns a clause from every
//! conflict and goes back, until every variable has a value that the theory accepts, or an assumption
//! or nothing at all is refuted. Clauses, learnt clauses and scores stay for the next query.
//!
//! | file | what it has |
//! | --- | --- |
//! | `theory.rs` | the contract with the theory |
//! | `trail.rs` | the assignment |
//! | `clauses.rs`, `watch.rs` | where clauses are stored, and which to look at when |
//! | `propagate.rs` | unit and theory propagation |
//! | `analyze.rs`, `minimize.rs` | learning from conflicts |
//! | `add.rs` | new clauses, also in mid-search |
//! | `assume.rs` | decisions, and which assumptions clash |
//! | `heap.rs`, `phases.rs` | which variable, which value |
//! | `gaps.rs` | what the theory cannot complete |
//! | `restart.rs`, `reduce.rs` | when to start over, what to forget |
//!
//! Everything is deterministic but a limit of time.

mod add;
mod analyze;
mod assume;
mod clauses;
mod gaps;
mod heap;
mod minimize;
mod phases;
mod propagate;
mod reduce;
mod restart;
mod statistics;
#[cfg(test)]
mod tests;
mod theory;
mod trail;
mod watch;

use crate::budget::{Budget, Exhausted, Spending};
use crate::lit::{Lit, Var};

use add::Pending;
use analyze::Analysis;
use assume::Step;
use clauses::Clauses;
use gaps::Gaps;
use heap::Heap;
use phases::Phases;
use propagate::Clash;
use reduce::Reductions;
use restart::Restarts;
use trail::Trail;
use watch::Watches;

pub use statistics::Statistics;
pub(crate) use theory::{Check, Conflict, Theory};

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is a model: see [`Search::model`].
    Satisfiable,
    /// These assumptions cannot hold together; if there are none, nothing can ever be satisfied.
    Unsatisfiable(Vec<Lit>),
    /// The budget ended first.
    Unknown(Exhausted),
}

/// The clauses, the assignment and all that guides the search.
#[derive(Debug)]
pub(crate) struct Search {
    trail: Trail,
    clauses: Clauses,
    watches: Watches,
    heap: Heap,
    phases: Phases,
    /// By variable: whether the theory is told of it.
    observed: Vec<bool>,
    analysis: Analysis,
    restarts: Restarts,
    reductions: Reductions,
    statistics: Statistics,
    /// Clauses added during a query, to be taken in when the search is ready.
    pending: Pending,
    gaps: Gaps,
    /// Whether a query is under way.
    solving: bool,
    /// Whether the clauses and the theory were found unsatisfiable without assumptions.
    inconsistent: bool,
    /// By variable: its value in the last model.
    model: Vec<bool>,
    /// The literals, all false, of the conflict at hand.
    conflict: Vec<Lit>,
    /// Scratch space: what the theory implied, how it explained, and the clause being added.
    implied: Vec<Lit>,
    explanation: Vec<Lit>,
    new_clause: Vec<Lit>,
}

impl Search {
    /// A search with one variable, which is fixed: [`Lit::TRUE`] is true.
    pub(crate) fn new() -> Self {
        let mut search = Self {
            trail: Trail::default(),
            clauses: Clauses::default(),
            watches: Watches::default(),
            heap: Heap::default(),
            phases: Phases::default(),
            observed: Vec::new(),
            analysis: Analysis::default(),
            restarts: Restarts::default(),
            reductions: Reductions::default(),
            statistics: Statistics::default(),
            pending: Pending::default(),
            gaps: Gaps::default(),
            solving: false,
            inconsistent: false,
            model: Vec::new(),
            conflict: Vec::new(),
            implied: Vec::new(),
            explanation: Vec::new(),
            new_clause: Vec::new(),
        };
        search.variable(false, true);
        search.clause(&[Lit::TRUE]);
        search
    }

    /// A new variable. The theory is told of its value if it is `observed`; the search tries `phase`
    /// first.
    pub(crate) fn variable(&mut self, observed: bool, phase: bool) -> Var {
        let var = Var::new(self.trail.variables());
        self.trail.grow();
        self.watches.grow();
        self.heap.grow(!observed);
        self.phases.grow(phase);
        self.analysis.grow();
        self.observed.push(observed);
        var
    }

    /// The value of a literal, if it has one now. Between queries: if it has one for good.
    pub(crate) fn value(&self, lit: Lit) -> Option<bool> {
        match self.trail.value(lit) {
            0 => None,
            value => Some(value > 0),
        }
    }

    /// Whether a literal holds in the last model; for later variables, in their initial phase.
    pub(crate) fn model(&self, lit: Lit) -> bool {
        let var = lit.var();
        let value = match self.model.get(var.index()) {
            Some(&value) => value,
            None => self.phases.initial(var),
        };
        value == lit.is_positive()
    }

    /// Whether the theory is told of a literal's variable.
    pub(crate) fn is_observed(&self, lit: Lit) -> bool {
        self.observed[lit.var().index()]
    }

    /// The value of a literal to try first.
    pub(crate) fn phase(&self, lit: Lit) -> bool {
        self.phases.initial(lit.var()) == lit.is_positive()
    }

    /// What the search did so far.
    pub(crate) fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Looks for a model in which the assumptions hold.
    pub(crate) fn solve<T: Theory>(
        &mut self,
        theory: &mut T,
        assumptions: &[Lit],
        budget: Budget,
    ) -> Outcome {
        self.solving = true;
        self.phases.begin(self.statistics.conflicts);
        self.gaps.forget();
        let outcome = self
            .search(theory, assumptions, &mut budget.start())
            .unwrap_or_else(Outcome::Unknown);
        self.backtrack(theory, 0);
        self.solving = false;
        self.take_in_at_root();
        outcome
    }

    fn search<T: Theory>(
        &mut self,
        theory: &mut T,
        assumptions: &[Lit],
        spending: &mut Spending,
    ) -> Result<Outcome, Exhausted> {
        while !self.inconsistent {
            if let Err(clash) = self.propagate(theory, spending)? {
                self.resolve(theory, clash, spending)?;
                continue;
            }
            self.restart_if_due(theory, assumptions.len());
            self.reduce_if_due(theory);
            match self.decide(theory, assumptions) {
                Step::Decided => {}
                Step::Refuted(lit) => {
                    return Ok(Outcome::Unsatisfiable(self.clashing(theory, lit)));
                }
                Step::Complete => {
                    if self.check(theory, spending)? {
                        return Ok(Outcome::Satisfiable);
                    }
                }
            }
        }
        Ok(Outcome::Unsatisfiable(Vec::new()))
    }

    /// Learns from a conflict.
    fn resolve<T: Theory>(
        &mut self,
        theory: &mut T,
        clash: Clash,
        spending: &mut Spending,
    ) -> Result<(), Exhausted> {
        let levels = self.conflict.iter().map(|&lit| self.trail.level_of(lit));
        match levels.max().unwrap_or(0) {
            0 => self.inconsistent = true,
            level => {
                spending.conflict()?;
                self.learn(theory, level, clash);
            }
        }
        Ok(())
    }

    /// Has the theory complete the assignment, and takes in the clauses that come of it. True if the
    /// outcome is a model.
    fn check<T: Theory>(
        &mut self,
        theory: &mut T,
        spending: &mut Spending,
    ) -> Result<bool, Exhausted> {
        spending.look()?;
        self.statistics.checks += 1;
        if theory.check(self) == Check::Consistent
            && !self.find_gaps(theory)
            && theory.confirm(self) == Check::Consistent
        {
            self.keep_model(theory);
            return Ok(true);
        }
        debug_assert!(
            !self.pending.is_empty() || self.has_gaps() || self.next_variable().is_some(),
            "the theory refuses an assignment but adds nothing"
        );
        while !self.pending.is_empty() && !self.inconsistent {
            if let Err(clash) = self.take_in(theory) {
                self.resolve(theory, clash, spending)?;
            }
        }
        self.find_gaps(theory);
        Ok(false)
    }

    fn keep_model<T: Theory>(&mut self, theory: &T) {
        self.model.clear();
        for index in 0..self.trail.variables() {
            let lit = Var::new(index).is(true);
            let value = match self.trail.value(lit) {
                0 => theory.proposes(lit),
                value => value > 0,
            };
            self.model.push(value);
        }
    }

    /// The unassigned variable to decide next, of those that the theory does not observe.
    fn next_variable(&mut self) -> Option<Var> {
        while let Some(var) = self.heap.top() {
            if !self.trail.is_assigned(var) {
                return Some(var);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes back all levels above `level`.
    fn backtrack<T: Theory>(&mut self, theory: &mut T, level: u32) {
        if level >= self.trail.level() {
            return;
        }
        let (heap, phases, observed) = (&mut self.heap, &mut self.phases, &self.observed);
        self.trail.backtrack(level, |lit| {
            phases.save(lit);
            if !observed[lit.var().index()] {
                heap.insert(lit.var());
            }
        });
        self.gaps.reopen();
        theory.pop_to(level as usize);
    }
}
