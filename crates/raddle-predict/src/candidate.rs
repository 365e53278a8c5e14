//! Bugs that a trace makes likely, each with the goals that would show it.

use raddle_judge::Claim;
use raddle_trace::ids::EventIndex;

use crate::deadlock::Circle;
use crate::goal::Goal;
use crate::table::Table;
use crate::view::{Lane, LocksetId, Pos, View};

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
    /// Instances of other threads or under other locks that are in no way and no circle, because there are
    /// too many.
    pub left_out: u64,
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

    /// The events by which a user knows the bug: those of the claim, or where only a run can tell, of the goal.
    pub(crate) fn telling_events(&self, view: &View) -> Vec<EventIndex> {
        let claimed = self.claim.telling_events();
        if !claimed.is_empty() {
            return claimed;
        }
        let goal = self.goal.in_order.iter().chain(&self.goal.next);
        goal.map(|pos| view.event_index(*pos)).collect()
    }
}

/// The threads of a way's events and the locks that they hold there: ways that agree in these are alike.
type Group = Vec<(Lane, LocksetId)>;

/// Groups of ways to a candidate that are told apart, and ways that are looked at for it.
const MOST_GROUPS: usize = 8;
const MOST_LOOKS: u32 = 1024;

/// Candidates by what they have in common, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Candidates<'v> {
    view: &'v View,
    numbers: Table<(Flaw, u64, u64), usize>,
    list: Vec<Candidate>,
    /// By candidate: the groups of its ways, and how many ways were looked at.
    groups: Vec<(Vec<Group>, u32)>,
    most_ways: usize,
}

impl<'v> Candidates<'v> {
    pub(crate) fn new(view: &'v View, most_ways: usize) -> Self {
        Self {
            view,
            numbers: Table::default(),
            list: Vec::new(),
            groups: Vec::new(),
            most_ways,
        }
    }

    /// Counts an instance of a bug of two instructions. Keeps the way if there are not enough, or none like it.
    pub(crate) fn add(&mut self, flaw: Flaw, sources: (u64, u64), way: impl FnOnce() -> Way) {
        let list = &mut self.list;
        let key = (flaw, sources.0, sources.1);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            list.push(Candidate {
                flaw,
                ways: Vec::new(),
                circles: Vec::new(),
                instances: 0,
                left_out: 0,
            });
            list.len() - 1
        });
        if number == self.groups.len() {
            self.groups.push((Vec::new(), 0));
        }
        let candidate = &mut list[number];
        candidate.instances += 1;
        let (groups, looks) = &mut self.groups[number];
        if *looks == MOST_LOOKS {
            candidate.left_out += 1;
            return;
        }
        *looks += 1;
        let way = way();
        let group = |pos| (self.view.lane(pos), self.view.lockset_of(pos));
        let group: Group = way.goal.events().map(group).collect();
        let is_new = !groups.contains(&group);
        if candidate.ways.len() < self.most_ways || is_new && groups.len() < MOST_GROUPS {
            candidate.ways.push(way);
            groups.extend(is_new.then_some(group));
        } else {
            candidate.left_out += u64::from(is_new);
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Candidate> {
        self.list
    }
}
