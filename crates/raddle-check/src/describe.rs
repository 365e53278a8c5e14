//! Tells what a run shows, as a finding.

use std::collections::BTreeSet;
use std::path::PathBuf;

use raddle_judge::Claim;
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

/// The events by which a user knows what was shown: those of the claim, which may be about other instances
/// than the ones that stand for the prediction.
#[must_use]
pub fn shown_events(claim: &Claim, prediction: &Prediction) -> Vec<EventIndex> {
    match claim.telling_events() {
        none if none.is_empty() => prediction.events.clone(),
        claimed => claimed,
    }
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
    let locations = prediction.events.iter().map(|&index| {
        let event = timeline.event(index);
        let mut location = places.location(index, event, trailer);
        if prediction.kind == predictor::Kind::Deadlock {
            stand_still(&mut location, event);
        }
        location
    });
    Finding {
        proved_by: prediction.proof().map_or("", Method::name).to_owned(),
        locations: locations.collect(),
        instances: prediction.instances,
        severity: match prediction.weight {
            Weight::Bug => Severity::Bug,
            Weight::Anomaly | Weight::Suspicion => Severity::Warning,
        },
        ..Finding::new(kind(&prediction.kind))
    }
}

/// What a thread waits for takes the place of what it does.
fn stand_still(location: &mut Location, event: &Event) {
    location.access = match location.access {
        Access::Acquire => Access::Request,
        Access::AcquireShared => Access::RequestShared,
        other => other,
    };
    if let Some(action) = event.lock_action() {
        location.note = Some(format!("lock {}", action.lock));
    }
}

/// The interleaving in a few lines: the claimed events, as they came.
#[must_use]
pub fn story(events: &[EventIndex], recorded: Recorded<'_>) -> Vec<Moment> {
    let mut events = events.to_vec();
    events.sort_unstable();
    events.dedup();
    let moments = events.into_iter().map(|index| {
        let event = recorded.timeline.event(index);
        let location = recorded.places.location(index, event, recorded.trailer);
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
