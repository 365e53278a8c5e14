//! Runs a schedule again and says whether it went the same way.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use raddle_trace::clip::Clip;
use raddle_trace::diff::{self, Difference};
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::ids::ThreadId;
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::schedule::Switch;
use raddle_trace::wire::{self, DivergenceKind, InputCall, StrategyKind, ThreadState};

use crate::error::Error;
use crate::explore::STEPWISE;
use crate::launch::{Plan, RunResult, launch};
use crate::outcome::Failure;
use crate::program::Program;
use crate::symbols::interesting;

/// A run that was made again.
#[derive(Debug)]
pub struct Replayed {
    /// What came of it.
    pub result: RunResult,
    /// In what it differs from the first.
    pub mismatch: Option<Mismatch>,
    /// Whether every event was compared, and not only the outcome.
    pub compared: bool,
}

/// The first thing in which a replay differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It could not follow the schedule.
    Schedule {
        /// Where.
        divergence: wire::Divergence,
        /// Switches in the schedule.
        switches: usize,
    },
    /// An event is another.
    Event(Difference),
    /// It ended differently.
    Outcome {
        /// What was expected.
        expected: Outcome,
        /// What came.
        came: Outcome,
    },
}

/// The plan that repeats a run which made these switches.
pub fn plan(original: &Plan, switches: &[Switch]) -> Plan {
    Plan {
        clock: original.clock,
        step: original.step,
        schedule: switches.iter().map(|it| wire::Switch::from(*it)).collect(),
        most_ticks: original.most_ticks,
        label: original.label.clone(),
        inputs: original.inputs.clone(),
        ..Plan::new(StrategyKind::Replay, original.seed)
    }
}

/// The plan that a clip describes.
pub fn clip_plan(clip: &Clip) -> Plan {
    let mut parameters = clip.run.strategy.parameters.iter();
    Plan {
        clock: clip.run.clock,
        step: parameters.any(|(name, _)| name == STEPWISE),
        schedule: Arc::from_iter(clip.switches.iter().map(|it| wire::Switch::from(*it))),
        label: clip.run.strategy.clone(),
        ..Plan::new(StrategyKind::Replay, clip.run.seed)
    }
}

/// The text of a clip, with what each thread was about to do where the tables of its run know it.
pub fn print_clip(clip: &Clip, tables: Option<&Trailer>) -> String {
    clip.print_with(|switch| {
        let site = tables?.site(switch.site?)?;
        let position = interesting(&site.positions, &tables?.packages)?;
        let variable = site.variable.as_ref().map_or("", |it| &it.name);
        let note = format!("before {} {variable}", position.short());
        Some(note.trim_end().to_owned())
    })
}

/// Follows a plan's schedule. Compares the outcome with the expected one, and, if the plan is
/// recorded and there is an original trace, every event.
///
/// # Errors
/// If the program cannot be run or a trace cannot be read.
pub fn replay(
    program: &Program,
    plan: &Plan,
    expected: Option<&Outcome>,
    original: Option<&Path>,
) -> Result<Replayed, Error> {
    let result = launch(program, plan)?;
    let schedule =
        (result.head.divergence.kind != DivergenceKind::None as u32).then(|| Mismatch::Schedule {
            divergence: result.head.divergence,
            switches: plan.schedule.len(),
        });
    // A run that the launcher cut ends at an event of no meaning.
    let cut = result.cut.is_some();
    let traces = original.zip(plan.record.as_ref()).filter(|_| !cut);
    let event = match traces {
        Some((original, again)) => compare_events(original, &again.path)?,
        None => None,
    };
    let outcome = expected.and_then(|it| compare_outcomes(it, result.failure.as_ref()));
    Ok(Replayed {
        // The first event that differs says most; a schedule goes wrong because of one.
        mismatch: event.map(Mismatch::Event).or(schedule).or(outcome),
        compared: traces.is_some(),
        result,
    })
}

fn compare_events(original: &Path, again: &Path) -> Result<Option<Difference>, Error> {
    let mut expected = TraceReader::open(original).map_err(Error::reading(original))?;
    let mut actual = TraceReader::open(again).map_err(Error::reading(again))?;
    let passed = expected.pass_common(&mut actual);
    passed.map_err(Error::reading(original))?;
    diff::first_difference(expected.next_index(), expected, actual)
        .map_err(Error::reading(original))
}

fn compare_outcomes(expected: &Outcome, failure: Option<&Failure>) -> Option<Mismatch> {
    let same = match failure {
        Some(failure) => failure.is_like(expected),
        None => matches!(expected.ending, Ending::Success | Ending::Exit(0)),
    };
    let success = Outcome::new(Ending::Success);
    let came = failure.map_or(success, |it| it.outcome.clone());
    (!same).then(|| Mismatch::Outcome {
        expected: expected.clone(),
        came,
    })
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Event(difference) => difference.fmt(f),
            Mismatch::Outcome { expected, came } => write!(
                f,
                "expected {}, came {}",
                describe(expected),
                describe(came)
            ),
            Mismatch::Schedule {
                divergence,
                switches,
            } => describe_divergence(f, divergence, *switches),
        }
    }
}

fn describe(outcome: &Outcome) -> String {
    let mut text = outcome.ending.to_string();
    if let Some(thread) = outcome.thread {
        text.push_str(&format!(" in {thread}"));
    }
    if let Some(position) = &outcome.position {
        text.push_str(&format!(" at {position}"));
    }
    text
}

fn describe_divergence(
    f: &mut fmt::Formatter<'_>,
    it: &wire::Divergence,
    switches: usize,
) -> fmt::Result {
    let thread = ThreadId(it.thread);
    write!(f, "at switch {} of {switches}: ", it.switch + 1)?;
    match DivergenceKind::from_u32(it.kind) {
        Some(DivergenceKind::StoppedEarly) => write!(
            f,
            "{thread} was to run up to its event {}, but blocked or ended at its event {}",
            it.expected, it.actual
        ),
        Some(DivergenceKind::NotEnabled) => {
            let state = u32::try_from(it.actual)
                .ok()
                .and_then(ThreadState::from_u32);
            let state = match state {
                Some(ThreadState::Blocked) => "is blocked",
                Some(ThreadState::Ended) => "has ended",
                Some(ThreadState::None) => "has not started",
                Some(ThreadState::Spinning) => "spins",
                Some(ThreadState::Sleeping) => "sleeps",
                _ => "is outside the scheduler",
            };
            write!(f, "{thread} was to go on, but {state}")
        }
        Some(DivergenceKind::NoSuchThread) => write!(
            f,
            "T{} was to go on, but there are only {} threads",
            it.expected, it.actual
        ),
        Some(DivergenceKind::Input) => {
            let name = |call| InputCall::from_number(call).map_or("nothing", InputCall::name);
            write!(
                f,
                "{thread} asked for {} where it had asked for {}",
                name(it.actual),
                name(it.expected)
            )
        }
        Some(DivergenceKind::WrongThread) => write!(
            f,
            "T{} was to stop, but T{} was running",
            it.expected, it.actual
        ),
        _ => write!(f, "the schedule ended before the program did"),
    }
}
