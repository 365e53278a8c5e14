//! Tells what a run shows, as a finding.

use std::collections::BTreeSet;
use std::path::PathBuf;

use raddle_predict::predictor::{self, Method, Prediction, Weight};
use raddle_report::{Access, Finding, Kind, Location, Moment, Severity, doing};
use raddle_run::program::Program;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;
use raddle_trace::run::Stdin;

use crate::places::Places;
use crate::timeline::Timeline;

/// A recorded run with what is needed to talk about it.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// Its events.
    pub timeline: &'a Timeline<'a>,
    /// Its tables.
    pub trailer: &'a Trailer,
    /// The stacks of the events in question.
    pub places: &'a Places,
}

/// The kind of a prediction, as reports call it.
#[must_use]
pub fn kind(kind: &predictor::Kind) -> Kind {
    match kind {
        predictor::Kind::DataRace => Kind::DataRace,
        predictor::Kind::AtomicityViolation => Kind::AtomicityViolation,
        predictor::Kind::AtomicSetViolation => Kind::AtomicSetViolation,
        predictor::Kind::Deadlock => Kind::Deadlock,
        predictor::Kind::UseAfterFree => Kind::UseAfterFree,
        predictor::Kind::DoubleFree => Kind::DoubleFree,
        predictor::Kind::NullDereference | predictor::Kind::UninitialisedRead => {
            Kind::NullDereference
        }
        predictor::Kind::Pattern(name) => Kind::Pattern(name.clone()),
    }
}

/// All events that predictions name, for [`Places`].
#[must_use]
pub fn named_events(predictions: &[Prediction]) -> BTreeSet<EventIndex> {
    let events = predictions.iter().flat_map(|it| &it.events);
    events.copied().collect()
}

/// The file that a program reads as its standard input, if there is one.
#[must_use]
pub fn input(program: &Program) -> Option<&PathBuf> {
    match &program.stdin {
        Stdin::File { path, .. } => Some(path),
        Stdin::Empty | Stdin::Inline(_) => None,
    }
}

/// A prediction as a finding that nothing is known of yet but where it is.
#[must_use]
pub fn finding(prediction: &Prediction, recorded: Recorded<'_>) -> Finding {
    let Recorded {
        timeline,
        trailer,
        places,
    } = recorded;
    let events = with_events(&prediction.events, timeline);
    let mut locations = places.locations(&events, trailer);
    if prediction.kind == predictor::Kind::Deadlock {
        for (location, (_, event)) in locations.iter_mut().zip(events) {
            stand_still(location, event);
        }
    }
    // What is missing may have ordered the threads.
    let proof = prediction.proof().filter(|_| !timeline.has_gaps());
    Finding {
        proved_by: proof.map_or("", Method::name).to_owned(),
        locations,
        instances: prediction.instances,
        severity: match prediction.weight {
            Weight::Bug => Severity::Bug,
            Weight::Anomaly | Weight::Suspicion => Severity::Warning,
        },
        ..Finding::new(kind(&prediction.kind))
    }
}

/// Events with their numbers.
#[must_use]
pub fn with_events<'a>(
    events: &[EventIndex],
    timeline: &Timeline<'a>,
) -> Vec<(EventIndex, &'a Event)> {
    let events = events.iter();
    events.map(|&it| (it, timeline.event(it))).collect()
}

/// What a thread waits for takes the place of what it does.
fn stand_still(location: &mut Location, event: &Event) {
    location.access = match location.access {
        Access::Acquire => Access::Request,
        Access::AcquireShared => Access::RequestShared,
        other => other,
    };
    let action = event.lock_action();
    if let Some(action) = action.filter(|_| location.variable.is_none()) {
        location.note = Some(format!("lock {}", action.lock));
    }
}

/// The interleaving in a few lines: the claimed events, as they came.
#[must_use]
pub fn story(events: &[EventIndex], recorded: Recorded<'_>) -> Vec<Moment> {
    let mut events = events.to_vec();
    events.sort_unstable();
    events.dedup();
    let events = with_events(&events, recorded.timeline);
    let locations = recorded.places.locations(&events, recorded.trailer);
    let moments = events.into_iter().zip(locations).map(|(told, location)| {
        let (index, event) = told;
        Moment {
            thread: event.thread,
            what: what(event, &location),
            position: location.position,
            value: value_left(event),
            event: Some(index),
        }
    });
    moments.collect()
}

/// The value that an access meets or leaves.
fn value_left(event: &Event) -> Option<u64> {
    match event.kind {
        EventKind::Read(it)
        | EventKind::Write(it)
        | EventKind::AtomicLoad(it, _)
        | EventKind::AtomicStore(it, _) => Some(it.value),
        EventKind::Rmw { new, .. } => Some(new),
        _ => None,
    }
}

/// What a thread does, and the value that it meets or leaves.
fn what(event: &Event, location: &Location) -> String {
    let mut text = doing(location);
    match event.kind {
        EventKind::Read(it)
        | EventKind::Write(it)
        | EventKind::AtomicLoad(it, _)
        | EventKind::AtomicStore(it, _) => text.push_str(&format!(" ({})", value(it.value))),
        EventKind::Rmw { access, new, .. } if event.lock_action().is_none() => {
            text.push_str(&format!(" ({} to {})", value(access.value), value(new)));
        }
        _ => {}
    }
    text
}

/// Small numbers as people write them, others as addresses.
fn value(value: u64) -> String {
    const SMALL: u64 = 1 << 20;
    if value < SMALL {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}
