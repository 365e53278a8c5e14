//! An order for a goal that no prover reaches.
//!
//! PECAN (section 6) generates a schedule by moving what depends on an event behind it, and the outermost
//! lock that protects an event with it; values are left to the program. The same for goals that are no
//! pattern of accesses: everything that must come before comes in the order of the trace, except that each
//! thread that is to stop while it holds locks takes the outermost one of them last.

use raddle_trace::ids::EventIndex;

use crate::clocks::Clocks;
use crate::goal::Goal;
use crate::view::{Lane, Pos, View};

/// The order; none if the goal makes no sense.
#[must_use]
pub(crate) fn order(view: &View, clocks: &Clocks, goal: &Goal) -> Option<Vec<EventIndex>> {
    if !goal.is_sensible(view) {
        return None;
    }
    let mut bounds = vec![0; view.threads().len()];
    for pos in &goal.next {
        clocks.join_before(view, *pos, &mut bounds);
    }
    for pos in &goal.in_order {
        clocks.join(view, *pos, &mut bounds);
    }
    let mut order: Vec<Pos> = Vec::new();
    let stops = |lane| goal.next.iter().position(|pos| view.lane(*pos) == lane);
    // Of each thread that is to stop, what it does under locks that it keeps.
    let mut locked: Vec<Vec<Pos>> = vec![Vec::new(); goal.next.len()];
    for (lane, bound) in (0..).map(Lane).zip(&bounds) {
        let events = view.lane_events(lane);
        let executed = &events[..events.partition_point(|pos| pos.0 < *bound)];
        let open = view.holds().iter().find(|hold| {
            let is_released = hold.release.is_some_and(|release| release.0 < *bound);
            hold.lane == lane && hold.acquire.0 < *bound && !is_released
        });
        let (before, from_lock) = match (stops(lane), open) {
            (Some(_), Some(hold)) => {
                executed.split_at(executed.partition_point(|pos| *pos < hold.acquire))
            }
            _ => (executed, &[][..]),
        };
        order.extend(before);
        if let Some(number) = stops(lane) {
            locked[number] = from_lock.to_vec();
        }
    }
    order.sort_unstable();
    order.extend(locked.into_iter().flatten());
    Some(order.iter().map(|pos| view.event_index(*pos)).collect())
}
