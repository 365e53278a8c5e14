//! Which of two events comes first, in constant space for most events.
//!
//! PECAN's compact encoding (section 5.1): an order between threads is kept only at the events
//! where a thread learns of another, as a vector clock; the order of any two events is worked out
//! from the nearest such event when it is asked for, in O(log n).
//!
//! Since positions are times, a clock holds for each thread the bound below which its events are
//! known: one more than the position of the last one.

use crate::forest::{Forest, Root};
use crate::view::{Edge, Lane, Pos, View};

/// For each thread, the bound below which its events have happened.
pub type Clock = [u32];

/// An order of events: program order and some edges between threads, and all that follows.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// By thread: the events at which it learnt something, and their clocks.
    learnt: Vec<Vec<(Pos, Root)>>,
    /// The clocks. A clock's own thread is not kept up to date in it.
    forest: Forest,
}

impl Clocks {
    /// The order that edges make, given by ascending ends. Edges go forward in the trace.
    #[must_use]
    pub fn new(view: &View, edges: impl IntoIterator<Item = (Pos, Pos)>) -> Self {
        let width = view.threads().len();
        let mut clocks = Self {
            learnt: vec![Vec::new(); width],
            forest: Forest::new(width),
        };
        let mut edges = edges.into_iter().peekable();
        while let Some((first, to)) = edges.next() {
            let lane = view.lane(to);
            if clocks.bound(lane, to, view.lane(first)) > first.0 {
                continue;
            }
            let known = clocks.row(lane, to);
            let mut clock = clocks.learn(view, first, lane, known);
            while let Some((from, _)) = edges.next_if(|&(_, next)| next == to) {
                clock = clocks.learn(view, from, lane, clock);
            }
            if clock != known {
                clocks.learnt[lane.index()].push((to, clock));
            }
        }
        clocks
    }

    /// Must-order, all of it or what is certain; see [`crate::view::EdgeKind`].
    #[must_use]
    pub fn must_order(view: &View, keep: impl Fn(&Edge) -> bool) -> Self {
        let kept = view.edges().iter().filter(|edge| keep(edge));
        Self::new(view, kept.map(|edge| (edge.from, edge.to)))
    }

    /// Whether one event comes before another, whatever the schedule.
    #[must_use]
    pub fn before(&self, view: &View, a: Pos, b: Pos) -> bool {
        let (first, second) = (view.lane(a), view.lane(b));
        if first == second {
            return a < b;
        }
        a < b && self.bound(second, b, first) > a.0
    }

    /// The bound of `of`'s events that come before the event at `pos` of `lane`, a different thread.
    #[must_use]
    pub fn bound(&self, lane: Lane, pos: Pos, of: Lane) -> u32 {
        self.forest.get(self.row(lane, pos), of)
    }

    /// Joins all that comes before an event, but nothing that only the event itself needs.
    pub fn join_before(&self, view: &View, pos: Pos, into: &mut Clock) -> bool {
        let lane = view.lane(pos);
        let past = pos.0.checked_sub(1);
        let past = past.is_some_and(|past| self.join_past(lane, Pos(past), into));
        past | raise(&mut into[lane.index()], pos.0)
    }

    /// Joins the clock of an event into another: the events before it, and itself.
    pub fn join(&self, view: &View, pos: Pos, into: &mut Clock) -> bool {
        let lane = view.lane(pos);
        self.join_past(lane, pos, into) | raise(&mut into[lane.index()], pos.0 + 1)
    }

    /// Joins what an event of a thread knows of other threads.
    fn join_past(&self, lane: Lane, pos: Pos, into: &mut Clock) -> bool {
        self.forest.join_into(self.row(lane, pos), into)
    }

    /// The newest clock at or before a position.
    fn row(&self, lane: Lane, pos: Pos) -> Root {
        let learnt = &self.learnt[lane.index()];
        // Most questions are about what is near the end: so far, when the clocks are being made.
        let (mut later, mut step) = (0, 1);
        while later + step <= learnt.len() && learnt[learnt.len() - later - step].0 > pos {
            later += step;
            step *= 2;
        }
        let start = learnt.len().saturating_sub(later + step);
        let near = &learnt[start..learnt.len() - later];
        let after = start + near.partition_point(|(at, _)| *at <= pos);
        after
            .checked_sub(1)
            .map_or(Root::default(), |at| learnt[at].1)
    }

    /// A thread's clock with that of another's event.
    fn learn(&mut self, view: &View, from: Pos, lane: Lane, clock: Root) -> Root {
        let other = view.lane(from);
        if self.forest.get(clock, other) > from.0 {
            return clock;
        }
        let theirs = self.row(other, from);
        let event = (other, from.0 + 1);
        self.forest.learn(clock, lane, theirs, event)
    }
}

/// Raises a bound.
#[inline]
pub(crate) fn raise(bound: &mut u32, to: u32) -> bool {
    let raised = *bound < to;
    if raised {
        *bound = to;
    }
    raised
}
