//! Why a run fails that nobody predicted.
//!
//! Such a run is made as short as it can be, and held against the nearest one that passes ([`shortest`]). What
//! distinguishes the two ([`difference`]) is what the failure is told by: a race, accesses that were meant to be atomic,
//! or the order of two accesses.

mod difference;
mod shortest;

use std::collections::BTreeMap;

use raddle_predict::races::Code;
use raddle_report::{Finding, Kind, Signature, Status, signature};
use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_trace::ids::{EventIndex, SiteId};
use raddle_trace::outcome::Ending;

use crate::bench::Bench;
use crate::clips::{Clips, Extent, Kept, Repeatable};
use crate::failures::{
    Found, Unexplained, failure_finding, place_by_crash, place_by_exit, place_by_last_events,
    tell_output,
};
use crate::reading::Wanted;
use crate::standstill::tell_standstill;
use crate::story::{memory_error, tell};
use crate::unordered::Unordered;
use difference::Cause;
use shortest::Shortest;

/// A failure with its clip, and what makes the program fail, if that is known.
pub(crate) struct Explained<'f> {
    failed: &'f Unexplained,
    kept: Kept,
    cause: Option<Cause>,
    is_test: bool,
}

impl<'f> Explained<'f> {
    /// Keeps a failing run as a clip, by the shortest schedule that leads there if `may_explain`. None if the
    /// program does not fail again.
    ///
    /// # Errors
    /// If the program cannot be run or a file cannot be written.
    pub(crate) fn new(
        bench: &mut Bench,
        clips: &Clips<'_>,
        failed: &'f Unexplained,
        may_explain: bool,
    ) -> Result<Option<Self>, Error> {
        let outcome = &failed.failure.outcome;
        for (plan, switches) in &failed.ways {
            let run = Repeatable {
                plan,
                switches,
                failure: Some(outcome),
                wanted: Wanted::All,
            };
            let Some(kept) = clips.keep(bench.program(), run, None)? else {
                continue;
            };
            let mut explained = Self {
                failed,
                kept,
                cause: None,
                is_test: bench.program().is_test,
            };
            let is_known = explained.kept.extent == Extent::Whole;
            if may_explain && is_known && outcome.ending != Ending::Hang {
                match explained.explain(bench, clips, plan) {
                    // It is told as it is.
                    Err(Error::OutOfTime) => {}
                    done => done?,
                }
            }
            return Ok(Some(explained));
        }
        Ok(None)
    }

    fn explain(&mut self, bench: &mut Bench, clips: &Clips<'_>, model: &Plan) -> Result<(), Error> {
        let failure = &self.failed.failure;
        let found = shortest::find(bench, model, &self.kept.events, failure)?;
        let Some(Shortest { failing, passing }) = found else {
            return Ok(());
        };
        let run = Repeatable {
            failure: Some(&failure.outcome),
            ..Repeatable::new(&failing.ran.plan, &failing.ran.result)
        };
        let Some(kept) = clips.keep(bench.program(), run, None)? else {
            return Ok(());
        };
        clips.discard(std::mem::replace(&mut self.kept, kept))?;
        self.cause = passing.and_then(|it| {
            let Kept {
                events, trailer, ..
            } = &self.kept;
            difference::cause(events, &it.events, &it.numbering, trailer)
        });
        Ok(())
    }

    /// Says of the race that makes the program fail what it leads to, if it is one of those that were found, and the
    /// clip shows it. Returns whether it is.
    pub(crate) fn attach(
        &self,
        found: &mut BTreeMap<Signature, Found>,
        code: Option<&mut Code<'_>>,
    ) -> bool {
        let sites = |events: &[EventIndex]| -> Vec<Option<SiteId>> {
            let events = events.iter().map(|it| &self.kept.events[it.0 as usize]);
            events.map(|it| it.site()).collect()
        };
        let told = self.cause.as_ref().map(|it| sites(&it.events()));
        let unordered = Unordered::new(&self.kept.events, &self.kept.trailer, code);
        let races = unordered.predictions();
        let is_cause = |events: &[EventIndex]| match &told {
            Some(told) => sites(events).iter().all(|it| told.contains(it)),
            None => true,
        };
        let error = memory_error(&self.kept).map(|events| {
            let mut told = Finding::new(Kind::UseAfterFree);
            told.locations = tell(&mut told, &events, &self.kept);
            signature(&told).places
        });
        for race in races.iter().filter(|it| is_cause(&it.events)) {
            let mut told = Finding::new(Kind::DataRace);
            unordered.tell(&mut told, &race.events, &self.kept);
            let key = signature(&told);
            // The free and the access themselves are told as what the run did.
            if error.as_ref().is_some_and(|it| key.places.is_subset(it)) {
                continue;
            }
            let known = found.get_mut(&key);
            let is_open = |it: &&mut Found| it.failure.is_none() && it.finding.is_confirmed_bug();
            let Some(known) = known.filter(is_open) else {
                continue;
            };
            told.set_outcome(Some(&self.failed.failure.outcome));
            known.finding = Finding {
                instances: known.finding.instances,
                first_run: known.finding.first_run,
                ..told
            };
            known.failure = Some(self.failed.failure.clone());
            return true;
        }
        false
    }

    /// The failure as a finding of its own.
    pub(crate) fn finding(self) -> Finding {
        let Self {
            failed,
            kept,
            cause,
            is_test,
        } = self;
        let mut finding = failure_finding(&failed.failure, &kept.trailer.packages);
        finding.instances = failed.instances;
        place_by_exit(&mut finding, &kept);
        place_by_crash(&mut finding, &kept);
        if failed.failure.stuck.is_empty() {
            place_by_last_events(&mut finding, &kept);
        }
        tell_output(&mut finding, &kept, is_test);
        tell_standstill(&mut finding, &kept);
        finding.status = Status::Confirmed;
        if let Some(events) = memory_error(&kept) {
            finding.locations = tell(&mut finding, &events, &kept);
        }
        if let Some(cause) = cause.filter(|_| needs_a_cause(&finding.kind)) {
            let locations = tell(&mut finding, &cause.events(), &kept);
            match cause {
                Cause::Atomicity(_) => finding.kind = Kind::AtomicityViolation,
                Cause::AtomicSet(_) => finding.kind = Kind::AtomicSetViolation,
                Cause::Order { .. } => {}
            }
            match cause {
                Cause::Order { .. } => finding.locations.extend(locations),
                _ => finding.locations = locations,
            }
        }
        if finding.locations.len() > 1 {
            finding.locations.retain(|it| it.position.line != 0);
        }
        finding.clip = Some(kept.clip);
        finding
    }
}

/// Whether a failure says only how the program ended. A deadlock or a memory error is told by itself.
fn needs_a_cause(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Assertion | Kind::Panic | Kind::Crash | Kind::Exit
    )
}
