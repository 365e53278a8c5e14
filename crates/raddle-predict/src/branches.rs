//! Branches that go the other way in another schedule: schedule-sensitive ones.
//!
//! Source: TAME (Huang and Rauchwerger, "Finding Schedule-Sensitive Branches", ESEC/FSE 2015), algorithm 1: for each branch
//! event the conditions of its thread's path up to it hold, its own does not, and the order of events, locks and reads is
//! possible. What differs: a window of the trace in the place of chunks; terms over the program's own code; conditions of
//! other threads have to hold as far as the schedule executes them. An instruction is asked about in a few of its
//! executions, the earliest first, until one answer shows its other side.
//!
//! Guarantees: every schedule told is accepted by the judge, who executes the threads again with the values that they then
//! read. May miss: branches on what is concretised ([`raddle_symbolic`]), and those whose schedule needs events beyond the
//! window.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use raddle_judge::{Claim, Listing, ReadRule, Witness};
use raddle_model::Model;
use raddle_symbolic::Decision;
pub use raddle_symbolic::Place;
use raddle_trace::file::Trailer;
use raddle_trace::ids::{EventIndex, ThreadId};

use crate::goal::Reached;
use crate::maximal::{BUDGET, Paths, Windows};
use crate::order::Order;
use crate::predictor::{Method, Options, Run, Schedule};
use crate::view::{BadTrace, View};

/// Executions of one branch that are asked about.
const MOST_EXECUTIONS: usize = 4;

/// An execution of a branch, or a compare-exchange, that depends on the schedule.
#[derive(Clone, Debug)]
pub struct SensitiveBranch {
    /// Which instruction.
    pub place: Place,
    /// Whether it was taken, or has stored.
    pub is_taken: bool,
    /// The thread that executed it.
    pub thread: ThreadId,
    /// How many conditional branches the thread executed before it; none of a compare-exchange.
    pub number: Option<u64>,
    /// An order of events after which it goes the other way.
    pub schedule: Schedule,
}

/// What was found of a run's branches.
#[derive(Clone, Debug, Default)]
pub struct Sensitivity {
    /// Branches that go the other way in another schedule.
    pub branches: Vec<SensitiveBranch>,
    /// How many were asked about: they depend on what other threads write.
    pub asked: u64,
    /// How many of them were given up.
    pub given_up: u64,
}

/// The branches of a run that depend on what its threads read of shared memory.
pub struct Branches<'r> {
    run: Run<'r>,
    view: View,
    paths: Arc<Paths>,
}

impl<'r> Branches<'r> {
    /// Executes the threads of a run symbolically, by the program's code and the run's tables.
    ///
    /// # Errors
    /// If the trace cannot be viewed.
    pub fn new(run: Run<'r>, model: &Model, tables: &Trailer) -> Result<Self, BadTrace> {
        let view = View::new(run.events)?;
        let paths = Arc::new(Paths::new(&view, run.events, tables, model));
        Ok(Self { run, view, paths })
    }

    /// The branches, and which of their sides the run has taken.
    #[must_use]
    pub fn sides(&self) -> BTreeSet<(Place, bool)> {
        let conditions = self.paths.conditions().iter();
        let sides = conditions.filter_map(|it| Some((it.place()?.clone(), it.holds)));
        sides.collect()
    }

    /// Finds those that go the other way in another schedule, among executions that are wanted: of a branch, and the side
    /// that it took.
    #[must_use]
    pub fn sensitive(
        &self,
        options: &Options,
        is_wanted: &dyn Fn(&Place, bool) -> bool,
    ) -> Sensitivity {
        let mut found = Sensitivity::default();
        let mut executions: BTreeMap<(&Place, bool), Vec<usize>> = BTreeMap::new();
        for (number, condition) in self.paths.conditions().iter().enumerate() {
            if let Some(place) = condition.place()
                && is_wanted(place, condition.holds)
            {
                let side = (place, condition.holds);
                executions.entry(side).or_default().push(number);
            }
        }
        let mut questions: Vec<Vec<usize>> = executions.into_values().collect();
        // Windows go forward.
        questions.sort_unstable();
        let Run { events, hidden, .. } = self.run;
        let windows = Windows::new(&self.view, events, ReadRule::SameValue, options.window);
        let mut windows = windows.keeping(hidden).with_paths(self.paths.clone());
        let patience = options.patience();
        for numbers in questions {
            found.asked += 1;
            let mut is_given_up = numbers.len() > MOST_EXECUTIONS;
            for number in numbers.into_iter().take(MOST_EXECUTIONS) {
                let order = match patience.is_over() {
                    true => None,
                    false => match windows.decide_otherwise(number, BUDGET) {
                        Reached::By(order) => Some(order),
                        Reached::Never => continue,
                        Reached::Unknown => None,
                    },
                };
                let branch = order.and_then(|order| self.accepted(number, order));
                is_given_up |= branch.is_none();
                if let Some(branch) = branch {
                    found.branches.push(branch);
                    is_given_up = false;
                    break;
                }
            }
            found.given_up += u64::from(is_given_up);
        }
        found
    }

    /// The execution of a branch that goes the other way after this order, if the judge accepts that.
    fn accepted(&self, number: usize, order: Vec<EventIndex>) -> Option<SensitiveBranch> {
        let condition = &self.paths.conditions()[number];
        let place = condition.place()?;
        let thread = self.view.threads()[self.view.lane(condition.before).index()];
        let number = match condition.decision {
            Decision::Branch { number, .. } => Some(number),
            _ => None,
        };
        let claim = match number {
            Some(branch) => Claim::BranchFlip { thread, branch },
            // What it comes to is the next event's.
            None => Claim::Feasible,
        };
        let shared = Order::sharing(self.view.event_indices(), &order);
        let witness = Witness {
            order: shared.rest().to_vec(),
            listing: Listing::Some,
            rule: ReadRule::Relaxed,
            claim: claim.clone(),
        };
        let relaxation = self.run.relaxation?;
        (relaxation.accepts)(shared.start(), &witness).then(|| SensitiveBranch {
            place: place.clone(),
            is_taken: condition.holds,
            thread,
            number,
            schedule: Schedule::new(Method::Symbolic, order, Vec::new(), claim),
        })
    }
}
