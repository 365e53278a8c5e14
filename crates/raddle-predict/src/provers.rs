//! The analyses that prove a goal, from cheap to dear.

use std::time::Instant;

use raddle_judge::{Claim, Listing, ReadRule, Witness};
use raddle_solve::Budget;
use raddle_trace::ids::EventIndex;

use crate::candidate::{Candidate, Way};
use crate::goal::{Goal, Reached};
use crate::maximal::{BUDGET, Windows};
use crate::order::Order;
use crate::predictor::{Accepts, Method, Relaxation, Run};
use crate::sync_preserving::{Proof, SyncPreserving};
use crate::view::{Pos, View};

/// Ways to one candidate that are tried with other values.
const MOST_RELAXED_WAYS: usize = 4;

/// Events of orders that are executed again, in all.
const MOST_REEXECUTED: usize = 20_000_000;

/// The provers of a view.
pub(crate) struct Provers<'v> {
    view: &'v View,
    sync_preserving: &'v SyncPreserving<'v>,
    maximal: Windows<'v>,
    relaxed: Option<Relaxed<'v>>,
    patience: Patience,
    /// Whether a question since the last look was given up, or not asked at all.
    gave_up: bool,
}

/// How long proofs are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// No longer than until then.
    pub until: Option<Instant>,
    /// Nor after this is so.
    pub is_over: fn() -> bool,
}

impl Patience {
    /// Whether it has come to its end.
    pub(crate) fn is_over(self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until) || (self.is_over)()
    }

    /// What one question may cost.
    fn budget(self) -> Budget {
        match self.until {
            Some(until) => BUDGET.time(until.saturating_duration_since(Instant::now())),
            None => BUDGET,
        }
    }
}

/// The solver, where some reads may find other values.
struct Relaxed<'v> {
    windows: Windows<'v>,
    accepts: &'v Accepts<'v>,
    view: &'v View,
    /// Events that may yet be executed again.
    left: usize,
    gave_up: bool,
}

impl<'v> Provers<'v> {
    pub(crate) fn new(
        view: &'v View,
        sync_preserving: &'v SyncPreserving<'v>,
        run: Run<'v>,
        window: usize,
        patience: Patience,
    ) -> Self {
        let windows = || Windows::new(view, run.events, run.rule, window).keeping(run.hidden);
        let relaxed = run
            .relaxation
            .map(|Relaxation { leeway, accepts }| Relaxed {
                windows: windows().with_leeway(leeway.clone()),
                accepts,
                view,
                left: MOST_REEXECUTED,
                gave_up: false,
            });
        Self {
            view,
            sync_preserving,
            maximal: windows(),
            relaxed,
            patience,
            gave_up: false,
        }
    }

    /// Whether some question since the last time was given up for want of time or room: what was not found may
    /// be there nevertheless.
    pub(crate) fn take_gave_up(&mut self) -> bool {
        let relaxed = self.relaxed.as_mut();
        let relaxed = relaxed.is_some_and(|it| std::mem::take(&mut it.gave_up));
        std::mem::take(&mut self.gave_up) || relaxed || self.patience.is_over()
    }

    /// The first of some ways that can be gone, what found it, and the order that goes it.
    pub(crate) fn reach<'w>(
        &mut self,
        ways: &'w [Way],
    ) -> Option<(&'w Way, Method, Vec<EventIndex>)> {
        let patience = self.patience;
        let in_time = || ways.iter().take_while(|_| !patience.is_over());
        let mut strict = in_time().filter_map(|way| {
            let (method, order) = self.strictly(&way.goal)?;
            Some((way, method, order))
        });
        if let Some(found) = strict.next() {
            return Some(found);
        }
        let relaxed = self.relaxed.as_mut()?;
        relaxed.gave_up |= ways.len() > MOST_RELAXED_WAYS;
        in_time().take(MOST_RELAXED_WAYS).find_map(|way| {
            let order = relaxed.reach(&way.goal, &way.claim, patience.budget())?;
            Some((way, Method::ControlFlow, order))
        })
    }

    /// An order that reaches a goal while all reads find what they found, and what found it.
    fn strictly(&mut self, goal: &Goal) -> Option<(Method, Vec<EventIndex>)> {
        if let Reached::By(order) = self.sync_preserving.reach(goal) {
            return Some((self.method(&order), order));
        }
        self.maximally(goal)
    }

    /// What an order that the closure has found is called.
    fn method(&self, order: &[EventIndex]) -> Method {
        match self.sync_preserving.is_preserving(order) {
            true => Method::SyncPreserving,
            false => Method::LockReordering,
        }
    }

    fn maximally(&mut self, goal: &Goal) -> Option<(Method, Vec<EventIndex>)> {
        match self.maximal.reach(goal, self.patience.budget()) {
            Reached::By(order) => Some((Method::Maximal, order)),
            Reached::Never => None,
            Reached::Unknown => {
                self.gave_up = true;
                None
            }
        }
    }

    /// An order of the solver's that reaches a goal.
    pub(crate) fn solve(
        &mut self,
        goal: &Goal,
        claim: &Claim,
    ) -> Option<(Method, Vec<EventIndex>)> {
        let budget = self.patience.budget();
        self.maximally(goal).or_else(|| {
            let order = self.relaxed.as_mut()?.reach(goal, claim, budget)?;
            Some((Method::ControlFlow, order))
        })
    }

    /// A way to a candidate, if the closure finds one.
    pub(crate) fn of_candidate(
        &self,
        candidate: &Candidate,
    ) -> Option<(Way, Method, Vec<EventIndex>)> {
        let Proof { way, order } = self.sync_preserving.prove(candidate)?;
        let method = self.method(&order);
        Some((way, method, order))
    }

    /// An order that brings two accesses together and keeps the order of critical sections.
    pub(crate) fn preserve(&self, a: Pos, b: Pos) -> Option<Vec<EventIndex>> {
        let race = self.sync_preserving.race(a, b)?;
        Some(race.witness(self.view))
    }

    /// How many questions the solver was asked.
    pub(crate) fn asked(&self) -> u64 {
        let relaxed = self.relaxed.as_ref().map_or(0, |it| it.windows.asked());
        self.maximal.asked() + relaxed
    }
}

impl Relaxed<'_> {
    /// An order that reaches a goal, if executing it again shows that it can be gone.
    fn reach(&mut self, goal: &Goal, claim: &Claim, budget: Budget) -> Option<Vec<EventIndex>> {
        if !self.windows.has_leeway(goal) {
            return None;
        }
        let order = match self.windows.reach(goal, budget) {
            Reached::By(order) => order,
            Reached::Never => return None,
            Reached::Unknown => {
                self.gave_up = true;
                return None;
            }
        };
        self.gave_up |= self.left < order.len();
        self.left = self.left.checked_sub(order.len())?;
        let shared = Order::sharing(self.view.event_indices(), &order);
        let witness = Witness {
            order: shared.rest().to_vec(),
            listing: Listing::Some,
            rule: ReadRule::Relaxed,
            claim: claim.clone(),
        };
        (self.accepts)(shared.start(), &witness).then_some(order)
    }
}
