//! Reports for machines: one JSON object, version 1.
//!
//! The object's shape is a promise: within a version keys keep their meaning and their words. New ones may come.

use std::path::Path;

use raddle_trace::position::SourcePosition;
use serde::Serialize;

use crate::finding::{Finding, Location, Moment, Report, Told};
use crate::headline::headline;

/// The version that the object names. A key that changes its meaning or goes away makes a new one.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    program: &'a str,
    instrumented: Instrumented,
    runs: u64,
    events: u64,
    findings: Vec<Item<'a>>,
    unconfirmed: u64,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Instrumented {
    functions: u64,
    sites: u64,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    kind: String,
    headline: String,
    status: &'a str,
    severity: &'a str,
    proved_by: &'a str,
    consequence: &'a str,
    message: Option<&'a str>,
    locations: Vec<Place<'a>>,
    interleaving: Vec<Step<'a>>,
    instances: u64,
    first_run: Option<u64>,
    found_by: Option<&'a str>,
    siblings: &'a [String],
    input: Option<String>,
    clip: Option<String>,
    /// The recording of the clip's run, whose events the interleaving names.
    trace: Option<String>,
    replay: Option<&'a str>,
}

#[derive(Serialize)]
struct Place<'a> {
    #[serde(flatten)]
    at: Frame<'a>,
    thread: String,
    access: &'a str,
    variable: Option<&'a str>,
    /// The type whose member the variable is.
    owner: Option<&'a str>,
    note: Option<&'a str>,
    /// Where in a package that this line calls.
    inside: Option<Frame<'a>>,
    /// Calls that led there, innermost first, library code included.
    stack: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
}

#[derive(Serialize)]
struct Step<'a> {
    thread: String,
    #[serde(flatten)]
    at: Frame<'a>,
    what: &'a str,
    value: Option<u64>,
    event: Option<u64>,
}

/// The report as one object, indented, with a newline at the end. It holds the findings that `told` says.
#[must_use]
pub fn to_json(report: &Report, told: Told) -> String {
    let directory = std::env::current_dir().unwrap_or_default();
    let object = Object {
        version: VERSION,
        program: &report.program,
        instrumented: Instrumented {
            functions: report.instrumented.functions,
            sites: report.instrumented.sites,
        },
        runs: report.runs,
        events: report.events,
        findings: report.told(told).map(|it| item(it, &directory)).collect(),
        unconfirmed: report.unconfirmed,
        notes: &report.notes,
    };
    let mut text = serde_json::to_string_pretty(&object)
        .expect("structs of texts and numbers can be written as JSON");
    text.push('\n');
    text
}

fn item<'a>(finding: &'a Finding, directory: &Path) -> Item<'a> {
    let clip = finding.clip.as_deref();
    Item {
        id: &finding.id,
        kind: finding.kind.name(),
        headline: headline(finding, directory),
        status: finding.status.name(),
        severity: finding.severity.name(),
        proved_by: &finding.proved_by,
        consequence: finding.consequence.name(),
        message: finding.outcome_text.as_deref(),
        locations: finding.locations.iter().map(place).collect(),
        interleaving: finding.story.iter().map(step).collect(),
        instances: finding.instances,
        first_run: finding.first_run,
        found_by: finding.found_by.as_deref(),
        siblings: &finding.siblings,
        input: finding.input.as_deref().map(path),
        clip: clip.map(path),
        trace: clip.map(|it| path(&it.with_extension("trace"))),
        replay: finding.replay.as_deref(),
    }
}

fn place(location: &Location) -> Place<'_> {
    Place {
        at: frame(&location.position),
        thread: location.thread.to_string(),
        access: location.access.name(),
        variable: location.variable.as_deref(),
        owner: location.owner.as_deref(),
        note: location.note.as_deref(),
        inside: location.inside.as_ref().map(frame),
        stack: location.stack.iter().map(frame).collect(),
    }
}

fn step(moment: &Moment) -> Step<'_> {
    Step {
        thread: moment.thread.to_string(),
        at: frame(&moment.position),
        what: &moment.what,
        value: moment.value,
        event: moment.event.map(|it| it.0),
    }
}

fn frame(position: &SourcePosition) -> Frame<'_> {
    Frame {
        file: &position.file,
        line: position.line,
        column: position.column,
        function: &position.function,
    }
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
