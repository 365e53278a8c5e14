//! Predicts from a trace alone, whether it was recorded or imported.
//!
//! Nothing is run, so nothing can be confirmed. The judge takes the program's place: what an analysis has
//! proved counts only if the judge accepts the order that it gives. What nothing proves, or only a run could
//! show, is counted and not told.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Verdict, Witness};
use raddle_model::Model;
use raddle_predict::predictor::{self, Kind, Method, Prediction, Schedule};
use raddle_report::{Finding, Instrumented, Location, Moment, Report, Status, doing, merge};
use raddle_trace::event::{Event, LockChange};
use raddle_trace::file::{ReadError, TraceReader, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::names::Names;
use raddle_trace::position::SourcePosition;
use raddle_trace::run::RunSpec;
use raddle_trace::std_format::{self, StdError, StdImport};

use crate::atomic;
use crate::describe::{self, Recorded};
use crate::own::Own;
use crate::places::{Places, access};
use crate::timeline::Timeline;

/// A trace cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is no trace, or a damaged one.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ReadError,
    },
    /// It is STD text with a mistake.
    #[error("{}: {source}", path.display())]
    Std {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: StdError,
    },
    /// Its events cannot be analysed.
    #[error("{}: {why}", path.display())]
    Events {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to predict.
    pub predict: predictor::Options,
    /// Names of functions whose calls are meant to be atomic.
    pub atomic: Vec<String>,
}

/// A trace in memory.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    run: RunSpec,
    events: Vec<Event>,
    trailer: Arc<Trailer>,
    notes: Vec<String>,
}

impl Trace {
    /// Reads a trace, or STD text.
    ///
    /// # Errors
    /// If it is neither, or damaged.
    pub fn read(path: &Path) -> Result<Self, Error> {
        match is_std(path) {
            Ok(true) => Self::import(path),
            Ok(false) => Self::open(path).map_err(|source| Error::Trace {
                path: path.to_owned(),
                source,
            }),
            Err(source) => Err(Error::Open {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn open(path: &Path) -> Result<Self, ReadError> {
        let mut reader = TraceReader::open(path)?;
        let events = reader.by_ref().collect::<Result<_, _>>()?;
        Ok(Self {
            path: path.to_owned(),
            run: reader.header().run.clone(),
            events,
            trailer: reader.trailer().cloned().unwrap_or_default(),
            notes: reader.truncated().iter().map(ToString::to_string).collect(),
        })
    }

    fn import(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })?;
        let mut import = StdImport::new(BufReader::new(file));
        let events = import.by_ref().collect::<Result<_, _>>();
        let events = events.map_err(|source| Error::Std {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            run: RunSpec::default(),
            events,
            trailer: Arc::new(Trailer {
                names: Some(import.into_names()),
                ..Trailer::default()
            }),
            notes: Vec::new(),
        })
    }

    /// How it was recorded; names no program if it was imported.
    #[must_use]
    pub fn run(&self) -> &RunSpec {
        &self.run
    }

    /// How many events it has.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.len()
    }

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
        let run = predictor::Run {
            events: &self.events,
            rule: self.rule(),
            is_own: &|event| is_imported || own.has(event),
        };
        let predicted = predictor::predict(run, &predict).map_err(|why| self.wrong(why))?;
        notes.extend(predicted.notes);
        let total = predicted.predictions.len();
        let (findings, refused) = self.accepted(&predicted.predictions, model)?;
        if refused > 0 {
            notes.push(format!(
                "the judge did not accept {refused} of the orders found, and they are left out"
            ));
        }
        let unproved = (total - findings.len()) as u64;
        let findings = merge(findings);
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
            unconfirmed: findings.len() as u64 + unproved,
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

    /// What the judge accepts, and how many proofs it did not.
    fn accepted(
        &self,
        predictions: &[Prediction],
        model: Option<&Model>,
    ) -> Result<(Vec<Finding>, u64), Error> {
        let mut findings = Vec::new();
        let mut refused = 0;
        if !predictions.iter().any(Prediction::is_proved) {
            return Ok((findings, refused));
        }
        let recording = Recording::new(&self.events, Some(&self.trailer), model);
        let recording = recording.map_err(|why| self.wrong(why))?;
        let judge = Judge::new(&recording);
        let mut proved = Vec::new();
        for prediction in predictions {
            let proofs = prediction.schedules.iter();
            let mut proofs = proofs.filter(|it| it.method.is_proof()).peekable();
            let is_tried = proofs.peek().is_some_and(|it| claim(prediction, it).is_some());
            match proofs.find_map(|it| self.judge(judge, prediction, it)) {
                Some(proof) => proved.push((prediction, proof)),
                None => refused += u64::from(is_tried),
            }
        }
        let timeline = Timeline::new(&self.events);
        let mut named = BTreeSet::new();
        for (prediction, proof) in &proved {
            named.extend(&prediction.events);
            named.extend(proof.story.iter().map(|it| it.0));
        }
        let places = Places::new(&self.events, &self.trailer, &named);
        let recorded = Recorded {
            timeline: &timeline,
            trailer: &self.trailer,
            places: &places,
        };
        let told = proved.iter();
        findings.extend(told.map(|(prediction, proof)| self.finding(prediction, proof, recorded)));
        Ok((findings, refused))
    }

    fn judge(
        &self,
        judge: Judge<'_, '_>,
        prediction: &Prediction,
        schedule: &Schedule,
    ) -> Option<Proof> {
        let claim = claim(prediction, schedule)?;
        let witness = Witness {
            order: schedule.order.clone(),
            listing: Listing::Some,
            rule: self.rule(),
            claim,
        };
        let verdict = judge.judge(&witness).ok()?;
        if witness.claim == Claim::Feasible && !has_in_order(&verdict.order, &prediction.events) {
            return None;
        }
        Some(Proof {
            method: schedule.method,
            story: self.story(prediction, &verdict),
        })
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

    fn finding(&self, prediction: &Prediction, proof: &Proof, recorded: Recorded<'_>) -> Finding {
        let mut finding = describe::finding(prediction, recorded);
        finding.status = Status::Predicted;
        proof.method.name().clone_into(&mut finding.proved_by);
        for (location, index) in finding.locations.iter_mut().zip(&prediction.events) {
            self.name(location, *index);
        }
        let moments = proof.story.iter().map(|&(index, is_executed)| {
            let known = prediction.events.iter().position(|it| *it == index);
            let location = match known.filter(|_| !is_executed) {
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
                what: match &location.note {
                    Some(note) => format!("{} ({note})", doing(&location)),
                    None => doing(&location),
                },
                position: location.position,
            }
        });
        finding.story = moments.collect();
        finding
    }

    /// Puts the names of an imported trace into a location.
    fn name(&self, location: &mut Location, index: EventIndex) {
        let Some(names) = &self.trailer.names else {
            return;
        };
        let event = &self.events[index.0 as usize];
        location.position = named_position(names, event);
        let lock = event.lock_action().map(|it| it.lock);
        let operand = lock.or(event.footprint().map(|it| it.addr));
        let operand = operand.and_then(|it| std_format::operand(names, it));
        match lock {
            Some(_) => location.note = operand.map(|it| format!("lock {it}")),
            None => location.variable = operand.map(str::to_owned),
        }
    }
}
