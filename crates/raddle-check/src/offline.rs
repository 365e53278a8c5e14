//! Predicts from a trace alone, whether it was recorded or imported.
//!
//! Nothing is run, so nothing can be confirmed. The judge takes the program's place: what an analysis has
//! proved counts only if the judge accepts the order that it gives. What nothing proves, or only a run could
//! show, is counted and not told.

mod bounds;
mod input;
mod narrow;
mod source;
mod witnesses;

use std::collections::BTreeSet;
use std::time::Instant;

use raddle_judge::{Claim, Listing, ReadRule, Sitting, Verdict, Witness};
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
use narrow::Extent;

pub use bounds::Bounds;
pub use input::{Error, Trace};
pub use witnesses::Judged;

/// Said where volatile accesses are not known.
const NO_VOLATILE: &str =
    "volatile accesses count as plain ones, because the program's model is not there any more";

/// Said where nothing was predicted.
const NO_TIME: &str = "the time was over before the events were looked through (--time gives more)";

/// Said where orders cannot be written down.
const NO_WITNESSES: &str = "no orders were written down, because the trace was not read to its end";

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to predict. Its end of time is not looked at.
    pub predict: predictor::Options,
    /// When to stop, whatever is left to do.
    pub until: Option<Instant>,
    /// Names of functions whose calls are meant to be atomic.
    pub atomic: Vec<String>,
    /// What volatile accesses mean to other threads. The trace does not know them; the program's model does.
    pub volatile: Volatile,
    /// Whether to write down the orders that prove the findings.
    pub witnesses: bool,
}

impl Options {
    /// Whether there is no time left.
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }
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

/// The events that an accepted order executes: those at the start of the trace, and then those of the verdict.
struct Executed {
    start: usize,
    verdict: Verdict,
}

impl Executed {
    fn iter(&self) -> impl DoubleEndedIterator<Item = EventIndex> + '_ {
        let start = (0..self.start as u64).map(EventIndex);
        start.chain(self.verdict.order.iter().copied())
    }

    /// The whole of it as a witness to where a schedule leads.
    fn witness(&self, schedule: &Schedule, ground: &Ground<'_>) -> Witness {
        witness(schedule, ground, self.iter().collect(), Listing::Every)
    }

    /// Those of some events that it executes, in order.
    fn those_of(&self, told: &BTreeSet<EventIndex>) -> impl Iterator<Item = EventIndex> {
        let start = told.range(..EventIndex(self.start as u64)).copied();
        let rest = self.verdict.order.iter().copied();
        start.chain(rest.filter(|it| told.contains(it)))
    }
}

/// Predictions, after the judge has seen them.
#[derive(Default)]
struct Sorted {
    accepted: Vec<(Finding, Option<Witness>)>,
    /// What the others would be known by.
    unproved: Vec<Signature>,
    /// Those of them that an analysis had proved.
    refused: u64,
    /// Those that it had proved when the time was over.
    unjudged: u64,
}

/// Of the time that is left, judging has the last quarter.
fn before_judging(until: Instant) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now) / 4 * 3
}

/// An order to where a schedule leads, for the judge.
fn witness(
    schedule: &Schedule,
    ground: &Ground<'_>,
    order: Vec<EventIndex>,
    listing: Listing,
) -> Witness {
    Witness {
        order,
        listing,
        rule: match schedule.method {
            Method::ControlFlow => ReadRule::Relaxed,
            _ => ground.rule(),
        },
        claim: schedule.claim.clone(),
    }
}

/// The orders of a prediction that the judge can decide: what only a run can tell is nothing for it.
fn provable(prediction: &Prediction) -> impl Iterator<Item = &Schedule> {
    let schedules = prediction.schedules.iter();
    schedules.filter(|it| it.method.is_proof() && it.claim != Claim::Feasible)
}

