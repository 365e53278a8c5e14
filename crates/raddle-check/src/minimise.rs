//! Makes a guide that shows a bug as short as it can be.
//!
//! A step is left out if the run shows the same without it: its thread then does that part of its work in
//! its next step, or not at all. Larger parts are tried before smaller ones (Zeller and Hildebrandt,
//! "Simplifying and Isolating Failure-Inducing Input", TSE 2002).

use raddle_predict::predictor::Kind;
use raddle_run::Error;
use raddle_run::launch::Plan;

use crate::bench::{Bench, ends_alike};
use crate::confirm::{Shown, follow};
use crate::guide::Guide;
use crate::timeline::Timeline;

/// Most runs that are spent on one guide.
const MOST_RUNS: u64 = 40;

/// What a guide led to.
pub(crate) trait Led {
    /// The guide.
    fn guide(&self) -> &Guide;
}

impl Led for Shown {
    fn guide(&self) -> &Guide {
        &self.guide
    }
}

/// Leaves out steps for as long as the claim is shown and the program ends as it did.
///
/// # Errors
/// If the program cannot be run.
pub fn minimise(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    kind: &Kind,
    shown: Shown,
) -> Result<Shown, Error> {
    shorten(bench, MOST_RUNS, shown, |bench, shown, guide| {
        show_again(bench, model, recorded, kind, shown, guide)
    })
}

/// Leaves out steps for as long as a shorter guide leads to the same, which `lead` finds out.
///
/// # Errors
/// Those of `lead`.
pub(crate) fn shorten<L: Led>(
    bench: &mut Bench,
    most_runs: u64,
    mut led: L,
    mut lead: impl FnMut(&mut Bench, &L, Guide) -> Result<Option<L>, Error>,
) -> Result<L, Error> {
    let last_run = bench.runs() + most_runs;
    let mut part = (led.guide().steps.len() / 2).max(1);
    loop {
        let mut at = 0;
        let mut is_shorter = false;
        while at < led.guide().steps.len() {
            if bench.runs() >= last_run || bench.is_out_of_time() {
                return Ok(led);
            }
            let guide = without(led.guide(), at, part);
            match lead(bench, &led, guide)? {
                Some(shorter) => {
                    led = shorter;
                    is_shorter = true;
                }
                None => at += part,
            }
        }
        if part == 1 && !is_shorter {
            return Ok(led);
        }
        part = (part / 2).max(1);
    }
}

fn without(guide: &Guide, at: usize, part: usize) -> Guide {
    let end = (at + part).min(guide.steps.len());
    let steps = &guide.steps;
    let mut steps = [&steps[..at], &steps[end..]].concat();
    // Of two steps of one thread in a row the second says where it stops.
    for index in (1..steps.len()).rev() {
        if steps[index].thread == steps[index - 1].thread {
            steps.remove(index - 1);
        }
    }
    Guide { steps }
}

fn show_again(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    kind: &Kind,
    shown: &Shown,
    guide: Guide,
) -> Result<Option<Shown>, Error> {
    let sought = shown.sought(kind);
    let Some(attempt) = follow(bench, model, recorded, &guide, sought)? else {
        return Ok(None);
    };
    let Some(evidence) = attempt.evidence else {
        return Ok(None);
    };
    let (before, after) = (
        &shown.ran.result.failure,
        attempt.ran.result.failure.as_ref(),
    );
    Ok(ends_alike(before.as_ref(), after).then_some(Shown {
        guide,
        numbering: attempt.numbering,
        ran: attempt.ran,
        evidence,
        method: shown.method,
        claim: shown.claim.clone(),
        then: shown.then.clone(),
        events: shown.events.clone(),
    }))
}
