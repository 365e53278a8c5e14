//! What was found: events of the trace that some order would make a pattern of.

use raddle_judge::{Claim, Region};
use raddle_trace::ids::EventIndex;

use super::language::{Pattern, Shape};
use super::units::Basis;
use crate::goal::Goal;
use crate::view::{Pos, View};

/// Events that match a pattern's steps, and the units that they are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// One for each step, in the pattern's order.
    pub events: Vec<Pos>,
    /// The units that several of them belong to, by first appearance. The others are units by themselves.
    pub units: Vec<Region>,
}

/// Candidates for an anomaly: all events of the same instructions that match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Which of the patterns searched for.
    pub pattern: usize,
    /// The first that was found.
    pub first: Instance,
    /// Some more, of which one may be possible where the first is not.
    pub others: Vec<Instance>,
    /// The weakest reason for its units to be atomic; none if each event is a unit by itself.
    pub basis: Option<Basis>,
    /// How many sets of events of these instructions match.
    pub instances: u64,
    /// How many sets of classes of such events are neither in `first` nor in `others`.
    pub left_out: u64,
    /// Whether atomic accesses are on both sides of every conflict, as with reference counts and flags:
    /// not an anomaly of a lock region by itself.
    pub all_atomic: bool,
    /// Whether a common lock guards both sides of every conflict that is not between atomic accesses. Then
    /// no two of them race, and only a unit around several guarded steps is broken.
    pub guarded: bool,
}

/// The matches of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// One for each pattern and combination of instructions, by pattern and then by cell.
    pub matches: Vec<Match>,
    /// What was left out because it would have taken too long.
    pub cut: Cut,
}

/// What a search left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Accesses to so many cells that not all were looked at.
    pub accesses: u64,
    /// Units with so many accesses that not all combinations were looked at.
    pub units: u64,
    /// Cells for which some combinations of threads were not compared.
    pub cells: u64,
    /// Matches of other instructions between the same units.
    pub siblings: u64,
    /// Whether the time was over before the search was.
    pub is_late: bool,
}

impl Cut {
    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a user should know of it: where accesses were not compared, because they are too many. Matches
    /// that break the same units as others are no loss.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let counts = [
            (self.accesses, "accesses, whose cells are too many"),
            (self.units, "regions, whose accesses are too many"),
            (self.cells, "places in memory, whose accesses are too many"),
        ];
        let cut = counts.into_iter().filter(|(count, _)| *count > 0);
        let cut = cut.map(|(count, what)| {
            format!("patterns: not everything was compared of {count} {what}")
        });
        let late = "patterns: the search ended early, for want of time (--time gives more)";
        cut.chain(self.is_late.then(|| late.to_owned()))
    }
}

impl Match {
    /// What a prover has to reach, the best first.
    #[must_use]
    pub fn goals(&self, patterns: &[Pattern]) -> Vec<Goal> {
        let instances = std::iter::once(&self.first).chain(&self.others);
        instances
            .map(|instance| match patterns[self.pattern].shape() {
                Shape::Adjacent => Goal::together(&instance.events),
                Shape::InOrder => Goal::in_order(&instance.events),
            })
            .collect()
    }
}

impl Instance {
    /// What an order that reaches its goal shows.
    #[must_use]
    pub fn claim(&self, view: &View, pattern: &Pattern) -> Claim {
        let index = |pos: &Pos| view.event_index(*pos);
        let events: Vec<EventIndex> = self.events.iter().map(index).collect();
        match events.as_slice() {
            &[a, b] => Claim::Race { a, b },
            _ if pattern.is_serialisable() => Claim::Sequence { events },
            _ => Claim::Unserialisable {
                events,
                regions: self.units.clone(),
            },
        }
    }
}