/// The numbers of predictions, by how much of the trace their first orders begin with: the judge executes it once.
fn by_start(predictions: &[Prediction]) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..predictions.len()).collect();
    let start = |it: &usize| {
        provable(&predictions[*it])
            .next()
            .map(|it| it.order.start())
    };
    numbers.sort_by_key(start);
    numbers
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
        // Code is executed again with all that its thread has read.
        let model = model.filter(|_| self.extent == Extent::Whole);
        // A guess is an order for a run to try, and nothing is run.
        let mut predict = predictor::Options {
            guesses: 0,
            until: options.until.map(before_judging),
            ..options.predict.clone()
        };
        let found = atomic::find(&options.atomic, &self.events, &self.trailer);
        predict.marked.extend(found.entries);
        notes.extend(found.missing.iter().map(|it| atomic::missing(it)));
        let ground = Ground::new(&self.events, &self.trailer, model);
        let ground = ground.map_err(|why| self.wrong(why))?;
        let predicted = match options.is_over() {
            true => {
                notes.push(NO_TIME.to_owned());
                Ok(predictor::Predicted::default())
            }
            false => ground.with_run(&found.stretches, |run| predictor::predict(run, &predict)),
        };
        let predicted = predicted.map_err(|why| self.wrong(why))?;
        notes.extend(predicted.notes);
        let Sorted {
            accepted,
            unproved,
            refused,
            unjudged,
        } = self.sort(&predicted.predictions, &ground, options);
        if unjudged > 0 {
            notes.push(format!(
                "{unjudged} of the orders found were not shown to the judge for want of time (--time gives more), and \
                 they are left out"
            ));
        }
        if refused > 0 {
            notes.push(format!(
                "the judge did not accept {refused} of the orders found, and they are left out"
            ));
        }
        let findings = merge(accepted.iter().map(|it| it.0.clone()).collect());
        let looked_at = self.events.len() as u64;
        let count = self.extent.events(looked_at);
        let witnesses = match count.filter(|_| options.witnesses) {
            Some(count) => Some(witnesses::write(count, &findings, &accepted)),
            None if options.witnesses => {
                notes.push(NO_WITNESSES.to_owned());
                None
            }
            None => None,
        };
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
            events: count.unwrap_or(looked_at),
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
    fn sort(&self, predictions: &[Prediction], ground: &Ground<'_>, options: &Options) -> Sorted {
        let mut sorted = Sorted::default();
        if predictions.is_empty() {
            return sorted;
        }
        let mut proofs: Vec<Option<Proof>> = predictions.iter().map(|_| None).collect();
        let mut sitting = ground.sitting();
        for at in by_start(predictions) {
            let prediction = &predictions[at];
            let mut orders = provable(prediction).peekable();
            let is_tried = orders.peek().is_some();
            if is_tried && options.is_over() {
                sorted.unjudged += 1;
                continue;
            }
            let proof = orders.find_map(|it| {
                let (proof, executed) = self.proof(prediction, it, ground, &mut sitting)?;
                let witness = options.witnesses.then(|| executed.witness(it, ground));
                let witness = witness.map(|it| self.of_the_whole(it));
                Some(Proof { witness, ..proof })
            });
            sorted.refused += u64::from(is_tried && proof.is_none());
            proofs[at] = proof;
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

    /// A witness in terms of the whole trace, if not all of it is looked at: what concerns one thread only comes along.
    fn of_the_whole(&self, witness: Witness) -> Witness {
        match self.extent {
            Extent::Whole | Extent::Beginning { .. } => witness,
            Extent::Sifted { .. } => Witness {
                order: witness
                    .order
                    .iter()
                    .map(|it| self.extent.number(*it))
                    .collect(),
                listing: Listing::Some,
                claim: witness.claim.renumbered(|it| self.extent.number(it)),
                rule: witness.rule,
            },
        }
    }

    /// Shows an order to the judge: what follows its start, and if that is not accepted, all of it.
    fn proof(
        &self,
        prediction: &Prediction,
        schedule: &Schedule,
        ground: &Ground<'_>,
        sitting: &mut Sitting<'_, '_>,
    ) -> Option<(Proof, Executed)> {
        let order = &schedule.order;
        let mut witness = witness(schedule, ground, order.rest().to_vec(), Listing::Some);
        let judged = sitting.judge(order.start(), &witness).ok();
        let (start, verdict) = match judged {
            Some(verdict) => (order.start(), verdict),
            None => {
                witness.order = order.to_vec();
                (0, ground.judge().judge(&witness).ok()?)
            }
        };
        let events = schedule.events.clone();
        let executed = Executed { start, verdict };
        let proof = Proof {
            method: schedule.method,
            story: self.story(&prediction.kind, &events, &executed),
            events,
            witness: None,
        };
        Some((proof, executed))
    }

    /// The events to be told of an accepted order: those shown and, of a deadlock, how each lock in question
    /// was taken before. Those that are only next come last.
    fn story(
        &self,
        kind: &Kind,
        shown: &[EventIndex],
        order: &Executed,
    ) -> Vec<(EventIndex, bool)> {
        let event = |index: EventIndex| &self.events[index.0 as usize];
        let mut told: BTreeSet<EventIndex> = shown.iter().copied().collect();
        let wanted = shown.iter().filter(|_| *kind == Kind::Deadlock);
        for lock in wanted.filter_map(|it| Some(event(*it).lock_action()?.lock)) {
            let takes = |index: &EventIndex| {
                let action = event(*index).lock_action();
                let action = action.filter(|it| it.lock == lock);
                action.is_some_and(|it| matches!(it.change, LockChange::Acquire(_)))
            };
            told.extend(order.iter().rev().find(takes));
        }
        let mut story: Vec<_> = order.those_of(&told).map(|it| (it, true)).collect();
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
                event: Some(self.extent.number(index)),
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
