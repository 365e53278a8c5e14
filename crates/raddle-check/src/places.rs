//! Where in the source events come from.

use std::collections::{BTreeMap, BTreeSet};

use raddle_report::{Access, Location};
use raddle_run::symbols::{inside_package, interesting};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockChange, LockMode};
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;
use raddle_trace::packages::Packages;
use raddle_trace::position::{SourcePosition, Variable};
use raddle_trace::stack::Stacks;
use raddle_trace::wire::OutcomeKind;

use crate::lock_calls::lock_call;
use crate::naming::{call_alike, named};

/// The stacks of chosen events of a run.
#[derive(Debug, Default)]
pub struct Places {
    stacks: BTreeMap<EventIndex, Vec<SourcePosition>>,
    packages: Packages,
}

impl Places {
    /// Looks at a run once, and keeps the stacks of these events.
    #[must_use]
    pub fn new(events: &[Event], trailer: &Trailer, wanted: &BTreeSet<EventIndex>) -> Self {
        let mut places = Self {
            packages: trailer.packages.clone(),
            ..Self::default()
        };
        let mut stacks = Stacks::default();
        let Some(last) = wanted.last() else {
            return places;
        };
        for (index, event) in (0..=last.0).map(EventIndex).zip(events) {
            stacks.observe(event);
            if wanted.contains(&index) {
                let positions = stacks.positions(event, trailer);
                places.stacks.insert(index, positions);
            }
        }
        places
    }

    /// The stack of an event, innermost first.
    #[must_use]
    pub fn stack(&self, event: EventIndex) -> &[SourcePosition] {
        self.stacks.get(&event).map_or(&[], Vec::as_slice)
    }

    /// Where the user should look for an event.
    #[must_use]
    pub fn position(&self, event: EventIndex) -> SourcePosition {
        let shown = interesting(self.stack(event), &self.packages);
        shown.cloned().unwrap_or_default()
    }

    /// An event as a finding shows it.
    #[must_use]
    pub fn location(&self, index: EventIndex, event: &Event, trailer: &Trailer) -> Location {
        let position = self.position(index);
        let stack = self.stack(index);
        let shown = stack.iter().position(|it| *it == position);
        let called = lock_call(&stack[..shown.unwrap_or(0)]);
        let access = match (access(event), called) {
            (
                Access::AtomicRead | Access::AtomicWrite | Access::AtomicReadWrite | Access::Wait,
                Some(called),
            ) => called,
            (access, _) => access,
        };
        let mut location = Location {
            inside: inside_package(stack, &self.packages).cloned(),
            stack: stack.to_vec(),
            ..Location::new(event.thread, access, position)
        };
        if let Some(variable) = self.variable(index, event, trailer) {
            location.set_variable(&variable);
        }
        location
    }

    /// Events as a finding shows them, which calls the same memory by the same name.
    #[must_use]
    pub fn locations(&self, events: &[(EventIndex, &Event)], trailer: &Trailer) -> Vec<Location> {
        let each = || events.iter().copied();
        let variables: Vec<Option<Variable>> = each()
            .map(|(index, event)| self.variable(index, event, trailer))
            .collect();
        let mut locations: Vec<Location> = each()
            .map(|(index, event)| self.location(index, event, trailer))
            .collect();
        let events: Vec<&Event> = each().map(|it| it.1).collect();
        call_alike(&mut locations, &events, &variables);
        locations
    }

    /// What an event is about. The name is made for the function that the instruction is shown in, and means little in one
    /// that calls it.
    fn variable(&self, index: EventIndex, event: &Event, trailer: &Trailer) -> Option<Variable> {
        let stack = self.stack(index);
        let shown = interesting(stack, &self.packages);
        let inside = inside_package(stack, &self.packages);
        let own = match event.kind {
            EventKind::Action { pc, .. } => trailer.code(pc),
            _ => &trailer.site(event.site()?)?.positions,
        };
        let is_told = |it: &SourcePosition| Some(it) == shown || Some(it) == inside;
        own.iter().any(is_told).then(|| named(event, trailer))?
    }
}

/// What an event does, in a word.
#[must_use]
pub fn access(event: &Event) -> Access {
    if let Some(action) = event.lock_action() {
        return match action.change {
            LockChange::Acquire(LockMode::Exclusive) => Access::Acquire,
            LockChange::Acquire(LockMode::Shared) => Access::AcquireShared,
            LockChange::Release(_) | LockChange::Downgrade => Access::Release,
        };
    }
    if let EventKind::Action { action, .. } = event.kind {
        match action {
            Action::Free { .. } => return Access::Free,
            Action::Alloc { .. } => return Access::Alloc,
            Action::Fork { .. } => return Access::Fork,
            Action::Join { .. } => return Access::Join,
            Action::CondWait { .. } | Action::FutexWait { .. } | Action::SemWait { .. } => {
                return Access::Wait;
            }
            Action::CondNotify { .. } | Action::FutexNotify { .. } | Action::SemPost { .. } => {
                return Access::Notify;
            }
            Action::Request { .. } => return Access::Request,
            Action::Fail {
                kind: OutcomeKind::DoubleFree,
            } => return Access::Free,
            Action::Fail { .. } => return Access::Fail,
            _ => {}
        }
    }
    let footprint = event.footprint();
    let flags = footprint.map_or((true, false, false), |it| (it.reads, it.writes, it.atomic));
    match flags {
        (true, true, true) => Access::AtomicReadWrite,
        (true, true, false) => Access::ReadWrite,
        (false, true, true) => Access::AtomicWrite,
        (false, true, false) => Access::Write,
        (_, false, true) => Access::AtomicRead,
        (_, false, false) => Access::Read,
    }
}
