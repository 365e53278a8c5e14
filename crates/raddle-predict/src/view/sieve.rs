//! Which instructions other threads are concerned with, by one run.
//!
//! A view keeps single events. Runs under other schedules are compared with the one that the view was made of, step by step,
//! and memory that one thread has to itself here may be shared there, so what is left out of those is told by
//! instruction: every access of a private one was to memory that a view drops. A function is private if no call of it
//! had anything inside that is kept.

use std::collections::BTreeSet;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{Address, SiteId};
use raddle_trace::sharing::SiteSet;

use super::BadTrace;
use super::shared::Shared;
use super::survey::Lanes;

/// The second pass over a trace: to be shown the same events as the survey.
#[derive(Debug)]
pub struct Sieve {
    lanes: Lanes,
    shared: Shared,
    /// By lane: the calls that have not ended.
    calls: Vec<Vec<Open>>,
    /// Functions, by their first instructions, and the returns that were seen to end calls of them.
    returns: BTreeSet<(SiteId, SiteId)>,
    /// Sites that concern other threads whatever they access.
    always: SiteSet,
    executed: SiteSet,
    concerning: SiteSet,
}

/// What a run shows of its program's instructions.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// Those that it executed.
    pub executed: SiteSet,
    /// Those that concern other threads.
    pub concerning: SiteSet,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    function: SiteId,
    frame: Address,
    concerns: bool,
}

impl Sieve {
    pub(super) fn new(lanes: Lanes, shared: Shared, always: SiteSet) -> Self {
        Self {
            calls: vec![Vec::new(); lanes.threads.len()],
            lanes,
            shared,
            returns: BTreeSet::new(),
            always,
            executed: SiteSet::default(),
            concerning: SiteSet::default(),
        }
    }

    /// Takes note of an event.
    ///
    /// # Errors
    /// If the survey was not shown it.
    pub fn observe(&mut self, event: &Event) -> Result<(), BadTrace> {
        let lane = self
            .lanes
            .known_or_latest(event.thread)
            .ok_or(BadTrace::AnotherTrace)?;
        if let Some(site) = event.site() {
            self.executed.insert(site);
        }
        let calls = &mut self.calls[lane.index()];
        let mut concerns = false;
        match event.kind {
            EventKind::Enter { site, frame, .. } => {
                while calls.pop_if(|it| it.frame <= frame).is_some() {}
                calls.push(Open {
                    function: site,
                    frame,
                    concerns: false,
                });
            }
            EventKind::Exit { site, frame } => {
                while let Some(ended) = calls.pop_if(|it| it.frame <= frame) {
                    if ended.frame == frame {
                        self.returns.insert((ended.function, site));
                    }
                }
            }
            EventKind::Branches(_) | EventKind::Value { .. } => {}
            _ => concerns = self.shared.concerns(event),
        }
        if let EventKind::Action { action, .. } = event.kind {
            // What a call allocates or frees does not make it one that others are concerned with.
            concerns = !matches!(action, Action::Alloc { .. } | Action::Free { .. });
        }
        concerns |= event.site().is_some_and(|it| self.always.contains(it));
        if concerns {
            if let Some(site) = event.site() {
                self.concerning.insert(site);
            }
            let around = calls.iter_mut().rev().take_while(|it| !it.concerns);
            around.for_each(|it| {
                it.concerns = true;
                self.concerning.insert(it.function);
            });
        }
        Ok(())
    }

    /// What was executed, and what of it concerns other threads.
    #[must_use]
    pub fn finish(mut self) -> Sifted {
        for (function, exit) in self.returns {
            if self.concerning.contains(function) {
                self.concerning.insert(exit);
            }
        }
        Sifted {
            executed: self.executed,
            concerning: self.concerning,
        }
    }
}
