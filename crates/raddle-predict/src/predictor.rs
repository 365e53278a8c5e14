//! All analyses, one after another: from the events of a run to the bugs that it implies.
//!
//! Candidates come from the analyses that miss little; each is put to the provers, from cheap to dear. One
//! that none of them proves keeps the schedule that PECAN would generate for it: re-execution decides.

use std::sync::Arc;
use std::time::Instant;

use raddle_judge::{Claim, ReadRule, Witness};
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, SiteId};

use crate::abridge;
use crate::case::{Case, Guesser, Guesses, rank};
use crate::clocks::Clocks;
use crate::goal::Goal;
use crate::maximal::Leeway;
use crate::order::Order;
use crate::patterns::{self, Pattern, Stretch};
use crate::provers::{Patience, Provers};
use crate::proving::Proving;
use crate::suspects::Suspects;
use crate::sync_preserving::SyncPreserving;
use crate::view::{BadTrace, View};
use crate::{maximal, memory};

/// What kind of bug a prediction is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the bugs")]
pub enum Kind {
    DataRace,
    AtomicityViolation,
    AtomicSetViolation,
    Deadlock,
    UseAfterFree,
    DoubleFree,
    NullDereference,
    UninitialisedRead,
    /// A pattern of the user's.
    Pattern(String),
}

/// What found an order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A reordering that keeps the critical sections' order, of events that happens-before of the observed
    /// run leaves unordered.
    HappensBefore,
    /// A reordering that keeps the critical sections' order.
    SyncPreserving,
    /// A reordering in which critical sections change places, found without the solver.
    LockReordering,
    /// The solver.
    Maximal,
    /// The solver, where reads that no branch and no address depends on may find other values; each thread
    /// was executed again with the values that it finds.
    ControlFlow,
    /// One of the two, on a part of the trace: on what it shows of the user's own code, where what a library does on
    /// its own, as when a thread starts, is taken to go well; or on one that was thinned because it is long. A guess
    /// until the program has followed it.
    Abridged,
    /// PECAN's schedule generation: a guess, too.
    Pecan,
}

impl Method {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HappensBefore => "happens-before",
            Self::SyncPreserving => "sync-preserving",
            Self::LockReordering => "lock-reordering",
            Self::Maximal => "maximal",
            Self::ControlFlow => "maximal-control-flow",
            Self::Abridged => "abridged",
            Self::Pecan => "hybrid",
        }
    }

    /// Whether the order is known to be feasible.
    #[must_use]
    pub const fn is_proof(self) -> bool {
        matches!(
            self,
            Self::HappensBefore
                | Self::SyncPreserving
                | Self::LockReordering
                | Self::Maximal
                | Self::ControlFlow
        )
    }
}

/// An order of events that leads to a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// What found it.
    pub method: Method,
    /// Events of the trace, in the new order.
    pub order: Order,
    /// Events that are next then.
    pub next: Vec<EventIndex>,
    /// Which of them are executed from there, in this order, if that matters.
    pub then: Vec<EventIndex>,
    /// What this shows, in terms of the trace; [`Claim::Feasible`] if only a run can tell.
    pub claim: Claim,
    /// The events by which a user knows the bug that this leads to: one of several instances, perhaps.
    pub events: Vec<EventIndex>,
    /// Where it leads, in terms of the view that it was found on.
    pub(crate) goal: Goal,
}

impl Schedule {
    /// An order that somebody else has found, to which no other is known.
    #[must_use]
    pub fn new(
        method: Method,
        order: Vec<EventIndex>,
        next: Vec<EventIndex>,
        claim: Claim,
    ) -> Self {
        Self {
            method,
            order: order.into(),
            next,
            then: Vec::new(),
            events: claim.telling_events(),
            claim,
            goal: Goal::default(),
        }
    }
}

/// What makes a prediction a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// That a run does it: data races, deadlocks, errors of memory, and what the user has marked or described.
    Bug,
    /// That a run does it and fails because of it. A lock region has accesses to something that is also accessed without
    /// the lock; protocols that wait for one another do so on purpose.
    Anomaly,
    /// The same, and whether the accesses belong together is only suspected.
    Suspicion,
}

