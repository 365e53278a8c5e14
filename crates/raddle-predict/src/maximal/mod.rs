//! The most that a trace allows: the solver decides whether a reordering reaches a goal.
//!
//! A window of the view becomes one problem for the solver: each thread a chain, must-order edges
//! fixed, holds of a lock exclusive, and every read limited to sources with the value that it had. One
//! event more, the *cut*, ends the prefix that a witness executes: what comes after it does not count.
//! A goal becomes assumptions about the cut and about the order before it, so that all goals of a
//! window share what was learnt.
//!
//! This is the maximal causal model of Șerbănuță, Chen and Roșu ("Maximal Causal Models for Sequentially
//! Consistent Systems", RV 2012) for prefixes of the trace. Whatever the last event of a thread reads, it
//! is executed, unless the goal says what the thread does next. Made smaller in these places, so that
//! witnesses are feasible but a few feasible ones are not found:
//!
//! - who meets whom at a barrier, who runs an initialiser, and which freed memory is given out again are
//!   kept as recorded, as are the events on a futex that somebody waits for;
//! - a waiter is woken by one of the few notifications next to the one that woke it, and a semaphore's
//!   waiter takes one of the few posts next to its own;
//! - every other read of the prefix keeps its value, unless it is given [`Leeway`], for no branch or address
//!   depends on it;
//! - the operations on a lock that is downgraded in the window keep their order;
//! - what a memory intrinsic reads keeps its writer, and what shows a write that was not recorded keeps
//!   its place behind everything before it;
//! - what lies before the window is executed as recorded, and nothing behind it is.

mod forced;
mod goals;
mod hidden;
mod leeway;
mod lives;
mod locks;
mod memory;
mod nodes;
mod order;
mod paths;
mod tokens;
mod values;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use raddle_judge::ReadRule;
use raddle_solve::{Budget, Event as Node, Lit, Solver};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::view::{CellId, ObjectId, Pos, View};

pub use leeway::Leeway;
pub use paths::{PathCondition, Paths};
pub use windows::{SIZE, Windows};

use goals::Probe;
use hidden::Hidden;
use lives::Life;
use memory::Contents;
use nodes::Nodes;
use paths::Lowered;

/// What a question may cost by default: enough for all but the hardest, and the same on every machine.
pub const BUDGET: Budget = Budget::unlimited().conflicts(2_000);

/// What a reordering has to keep, besides the order that the view knows.
#[derive(Clone, Debug)]
struct Terms {
    rule: ReadRule,
    hidden: Arc<Hidden>,
    leeway: Arc<Leeway>,
    /// What threads do in terms of what they read, where they may read something else.
    paths: Option<Arc<Paths>>,
}

/// A window of a trace, ready for questions.
#[derive(Debug)]
pub struct Maximal<'v> {
    view: &'v View,
    trace: &'v [Event],
    terms: Terms,
    window: Range<u32>,
    solver: Solver,
    nodes: Nodes,
    /// The end of the prefix.
    cut: Node,
    cells: BTreeMap<CellId, Contents>,
    /// Objects that are freed in the window.
    lives: BTreeMap<ObjectId, Life>,
    /// Reads that show a write that was not recorded.
    out_of_nowhere: BTreeSet<Pos>,
    /// By stores that free reads go into: that they store what they stored.
    intact: BTreeMap<Pos, Lit>,
    probes: BTreeMap<Pos, Probe>,
    /// What the paths of its threads have become.
    lowered: Lowered,
}

impl<'v> Maximal<'v> {
    /// Prepares a window: the kept events from one position to before another. `trace` is what the view
    /// was made of. Under [`ReadRule::SameWrite`] reads keep their writers, as they must if the trace has
    /// no values; under any other rule, their values.
    #[must_use]
    pub fn new(view: &'v View, trace: &'v [Event], rule: ReadRule, window: Range<Pos>) -> Self {
        Self::on_terms(view, trace, Terms::new(rule), window)
    }

