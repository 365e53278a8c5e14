//! Failures: whose fault each of them is, and those that nothing predicted leads to.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::is_language_file;
use raddle_predict::predictor::Weight;
use raddle_report::{Access, Finding, Kind, Location, Severity, Signature, Status};
use raddle_run::launch::Plan;
use raddle_run::outcome::Failure;
use raddle_run::symbols::{inside_package, interesting};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::packages::Packages;
use raddle_trace::position::SourcePosition;
use raddle_trace::schedule::Switch;

use crate::clips::{Extent, Kept};
use crate::own::Own;
use crate::places::Places;

/// Something predicted, and what became of it.
pub(crate) struct Found {
    pub finding: Finding,
    /// What makes it a bug.
    pub weight: Weight,
    /// How the run failed that shows it.
    pub failure: Option<Failure>,
}

/// Most runs with the same failure that are remembered.
const MOST_WAYS: usize = 4;

/// A way in which the program failed, as far as is known by itself.
pub(crate) struct Unexplained {
    /// Runs that failed like this: what they were asked to do, and what they did. Not all can be repeated.
    pub ways: Vec<(Plan, Vec<Switch>)>,
    pub failure: Failure,
    /// How many runs failed like this.
    pub instances: u64,
}

impl Unexplained {
    /// What is said of it if no run fails like this again.
    pub(crate) fn unrepeated(&self) -> String {
        let outcome = &self.failure.outcome;
        let count = self.instances;
        format!(
            "{count} runs failed, and none of those that were repeated did so again: {}",
            outcome.message
        )
    }
}

/// Runs that failed, each way of failing once.
#[derive(Default)]
pub(crate) struct Failures(Vec<Unexplained>);

impl Failures {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is said of them if there is no time to make clips of their runs.
    pub(crate) fn unkept(&self) -> Vec<String> {
        let failures = self.0.iter();
        let told = failures.map(|it| {
            let message = it.failure.outcome.message.lines().next();
            let message = message.unwrap_or_default();
            format!("a run failed, and there was no time to make a clip of it: {message}")
        });
        told.collect()
    }

    /// Whether a run hangs.
    pub(crate) fn have_hang(&self) -> bool {
        let mut endings = self.0.iter().map(|it| it.failure.outcome.ending);
        endings.any(|it| it == Ending::Hang)
    }

    /// Takes note of a run that failed by itself.
    pub(crate) fn add(&mut self, plan: &Plan, switches: &[Switch], failure: &Failure) {
        let like = |it: &Unexplained| it.failure.is_like(&failure.outcome);
        let at = self.0.iter().position(like).unwrap_or_else(|| {
            self.0.push(Unexplained {
                ways: Vec::new(),
                failure: failure.clone(),
                instances: 0,
            });
            self.0.len() - 1
        });
        let known = &mut self.0[at];
        known.instances += 1;
        if known.ways.len() < MOST_WAYS {
            known.ways.push((plan.clone(), switches.to_vec()));
        }
    }

    /// Decides whose fault each failure is. One that something certainly wrong leads to is not put down to what
    /// is only suspected, of anomalies that share a place and lead to the same failure one tells it, and a failure that
    /// anything predicted leads to is no finding by itself: the others are returned.
    pub(crate) fn settle(mut self, found: &mut BTreeMap<Signature, Found>) -> Vec<Unexplained> {
        let of = |found: &BTreeMap<Signature, Found>, least: Weight| -> Vec<Outcome> {
            let certain = found.values().filter(|it| it.weight <= least);
            let failures = certain.filter_map(|it| it.failure.as_ref());
            failures.map(|it| it.outcome.clone()).collect()
        };
        let certain = of(found, Weight::Anomaly);
        for it in found
            .values_mut()
            .filter(|it| it.weight == Weight::Suspicion)
        {
            let failure = it.failure.as_ref();
            if failure.is_some_and(|it| certain.iter().any(|other| it.is_like(other))) {
                it.finding.severity = Severity::Warning;
            }
        }
        tell_once(found);
        let explained = of(found, Weight::Suspicion);
        self.0
            .retain(|it| !explained.iter().any(|other| it.failure.is_like(other)));
        self.0
    }
}

/// Makes warnings of anomalies that retell another one: they have a place in common, and lead to the same failure. An
/// anomaly of one variable tells it before one of several, and one of few places before one of more.
fn tell_once(found: &mut BTreeMap<Signature, Found>) {
    let is_anomaly = |it: &Found| it.weight != Weight::Bug && it.finding.is_confirmed_bug();
    let mut anomalies: Vec<Signature> = found
        .iter()
        .filter(|(_, it)| is_anomaly(it) && it.failure.is_some())
        .map(|(key, _)| key.clone())
        .collect();
    anomalies.sort_by_key(|key| (key.kind.clone(), key.places.len()));
    let mut told: Vec<(Signature, Outcome)> = Vec::new();
    for key in anomalies {
        let Some(it) = found.get_mut(&key) else {
            continue;
        };
        let Some(failure) = &it.failure else {
            continue;
        };
        let is_retold = |(other, outcome): &(Signature, Outcome)| {
            failure.is_like(outcome) && !other.places.is_disjoint(&key.places)
        };
        match told.iter().any(is_retold) {
            true => it.finding.severity = Severity::Warning,
            false => told.push((key, failure.outcome.clone())),
        }
    }
}

