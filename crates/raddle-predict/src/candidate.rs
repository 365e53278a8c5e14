//! Bugs that a trace makes likely, each with the goals that would show it.

use raddle_judge::Claim;

use crate::deadlock::Circle;
use crate::goal::Goal;
use crate::table::Table;
use crate::view::{Pos, View};

/// What may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// Threads wait for each other in a circle.
    Deadlock,
    /// A thread begins to wait when it has been notified already, and nobody will do it again.
    LostWakeUp,
    /// Memory is accessed after another thread has freed it.
    UseAfterFree,
    /// Memory is freed by two threads.
    DoubleFree,
    /// A pointer that is followed is null.
    NullDereference,
    /// A pointer that is followed was not written yet.
    UninitialisedRead,
}

/// A likely bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it would be.
    pub flaw: Flaw,
    /// Ways to it, the most promising first: one is enough.
    pub ways: Vec<Way>,
    /// Threads that wait for each other at these places in the program, if it is only locks and ends that
    /// they wait for: for each set of threads, the events that they may be stopped before.
    pub circles: Vec<Circle>,
    /// How often its instructions were seen like this in the trace.
    pub instances: u64,
}

/// One way to a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where to get to.
    pub goal: Goal,
    /// Next events in the order in which they are to be executed from there, if that matters. Those that
    /// wait are to be tried.
    pub then: Vec<Pos>,
    /// What is shown by getting there. [`Claim::Feasible`] where only the run can tell what comes of it.
    pub claim: Claim,
}

impl Way {
    /// Threads wait for each other before these events.
    pub(crate) fn of_circle(view: &View, events: &[Pos]) -> Self {
        let cycle = events.iter().map(|pos| view.event_index(*pos)).collect();
        Self {
            goal: Goal::together(events),
            then: events.to_vec(),
            claim: Claim::Deadlock { cycle },
        }
    }
}

/// Candidates by what they have in common, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Candidates {
    numbers: Table<(Flaw, u64, u64), usize>,
    list: Vec<Candidate>,
    most_ways: usize,
}

impl Candidates {
    pub(crate) fn new(most_ways: usize) -> Self {
        Self {
            numbers: Table::default(),
            list: Vec::new(),
            most_ways,
        }
    }

    /// Counts an instance of a bug of two instructions, and keeps the way if there are not enough.
    pub(crate) fn add(&mut self, flaw: Flaw, sources: (u64, u64), way: impl FnOnce() -> Way) {
        let list = &mut self.list;
        let key = (flaw, sources.0, sources.1);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            list.push(Candidate {
                flaw,
                ways: Vec::new(),
                circles: Vec::new(),
                instances: 0,
            });
            list.len() - 1
        });
        let candidate = &mut list[number];
        candidate.instances += 1;
        if candidate.ways.len() < self.most_ways {
            candidate.ways.push(way());
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Candidate> {
        self.list
    }
}
