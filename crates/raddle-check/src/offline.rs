//! Predicts from a trace alone, whether it was recorded or imported.
//!
//! Nothing is run, so nothing can be confirmed. The judge takes the program's place: what an analysis has
//! proved counts only if the judge accepts the order that it gives. What nothing proves, or only a run could
//! show, is counted and not told.

mod input;

use std::collections::BTreeSet;
use std::sync::Arc;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Verdict, Witness};
use raddle_model::Model;
use raddle_predict::maximal::Leeway;
use raddle_predict::predictor::{self, Kind, Method, Prediction, Relaxation, Schedule};
use raddle_report::{Finding, Instrumented, Moment, Report, Signature, doing, merge, signature};
use raddle_trace::event::LockChange;
use raddle_trace::ids::EventIndex;

use crate::atomic;
use crate::describe::{self, Recorded};
use crate::own::Own;
use crate::places::Places;
use crate::timeline::Timeline;

pub use input::{Error, Trace};

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to predict.
    pub predict: predictor::Options,
    /// Names of functions whose calls are meant to be atomic.
    pub atomic: Vec<String>,
}

/// An order that the judge accepted.
struct Proof {
    method: Method,
    /// The events to be told, in order, and whether the order executes them.
    story: Vec<(EventIndex, bool)>,
}

/// Predictions, after the judge has seen them.
#[derive(Default)]
struct Sorted {
    accepted: Vec<Finding>,
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
    pub fn predict(&self, model: Option<&Model>, options: &Options) -> Result<Report, Error> {
        let mut notes = self.notes.clone();
        let mut predict = options.predict.clone();
        let found = atomic::find(&options.atomic, &self.trailer);
        predict.marked.extend(found.entries);
        notes.extend(found.missing.iter().map(|it| atomic::missing(it)));
        let own = Own::new(&self.events, &self.trailer);
        let is_imported = self.trailer.names.is_some();
        let recording = Recording::new(&self.events, Some(&self.trailer), model);
        let recording = recording.map_err(|why| self.wrong(why))?;
        let leeway = model.filter(|_| !is_imported);
        let leeway = leeway.map(|it| Arc::new(Leeway::new(it, &self.trailer)));
        let judge = Judge::new(&recording);
        let accepts = |witness: &Witness| judge.judge(witness).is_ok();
        let run = predictor::Run {
            events: &self.events,
            rule: self.rule(),
            is_own: &|event| is_imported || own.has(event),
            hidden: &recording.hidden_orders(),
            relaxation: leeway.as_ref().map(|leeway| Relaxation {
                leeway,
                accepts: &accepts,
            }),
        };
        let predicted = predictor::predict(run, &predict).map_err(|why| self.wrong(why))?;
        notes.extend(predicted.notes);
        let Sorted {
            accepted,
            unproved,
            refused,
        } = self.sort(&predicted.predictions, judge);
        if refused > 0 {
            notes.push(format!(
                "the judge did not accept {refused} of the orders found, and they are left out"
            ));
        }
        let findings = merge(accepted);
        let mut all: BTreeSet<Signature> = findings.iter().map(signature).collect();
        all.extend(unproved);
        let program = self.run.program.file_stem().or(self.path.file_stem());
        Ok(Report {
            program: program.unwrap_or_default().to_string_lossy().into_owned(),
            instrumented: Instrumented {
                functions: model.map_or(0, |it| it.function_count() as u64),
                sites: model.map_or(self.trailer.sites.len(), Model::site_count) as u64,
            },
            runs: 1,
            events: self.events.len() as u64,
            offline: true,
            unconfirmed: all.len() as u64,
            findings,
            notes,
        })
    }

    /// How reads are justified: by their values, if the trace has them.
    fn rule(&self) -> ReadRule {
        match self.trailer.names {
            Some(_) => ReadRule::SameWrite,
            None => ReadRule::SameValue,
        }
    }

