//! What a kept run shows, as a finding tells it.

use raddle_report::{Finding, Kind, Location};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::EventIndex;
use raddle_trace::outcome::Ending;

use crate::clips::Kept;
use crate::confirm::Shown;
use crate::describe::{self, Recorded};
use crate::observe::{Evidence, Guided};
use crate::places::Places;
use crate::standstill::tell_standstill;
use crate::timeline::Timeline;
use crate::volatile;

/// Puts into a finding what the kept run shows: the events as they came, with their stacks.
pub(crate) fn tell_story(
    finding: &mut Finding,
    shown: &Shown,
    kept: &Kept,
    timeline: &Timeline<'_>,
) {
    let new = kept.timeline();
    let guided = Guided {
        old: timeline,
        new: &new,
        numbering: &shown.numbering,
        result: &kept.result,
    };
    // Where threads run the same code, the run may have ended by other events than those that were claimed.
    let error = match shown.evidence {
        Evidence::ItsEnd => memory_error(kept),
        Evidence::UpTo(_) => None,
    };
    if let Some(events) = error {
        finding.locations = tell(finding, &events, kept);
        return;
    }
    let claimed = &shown.events;
    let told: Vec<EventIndex> = claimed
        .iter()
        .filter_map(|event| guided.find(*event))
        .collect();
    let locations = tell(finding, &told, kept);
    if told.len() == claimed.len() {
        finding.locations = locations;
    }
    tell_standstill(finding, kept);
}

/// The free, and the access or second free that the runtime stopped a run at.
pub(crate) fn memory_error(kept: &Kept) -> Option<[EventIndex; 2]> {
    let outcome = &kept.result.failure.as_ref()?.outcome;
    if !matches!(outcome.ending, Ending::UseAfterFree | Ending::DoubleFree) {
        return None;
    }
    let (thread, tick, object) = (outcome.thread?, outcome.tick?, outcome.object?);
    let is_it = |event: &Event| event.thread == thread && event.tick == tick;
    let last = kept.events.iter().rposition(is_it)?;
    let frees = |event: &Event| match event.kind {
        EventKind::Action {
            action: Action::Free { addr, size, .. },
            ..
        } => (addr.0..addr.0.saturating_add(size.max(1))).contains(&object.0),
        _ => false,
    };
    let free = kept.events[..last].iter().rposition(frees)?;
    Some([free, last].map(|it| EventIndex(it as u64)))
}

/// Puts events of a kept run into a finding as its story, and says where they are.
pub(crate) fn tell(finding: &mut Finding, told: &[EventIndex], kept: &Kept) -> Vec<Location> {
    let timeline = kept.timeline();
    let places = Places::new(&kept.events, &kept.trailer, &told.iter().copied().collect());
    let run = Recorded {
        timeline: &timeline,
        trailer: &kept.trailer,
        places: &places,
    };
    finding.story = describe::story(told, run);
    let events = describe::with_events(told, &timeline);
    let mut locations = places.locations(&events, &kept.trailer);
    for (location, (_, event)) in locations.iter_mut().zip(events) {
        if finding.kind == Kind::DataRace && volatile::is_plain(event, &kept.result) {
            location.note = Some(volatile::NOTE.to_owned());
        }
    }
    locations
}
