//! Events that no rule explains, and what keeps them in their place.

use std::collections::BTreeSet;

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::{EventIndex, ThreadId};

use super::{LineId, ObjectId, Recording};
use crate::memory::Writer;
use crate::rules::{RuleSet, Rules};
use crate::table::Table;

/// An unexplained event's place.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    /// The rules that do not explain it.
    pub(crate) rules: RuleSet,
    /// How many events the other threads concerned had executed.
    pub(crate) needs: Vec<(LineId, u32)>,
}

/// The events that rules refuse although they happened.
pub(super) fn find(recording: &Recording<'_>) -> Table<usize, Tie> {
    let mut rules = Rules::default();
    let mut ties = Table::default();
    let mut concerned: Table<ObjectId, BTreeSet<LineId>> = Table::default();
    let mut executed = vec![0u32; recording.lines.len()];
    for at in 0..recording.events().len() {
        let line = recording.lines.line(at);
        let object = recording.objects.of(at);
        let refusing = rules.refusing(recording, at);
        if refusing != RuleSet::default() {
            let acted = object.and_then(|object| concerned.get(&object));
            let mut others = acted.cloned().unwrap_or_default();
            others.extend(waker(recording, at).and_then(|id| recording.lines.line_of(id)));
            others.remove(&line);
            let needs = others
                .into_iter()
                .map(|line| (line, executed[line.index()]));
            ties.insert(
                at,
                Tie {
                    rules: refusing,
                    needs: needs.collect(),
                },
            );
        }
        if let Some(object) = object {
            concerned.entry(object).or_default().insert(line);
        }
        rules.apply(recording, at);
        executed[line.index()] += 1;
    }
    ties
}

/// Orders that hold events in their places: whoever executes the second of a pair has executed the first.
///
/// An unexplained event comes after what the threads concerned had done, and before what happened to its
/// object later. A read that shows a write that was not recorded comes after what those who may have done
/// it had done, and what other threads read of that write comes after it.
pub(super) fn orders(recording: &Recording<'_>) -> Vec<(EventIndex, EventIndex)> {
    let index = |at: usize| EventIndex(at as u64);
    let lines = &recording.lines;
    let mut orders = Vec::new();
    for at in 0..recording.events().len() {
        let tied = recording.tie(at).map(|tie| &tie.needs);
        let unseen = recording.origins.unseen(at).map(|unseen| &unseen.needs);
        for &(line, count) in tied.into_iter().chain(unseen).flatten() {
            let done = (count as usize).checked_sub(1);
            let last = done.and_then(|last| lines.events(line).get(last));
            orders.extend(last.map(|&last| (index(last as usize), index(at))));
        }
        for origin in recording.origins.of(at) {
            if let Writer::Unseen(shown) = origin.writer
                && lines.line(shown as usize) != lines.line(at)
            {
                orders.push((index(shown as usize), index(at)));
            }
        }
    }
    orders.extend(before_what_followed(recording));
    orders.sort_unstable();
    orders.dedup();
    orders
}

/// Each unexplained event, with the first event of each other thread that came to its object later.
fn before_what_followed(recording: &Recording<'_>) -> Vec<(EventIndex, EventIndex)> {
    let mut orders = Vec::new();
    let mut unexplained: Table<ObjectId, Vec<(usize, BTreeSet<LineId>)>> = Table::default();
    for at in 0..recording.events().len() {
        let Some(object) = recording.objects.of(at) else {
            continue;
        };
        let line = recording.lines.line(at);
        for (earlier, followers) in unexplained.get_mut(&object).into_iter().flatten() {
            if followers.insert(line) {
                orders.push((EventIndex(*earlier as u64), EventIndex(at as u64)));
            }
        }
        if recording.tie(at).is_some() {
            let own = BTreeSet::from([line]);
            unexplained.entry(object).or_default().push((at, own));
        }
    }
    orders
}

/// The thread that is said to have ended a wait.
fn waker(recording: &Recording<'_>, at: usize) -> Option<ThreadId> {
    match recording.event(at).kind {
        EventKind::Action {
            action:
                Action::CondWake {
                    notifier: waker, ..
                }
                | Action::FutexWake { waker, .. },
            ..
        } => waker,
        _ => None,
    }
}
