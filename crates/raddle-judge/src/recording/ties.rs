//! Events that no rule explains, and what keeps them in their place.

use std::collections::BTreeSet;

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::ThreadId;

use super::{LineId, ObjectId, Recording};
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
