//! The analyses that prove a goal, from cheap to dear.

use raddle_judge::ReadRule;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::candidate::{Candidate, Way};
use crate::goal::{Goal, Reached};
use crate::maximal::{BUDGET, Windows};
use crate::predictor::Method;
use crate::sync_preserving::SyncPreserving;
use crate::view::View;

/// The provers of a view.
pub(crate) struct Provers<'v> {
    sync_preserving: SyncPreserving<'v>,
    maximal: Windows<'v>,
}

impl<'v> Provers<'v> {
    /// `hidden` are orders that the trace shows only by what threads saw.
    pub(crate) fn new(
        view: &'v View,
        trace: &'v [Event],
        rule: ReadRule,
        window: usize,
        hidden: &[(EventIndex, EventIndex)],
    ) -> Self {
        Self {
            sync_preserving: SyncPreserving::new(view),
            maximal: Windows::new(view, trace, rule, window).keeping(hidden),
        }
    }

    /// An order that reaches a goal, and what found it.
    pub(crate) fn reach(&mut self, goal: &Goal) -> Option<(Method, Vec<EventIndex>)> {
        if let Reached::By(order) = self.sync_preserving.reach(goal) {
            return Some((Method::SyncPreserving, order));
        }
        match self.maximal.reach(goal, BUDGET) {
            Reached::By(order) => Some((Method::Maximal, order)),
            Reached::Never | Reached::Unknown => None,
        }
    }

    /// A way to a candidate, if one keeps the order of critical sections.
    pub(crate) fn of_candidate(&self, candidate: &Candidate) -> Option<(Way, Vec<EventIndex>)> {
        let proof = self.sync_preserving.prove(candidate)?;
        Some((proof.way, proof.order))
    }
}
