//! Predicts from the user's own code alone.
//!
//! What a library does for itself, such as the standard library's list of threads that every new thread
//! enters, ties threads together by values that no user cares for: in another order the list has other
//! entries, and no prover can promise that the thread gets through it the same way. Left out, such accesses
//! constrain nothing. An order that was found without them is a guess, and the program decides.

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::EventIndex;

use crate::case::Guesses;
use crate::patterns::Stretch;
use crate::predictor::{self, Method, Options, Prediction, Relaxation, Run, Schedule};
use crate::view::BadTrace;

/// The bugs that a run implies without the accesses that are not the user's; none if there are no such.
///
/// # Errors
/// If the trace cannot be viewed.
pub(crate) fn analyse(run: Run<'_>, options: &Options) -> Result<Vec<Prediction>, BadTrace> {
    let Some(abridged) = Abridged::new(run) else {
        return Ok(Vec::new());
    };
    let predicted =
        abridged.with_run(run, |it| predictor::analyse(it, options, Guesses::Proved))?;
    let proved = predicted
        .predictions
        .into_iter()
        .filter(Prediction::is_proved);
    Ok(proved.map(|it| abridged.whole_prediction(it)).collect())
}

/// Another order to where an abridged schedule leads; see [`predictor::again`].
///
/// # Errors
/// If the trace cannot be viewed.
pub(crate) fn again(
    run: Run<'_>,
    options: &Options,
    schedule: &Schedule,
    kept: &[(EventIndex, EventIndex)],
) -> Result<Option<Schedule>, BadTrace> {
    let Some(abridged) = Abridged::new(run) else {
        return Ok(None);
    };
    let inner = Schedule {
        claim: schedule
            .claim
            .clone()
            .renumbered(|it| abridged.first_at(it)),
        ..schedule.clone()
    };
    let left = |(from, to): (EventIndex, EventIndex)| {
        Some((abridged.bearer(run, from)?, abridged.bearer(run, to)?))
    };
    let kept: Vec<_> = kept.iter().filter_map(|pair| left(*pair)).collect();
    let found = abridged.with_run(run, |it| predictor::reach_again(it, options, &inner, &kept))?;
    Ok(found.map(|it| Schedule {
        method: Method::Abridged,
        order: abridged.originals(it.order.to_vec()).into(),
        ..schedule.clone()
    }))
}

/// A run without what libraries do for themselves.
struct Abridged {
    /// By event that is left: which it is of the whole run.
    originals: Vec<EventIndex>,
    events: Vec<Event>,
    atomic: Vec<Stretch>,
}

impl Abridged {
    /// None if nothing is left out.
    fn new(run: Run<'_>) -> Option<Self> {
        let indexed = (0..).map(EventIndex).zip(run.events);
        let originals: Vec<EventIndex> = indexed
            .filter(|(index, event)| !is_memory(event) || (run.is_own)(*index))
            .map(|(index, _)| index)
            .collect();
        if originals.len() == run.events.len() {
            return None;
        }
        let events = originals.iter().map(|it| run.events[it.0 as usize]);
        let mut abridged = Self {
            events: events.collect(),
            originals,
            atomic: Vec::new(),
        };
        // Of stretches of which something is left.
        let atomic = run.atomic.iter().filter_map(|stretch| {
            let first = abridged.first_at(stretch.first);
            let last = EventIndex(abridged.end_at(stretch.last).checked_sub(1)? as u64);
            (first <= last).then_some(Stretch {
                thread: stretch.thread,
                first,
                last,
            })
        });
        abridged.atomic = atomic.collect();
        Some(abridged)
    }

    fn with_run<R>(&self, run: Run<'_>, then: impl FnOnce(Run<'_>) -> R) -> R {
        then(Run {
            events: &self.events,
            atomic: &self.atomic,
            hidden: &[],
            is_own: &|index| (run.is_own)(self.original(index)),
            // The program will follow it, or not.
            relaxation: run.relaxation.map(|it| Relaxation {
                accepts: &|_, _| true,
                ..it
            }),
            ..run
        })
    }

    fn original(&self, index: EventIndex) -> EventIndex {
        self.originals[index.0 as usize]
    }

    fn originals(&self, events: Vec<EventIndex>) -> Vec<EventIndex> {
        events.into_iter().map(|it| self.original(it)).collect()
    }

    /// The first event that is left at an event of the whole run, or behind it.
    fn first_at(&self, whole: EventIndex) -> EventIndex {
        EventIndex(self.originals.partition_point(|it| *it < whole) as u64)
    }

    /// How many events are left up to an event of the whole run, with it.
    fn end_at(&self, whole: EventIndex) -> usize {
        self.originals.partition_point(|it| *it <= whole)
    }

    /// The event that is left along with which one is executed: the last of its thread before it, or if there
    /// is none, the first behind it.
    fn bearer(&self, run: Run<'_>, whole: EventIndex) -> Option<EventIndex> {
        let thread = run.events[whole.0 as usize].thread;
        let (before, behind) = self.events.split_at(self.end_at(whole));
        let is_own = |event: &Event| event.thread == thread;
        let own = before.iter().rposition(is_own).or_else(|| {
            let first = behind.iter().position(is_own)?;
            Some(before.len() + first)
        })?;
        Some(EventIndex(own as u64))
    }

    /// A prediction in terms of the whole run.
    fn whole_prediction(&self, prediction: Prediction) -> Prediction {
        let schedules = prediction.schedules.into_iter().map(|it| Schedule {
            method: Method::Abridged,
            order: self.originals(it.order.to_vec()).into(),
            next: self.originals(it.next),
            then: self.originals(it.then),
            claim: it.claim.renumbered(|event| self.original(event)),
            events: self.originals(it.events),
            goal: it.goal,
        });
        Prediction {
            schedules: schedules.collect(),
            events: self.originals(prediction.events),
            ..prediction
        }
    }
}

/// Whether an event only reads or writes memory, or waits for memory to change.
fn is_memory(event: &Event) -> bool {
    match event.kind {
        EventKind::Action { action, .. } => matches!(
            action,
            Action::FutexWait { .. } | Action::FutexWake { .. } | Action::FutexNotify { .. }
        ),
        _ => event.footprint().is_some(),
    }
}
