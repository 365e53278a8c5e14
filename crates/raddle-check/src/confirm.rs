//! Makes the real program do what was predicted.
//!
//! A prediction comes with orders of events that should lead there. Each becomes a guide; behind the
//! claimed place it may go on in several ways, which are tried until one makes the program fail. What
//! counts is what the run shows, not how well it followed the guide.

use raddle_judge::Claim;
use raddle_predict::predictor::{Kind, Method, Prediction, Schedule, Weight};
use raddle_predict::view::BadTrace;
use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_trace::ids::EventIndex;

use crate::bench::{Bench, Ran};
use crate::coincidence;
use crate::divergence::Followed;
use crate::guide::{Alignment, Guide, Numbering, Step, Until};
use crate::minimise::minimise;
use crate::observe::{Evidence, Guided, Sought};
use crate::timeline::Timeline;

/// A run that shows a prediction.
#[derive(Debug)]
pub struct Shown {
    /// The guide that led there.
    pub guide: Guide,
    /// What its threads are called.
    pub numbering: Numbering,
    /// The run.
    pub ran: Ran,
    /// By what it shows it.
    pub evidence: Evidence,
    /// How the order was found.
    pub method: Method,
    /// What it claims.
    pub claim: Claim,
    /// The events of the recorded run that come last on the way there; see [`Sought::then`].
    pub then: Vec<EventIndex>,
    /// The events of the recorded run by which it is told.
    pub events: Vec<EventIndex>,
}

impl Shown {
    /// What it shows.
    #[must_use]
    pub fn sought<'a>(&'a self, kind: &'a Kind) -> Sought<'a> {
        Sought {
            kind,
            claim: &self.claim,
            then: &self.then,
        }
    }
}

/// What came of a prediction.
#[derive(Debug, Default)]
pub struct Tried {
    /// A run that shows it, if one did: one that fails if there is one.
    pub shown: Option<Shown>,
    /// A run that failed without showing it.
    pub surprise: Option<Ran>,
    /// Whether the run that shows it fails, and so does one in the same order but for what is claimed.
    pub is_coincidence: bool,
    /// Whether a run came to the claimed place and showed that nothing is wrong there.
    pub is_refuted: bool,
}

/// Asks for another order to where a schedule leads, one that keeps to these orders of the recorded run.
pub type Again<'a> = dyn Fn(&Schedule, &[(EventIndex, EventIndex)]) -> Result<Option<Schedule>, BadTrace>
    + Sync
    + 'a;

/// What a confirmed finding says of the method that found its order. An order of events that happens-before leaves
/// unordered was found by keeping critical sections in order, and a run showed the moment; `happens-before` is what
/// is said of races that need no such moment. What was found in a run that was thinned was found in an abridged one.
pub(crate) fn method_name(method: Method, recorded: &Timeline<'_>) -> &'static str {
    let method = match method {
        proof if proof.is_proof() && recorded.has_gaps() => Method::Abridged,
        Method::HappensBefore => Method::SyncPreserving,
        other => other,
    };
    method.name()
}

/// How often another order is asked for, when the program did not follow one.
const MOST_ORDERS: usize = 3;

/// Tries a prediction, and makes a guide that shows a bug as short as it can be.
///
/// # Errors
/// If the program cannot be run.
pub fn attempt(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    prediction: &Prediction,
    again: &Again<'_>,
) -> Result<Tried, Error> {
    let mut trial = Trial {
        bench,
        model,
        recorded,
        kind: &prediction.kind,
        tried: Tried::default(),
    };
    trial.confirm(prediction, again)?;
    let Trial { bench, tried, .. } = trial;
    let is_clear = |it: &mut Shown| is_bug(prediction, it) && !it.ran.hangs();
    let mut tried = tried;
    let Some(shown) = tried.shown.take_if(is_clear) else {
        return Ok(tried);
    };
    let without = match prediction.weight {
        // It is wrong by itself, and may lead to the same in more than one way.
        Weight::Bug => None,
        Weight::Anomaly | Weight::Suspicion => {
            coincidence::fail_without(bench, model, recorded, &prediction.kind, &shown)?
        }
    };
    tried.is_coincidence = without.is_some();
    tried.shown = Some(match without.is_some() {
        true => shown,
        false => minimise(bench, model, recorded, &prediction.kind, shown)?,
    });
    tried.surprise = tried.surprise.or(without);
    Ok(tried)
}

/// Whether what is shown is a bug, whatever else the program does.
fn is_bug(prediction: &Prediction, shown: &Shown) -> bool {
    prediction.weight == Weight::Bug || shown.ran.failure().is_some()
}

/// A prediction that is being tried.
struct Trial<'a> {
    bench: &'a mut Bench,
    model: &'a Plan,
    recorded: &'a Timeline<'a>,
    kind: &'a Kind,
    tried: Tried,
}

