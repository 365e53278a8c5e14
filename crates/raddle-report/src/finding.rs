//! A finding with all that is known of it, and the report that findings come in.

use std::path::PathBuf;

use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::outcome::Outcome;
use raddle_trace::position::{SourcePosition, Variable};

use crate::kind::{Access, Consequence, Kind, Severity, Status};

/// What one command found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The program, as the user called it.
    pub program: String,
    /// How much of it is instrumented.
    pub instrumented: Instrumented,
    /// Runs of the program, replays included.
    pub runs: u64,
    /// Events of the runs that were analysed.
    pub events: u64,
    /// Whether only a trace was looked at: then no run confirms anything, and what the judge accepted is told.
    pub offline: bool,
    /// Whether the user ended the check before its time.
    pub interrupted: bool,
    /// Whether a run that was repeated went another way, so that what it showed is not told.
    pub unsteady: bool,
    /// What was found, as [`merge`](crate::merge()) leaves it.
    pub findings: Vec<Finding>,
    /// Predictions that no run has confirmed, whether or not they are among the findings.
    pub unconfirmed: u64,
    /// What the reader should know besides, such as what was left unexplored.
    pub notes: Vec<String>,
}

/// Which findings are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// Bugs that are confirmed, or, of a trace alone, proved.
    #[default]
    Bugs,
    /// Warnings, and bugs that no run has confirmed, too.
    Warnings,
    /// Suspicions as well that no run has shown.
    Everything,
}

/// How much of a program is instrumented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instrumented {
    /// Functions.
    pub functions: u64,
    /// Instructions in them.
    pub sites: u64,
}

/// One anomaly, found in one or more places of one or more runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name in this report: `R1`. [`merge`](crate::merge()) gives it.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// How sure it is.
    pub status: Status,
    /// How bad it is.
    pub severity: Severity,
    /// The analysis that proved it possible.
    pub proved_by: String,
    /// What the program came to when it happened.
    pub consequence: Consequence,
    /// The accesses that make it up, in the order in which they happen.
    pub locations: Vec<Location>,
    /// How many times it was found.
    pub instances: u64,
    /// The number of the run that showed it first, 1 for the undisturbed one, where runs have numbers.
    pub first_run: Option<u64>,
    /// How the threads of that run were chosen: `strategy pct depth 3, seed 7`.
    pub found_by: Option<String>,
    /// The input that leads to it, where it isn't the given one.
    pub input: Option<PathBuf>,
    /// The schedule that leads to it.
    pub clip: Option<PathBuf>,
    /// The command that replays it.
    pub replay: Option<String>,
    /// The interleaving, a few moments of it.
    pub story: Vec<Moment>,
    /// The words with which the program failed.
    pub outcome_text: Option<String>,
    /// Where it ended like that.
    pub outcome_at: Option<SourcePosition>,
    /// Ids of findings at the same places; [`merge`](crate::merge()) finds them. Only for the terminal.
    pub siblings: Vec<String>,
}

/// One access of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Where the user should look.
    pub position: SourcePosition,
    /// Who.
    pub thread: ThreadId,
    /// What it does there.
    pub access: Access,
    /// The name of what it does it to.
    pub variable: Option<String>,
    /// The type whose member that is.
    pub owner: Option<String>,
    /// Where in a package that the user's code called, if it is there: the innermost such position.
    pub inside: Option<SourcePosition>,
    /// The position and the calls that led there, innermost first, library code included.
    pub stack: Vec<SourcePosition>,
    /// What else matters: `holds mutex 0x10`.
    pub note: Option<String>,
}

/// A step of an interleaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub position: SourcePosition,
    /// What happens, in a few words: "reads `balance` (100)".
    pub what: String,
    /// The value that is met or left.
    pub value: Option<u64>,
    /// Its place among the events of the trace that the finding is told by: the one beside its clip, or the one that was
    /// predicted from.
    pub event: Option<EventIndex>,
}

impl Report {
    /// Whether a bug was confirmed, or of a trace alone, proved: what decides about the exit code.
    #[must_use]
    pub fn has_bugs(&self) -> bool {
        self.findings.iter().any(|it| self.is_sure_bug(it))
    }

    /// The findings to be told.
    pub(crate) fn told(&self, told: Told) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(move |it| match told {
            Told::Bugs => self.is_sure_bug(it),
            Told::Warnings => !self.is_suspicion(it),
            Told::Everything => true,
        })
    }

    /// Whether a finding is a bug only if a run fails because of it, and no run has shown it at all.
    pub(crate) fn is_suspicion(&self, finding: &Finding) -> bool {
        let is_shown = self.offline || finding.status == Status::Confirmed;
        !is_shown && finding.severity == Severity::Warning
    }

    /// Whether a finding is a bug that was confirmed, or that could not be because no program was run.
    pub(crate) fn is_sure_bug(&self, finding: &Finding) -> bool {
        finding.severity == Severity::Bug && (self.offline || finding.status == Status::Confirmed)
    }
}

impl Finding {
    /// A predicted bug of this kind, seen once, of which nothing else is known.
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self {
            id: String::new(),
            kind,
            status: Status::Predicted,
            severity: Severity::Bug,
            proved_by: String::new(),
            consequence: Consequence::None,
            locations: Vec::new(),
            instances: 1,
            first_run: None,
            found_by: None,
            input: None,
            clip: None,
            replay: None,
            story: Vec::new(),
            outcome_text: None,
            outcome_at: None,
            siblings: Vec::new(),
        }
    }

    /// Says what the program came to when it happened; nothing, if it ended as usual.
    pub fn set_outcome(&mut self, outcome: Option<&Outcome>) {
        self.consequence = outcome.map_or(Consequence::None, |it| it.ending.into());
        self.outcome_text = outcome.map(|it| it.message.clone());
        self.outcome_at = outcome.and_then(|it| it.position.clone());
    }

    /// Whether it is a bug that the real program has shown.
    #[must_use]
    pub fn is_confirmed_bug(&self) -> bool {
        self.status == Status::Confirmed && self.severity == Severity::Bug
    }
}

impl Location {
    /// Says what it does it to.
    pub fn set_variable(&mut self, variable: &Variable) {
        self.variable = Some(variable.name.clone());
        self.owner.clone_from(&variable.owner);
    }

    /// A location of which nothing else is known.
    #[must_use]
    pub const fn new(thread: ThreadId, access: Access, position: SourcePosition) -> Self {
        Self {
            position,
            thread,
            access,
            variable: None,
            owner: None,
            inside: None,
            stack: Vec::new(),
            note: None,
        }
    }
}