    fn wrong(&self, why: impl ToString) -> Error {
        Error::Events {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }

    /// Asks the judge about each prediction.
    fn sort(&self, predictions: &[Prediction], judge: Judge<'_, '_>) -> Sorted {
        let mut sorted = Sorted::default();
        let proofs: Vec<Option<Proof>> = predictions
            .iter()
            .map(|prediction| {
                let schedules = prediction.schedules.iter();
                let mut orders = schedules
                    .filter(|it| it.method.is_proof())
                    .filter_map(|it| Some((it.method, witness(prediction, it, self.rule())?)))
                    .peekable();
                let is_tried = orders.peek().is_some();
                let proof = orders.find_map(|(method, it)| {
                    let verdict = judge.judge(&it).ok()?;
                    // That a pattern comes true the judge cannot know.
                    let is_shown =
                        it.claim != Claim::Feasible || has_in_order(&verdict, &prediction.events);
                    let story = || self.story(prediction, &verdict);
                    is_shown.then(|| Proof {
                        method,
                        story: story(),
                    })
                });
                sorted.refused += u64::from(is_tried && proof.is_none());
                proof
            })
            .collect();
        let timeline = Timeline::new(&self.events);
        let mut named = describe::named_events(predictions);
        named.extend(
            proofs
                .iter()
                .flatten()
                .flat_map(|it| &it.story)
                .map(|it| it.0),
        );
        let recorded = Recorded {
            timeline: &timeline,
            trailer: &self.trailer,
            places: &Places::new(&self.events, &self.trailer, &named),
        };
        for (prediction, proof) in predictions.iter().zip(&proofs) {
            let mut finding = self.finding(prediction, recorded);
            match proof {
                Some(proof) => {
                    proof.method.name().clone_into(&mut finding.proved_by);
                    finding.story = self.moments(&proof.story, prediction, &finding, recorded);
                    sorted.accepted.push(finding);
                }
                None => sorted.unproved.push(signature(&finding)),
            }
        }
        sorted
    }

    /// The events to be told of an accepted order: those of the prediction and, of a deadlock, how each lock
    /// in question was taken before. Those that are only next come last, in the prediction's order.
    fn story(&self, prediction: &Prediction, verdict: &Verdict) -> Vec<(EventIndex, bool)> {
        let event = |index: EventIndex| &self.events[index.0 as usize];
        let mut told: BTreeSet<EventIndex> = prediction.events.iter().copied().collect();
        if prediction.kind == Kind::Deadlock {
            for wanted in &prediction.events {
                let Some(lock) = event(*wanted).lock_action().map(|it| it.lock) else {
                    continue;
                };
                let taken = verdict.order.iter().rev().find(|index| {
                    let action = event(**index).lock_action();
                    action.is_some_and(|it| {
                        it.lock == lock && matches!(it.change, LockChange::Acquire(_))
                    })
                });
                told.extend(taken);
            }
        }
        let executed = verdict.order.iter().filter(|it| told.contains(it));
        let mut story: Vec<_> = executed.map(|it| (*it, true)).collect();
        for index in &prediction.events {
            if !story.iter().any(|it| it.0 == *index) {
                story.push((*index, false));
            }
        }
        story
    }

    fn finding(&self, prediction: &Prediction, recorded: Recorded<'_>) -> Finding {
        let mut finding = describe::finding(prediction, recorded);
        for (location, index) in finding.locations.iter_mut().zip(&prediction.events) {
            self.name(location, *index);
        }
        finding
    }

    /// A story in words. What is only next is told as the finding tells it.
    fn moments(
        &self,
        story: &[(EventIndex, bool)],
        prediction: &Prediction,
        finding: &Finding,
        recorded: Recorded<'_>,
    ) -> Vec<Moment> {
        let moments = story.iter().map(|&(index, is_executed)| {
            let mut events = prediction.events.iter().filter(|_| !is_executed);
            let known = events.position(|it| *it == index);
            let location = known.map_or_else(
                || {
                    let event = recorded.timeline.event(index);
                    let places = recorded.places;
                    let mut location = places.location(index, event, recorded.trailer);
                    self.name(&mut location, index);
                    location
                },
                |at| finding.locations[at].clone(),
            );
            Moment {
                thread: location.thread,
                what: doing(&location),
                position: location.position,
            }
        });
        moments.collect()
    }
}

/// What the judge is shown; none if only a run can tell.
fn witness(prediction: &Prediction, schedule: &Schedule, rule: ReadRule) -> Option<Witness> {
    let claim = match (&schedule.claim, &prediction.kind, schedule.next.as_slice()) {
        (Claim::Feasible, Kind::Pattern(_), []) => Claim::Feasible,
        // Two accesses side by side.
        (Claim::Feasible, Kind::Pattern(_), &[a, b]) => Claim::Race { a, b },
        (Claim::Feasible, ..) => return None,
        (claim, ..) => claim.clone(),
    };
    Some(Witness {
        order: schedule.order.clone(),
        listing: Listing::Some,
        rule: match schedule.method {
            Method::ControlFlow => ReadRule::Relaxed,
            _ => rule,
        },
        claim,
    })
}

/// Whether an order has these events in this order.
fn has_in_order(verdict: &Verdict, events: &[EventIndex]) -> bool {
    let mut left = verdict.order.iter();
    events.iter().all(|event| left.any(|it| it == event))
}