impl Trial<'_> {
    /// Tries the orders of a prediction, one after another, until a run shows it.
    fn confirm(&mut self, prediction: &Prediction, again: &Again<'_>) -> Result<(), Error> {
        for schedule in &prediction.schedules {
            let mut kept = Vec::new();
            let mut broken = self.follow(schedule)?;
            for _ in 0..MOST_ORDERS {
                let is_shown = self.tried.shown.is_some();
                if broken.is_empty() || is_shown || self.bench.is_out_of_time() {
                    break;
                }
                kept.append(&mut broken);
                let another = again(schedule, &kept).map_err(Error::runtime)?;
                let Some(another) = another else {
                    break;
                };
                broken = self.follow(&another)?;
            }
            let shown = self.tried.shown.as_ref();
            let is_done = shown.is_some_and(|it| is_bug(prediction, it));
            if is_done || self.bench.is_out_of_time() {
                break;
            }
        }
        Ok(())
    }

    /// Makes the program follow an order, until it fails as predicted. If it never does as predicted, says which
    /// orders it seems to depend on.
    fn follow(&mut self, schedule: &Schedule) -> Result<Vec<(EventIndex, EventIndex)>, Error> {
        let recorded = self.recorded;
        let way = Guide::new(recorded, &schedule.order.to_vec(), &schedule.next);
        let mut broken = None;
        for (at, ending) in endings(recorded, schedule).into_iter().enumerate() {
            if at > 0 && self.bench.is_out_of_time() {
                break;
            }
            let guide = way.clone().then(ending);
            let sought = Sought {
                kind: self.kind,
                claim: &schedule.claim,
                then: &schedule.then,
            };
            let attempt = follow(self.bench, self.model, recorded, &guide, sought)?;
            let Some(attempt) = attempt else {
                continue;
            };
            let fails = attempt.ran.failure().is_some();
            if let Some(evidence) = attempt.evidence {
                let better = |it: &Shown| it.ran.hangs() && !attempt.ran.hangs();
                if fails || self.tried.shown.as_ref().is_none_or(better) {
                    self.tried.shown = Some(Shown {
                        guide,
                        numbering: attempt.numbering,
                        ran: attempt.ran,
                        evidence,
                        method: schedule.method,
                        claim: schedule.claim.clone(),
                        then: schedule.then.clone(),
                        events: schedule.events.clone(),
                    });
                }
                if fails {
                    break;
                }
                continue;
            }
            self.tried.is_refuted |= attempt.refutes;
            broken.get_or_insert_with(|| {
                let followed = Followed {
                    old: recorded,
                    new: &attempt.ran.timeline(),
                    numbering: &attempt.numbering,
                    schedule,
                    private: &self.bench.program().private,
                };
                followed.broken_orders()
            });
            if fails && self.tried.surprise.is_none() {
                self.tried.surprise = Some(attempt.ran);
            }
        }
        Ok(broken.unwrap_or_default())
    }
}

/// A guided run.
pub(crate) struct Attempt {
    pub ran: Ran,
    pub numbering: Numbering,
    /// By what it shows what was sought, if it does.
    pub evidence: Option<Evidence>,
    /// Whether it shows that there is nothing to be sought.
    pub refutes: bool,
}

/// Most runs that it takes to find out when the steps of a guide end.
const MOST_CORRECTIONS: u32 = 6;

/// Runs with a guide to what is sought; none if the guide makes no sense.
pub(crate) fn follow(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    guide: &Guide,
    sought: Sought<'_>,
) -> Result<Option<Attempt>, Error> {
    let made = run_with(bench, model, recorded, guide)?;
    Ok(made.map(|(ran, numbering)| {
        let guided = Guided {
            old: recorded,
            new: &ran.timeline(),
            numbering: &numbering,
            result: &ran.result,
        };
        let evidence = guided.evidence(sought);
        let refutes = guided.refutes(sought.claim);
        Attempt {
            ran,
            numbering,
            evidence,
            refutes,
        }
    }))
}

/// Runs with a guide, again where its steps turn out to end at other times; none if the guide makes no sense.
pub(crate) fn run_with(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    guide: &Guide,
) -> Result<Option<(Ran, Numbering)>, Error> {
    let mut alignment = Alignment::default();
    let mut made = None;
    for _ in 0..=MOST_CORRECTIONS {
        let Some((switches, numbering)) = guide.switches(recorded, &alignment) else {
            break;
        };
        let ran = bench.guided(model, switches)?;
        let guided = Guided {
            old: recorded,
            new: &ran.timeline(),
            numbering: &numbering,
            result: &ran.result,
        };
        let again = alignment.correct(guide, &guided);
        made = Some((ran, numbering));
        if !again || bench.is_out_of_time() {
            break;
        }
    }
    Ok(made)
}

/// The ways in which a run may go on from the claimed place.
fn endings(recorded: &Timeline<'_>, schedule: &Schedule) -> Vec<Vec<Step>> {
    let step = |event: EventIndex, until: Until| Step {
        thread: recorded.event(event).thread,
        until,
    };
    let done = |event: EventIndex| step(event, Until::After(event));
    match &schedule.claim {
        Claim::Race { a, b } => {
            let (a, b) = (*a, *b);
            vec![
                vec![done(a), done(b)],
                vec![done(b), done(a)],
                vec![done(a), done(b), step(a, Until::Stuck)],
                vec![done(b), done(a), step(b, Until::Stuck)],
            ]
        }
        Claim::Unserialisable { events, .. } | Claim::Sequence { events } => {
            let last = events.last().copied();
            let thread = |event: &EventIndex| recorded.event(*event).thread;
            let of_another =
                |event: &&EventIndex| last.is_some_and(|it| thread(event) != thread(&it));
            let other = events.iter().rev().find(of_another);
            let mut ways = vec![Vec::new()];
            ways.extend(other.map(|event| vec![step(*event, Until::Stuck)]));
            ways
        }
        _ => {
            let then = match schedule.then.as_slice() {
                [] => &schedule.next,
                then => then,
            };
            let tried = then.iter().map(|event| step(*event, Until::Stuck));
            vec![tried.collect()]
        }
    }
}
