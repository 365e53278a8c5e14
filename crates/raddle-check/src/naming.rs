//! What memory is called.
//!
//! An instruction's name for memory is an expression of the function around it: one thread writes `counters[2].hits`, the
//! other reads `*hits`. A finding calls the same bytes by one name, the best that its events have for them: that of a
//! global variable, of a member, of an element that is known. A lock that a call names nowhere is called as other events
//! of the run call it.

use std::cmp::Reverse;

use raddle_report::Location;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, ThreadId};
use raddle_trace::position::Variable;
use raddle_trace::wire::OutcomeKind;

/// What an event is about, as its own place calls it.
#[must_use]
pub fn named(event: &Event, trailer: &Trailer) -> Option<Variable> {
    match event.kind {
        EventKind::Action {
            pc,
            action:
                Action::Free { .. }
                | Action::Fail {
                    kind: OutcomeKind::DoubleFree,
                },
        } => trailer.object(pc).map(pointer),
        EventKind::Action { pc, .. } => trailer.object(pc).cloned(),
        _ => trailer.site(event.site()?)?.variable.clone(),
    }
}

/// `free(buffer)` frees what `*buffer` is, and is told by its argument.
fn pointer(target: &Variable) -> Variable {
    let name = &target.name;
    Variable {
        name: name.strip_prefix('*').unwrap_or(name).to_owned(),
        ..target.clone()
    }
}

/// The bytes that an event accesses, or the lock that it takes or gives back.
fn memory(event: &Event) -> Option<(Address, u64)> {
    match event.lock_action() {
        Some(action) => Some((action.lock, 0)),
        None => event.footprint().map(|it| (it.addr, it.len)),
    }
}

/// How well a name serves; the greatest is the best.
fn worth(variable: &Variable) -> impl Ord + use<> {
    let name = &variable.name;
    (
        variable.is_global,
        variable.owner.is_some(),
        !name.starts_with('*'),
        Reverse(name.matches("[]").count()),
    )
}

/// Gives the locations of events the same name for the same memory. `variables` are the events' own names.
pub(crate) fn call_alike(
    locations: &mut [Location],
    events: &[&Event],
    variables: &[Option<Variable>],
) {
    for (location, event) in locations.iter_mut().zip(events) {
        let Some(bytes) = memory(event) else { continue };
        let same = events.iter().zip(variables);
        let same = same.filter(|(it, _)| memory(it) == Some(bytes));
        let names: Vec<&Variable> = same.filter_map(|(_, name)| name.as_ref()).collect();
        if let Some(best) = common(&names) {
            location.set_variable(&best);
        }
    }
}

/// The best of several names for the same memory. Where two are as good, one of them may mean other memory to the other
/// thread, as `from->balance` does: then it is the member of a type.
fn common(names: &[&Variable]) -> Option<Variable> {
    // Of equals the first.
    let best = *names.iter().rev().max_by_key(|it| worth(it))?;
    let mut rivals = names.iter().filter(|it| it.owner == best.owner);
    let is_clear = best.is_global || rivals.all(|it| it.name == best.name);
    match (&best.owner, is_clear) {
        (Some(owner), false) => Some(Variable {
            name: format!("{owner}.{}", member(&best.name)),
            ..Variable::default()
        }),
        _ => Some(best.clone()),
    }
}

/// The last member of an expression.
fn member(name: &str) -> &str {
    name.rsplit(['.', '>']).next().unwrap_or(name)
}

/// What a lock is called by the events of a run: as a global variable, else as this thread calls it where it takes it
/// or wants it, else as another one does, else as any access to its memory.
pub(crate) fn lock_name(
    lock: Address,
    thread: ThreadId,
    events: &[Event],
    trailer: &Trailer,
) -> Option<Variable> {
    let taken = |event: &Event| match (event.lock_action(), event.kind) {
        (Some(action), _) => Some(action.lock),
        (None, EventKind::Action { action, .. }) => wanted(action),
        (None, _) => None,
    };
    let accessed = |event: &Event| event.footprint().map(|it| it.addr);
    let touching = events.iter().filter_map(|event| {
        let is_taken = taken(event) == Some(lock);
        (is_taken || accessed(event) == Some(lock)).then_some((event, is_taken))
    });
    let names = touching.filter_map(|(event, is_taken)| {
        let name = named(event, trailer)?;
        Some(((name.is_global, is_taken, event.thread == thread), name))
    });
    // Of equals the last, which is nearest to the end.
    let best = names.max_by_key(|(rank, _)| *rank);
    best.map(|(_, name)| name)
}

/// What a call waits for or notifies that does not take it.
fn wanted(action: Action) -> Option<Address> {
    match action {
        Action::Request { lock, .. } => Some(lock),
        Action::CondNotify { cond, .. } => Some(cond),
        Action::SemWait { semaphore, .. } | Action::SemPost { semaphore, .. } => Some(semaphore),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[(&str, &str, bool)], expected: &str) {
        let variables: Vec<Variable> = names
            .iter()
            .map(|(name, owner, is_global)| Variable {
                name: (*name).to_owned(),
                owner: (!owner.is_empty()).then(|| (*owner).to_owned()),
                is_global: *is_global,
            })
            .collect();
        let best = common(&variables.iter().collect::<Vec<_>>());
        assert_eq!(best.map_or(String::new(), |it| it.name), expected);
    }

    #[test]
    fn the_best_name_is_everybodys() {
        check(&[("*hits", "", false), ("hits", "", true)], "hits");
        check(
            &[("*hits", "", false), ("it->hits", "stats", false)],
            "it->hits",
        );
        check(
            &[
                ("slots[].full", "Slot", false),
                ("slots[1].full", "Slot", true),
            ],
            "slots[1].full",
        );
        check(&[("*one", "", false), ("*other", "", false)], "*one");
        check(&[("total", "", false)], "total");
        check(&[], "");
    }

    #[test]
    fn names_that_mean_something_else_to_the_other_thread_become_those_of_members() {
        let (from, to) = (
            ("from->balance", "account", false),
            ("to->balance", "account", false),
        );
        check(&[from, to], "account.balance");
        check(&[from, from], "from->balance");
        check(
            &[
                ("self.slots[]", "Queue<u8>", false),
                ("queue.slots[]", "Queue<u8>", false),
            ],
            "Queue<u8>.slots[]",
        );
    }
}
