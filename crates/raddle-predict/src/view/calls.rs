//! Calls that matter to atomicity: those in which locks are taken one after the other, and those of
//! functions that are marked as atomic.
//!
//! A view drops entries and exits like everything that no other thread sees; which call they bound is
//! found out in the same pass, at the cost of a push and a pop for each. As in a trace's stacks, a call
//! or a return at a frame's address means that every frame at or below it is gone, whichever way it was
//! left; a call that was left without a return, or not at all, has no exit.

use raddle_trace::ids::{Address, EventIndex, SiteId};

use super::ids::Lane;
use crate::table::Table;

/// A call, by thread and then by entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Whose.
    pub lane: Lane,
    /// The function's first instruction.
    pub function: SiteId,
    /// Its entry.
    pub enter: EventIndex,
    /// Its exit, if it returned.
    pub exit: Option<EventIndex>,
    /// One more than the last event that may be inside.
    pub end: EventIndex,
    /// Whether the function is marked as atomic.
    pub is_marked: bool,
    /// The innermost of these calls that it is inside of.
    pub parent: Option<CallId>,
}

impl Call {
    /// Whether an event of its thread happens in it.
    #[must_use]
    pub fn contains(&self, event: EventIndex) -> bool {
        self.enter <= event && event < self.end
    }
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    function: SiteId,
    frame: Address,
    enter: u32,
    /// What its thread had acquired before.
    acquired: u32,
}

#[derive(Clone, Debug, Default)]
struct LaneState {
    stack: Vec<Open>,
    acquired: u32,
}

/// Gathers calls, when shown entries, exits and acquisitions.
#[derive(Debug, Default)]
pub(super) struct Calls {
    lanes: Vec<LaneState>,
    marked: Table<u32, ()>,
    calls: Vec<Call>,
}

/// Acquisitions that make a call worth keeping.
const WORTH_KEEPING: u32 = 2;

impl Calls {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            lanes: vec![LaneState::default(); lanes],
            ..Self::default()
        }
    }

    /// Functions, by their first instructions, all calls of which are to be kept.
    pub(super) fn mark(&mut self, functions: impl IntoIterator<Item = SiteId>) {
        let sites = functions.into_iter().map(|site| (site.0, ()));
        self.marked.extend(sites);
    }

    pub(super) fn acquire(&mut self, lane: Lane) {
        self.lanes[lane.index()].acquired += 1;
    }

    pub(super) fn begin(&mut self, lane: Lane, index: u32) {
        self.unwind(lane, Address(u64::MAX), index, None);
    }

    pub(super) fn enter(&mut self, lane: Lane, index: u32, function: SiteId, frame: Address) {
        self.unwind(lane, frame, index, None);
        let state = &mut self.lanes[lane.index()];
        state.stack.push(Open {
            function,
            frame,
            enter: index,
            acquired: state.acquired,
        });
    }

    pub(super) fn exit(&mut self, lane: Lane, index: u32, frame: Address) {
        self.unwind(lane, frame, index, Some(frame));
    }

    /// All calls; `events` is the length of the trace.
    pub(super) fn finish(mut self, events: u32) -> Vec<Call> {
        for lane in 0..self.lanes.len() {
            self.begin(Lane(lane as u16), events);
        }
        let mut calls = self.calls;
        calls.sort_unstable_by_key(|call| (call.lane, call.enter));
        let mut around: Vec<usize> = Vec::new();
        for at in 0..calls.len() {
            let call = calls[at];
            let is_outside = |outer: &Call| outer.lane != call.lane || !outer.contains(call.enter);
            while around
                .last()
                .is_some_and(|&outer| is_outside(&calls[outer]))
            {
                around.pop();
            }
            calls[at].parent = around.last().map(|&outer| CallId(outer as u32));
            around.push(at);
        }
        calls
    }

    /// Ends the calls at or below a frame; that of `returned` has an exit.
    fn unwind(&mut self, lane: Lane, frame: Address, index: u32, returned: Option<Address>) {
        let LaneState { stack, acquired } = &mut self.lanes[lane.index()];
        while let Some(open) = stack.pop_if(|top| top.frame <= frame) {
            let is_marked = !self.marked.is_empty() && self.marked.contains_key(&open.function.0);
            if !is_marked && *acquired - open.acquired < WORTH_KEEPING {
                continue;
            }
            let returns = returned == Some(open.frame);
            self.calls.push(Call {
                lane,
                function: open.function,
                enter: EventIndex(open.enter.into()),
                exit: returns.then_some(EventIndex(index.into())),
                end: EventIndex(u64::from(index) + u64::from(returns)),
                is_marked,
                parent: None,
            });
        }
    }
}
