//! The shortest way to a failure, and the run beside it that goes well.
//!
//! The schedule of a run that failed is made shorter, step by step. What is left needs each of its steps: without
//! one of them the program goes well, and of these runs the one that is like the failing one for longest is kept.

use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_run::outcome::Failure;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::bench::{Bench, Ran};
use crate::confirm::run_with;
use crate::guide::{Guide, Numbering};
use crate::minimise::{Led, shorten};
use crate::timeline::{Timeline, is_same_step};

/// Most runs that are spent on one failure.
const MOST_RUNS: u64 = 200;

/// A run that fails, with the guide that leads there.
pub(crate) struct Failing {
    guide: Guide,
    pub(crate) ran: Ran,
    numbering: Numbering,
}

impl Led for Failing {
    fn guide(&self) -> &Guide {
        &self.guide
    }
}

/// A run that goes well.
pub(crate) struct Passing {
    pub(crate) events: Vec<Event>,
    /// What the threads of the failing run are called in it.
    pub(crate) numbering: Numbering,
    /// How many events it has in common with the failing run before the two differ.
    in_common: usize,
}

/// A failing run that needs each of its steps, and the nearest one that passes.
pub(crate) struct Shortest {
    pub(crate) failing: Failing,
    pub(crate) passing: Option<Passing>,
}

/// Finds the shortest way to the failure of a recorded run; none if no guide leads there.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn find(
    bench: &mut Bench,
    model: &Plan,
    recorded: &[Event],
    failure: &Failure,
) -> Result<Option<Shortest>, Error> {
    let timeline = Timeline::new(recorded).that_ends_early();
    let order: Vec<EventIndex> = (0..recorded.len() as u64).map(EventIndex).collect();
    let guide = Guide::new(&timeline, &order, &[]);
    let lead = |bench: &mut Bench, guide: Guide| {
        let made = run_with(bench, model, &timeline, &guide)?;
        Ok::<_, Error>(made.map(|(ran, numbering)| Failing {
            guide,
            ran,
            numbering,
        }))
    };
    let fails = |it: &Failing| {
        let failed = it.ran.result.failure.as_ref();
        failed.is_some_and(|it| it.is_like(&failure.outcome))
    };
    let Some(first) = lead(bench, guide)?.filter(fails) else {
        return Ok(None);
    };
    let mut passing: Option<Passing> = None;
    let failing = shorten(bench, MOST_RUNS, first, |bench, failing, guide| {
        let Some(made) = lead(bench, guide)? else {
            return Ok(None);
        };
        if fails(&made) {
            // What passed was beside a longer way.
            passing = None;
            return Ok(Some(made));
        }
        if made.ran.result.failure.is_none() {
            let beside = Passing::beside(failing, made);
            let nearest = passing.as_ref().map_or(0, |it| it.in_common + 1);
            if beside.in_common >= nearest {
                passing = Some(beside);
            }
        }
        Ok(None)
    })?;
    Ok(Some(Shortest { failing, passing }))
}

impl Passing {
    fn beside(failing: &Failing, made: Failing) -> Self {
        let numbering = failing.numbering.to(&made.numbering);
        let events = made.ran.events;
        let both = failing.ran.events.iter().zip(&events);
        let alike = |(one, other): &(&Event, &Event)| {
            one.thread == other.thread && is_same_step(one, other)
        };
        Self {
            in_common: both.take_while(alike).count(),
            numbering,
            events,
        }
    }
}