/// A bug that the trace implies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// What kind.
    pub kind: Kind,
    /// The events by which a user knows it, in the order in which they happen.
    pub events: Vec<EventIndex>,
    /// What makes it a bug.
    pub weight: Weight,
    /// Ways to get there, best first.
    pub schedules: Vec<Schedule>,
    /// How often it was seen in the trace.
    pub instances: u64,
    /// Whether the provers answered that no reordering of the trace leads there, and none gave up: what is left
    /// is to try whether the program goes another way.
    pub is_refused: bool,
}

impl Prediction {
    /// Whether a sound analysis proved it.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.schedules.iter().any(|it| it.method.is_proof())
    }

    /// The sound analysis that proved it. Where only a run can tell what comes of an order, the order is proved, and
    /// nothing else.
    #[must_use]
    pub fn proof(&self) -> Option<Method> {
        let mut proofs = self.schedules.iter().filter(|it| it.method.is_proof());
        let proof = proofs.find(|it| it.claim != Claim::Feasible);
        proof.map(|it| it.method)
    }
}

/// What to look for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The patterns of anomalies, data races apart.
    pub patterns: Vec<Pattern>,
    /// Entries of functions whose calls are meant to be atomic.
    pub marked: Vec<SiteId>,
    /// Kept events that the solver looks at together.
    pub window: usize,
    /// Most predictions for which a schedule is guessed, of those that are suspected and of the others.
    pub guesses: usize,
    /// Orders to other instances of what is proved that are looked for besides. Where a program is to follow
    /// them it may do so in one instance and not in another, and only one may have consequences.
    pub alternatives: usize,
    /// When to stop looking for proofs.
    pub until: Option<Instant>,
    /// Asked now and then: whether to stop at once.
    pub is_over: fn() -> bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patterns: patterns::builtin::unserialisable(),
            marked: Vec::new(),
            window: maximal::SIZE,
            guesses: 400,
            alternatives: 0,
            until: None,
            is_over: || false,
        }
    }
}

impl Options {
    fn patience(&self) -> Patience {
        Patience {
            until: self.until,
            is_over: self.is_over,
        }
    }
}

/// What a run implies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicted {
    /// The bugs: what is only suspected last, proved ones first.
    pub predictions: Vec<Prediction>,
    /// What was left unexplored.
    pub notes: Vec<String>,
}

/// A run to predict from.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Its events.
    pub events: &'a [Event],
    /// How reads are justified: by values, where the trace has them.
    pub rule: ReadRule,
    /// Orders that it shows only by what threads saw; see [`raddle_judge::Recording::hidden_orders`].
    pub hidden: &'a [(EventIndex, EventIndex)],
    /// Parts of its threads that are meant to be atomic, besides calls of marked functions.
    pub atomic: &'a [Stretch],
    /// Whether an event is of interest where intentions count: anomalies of atomicity are.
    pub is_own: &'a dyn Fn(EventIndex) -> bool,
    /// Which reads may find other values, if the program's code is known.
    pub relaxation: Option<Relaxation<'a>>,
}

/// What lets reads find other values than they found.
#[derive(Clone, Copy)]
pub struct Relaxation<'a> {
    /// The reads that decide nothing.
    pub leeway: &'a Arc<Leeway>,
    /// Whether an order stands up to the judge, who executes threads again by [`ReadRule::Relaxed`].
    pub accepts: &'a Accepts<'a>,
}

/// Judges the order that begins with so many events of the trace and goes on as the witness does.
pub type Accepts<'a> = dyn Fn(usize, &Witness) -> bool + 'a;

/// The bugs of a run.
///
/// # Errors
/// If the trace cannot be viewed.
pub fn predict(run: Run<'_>, options: &Options) -> Result<Predicted, BadTrace> {
    let mut predicted = analyse(run, options, Guesses::All)?;
    let is_unproved = predicted.predictions.iter().any(|it| !it.is_proved());
    if is_unproved && !options.patience().is_over() {
        for prediction in abridge::analyse(run, options)? {
            add_guess(&mut predicted.predictions, prediction);
        }
    }
    let predictions = &mut predicted.predictions;
    predictions.sort_by_key(|it| rank(it.weight, it.is_proved(), &it.kind));
    Ok(predicted)
}

