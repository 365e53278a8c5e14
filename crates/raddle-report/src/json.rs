//! Reports for machines: one JSON object, version 1.
//!
//! The object's shape is a promise: keys, their order and their words stay as they are within a version.

use std::path::Path;

use serde::Serialize;

use crate::finding::{Finding, Location, Report};

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
    status: &'a str,
    severity: &'a str,
    proved_by: &'a str,
    consequence: &'a str,
    locations: Vec<Place<'a>>,
    instances: u64,
    input: Option<String>,
    clip: Option<String>,
    replay: Option<&'a str>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    thread: String,
    access: &'a str,
}

/// The report as one object, indented, with a newline at the end. Without `all` only confirmed bugs are in it, or, of
/// a trace alone, predicted ones.
#[must_use]
pub fn to_json(report: &Report, all: bool) -> String {
    let object = Object {
        version: VERSION,
        program: &report.program,
        instrumented: Instrumented {
            functions: report.instrumented.functions,
            sites: report.instrumented.sites,
        },
        runs: report.runs,
        events: report.events,
        findings: report.told(all).map(item).collect(),
        unconfirmed: report.unconfirmed,
        notes: &report.notes,
    };
    let mut text = serde_json::to_string_pretty(&object)
        .expect("structs of texts and numbers can be written as JSON");
    text.push('\n');
    text
}

fn item(finding: &Finding) -> Item<'_> {
    Item {
        id: &finding.id,
        kind: finding.kind.name(),
        status: finding.status.name(),
        severity: finding.severity.name(),
        proved_by: &finding.proved_by,
        consequence: finding.consequence.name(),
        locations: finding.locations.iter().map(place).collect(),
        instances: finding.instances,
        input: finding.input.as_deref().map(path),
        clip: finding.clip.as_deref().map(path),
        replay: finding.replay.as_deref(),
    }
}

fn place(location: &Location) -> Place<'_> {
    Place {
        file: &location.position.file,
        line: location.position.line,
        column: location.position.column,
        function: &location.position.function,
        thread: location.thread.to_string(),
        access: location.access.name(),
    }
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
