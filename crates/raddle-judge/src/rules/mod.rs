//! The rules of synchronisation and allocation, driven over one simulated state.
//!
//! A rule looks at an event before it happens (`check`) and takes note of it when it does
//! (`apply`). Taking note never fails: preparation shows the rules every event of the trace, also
//! those that they cannot explain.

mod barriers;
mod conditions;
mod futexes;
mod heap;
mod history;
mod locks;
mod onces;
mod semaphores;
mod threads;

use raddle_trace::ids::ThreadId;

use crate::objection::Objection;
use crate::recording::{ObjectId, Recording};

/// An event that is about to happen.
pub(crate) struct Step<'s, 'a> {
    pub(crate) recording: &'s Recording<'a>,
    pub(crate) at: usize,
    /// The synchronisation object that it acts on.
    pub(crate) object: Option<ObjectId>,
    pub(crate) thread: ThreadId,
}

/// A rule and what it remembers.
trait Rule {
    /// What is wrong with the event now, if anything is.
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection>;
    /// The event happens.
    fn apply(&mut self, step: &Step<'_, '_>);
}

/// Some of the rules, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleSet(u16);

impl RuleSet {
    fn contains(self, number: usize) -> bool {
        self.0 >> number & 1 == 1
    }
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) threads: threads::Threads,
    pub(crate) locks: locks::Locks,
    pub(crate) heap: heap::Heap,
    conditions: conditions::Conditions,
    futexes: futexes::Futexes,
    semaphores: semaphores::Semaphores,
    barriers: barriers::Barriers,
    onces: onces::Onces,
    history: history::History,
}

impl Rules {
    fn all(&self) -> [&dyn Rule; 9] {
        [
            &self.threads,
            &self.history,
            &self.locks,
            &self.conditions,
            &self.futexes,
            &self.semaphores,
            &self.barriers,
            &self.onces,
            &self.heap,
        ]
    }

    fn all_mut(&mut self) -> [&mut dyn Rule; 9] {
        [
            &mut self.threads,
            &mut self.history,
            &mut self.locks,
            &mut self.conditions,
            &mut self.futexes,
            &mut self.semaphores,
            &mut self.barriers,
            &mut self.onces,
            &mut self.heap,
        ]
    }

    /// The first thing that is wrong with an event now. Where a rule cannot explain the event, it is
    /// right if it keeps its place.
    pub(crate) fn check(&self, recording: &Recording<'_>, at: usize) -> Result<(), Objection> {
        let step = Step::new(recording, at);
        let tie = recording.tie(at);
        for (number, rule) in self.all().into_iter().enumerate() {
            if let Some(tie) = tie.filter(|tie| tie.rules.contains(number)) {
                self.history.check_as_recorded(&step, tie)?;
            } else {
                rule.check(&step)?;
            }
        }
        Ok(())
    }

    /// The rules that refuse an event now.
    pub(crate) fn refusing(&self, recording: &Recording<'_>, at: usize) -> RuleSet {
        let step = Step::new(recording, at);
        let rules = self.all().into_iter().enumerate();
        let refusing = rules.filter(|(_, rule)| rule.check(&step).is_err());
        RuleSet(refusing.fold(0, |set, (number, _)| set | 1 << number))
    }

    /// Takes note of an event.
    pub(crate) fn apply(&mut self, recording: &Recording<'_>, at: usize) {
        let step = Step::new(recording, at);
        for rule in self.all_mut() {
            rule.apply(&step);
        }
    }
}

impl<'s, 'a> Step<'s, 'a> {
    fn new(recording: &'s Recording<'a>, at: usize) -> Self {
        Self {
            recording,
            at,
            object: recording.objects.of(at),
            thread: recording.event(at).thread,
        }
    }

    fn name(&self) -> crate::EventName {
        self.recording.name(self.at)
    }

    fn action(&self) -> Option<raddle_trace::action::Action> {
        match self.recording.event(self.at).kind {
            raddle_trace::event::EventKind::Action { action, .. } => Some(action),
            _ => None,
        }
    }
}