/// A failure that is not the consequence of something predicted.
pub(crate) fn failure_finding(failure: &Failure, packages: &Packages) -> Finding {
    let outcome = &failure.outcome;
    let kind = match outcome.ending {
        Ending::Assertion => Kind::Assertion,
        Ending::Panic => Kind::Panic,
        Ending::Deadlock => Kind::Deadlock,
        Ending::Hang => Kind::Hang,
        Ending::UseAfterFree => Kind::UseAfterFree,
        Ending::DoubleFree => Kind::DoubleFree,
        Ending::Exit(_) | Ending::Oracle(_) => Kind::Exit,
        Ending::Signal(_) | Ending::InvalidFree | Ending::Internal | Ending::Success => Kind::Crash,
    };
    let at = |thread: ThreadId, stack: &[SourcePosition], access| {
        let position = interesting(stack, packages);
        Location {
            inside: inside_package(stack, packages).cloned(),
            stack: stack.to_vec(),
            ..Location::new(thread, access, position.cloned().unwrap_or_default())
        }
    };
    let hangs = outcome.ending == Ending::Hang;
    let mut locations: Vec<Location> = failure
        .stuck
        .iter()
        .filter(|it| hangs || it.info.wait.is_some())
        .map(|it| Location {
            note: hangs.then(|| it.awaits()),
            ..at(it.info.thread, &it.stack, Access::Wait)
        })
        .collect();
    if locations.is_empty() {
        let thread = outcome.thread.unwrap_or(ThreadId(0));
        let mut location = at(thread, &failure.stack, Access::Fail);
        if let Some(position) = &outcome.position {
            location.position = position.clone();
        }
        locations.push(location);
    }
    Finding {
        status: Status::Confirmed,
        proved_by: "run".to_owned(),
        consequence: outcome.ending.into(),
        outcome_text: Some(outcome.message.clone()),
        outcome_at: outcome.position.clone(),
        locations,
        ..Finding::new(kind)
    }
}

/// Where a run that ended in order did so, if nothing else is known of the place: where it called `exit`, or where `main`
/// returned.
pub(crate) fn place_by_exit(finding: &mut Finding, kept: &Kept) {
    let [location] = finding.locations.as_mut_slice() else {
        return;
    };
    if location.position != SourcePosition::default() {
        return;
    }
    if kept.extent == Extent::Beginning {
        return;
    }
    let is_exit = |event: &Event| {
        matches!(
            event.kind,
            EventKind::Action {
                action: Action::Exit { .. },
                ..
            }
        )
    };
    let Some(exit) = kept.events.iter().rposition(is_exit) else {
        return;
    };
    let thread = kept.events[exit].thread;
    let own = Own::new(&kept.events, &kept.trailer);
    let is_return = |index: &usize| {
        let event = &kept.events[*index];
        let is_own = own.has(EventIndex(*index as u64));
        matches!(event.kind, EventKind::Exit { .. }) && event.thread == thread && is_own
    };
    let returned = (0..exit).rev().find(is_return);
    let candidates: Vec<EventIndex> = [Some(exit), returned]
        .into_iter()
        .flatten()
        .map(|it| EventIndex(it as u64))
        .collect();
    let wanted = candidates.iter().copied().collect();
    let places = Places::new(&kept.events, &kept.trailer, &wanted);
    let is_users = |it: &&EventIndex| {
        let position = places.position(**it);
        position.line != 0 && !is_language_file(&position.file)
    };
    let Some(event) = candidates.iter().find(is_users) else {
        return;
    };
    let is_called = event.0 as usize == exit;
    *location = Location {
        stack: places.stack(*event).to_vec(),
        note: (!is_called).then(|| RETURNS.to_owned()),
        ..Location::new(thread, Access::Fail, places.position(*event))
    };
}

/// Said of the last function of the user's that returned before the program ended.
const RETURNS: &str = "by what it returns";

/// Said of the last event of a thread that crashed, where it is not known at which instruction.
const CRASHED_AFTER: &str = "the last that is known of it before the crash";