    /// Keeps to orders that the kinds of the events do not tell, such as the judge's
    /// [hidden orders](raddle_judge::Recording::hidden_orders): the second event of a pair is executed
    /// only after the first.
    #[must_use]
    pub fn keeping(self, orders: &[(EventIndex, EventIndex)]) -> Self {
        let terms = self.terms.clone().keeping(self.view, orders);
        Self::on_terms(self.view, self.trace, terms, self.window())
    }

    /// Lets some reads find other values than they found. The orders that are found are then to be judged by
    /// [`ReadRule::Relaxed`].
    #[must_use]
    pub fn with_leeway(self, leeway: Arc<Leeway>) -> Self {
        let terms = Terms {
            leeway,
            ..self.terms.clone()
        };
        Self::on_terms(self.view, self.trace, terms, self.window())
    }

    /// Lets reads find any values with which the threads take the paths that they took. The orders that are found are then
    /// to be judged by [`ReadRule::Relaxed`].
    #[must_use]
    pub fn with_paths(self, paths: Arc<Paths>) -> Self {
        let terms = Terms {
            paths: Some(paths),
            ..self.terms.clone()
        };
        Self::on_terms(self.view, self.trace, terms, self.window())
    }

    fn on_terms(view: &'v View, trace: &'v [Event], terms: Terms, window: Range<Pos>) -> Self {
        let end = window.end.0.min(view.len() as u32);
        let window = window.start.0.min(end)..end;
        let mut solver = Solver::new();
        let nodes = Nodes::new(&mut solver, view, trace, window.clone(), &terms.hidden);
        let cut = solver.event();
        let mut maximal = Self {
            view,
            trace,
            terms,
            window,
            solver,
            nodes,
            cut,
            cells: BTreeMap::new(),
            lives: BTreeMap::new(),
            out_of_nowhere: BTreeSet::new(),
            intact: BTreeMap::new(),
            probes: BTreeMap::new(),
            lowered: Lowered::default(),
        };
        maximal.encode_hidden();
        maximal.encode_order();
        maximal.encode_waiting();
        maximal.encode_holds();
        match maximal.terms.paths.clone() {
            Some(paths) => maximal.encode_paths(&paths),
            None => maximal.encode_accesses(),
        }
        maximal.encode_lives();
        maximal
    }

    /// The positions that it looks at.
    #[must_use]
    pub fn window(&self) -> Range<Pos> {
        Pos(self.window.start)..Pos(self.window.end)
    }

    fn positions(&self) -> impl Iterator<Item = Pos> + use<> {
        self.window.clone().map(Pos)
    }

    fn event(&self, pos: Pos) -> &'v Event {
        let EventIndex(index) = self.view.event_index(pos);
        &self.trace[index as usize]
    }

    /// The kept event before this one in its thread.
    fn previous(&self, pos: Pos) -> Option<Pos> {
        let lane = self.view.lane_events(self.view.lane(pos));
        let own = lane.partition_point(|other| *other < pos);
        own.checked_sub(1).map(|at| lane[at])
    }

    /// That an event of the window is executed.
    fn executed(&mut self, node: Node) -> Lit {
        self.solver.before(node, self.cut)
    }

    /// If an event is executed, it comes before another. Nothing is said if that one is not in the window.
    fn precedes_if_executed(&mut self, first: Pos, second: Pos) {
        if let (Some(first), Some(second)) = (self.node(first), self.node(second)) {
            let executed = self.executed(first);
            let before = self.solver.before(first, second);
            self.solver.require(&[!executed, before]);
        }
    }
}

impl Terms {
    fn new(rule: ReadRule) -> Self {
        Self {
            rule,
            hidden: Arc::default(),
            leeway: Arc::default(),
            paths: None,
        }
    }

    fn keeping(self, view: &View, orders: &[(EventIndex, EventIndex)]) -> Self {
        Self {
            hidden: Arc::new(Hidden::new(view, orders)),
            ..self
        }
    }
}
