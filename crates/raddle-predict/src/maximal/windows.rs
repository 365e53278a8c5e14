//! Long traces: the window that a goal lies in.
//!
//! Windows begin at multiples of a quarter of their size, so neighbours overlap, and goals that lie near
//! each other get the same one and share its solver. Around a goal there is at least a quarter on both
//! sides if its events are near each other. A goal whose events are far apart gets a window of its own,
//! as long as it needs to be.

use std::ops::Range;
use std::sync::Arc;

use raddle_judge::ReadRule;
use raddle_solve::Budget;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use super::{Leeway, Maximal, Terms};
use crate::goal::{Goal, Reached};
use crate::view::{Pos, View};

/// Kept events of a window, by default.
pub const SIZE: usize = 10_000;

/// Goals whose events are further apart than this many windows are given up.
const LONGEST: u32 = 8;

/// The windows of a trace, one at a time.
#[derive(Debug)]
pub struct Windows<'v> {
    view: &'v View,
    trace: &'v [Event],
    terms: Terms,
    size: u32,
    /// The reads that may find other values.
    free_reads: Vec<Pos>,
    current: Option<Maximal<'v>>,
}

impl<'v> Windows<'v> {
    /// Windows of a size; see [`Maximal::new`] for the rest.
    #[must_use]
    pub fn new(view: &'v View, trace: &'v [Event], rule: ReadRule, size: usize) -> Self {
        Self {
            view,
            trace,
            terms: Terms::new(rule),
            size: u32::try_from(size).unwrap_or(u32::MAX).max(4),
            free_reads: Vec::new(),
            current: None,
        }
    }

    /// Keeps to orders that the kinds of the events do not tell; see [`Maximal::keeping`].
    #[must_use]
    pub fn keeping(self, orders: &[(EventIndex, EventIndex)]) -> Self {
        Self {
            terms: self.terms.keeping(self.view, orders),
            current: None,
            ..self
        }
    }

    /// Lets some reads find other values than they found; see [`Maximal::with_leeway`].
    #[must_use]
    pub fn with_leeway(mut self, leeway: Arc<Leeway>) -> Self {
        let is_free = |pos: &Pos| {
            let EventIndex(index) = self.view.event_index(*pos);
            self.view.reads(*pos) && leeway.is_free(&self.trace[index as usize])
        };
        self.free_reads = self.view.positions().filter(is_free).collect();
        self.terms.leeway = leeway;
        self.current = None;
        self
    }

    /// Whether a read in the window of a goal may find another value.
    #[must_use]
    pub fn has_leeway(&self, goal: &Goal) -> bool {
        self.window_of(goal).is_some_and(|window| {
            let first = self.free_reads.partition_point(|pos| *pos < window.start);
            let read = self.free_reads.get(first);
            read.is_some_and(|pos| *pos < window.end)
        })
    }

    /// Whether a goal can be reached within its window. Goals are best asked by position: a window is
    /// made anew whenever a goal lies in another one than the goal before.
    pub fn reach(&mut self, goal: &Goal, budget: Budget) -> Reached {
        let Some(window) = self.window_of(goal) else {
            return Reached::Unknown;
        };
        let current = self.current.take();
        let current = current.filter(|maximal| maximal.window() == window);
        let current = current.unwrap_or_else(|| {
            Maximal::on_terms(self.view, self.trace, self.terms.clone(), window)
        });
        self.current.insert(current).reach(goal, budget)
    }

    /// The window of a goal; none if it would be too long.
    #[must_use]
    pub fn window_of(&self, goal: &Goal) -> Option<Range<Pos>> {
        let (first, last) = goal.span()?;
        let (first, last) = (first.0, last.0);
        let quarter = self.size / 4;
        let within = |start: u32| {
            let end = start.saturating_add(self.size);
            (last < end).then_some(start..end)
        };
        let aligned = first / quarter * quarter;
        let (start, end) = (first.saturating_sub(quarter), last.saturating_add(quarter));
        let whole = Some(start..end.saturating_add(1));
        let window = within(aligned.saturating_sub(quarter))
            .or_else(|| within(aligned))
            .or(whole.filter(|_| last - first <= self.size.saturating_mul(LONGEST)))?;
        Some(Pos(window.start)..Pos(window.end.min(self.view.len() as u32)))
    }
}
