//! Long traces: the window that a goal lies in.
//!
//! Windows begin at multiples of a quarter of their size, so neighbours overlap, and goals that lie near
//! each other get the same one and share its solver. Around a goal there is at least a quarter on both
//! sides if its events are near each other. A goal whose events are far apart gets a window as long as it
//! needs to be, rounded so that goals with about the same events have the same one.
//!
//! Making a window costs more than most questions. So the latest ones are kept, and a goal that is
//! forbidden by what all windows have in common gets none.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use raddle_judge::ReadRule;
use raddle_solve::Budget;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use super::forced::Forced;
use super::{Leeway, Maximal, Paths, Terms};
use crate::goal::{Goal, Reached};
use crate::view::{Pos, View};

/// Kept events of a window, by default.
pub const SIZE: usize = 10_000;

/// Goals whose events are further apart than this many windows are given up.
const LONGEST: u32 = 8;

/// A goal whose events are far apart has a window that begins and ends at multiples of this part of their
/// distance.
const PARTS: u32 = 16;

/// Events of windows that are kept, in all, but for the one in use.
const MOST_KEPT: u32 = 150_000;

/// The windows of a trace, a few at a time.
#[derive(Debug)]
pub struct Windows<'v> {
    view: &'v View,
    trace: &'v [Event],
    terms: Terms,
    size: u32,
    /// The reads that may find other values.
    free_reads: Vec<Pos>,
    /// What every window forbids, once that was asked.
    forced: OnceCell<Forced>,
    /// Windows that were used, the latest last.
    kept: Vec<Maximal<'v>>,
    /// Questions that were put to a solver.
    asked: u64,
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
            forced: OnceCell::new(),
            kept: Vec::new(),
            asked: 0,
        }
    }

    /// How many questions were put to a solver, and not answered without.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Keeps to orders that the kinds of the events do not tell; see [`Maximal::keeping`].
    #[must_use]
    pub fn keeping(self, orders: &[(EventIndex, EventIndex)]) -> Self {
        Self {
            terms: self.terms.keeping(self.view, orders),
            kept: Vec::new(),
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
        self.forced = OnceCell::new();
        self.kept.clear();
        self
    }

    /// Lets reads find any values with which the threads take the paths that they took; see [`Maximal::with_paths`].
    #[must_use]
    pub fn with_paths(mut self, paths: Arc<Paths>) -> Self {
        self.terms.paths = Some(paths);
        self.forced = OnceCell::new();
        self.kept.clear();
        self
    }

    /// Whether a reordering leads a thread up to the condition of its path with this number, where it goes the other way;
    /// see [`Maximal::decide_otherwise`].
    pub fn decide_otherwise(&mut self, number: usize, budget: Budget) -> Reached {
        let condition = self
            .terms
            .paths
            .as_ref()
            .map(|it| it.conditions()[number].before);
        let window = condition.and_then(|pos| self.window_of(&Goal::in_order(&[pos])));
        let Some(window) = window else {
            return Reached::Unknown;
        };
        self.asked += 1;
        let mut maximal = self.take(window);
        let reached = maximal.decide_otherwise(number, budget);
        self.kept.push(maximal);
        reached
    }

    /// The window, made or taken from those that are kept.
    fn take(&mut self, window: Range<Pos>) -> Maximal<'v> {
        match self.kept.iter().position(|it| it.window() == window) {
            Some(at) => self.kept.remove(at),
            None => {
                self.make_room();
                Maximal::on_terms(self.view, self.trace, self.terms.clone(), window)
            }
        }
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
    /// made anew if several others were used since.
    pub fn reach(&mut self, goal: &Goal, budget: Budget) -> Reached {
        let Some(window) = self.window_of(goal) else {
            return Reached::Unknown;
        };
        if self.forbids(goal) {
            return Reached::Never;
        }
        self.asked += 1;
        let mut maximal = self.take(window);
        let reached = maximal.reach(goal, budget);
        self.kept.push(maximal);
        reached
    }

    /// Whether no window reaches a goal, by what they have in common.
    fn forbids(&self, goal: &Goal) -> bool {
        if self.terms.paths.is_some() {
            return false;
        }
        let forced = || Forced::new(self.view, self.trace, &self.terms);
        self.forced.get_or_init(forced).forbids(self.view, goal)
    }

    /// Drops the windows that were not used for the longest time, if they are too large together.
    fn make_room(&mut self) {
        let mut room = MOST_KEPT;
        let mut dropped = self.kept.len();
        for maximal in self.kept.iter().rev() {
            let Range { start, end } = maximal.window();
            let Some(left) = room.checked_sub(end.0 - start.0) else {
                break;
            };
            (room, dropped) = (left, dropped - 1);
        }
        self.kept.drain(..dropped);
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
        let whole = || {
            let distance = last - first;
            let step = quarter.max(distance.checked_next_power_of_two()? / PARTS);
            let start = first.saturating_sub(quarter) / step * step;
            let end = last.saturating_add(quarter).saturating_add(1);
            let end = end.div_ceil(step).saturating_mul(step);
            (distance <= self.size.saturating_mul(LONGEST)).then_some(start..end)
        };
        let window = within(aligned.saturating_sub(quarter))
            .or_else(|| within(aligned))
            .or_else(whole)?;
        Some(Pos(window.start)..Pos(window.end.min(self.view.len() as u32)))
    }
}
