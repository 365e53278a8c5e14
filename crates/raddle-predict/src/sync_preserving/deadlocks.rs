//! Sync-preserving deadlocks.
//!
//! Tunç, Mathur, Pavlogiannis, Viswanathan, "Sound Dynamic Deadlock Prediction in Linear Time", PLDI
//! 2023: threads can come to wait for each other before some acquisitions exactly if none of these is
//! in the ideal of what comes before them. Ideals grow with the acquisitions, so one that is in the
//! ideal is in every later one, and each thread's list is gone through once.

use raddle_trace::ids::EventIndex;

use super::SyncPreserving;
use super::ideal::Closure;
use crate::view::Pos;

/// Threads that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// What each of them waits to execute.
    pub events: Vec<Pos>,
    /// What is executed before: the kept events of it.
    pub order: Vec<EventIndex>,
}

impl SyncPreserving<'_> {
    /// The first deadlock of a circle: of each thread one of the events that it may be stopped before.
    #[must_use]
    pub fn deadlock(&self, circle: &[Vec<Pos>]) -> Option<Deadlock> {
        if circle.is_empty() {
            return None;
        }
        let mut closure = Closure::new(self);
        let mut reached = vec![0; circle.len()];
        loop {
            let events: Option<Vec<Pos>> = circle
                .iter()
                .zip(&reached)
                .map(|(instances, at)| instances.get(*at).copied())
                .collect();
            let events = events?;
            events.iter().for_each(|pos| closure.approach(*pos));
            if !closure.close() {
                return None;
            }
            let mut is_found = true;
            for (instances, at) in circle.iter().zip(&mut reached) {
                let passed = instances[*at..].partition_point(|pos| closure.contains(*pos));
                is_found &= passed == 0;
                *at += passed;
            }
            if is_found {
                return Some(Deadlock {
                    events,
                    order: closure.ideal().events(self.view),
                });
            }
        }
    }
}