/// Another order to where a schedule leads, which keeps to some orders of the trace besides: those that a
/// program which left the schedule seems to depend on. None if the solver finds none, or did not find the
/// schedule either.
///
/// # Errors
/// If the trace cannot be viewed.
pub fn again(
    run: Run<'_>,
    options: &Options,
    schedule: &Schedule,
    kept: &[(EventIndex, EventIndex)],
) -> Result<Option<Schedule>, BadTrace> {
    match schedule.method {
        Method::Pecan => Ok(None),
        Method::Abridged => abridge::again(run, options, schedule, kept),
        _ => reach_again(run, options, schedule, kept),
    }
}

/// Another order on the whole of a run.
pub(crate) fn reach_again(
    run: Run<'_>,
    options: &Options,
    schedule: &Schedule,
    kept: &[(EventIndex, EventIndex)],
) -> Result<Option<Schedule>, BadTrace> {
    let view = view(run, options)?;
    let hidden = [run.hidden, kept].concat();
    let run = Run {
        hidden: &hidden,
        ..run
    };
    // It is asked for while predictions are tried, when the time for proofs is over.
    let patience = Patience {
        until: None,
        ..options.patience()
    };
    let search = SyncPreserving::new(&view);
    let mut provers = Provers::new(&view, &search, run, options.window, patience);
    let found = provers.solve(&schedule.goal, &schedule.claim);
    Ok(found.map(|(method, order)| Schedule {
        method,
        order: order.into(),
        ..schedule.clone()
    }))
}

/// Adds what the user's own code alone makes likely.
fn add_guess(predictions: &mut Vec<Prediction>, guess: Prediction) {
    let known = predictions
        .iter_mut()
        .find(|it| it.kind == guess.kind && it.events == guess.events);
    match known {
        Some(known) if known.is_proved() => {}
        Some(known) => {
            known.schedules.splice(0..0, guess.schedules);
        }
        None => predictions.push(guess),
    }
}

/// All analyses of a run.
pub(crate) fn analyse(
    run: Run<'_>,
    options: &Options,
    guesses: Guesses,
) -> Result<Predicted, BadTrace> {
    let began = Instant::now();
    let view = view(run, options)?;
    let clocks = Clocks::must_order(&view, |edge| edge.kind.is_certain());
    let search = SyncPreserving::new(&view);
    let mut suspects = Suspects::new(&view, &clocks, &search);
    let patience = options.patience();
    suspects.add_races(patience, options.alternatives > 0);
    suspects.add_matches(&options.patterns, run, patience);
    suspects.add_deadlocks(run.events);
    let limits = memory::Limits::default();
    suspects.add(memory::candidates(&view, run.events, &clocks, limits));
    let Suspects {
        mut cases,
        mut notes,
        ..
    } = suspects;
    // The solver's windows go forward.
    cases.sort_by_key(Case::start);
    let provers = Provers::new(&view, &search, run, options.window, patience);
    notes.extend(Proving::new(&view, provers, patience).prove(&mut cases, options.alternatives));
    // Guesses are cheap, and what nobody had the time to prove needs them most: they get some time more.
    let until = options.until;
    let until = until.map(|it| it + it.saturating_duration_since(began) / 2);
    let patience = Patience { until, ..patience };
    cases.sort_by_key(Case::rank);
    let guesser = Guesser::new(&view, &clocks);
    let mut left = [options.guesses; 2];
    for case in &mut cases {
        let left = &mut left[usize::from(case.weight == Weight::Suspicion)];
        if guesses.want(case) && *left > 0 && !patience.is_over() {
            *left -= 1;
            case.guess(&guesser);
        }
    }
    let predictions = cases.into_iter().map(Case::told).collect();
    Ok(Predicted { predictions, notes })
}

fn view(run: Run<'_>, options: &Options) -> Result<View, BadTrace> {
    View::with_marked(run.events, options.marked.iter().copied())
}
