//! Vector clocks that grow with the threads of a run, and what each thread has known since when.
//!
//! Positions in the trace are times: a clock holds for each thread the bound below which its events are
//! known, one more than the number of the last one.

use std::collections::VecDeque;

use raddle_trace::ids::ThreadId;

use crate::table::Table;

/// A thread, by the order of first events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Lane(pub(super) u16);

impl Lane {
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// For each thread, the bound below which its events have happened; 0 for threads that it does not list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    /// A clock to which everything is known that happened before an event.
    pub(super) fn of_all(lanes: usize, index: u32) -> Self {
        Self(vec![index; lanes])
    }

    #[inline]
    pub(super) fn knows(&self, lane: Lane, index: u32) -> bool {
        self.0.get(lane.index()).is_some_and(|bound| *bound > index)
    }

    #[inline]
    pub(super) fn raise(&mut self, lane: Lane, bound: u32) {
        if self.0.len() <= lane.index() {
            self.0.resize(lane.index() + 1, 0);
        }
        let own = &mut self.0[lane.index()];
        *own = bound.max(*own);
    }

    /// Learns what another clock knows; whether that was anything new.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut is_new = false;
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            is_new |= theirs > *mine;
            *mine = theirs.max(*mine);
        }
        is_new
    }
}

/// What a thread knew, at so many of the events at which it learnt something. What it knew earlier is taken
/// for the oldest of these, which is more: an order too many hides a race, and makes none.
const MOST_ERAS: usize = 256;

/// The clocks of all threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    lanes: Table<u32, Lane>,
    latest: Option<(ThreadId, Lane)>,
    clocks: Vec<Clock>,
    /// By thread: what it knew from an event on.
    eras: Vec<VecDeque<(u32, Clock)>>,
}

impl Threads {
    /// A thread's lane, and whether this is its first event. None if there are too many threads.
    #[inline]
    pub(super) fn lane(&mut self, thread: ThreadId) -> Option<(Lane, bool)> {
        if let Some((latest, lane)) = self.latest
            && latest == thread
        {
            return Some((lane, false));
        }
        let known = self.lanes.get(&thread.0).copied();
        let lane = match known {
            Some(lane) => lane,
            None => {
                let lane = Lane(u16::try_from(self.clocks.len()).ok()?);
                self.lanes.insert(thread.0, lane);
                self.clocks.push(Clock::default());
                self.eras.push(VecDeque::new());
                lane
            }
        };
        self.latest = Some((thread, lane));
        Some((lane, known.is_none()))
    }

    /// The lane of a thread that has one.
    pub(super) fn known(&self, thread: ThreadId) -> Option<Lane> {
        self.lanes.get(&thread.0).copied()
    }

    pub(super) fn count(&self) -> usize {
        self.clocks.len()
    }

    #[inline]
    pub(super) fn clock(&self, lane: Lane) -> &Clock {
        &self.clocks[lane.index()]
    }

    /// A thread's clock after an event of its own.
    pub(super) fn clock_after(&mut self, lane: Lane, index: u32) -> &Clock {
        let clock = &mut self.clocks[lane.index()];
        clock.raise(lane, index + 1);
        clock
    }

    /// A thread learns something at an event.
    pub(super) fn learn(&mut self, lane: Lane, index: u32, what: &Clock) {
        let clock = &mut self.clocks[lane.index()];
        if !clock.join(what) {
            return;
        }
        let eras = &mut self.eras[lane.index()];
        match eras.back_mut() {
            Some((start, known)) if *start == index => known.clone_from(clock),
            _ => eras.push_back((index, clock.clone())),
        }
        if eras.len() > MOST_ERAS {
            eras.pop_front();
        }
    }

    /// What a thread knew when it executed an event, which it includes.
    pub(super) fn knowledge_at(&self, lane: Lane, index: u32) -> Clock {
        let eras = &self.eras[lane.index()];
        let after = eras.partition_point(|(start, _)| *start <= index);
        let is_complete = eras.len() < MOST_ERAS;
        let era = match after.checked_sub(1) {
            Some(at) => eras.get(at),
            None if is_complete => None,
            None => eras.front(),
        };
        let mut clock = era.map_or_else(Clock::default, |(_, clock)| clock.clone());
        clock.raise(lane, index + 1);
        clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_knowledge_is_kept() {
        let mut threads = Threads::default();
        let (one, _) = threads.lane(ThreadId(7)).unwrap();
        let (other, is_new) = threads.lane(ThreadId(9)).unwrap();
        assert!(is_new);
        let learnt = threads.clock_after(one, 3).clone();
        threads.learn(other, 5, &learnt);
        assert!(threads.clock(other).knows(one, 3));
        assert!(!threads.knowledge_at(other, 4).knows(one, 3));
        let known = threads.knowledge_at(other, 6);
        assert!(known.knows(one, 3) && known.knows(other, 6) && !known.knows(one, 4));
    }

    #[test]
    fn of_forgotten_eras_more_is_known_and_never_less() {
        let mut threads = Threads::default();
        let (one, _) = threads.lane(ThreadId(0)).unwrap();
        let (other, _) = threads.lane(ThreadId(1)).unwrap();
        for round in 0..2 * MOST_ERAS as u32 {
            let learnt = threads.clock_after(one, 2 * round).clone();
            threads.learn(other, 2 * round + 1, &learnt);
        }
        assert!(threads.knowledge_at(other, 9).knows(one, 8));
        let late = 2 * MOST_ERAS as u32 + 100;
        assert!(!threads.knowledge_at(other, late).knows(one, late + 1));
    }
}
