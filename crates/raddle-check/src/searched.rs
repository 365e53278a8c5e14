//! What a search came to, as a report: failing runs and data races, told as `check` tells them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use raddle_predict::predictor::Weight;
use raddle_predict::races::Code;
use raddle_report::{Finding, Kind, Report, Signature, merge, signature};
use raddle_run::Error;
use raddle_run::explore::{self, Explored, STEPWISE};
use raddle_run::program::Program;

use crate::bench::Bench;
use crate::cause::Explained;
use crate::clips::Clips;
use crate::describe;
use crate::failures::{Found, Unexplained};
use crate::memory::{Budget, Scarce};
use crate::search_races;

/// What a search came to.
pub struct Searched {
    /// What was found.
    pub report: Report,
    /// How many data races were confirmed.
    pub races: usize,
    /// Whether every run that failed, or showed a data race, did so again when it was repeated.
    pub repeats: bool,
}

/// Confirms what a search has found, and keeps its clips. Failing schedules are shortened and explained for as long as
/// `explain` says, or kept as they are; all within the `budget` of memory.
///
/// # Errors
/// If the program cannot be run, or a file cannot be written.
pub fn report(
    program: &Program,
    explored: &Explored,
    clips: &Clips<'_>,
    explain: Option<Duration>,
    mut budget: Budget,
) -> Result<Searched, Error> {
    budget.learn_process(explored.memory);
    let mut program = program.clone();
    program.most_events = budget.events();
    let program = &program;
    let races = search_races::confirm(program, &explored.sightings, clips)?;
    let mut repeats = races.unrepeated == 0;
    let mut report = Report {
        program: program.name(),
        runs: explored.runs,
        events: explored.ticks,
        interrupted: explored.interrupted,
        ..Report::default()
    };
    report.notes.extend(
        races
            .passed_over
            .note(program.most_events, Scarce::Memory(budget)),
    );
    report.notes.extend(budget.note());
    if !repeats {
        report.notes.push(search_races::UNREPEATED.to_owned());
    }
    let mut found: BTreeMap<Signature, Found> = BTreeMap::new();
    found.extend(races.findings.into_iter().map(|finding| {
        let found = Found {
            weight: Weight::Bug,
            failure: None,
            finding,
        };
        (signature(&found.finding), found)
    }));
    // The model is read only if there are failures that a race may explain.
    let mut code = match found.is_empty() || explored.findings.is_empty() {
        true => None,
        false => program.model().map(Code::new),
    };
    let mut findings = Vec::new();
    for failed in &explored.findings {
        let mut bench = Bench::new(program)?;
        bench.allow_for(&failed.result);
        // The first run is undisturbed: what it fails by comes of no order of threads.
        let may_explain = explain.is_some() && failed.run > 1;
        if let Some(time) = explain {
            bench = bench.until(Instant::now() + time);
        }
        let unexplained = unexplained(failed);
        let explained = Explained::new(&mut bench, clips, &unexplained, may_explain)?;
        report.runs += bench.runs();
        let Some(explained) = explained else {
            report.notes.push(unexplained.unrepeated());
            repeats = false;
            continue;
        };
        if !explained.attach(&mut found, code.as_mut()) {
            findings.push(Finding {
                first_run: Some(failed.run),
                found_by: Some(strategy(failed)),
                ..explained.finding()
            });
        }
    }
    findings.extend(found.into_values().map(|it| it.finding));
    report.findings = merge(findings);
    for finding in &mut report.findings {
        finding.input = describe::input(program).cloned();
    }
    clips.settle(&report.findings)?;
    let races = report.findings.iter();
    let races = races.filter(|it| it.kind == Kind::DataRace).count();
    Ok(Searched {
        report,
        races,
        repeats,
    })
}

fn unexplained(failed: &explore::Finding) -> Unexplained {
    let mut plan = failed.plan.clone();
    plan.inputs.clone_from(&failed.result.inputs);
    Unexplained {
        ways: vec![(plan, failed.result.switches.clone())],
        failure: failed.failure.clone(),
        instances: failed.instances,
    }
}

/// How the threads of a run were chosen: `strategy pct depth 3, seed 7`.
fn strategy(failed: &explore::Finding) -> String {
    let label = &failed.plan.label;
    let parameters = label.parameters.iter();
    let parameters: String = parameters
        .filter(|(name, _)| name != STEPWISE)
        .map(|(name, value)| format!(" {name} {value}"))
        .collect();
    format!(
        "strategy {}{parameters}, seed {}",
        label.name, failed.plan.seed
    )
}
