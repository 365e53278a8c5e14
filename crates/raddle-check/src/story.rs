//! What a kept run shows, as a finding tells it.

use raddle_predict::predictor::Prediction;
use raddle_report::{Finding, Location};
use raddle_trace::ids::EventIndex;

use crate::clips::Kept;
use crate::confirm::Shown;
use crate::describe::{self, Recorded};
use crate::observe::Guided;
use crate::places::Places;
use crate::timeline::Timeline;

/// Puts into a finding what the kept run shows: the events as they came, with their stacks.
pub(crate) fn tell_story(
    finding: &mut Finding,
    prediction: &Prediction,
    shown: &Shown,
    kept: &Kept,
    timeline: &Timeline<'_>,
) {
    let new = Timeline::new(&kept.events);
    let guided = Guided {
        old: timeline,
        new: &new,
        numbering: &shown.numbering,
        result: &kept.result,
    };
    let claimed = describe::shown_events(&shown.claim, prediction);
    let told: Vec<EventIndex> = claimed
        .iter()
        .filter_map(|event| guided.find(*event))
        .collect();
    let locations = tell(finding, &told, kept);
    if told.len() == claimed.len() {
        finding.locations = locations;
    }
}

/// Puts events of a kept run into a finding as its story, and says where they are.
pub(crate) fn tell(finding: &mut Finding, told: &[EventIndex], kept: &Kept) -> Vec<Location> {
    let timeline = Timeline::new(&kept.events);
    let places = Places::new(&kept.events, &kept.trailer, &told.iter().copied().collect());
    let run = Recorded {
        timeline: &timeline,
        trailer: &kept.trailer,
        places: &places,
    };
    finding.story = describe::story(told, run);
    let locations = told.iter().map(|index| {
        let event = timeline.event(*index);
        places.location(*index, event, &kept.trailer)
    });
    locations.collect()
}
