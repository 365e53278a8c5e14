//! Predicts from a trace alone, whether it was recorded or imported.
//!
//! Nothing is run, so nothing can be confirmed. The judge takes the program's place: what an analysis has
//! proved counts only if the judge accepts the order that it gives. What nothing proves, or only a run could
//! show, is counted and not told.

mod input;
mod witnesses;

use std::collections::BTreeSet;

use raddle_judge::{Claim, Listing, ReadRule, Verdict, Witness};
use raddle_model::Model;
use raddle_predict::predictor::{self, Kind, Method, Prediction, Schedule};
use raddle_predict::races::Code;
use raddle_report::{Finding, Instrumented, Moment, Report, Signature, doing, merge, signature};
use raddle_run::program::Volatile;
use raddle_trace::event::LockChange;
use raddle_trace::ids::EventIndex;

use crate::atomic;
use crate::describe::{self, Recorded};
use crate::ground::Ground;
use crate::places::Places;
use crate::timeline::Timeline;
use crate::volatile;

pub use input::{Error, Trace};
pub use witnesses::Judged;

/// Said where volatile accesses are not known.
const NO_VOLATILE: &str =
    "volatile accesses count as plain ones, because the program's model is not there any more";

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to predict.
    pub predict: predictor::Options,
    /// Names of functions whose calls are meant to be atomic.
    pub atomic: Vec<String>,
    /// What volatile accesses mean to other threads. The trace does not know them; the program's model does.
    pub volatile: Volatile,
    /// Whether to write down the orders that prove the findings.
    pub witnesses: bool,
}

/// What a trace implies.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The findings.
    pub report: Report,
    /// The order that proves each of them, as [`raddle_judge::text`] has it, if that was asked for.
    pub witnesses: Option<String>,
}

/// An order that the judge accepted.
struct Proof {
    method: Method,
    /// The events by which a user knows what it shows.
    events: Vec<EventIndex>,
    /// The events to be told, in order, and whether the order executes them.
    story: Vec<(EventIndex, bool)>,
    /// What the judge has accepted, if it is to be written down.
    witness: Option<Witness>,
}

/// Predictions, after the judge has seen them.
#[derive(Default)]
struct Sorted {
    accepted: Vec<(Finding, Option<Witness>)>,
    /// What the others would be known by.
    unproved: Vec<Signature>,
    /// Those of them that an analysis had proved.
    refused: u64,
}

impl Trace {
    /// The bugs that it implies. With the program's model more can be judged.
    ///
    /// # Errors
    /// If it has more events or threads than can be numbered.
    pub fn predict(
        &mut self,
        model: Option<&Model>,
        options: &Options,
    ) -> Result<Predicted, Error> {
        let mut notes = self.notes.clone();
        match (options.volatile, model) {
            (Volatile::Plain, _) => {}
            (Volatile::Atomic, Some(model)) => {
                let mut code = Code::new(model);
                code.learn(&self.trailer);
                volatile::order(&mut self.events, |site| code.is_volatile(site));
            }
            (Volatile::Atomic, None) => notes.push(NO_VOLATILE.to_owned()),
        }
        let mut predict = options.predict.clone();
        let found = atomic::find(&options.atomic, &self.events, &self.trailer);
        predict.marked.extend(found.entries);
        notes.extend(found.missing.iter().map(|it| atomic::missing(it)));
        let ground = Ground::new(&self.events, &self.trailer, model);
        let ground = ground.map_err(|why| self.wrong(why))?;
        let predicted = ground.with_run(&found.stretches, |run| predictor::predict(run, &predict));
        let predicted = predicted.map_err(|why| self.wrong(why))?;
        notes.extend(predicted.notes);
        let Sorted {
            accepted,
            unproved,
            refused,
        } = self.sort(&predicted.predictions, &ground, options.witnesses);
        if refused > 0 {
            notes.push(format!(
                "the judge did not accept {refused} of the orders found, and they are left out"
            ));
        }
        let findings = merge(accepted.iter().map(|it| it.0.clone()).collect());
        let witnesses = options
            .witnesses
            .then(|| witnesses::write(self.events.len() as u64, &findings, &accepted));
        let mut all: BTreeSet<Signature> = findings.iter().map(signature).collect();
        all.extend(unproved);
        let program = self.run.program.file_stem().or(self.path.file_stem());
        let report = Report {
            program: program.unwrap_or_default().to_string_lossy().into_owned(),
            instrumented: Instrumented {
                functions: model.map_or(0, |it| it.function_count() as u64),
                sites: model.map_or(self.trailer.sites.len(), Model::site_count) as u64,
            },
            runs: 1,
            events: self.events.len() as u64,
            offline: true,
            interrupted: false,
            unsteady: false,
            unconfirmed: all.len() as u64,
            findings,
            notes,
        };
        Ok(Predicted { report, witnesses })
    }