/// What a thread did last that crashed at an unknown place.
pub(crate) fn place_by_crash(finding: &mut Finding, kept: &Kept) {
    let [location] = finding.locations.as_mut_slice() else {
        return;
    };
    let is_known = location.position != SourcePosition::default();
    if finding.kind != Kind::Crash || is_known || kept.extent < Extent::Whole {
        return;
    }
    let thread = location.thread;
    let own = Own::new(&kept.events, &kept.trailer);
    let tells = |index: &usize| {
        let event = &kept.events[*index];
        let is_step = event.footprint().is_some() || event.lock_action().is_some();
        event.thread == thread && is_step && own.has(EventIndex(*index as u64))
    };
    let Some(last) = (0..kept.events.len()).rev().find(tells) else {
        return;
    };
    let index = EventIndex(last as u64);
    let places = Places::new(&kept.events, &kept.trailer, &BTreeSet::from([index]));
    *location = Location {
        note: Some(CRASHED_AFTER.to_owned()),
        ..places.location(index, &kept.events[last], &kept.trailer)
    };
}

/// Where the threads of a run that hangs are: at the last of their events in the user's code.
pub(crate) fn place_by_last_events(finding: &mut Finding, kept: &Kept) {
    if finding.kind != Kind::Hang || kept.extent == Extent::Beginning {
        return;
    }
    let own = Own::new(&kept.events, &kept.trailer);
    let mut last: BTreeMap<ThreadId, EventIndex> = BTreeMap::new();
    for (index, event) in (0..).map(EventIndex).zip(&kept.events) {
        match event.kind {
            EventKind::Action {
                action: Action::End,
                ..
            } => {
                last.remove(&event.thread);
            }
            _ if own.has(index) => {
                last.insert(event.thread, index);
            }
            _ => {}
        }
    }
    let wanted = last.values().copied().collect();
    let places = Places::new(&kept.events, &kept.trailer, &wanted);
    let locations = last.values().map(|index| {
        let event = &kept.events[index.0 as usize];
        places.location(*index, event, &kept.trailer)
    });
    let known = locations.filter(|it| it.position != SourcePosition::default());
    let known: Vec<Location> = known.collect();
    if !known.is_empty() {
        finding.locations = known;
    }
}

/// Lines of a program's output that are told.
const OUTPUT_LINES: usize = 3;

/// How lines begin by which the runner of tests tells what it does.
const RUNNER: &[&str] = &["running ", "test ", "failures:", "    ", "---- ", "note: "];

/// Adds what a program wrote of its failure, where its exit status is all that is known of it: its last lines, without
/// those of the runner of tests.
pub(crate) fn tell_output(finding: &mut Finding, kept: &Kept, is_test: bool) {
    if finding.kind != Kind::Exit {
        return;
    }
    let text = [&kept.result.stderr, &kept.result.stdout].map(|it| String::from_utf8_lossy(it));
    let is_runner = |line: &str| is_test && RUNNER.iter().any(|start| line.starts_with(start));
    let lines = text.iter().flat_map(|it| it.lines());
    let lines: Vec<&str> = lines
        .filter(|it| !it.trim().is_empty() && !is_runner(it))
        .collect();
    let told = finding.outcome_text.get_or_insert_default();
    let start = lines.len().saturating_sub(OUTPUT_LINES);
    match &lines[start..] {
        // What a test returns says more than the status of its runner.
        [only] if is_test => *told = (*only).to_owned(),
        last => last
            .iter()
            .for_each(|it| told.push_str(&format!("\n| {it}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, lines: &[u32], weight: Weight, ending: Ending) -> (Signature, Found) {
        let at = |line: &u32| {
            let position = SourcePosition {
                file: "a.c".to_owned(),
                line: *line,
                ..SourcePosition::default()
            };
            Location::new(ThreadId(1), Access::Write, position)
        };
        let finding = Finding {
            status: Status::Confirmed,
            locations: lines.iter().map(at).collect(),
            ..Finding::new(kind)
        };
        let failure = Failure {
            outcome: Outcome::new(ending),
            stack: Vec::new(),
            stuck: Vec::new(),
        };
        let found = Found {
            finding,
            weight,
            failure: Some(failure),
        };
        (raddle_report::signature(&found.finding), found)
    }

    #[test]
    fn a_failure_is_told_once_by_anomalies_of_the_same_places() {
        let (atomicity, set) = (Kind::AtomicityViolation, Kind::AtomicSetViolation);
        let suspected = Weight::Suspicion;
        let all = [
            found(set.clone(), &[1, 2, 3, 4], suspected, Ending::Panic),
            found(atomicity.clone(), &[2, 5], suspected, Ending::Panic),
            // Another failure, other places, and what the user has marked.
            found(set.clone(), &[2, 6], suspected, Ending::Assertion),
            found(atomicity.clone(), &[7, 8], suspected, Ending::Panic),
            found(atomicity, &[5, 9], Weight::Bug, Ending::Panic),
        ];
        let keys = all.each_ref().map(|(key, _)| key.clone());
        let mut found = BTreeMap::from(all);
        tell_once(&mut found);
        let severities = keys.map(|key| found[&key].finding.severity);
        let bug = Severity::Bug;
        assert_eq!(severities, [Severity::Warning, bug, bug, bug, bug]);
    }
}
