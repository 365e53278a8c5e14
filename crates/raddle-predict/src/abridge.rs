//! Predicts from the user's own code alone.
//!
//! What a library does for itself, such as the standard library's list of threads that every new thread
//! enters, ties threads together by values that no user cares for: in another order the list has other
//! entries, and no prover can promise that the thread gets through it the same way. Left out, such accesses
//! constrain nothing. An order that was found without them is a guess, and the program decides.

use raddle_judge::{Claim, Region};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::EventIndex;

use crate::patterns::Stretch;
use crate::predictor::{self, Method, Options, Prediction, Relaxation, Run, Schedule};
use crate::view::BadTrace;

/// The bugs that a run implies without the accesses that are not the user's; none if there are no such.
///
/// # Errors
/// If the trace cannot be viewed.
pub(crate) fn analyse(run: Run<'_>, options: &Options) -> Result<Vec<Prediction>, BadTrace> {
    let indexed = (0..).map(EventIndex).zip(run.events);
    let kept: Vec<EventIndex> = indexed
        .filter(|(index, event)| !is_memory(event) || (run.is_own)(*index))
        .map(|(index, _)| index)
        .collect();
    if kept.len() == run.events.len() {
        return Ok(Vec::new());
    }
    let events: Vec<Event> = kept.iter().map(|it| run.events[it.0 as usize]).collect();
    let original = |index: EventIndex| kept[index.0 as usize];
    // Indices among what is kept, of stretches of which something is.
    let atomic = run.atomic.iter().filter_map(|stretch| {
        let first = kept.partition_point(|it| *it < stretch.first);
        let end = kept.partition_point(|it| *it <= stretch.last);
        (first < end).then(|| Stretch {
            thread: stretch.thread,
            first: EventIndex(first as u64),
            last: EventIndex(end as u64 - 1),
        })
    });
    let predicted = predictor::analyse(
        Run {
            events: &events,
            atomic: &atomic.collect::<Vec<_>>(),
            hidden: &[],
            is_own: &|index| (run.is_own)(original(index)),
            // The program will follow it, or not.
            relaxation: run.relaxation.map(|it| Relaxation {
                accepts: &|_| true,
                ..it
            }),
            ..run
        },
        options,
    )?;
    let proved = predicted
        .predictions
        .into_iter()
        .filter(Prediction::is_proved);
    Ok(proved.map(|it| translate(it, &original)).collect())
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

/// Puts a prediction in terms of the whole trace.
fn translate(prediction: Prediction, original: &impl Fn(EventIndex) -> EventIndex) -> Prediction {
    let all = |events: Vec<EventIndex>| events.into_iter().map(original).collect::<Vec<_>>();
    let schedules = prediction.schedules.into_iter().map(|it| Schedule {
        method: Method::Abridged,
        order: all(it.order),
        next: all(it.next),
        then: all(it.then),
        claim: translate_claim(it.claim, original),
    });
    Prediction {
        schedules: schedules.collect(),
        events: all(prediction.events),
        ..prediction
    }
}

fn translate_claim(claim: Claim, original: &impl Fn(EventIndex) -> EventIndex) -> Claim {
    let all = |events: Vec<EventIndex>| events.into_iter().map(original).collect::<Vec<_>>();
    match claim {
        Claim::Race { a, b } => Claim::Race {
            a: original(a),
            b: original(b),
        },
        Claim::Unserialisable { events, regions } => Claim::Unserialisable {
            events: all(events),
            regions: regions
                .into_iter()
                .map(|region| translate_region(region, original))
                .collect(),
        },
        Claim::Sequence { events } => Claim::Sequence {
            events: all(events),
        },
        Claim::Deadlock { cycle } => Claim::Deadlock { cycle: all(cycle) },
        Claim::UseAfterFree { free, access } => Claim::UseAfterFree {
            free: original(free),
            access: original(access),
        },
        Claim::DoubleFree { first, second } => Claim::DoubleFree {
            first: original(first),
            second: original(second),
        },
        Claim::NullDereference { read, access } => Claim::NullDereference {
            read: original(read),
            access: original(access),
        },
        Claim::UninitialisedRead { read } => Claim::UninitialisedRead {
            read: original(read),
        },
        Claim::Feasible | Claim::BranchFlip { .. } => claim,
    }
}

fn translate_region(region: Region, original: &impl Fn(EventIndex) -> EventIndex) -> Region {
    match region {
        Region::Lock { acquire, release } => Region::Lock {
            acquire: original(acquire),
            release: original(release),
        },
        Region::Call { enter, exit } => Region::Call {
            enter: original(enter),
            exit: original(exit),
        },
        Region::Marked { first, last } => Region::Marked {
            first: original(first),
            last: original(last),
        },
    }
}