    fn wrong(&self, why: impl ToString) -> Error {
        Error::Events {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }

    /// Asks the judge about each prediction.
    fn sort(&self, predictions: &[Prediction], ground: &Ground<'_>, keep: bool) -> Sorted {
        let mut sorted = Sorted::default();
        let mut proofs = Vec::new();
        for prediction in predictions {
            let proved = prediction
                .schedules
                .iter()
                .filter(|it| it.method.is_proof());
            // What only a run can tell is nothing for the judge.
            let mut orders = proved.filter(|it| it.claim != Claim::Feasible).peekable();
            let is_tried = orders.peek().is_some();
            let mut proof = orders.find_map(|it| self.proof(prediction, it, ground));
            if let Some(proof) = proof.as_mut().filter(|_| !keep) {
                proof.witness = None;
            }
            sorted.refused += u64::from(is_tried && proof.is_none());
            proofs.push(proof);
        }
        let timeline = Timeline::new(&self.events);
        let mut named = describe::named_events(predictions);
        for proof in proofs.iter().flatten() {
            named.extend(&proof.events);
            named.extend(proof.story.iter().map(|it| it.0));
        }
        let recorded = Recorded {
            timeline: &timeline,
            trailer: &self.trailer,
            places: &Places::new(&self.events, &self.trailer, &named),
        };
        for (prediction, proof) in predictions.iter().zip(proofs) {
            match proof {
                Some(proof) => {
                    let finding = self.finding(prediction, &proof, recorded);
                    sorted.accepted.push((finding, proof.witness));
                }
                None => {
                    let mut finding = describe::finding(prediction, recorded);
                    self.name_all(&mut finding, &prediction.events);
                    sorted.unproved.push(signature(&finding));
                }
            }
        }
        sorted
    }

    /// Shows an order to the judge.
    fn proof(
        &self,
        prediction: &Prediction,
        schedule: &Schedule,
        ground: &Ground<'_>,
    ) -> Option<Proof> {
        let witness = Witness {
            order: schedule.order.clone(),
            listing: Listing::Some,
            rule: match schedule.method {
                Method::ControlFlow => ReadRule::Relaxed,
                _ => ground.rule(),
            },
            claim: schedule.claim.clone(),
        };
        let verdict = ground.judge().judge(&witness).ok()?;
        let events = describe::shown_events(&schedule.claim, prediction);
        Some(Proof {
            method: schedule.method,
            story: self.story(&prediction.kind, &events, &verdict),
            events,
            witness: Some(Witness {
                order: verdict.order,
                listing: Listing::Every,
                ..witness
            }),
        })
    }

    /// The events to be told of an accepted order: those shown and, of a deadlock, how each lock in question
    /// was taken before. Those that are only next come last.
    fn story(
        &self,
        kind: &Kind,
        shown: &[EventIndex],
        verdict: &Verdict,
    ) -> Vec<(EventIndex, bool)> {
        let event = |index: EventIndex| &self.events[index.0 as usize];
        let mut told: BTreeSet<EventIndex> = shown.iter().copied().collect();
        let wanted = shown.iter().filter(|_| *kind == Kind::Deadlock);
        for lock in wanted.filter_map(|it| Some(event(*it).lock_action()?.lock)) {
            let takes = |index: &&EventIndex| {
                let action = event(**index).lock_action();
                let action = action.filter(|it| it.lock == lock);
                action.is_some_and(|it| matches!(it.change, LockChange::Acquire(_)))
            };
            told.extend(verdict.order.iter().rev().find(takes));
        }
        let executed = verdict.order.iter().filter(|it| told.contains(it));
        let mut story: Vec<_> = executed.map(|it| (*it, true)).collect();
        for index in shown {
            if !story.iter().any(|it| it.0 == *index) {
                story.push((*index, false));
            }
        }
        story
    }

    fn finding(&self, prediction: &Prediction, proof: &Proof, recorded: Recorded<'_>) -> Finding {
        let shown = Prediction {
            kind: prediction.kind.clone(),
            events: proof.events.clone(),
            schedules: Vec::new(),
            ..*prediction
        };
        let mut finding = describe::finding(&shown, recorded);
        self.name_all(&mut finding, &shown.events);
        proof.method.name().clone_into(&mut finding.proved_by);
        let moments = proof.story.iter().map(|&(index, is_executed)| {
            // What is only next is told as the finding tells it: a thread waits for its lock.
            let mut next = shown.events.iter().filter(|_| !is_executed);
            let location = match next.position(|it| *it == index) {
                Some(at) => finding.locations[at].clone(),
                None => {
                    let event = recorded.timeline.event(index);
                    let places = recorded.places;
                    let mut location = places.location(index, event, recorded.trailer);
                    self.name(&mut location, index);
                    location
                }
            };
            Moment {
                thread: location.thread,
                what: doing(&location),
                position: location.position,
                value: None,
                event: Some(index),
            }
        });
        finding.story = moments.collect();
        finding
    }

    /// Puts the names of an imported trace into a finding of these events.
    fn name_all(&self, finding: &mut Finding, events: &[EventIndex]) {
        for (location, index) in finding.locations.iter_mut().zip(events) {
            self.name(location, *index);
        }
    }
}
