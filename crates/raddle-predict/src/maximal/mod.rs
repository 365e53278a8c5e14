//! The most that a trace allows: the solver decides whether a reordering exists.
//!
//! A window of the view becomes one problem for the solver: each thread a chain, must-order edges
//! fixed, holds of a lock exclusive, and every read limited to sources with the value that it had. One
//! event more, the *cut*, ends the prefix that a witness executes: what comes after it does not count.
//! A question about some events is then two assumptions for each: what precedes it in its thread comes
//! before the cut, and itself after it. All questions about a window share what was learnt.
//!
//! This is the maximal causal model of Șerbănuță, Chen and Roșu ("Maximal Causal Models for Sequentially
//! Consistent Systems", RV 2012) for prefixes of the trace, made smaller in these places, so that
//! witnesses are feasible but a few feasible ones are not found:
//!
//! - conservative must-order edges (see [`crate::view::EdgeKind`]) are kept;
//! - every read of the prefix keeps its value, also one that no later event depends on;
//! - a lock that is downgraded counts as exclusive until its release;
//! - memory is freed only when all accesses of the trace to it are executed;
//! - what a memory intrinsic reads keeps its writer, and what shows a write that was not recorded keeps
//!   its place behind everything before it.

mod encode;
mod values;

use std::ops::Range;

use raddle_solve::{Answer, Budget, Event as Node, Exhausted, Lit, Solver};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::view::{Pos, View};

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// These events, executed in this order, lead there. Those of the view that stand before the
    /// window come first.
    Feasible(Vec<EventIndex>),
    /// No reordering within the model leads there.
    Infeasible,
    /// The budget ended first.
    Unknown(Exhausted),
}

/// A window of a trace, ready for questions.
#[derive(Debug)]
pub struct Maximal<'v> {
    view: &'v View,
    window: Range<u32>,
    solver: Solver,
    /// The solver's events, for each position of the window.
    nodes: Vec<Node>,
    /// The end of the prefix.
    cut: Node,
}

impl<'v> Maximal<'v> {
    /// Prepares a window: the kept events from one position to before another. `trace` is what the view
    /// was made of.
    #[must_use]
    pub fn new(view: &'v View, trace: &[Event], window: Range<Pos>) -> Self {
        let window = window.start.0..window.end.0.min(view.len() as u32);
        let mut solver = Solver::new();
        let chains: Vec<_> = view.threads().iter().map(|_| solver.chain()).collect();
        let nodes: Vec<Node> = window
            .clone()
            .map(|at| solver.event_in(chains[view.lane(Pos(at)).index()]))
            .collect();
        let cut = solver.event();
        let mut maximal = Self {
            view,
            window,
            solver,
            nodes,
            cut,
        };
        maximal.encode_order();
        maximal.encode_holds();
        maximal.encode_accesses(trace);
        maximal
    }

    /// Whether events of different threads can all be next at the same time: two accesses, which then
    /// race; acquisitions, each of a lock that the thread of another one holds, which then deadlock.
    ///
    /// # Panics
    ///
    /// If one of them lies outside the window.
    pub fn together(&mut self, events: &[Pos], budget: Budget) -> Proof {
        let mut assumptions = Vec::with_capacity(2 * events.len());
        for pos in events {
            assumptions.extend(self.next(*pos));
        }
        self.ask(&assumptions, budget)
    }

    /// That an event is the first of its thread beyond the prefix.
    fn next(&mut self, pos: Pos) -> Vec<Lit> {
        let node = self.node(pos).expect("an event of the window");
        let lane = self.view.lane_events(self.view.lane(pos));
        let own = lane.partition_point(|other| *other < pos);
        let before = own.checked_sub(1).and_then(|at| self.node(lane[at]));
        let mut lits = vec![self.solver.before(self.cut, node)];
        lits.extend(before.map(|before| self.solver.before(before, self.cut)));
        lits
    }

    fn ask(&mut self, assumptions: &[Lit], budget: Budget) -> Proof {
        match self.solver.solve(assumptions, budget) {
            Answer::Satisfiable(model) => {
                let before_window = (0..self.window.start).map(Pos);
                let end = model.position(self.cut);
                // Nodes are numbered like the positions of the window.
                let executed = model.order()[..end]
                    .iter()
                    .map(|node| Pos(self.window.start + node.index() as u32));
                let all = before_window.chain(executed);
                Proof::Feasible(all.map(|pos| self.view.event_index(pos)).collect())
            }
            Answer::Unsatisfiable(_) => Proof::Infeasible,
            Answer::Unknown(exhausted) => Proof::Unknown(exhausted),
        }
    }

    /// The solver's event for a position, if it lies in the window.
    fn node(&self, pos: Pos) -> Option<Node> {
        self.window
            .contains(&pos.0)
            .then(|| self.nodes[(pos.0 - self.window.start) as usize])
    }
}
