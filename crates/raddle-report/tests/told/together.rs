//! Several findings in one report.

use raddle_report::{Consequence, Finding, Kind, Options, Severity, Status, Told, json, terminal};

use crate::examples::*;
use crate::{check_terminal, directory, options};

/// A race, an atomicity violation at its places, a warning, a deadlock and a prediction.
pub fn mixed() -> raddle_report::Report {
    let warning = Finding {
        severity: Severity::Warning,
        locations: deadlock().locations,
        ..bug(Kind::AtomicSetViolation, Vec::new())
    };
    let predicted = Finding {
        status: Status::Predicted,
        clip: None,
        replay: None,
        locations: atomicity().locations[..2].to_vec(),
        ..bug(Kind::DataRace, Vec::new())
    };
    let mut report = report(vec![atomicity(), predicted, deadlock(), warning, race()]);
    report.unconfirmed = 3;
    report.notes = vec![
        "2 of 7 windows were left unexplored for time; a larger --time would look at them too, and so would fewer threads".into(),
    ];
    report
}

#[test]
fn siblings_are_told_together() {
    let directory = directory(&[("bank.rs", BANK.as_bytes())]);
    check_terminal("mixed.txt", &mixed(), &options(directory.path()));
}

#[test]
fn all_is_shown_on_request() {
    let directory = directory(&[("bank.rs", BANK.as_bytes())]);
    let options = Options {
        told: Told::Everything,
        ..options(directory.path())
    };
    check_terminal("mixed_all.txt", &mixed(), &options);
}

/// What a trace alone implies: a race, a deadlock and a warning.
fn offline() -> raddle_report::Report {
    let predicted = |finding| Finding {
        status: Status::Predicted,
        consequence: Consequence::None,
        outcome_text: None,
        clip: None,
        replay: None,
        ..finding
    };
    let warning = Finding {
        severity: Severity::Warning,
        ..predicted(atomicity())
    };
    let mut report = report(vec![predicted(race()), warning, predicted(deadlock())]);
    report.offline = true;
    report.runs = 1;
    report.unconfirmed = 5;
    report
}

#[test]
fn of_a_trace_alone_predictions_are_told() {
    let directory = directory(&[("bank.rs", BANK.as_bytes())]);
    let report = offline();
    check_terminal("offline.txt", &report, &options(directory.path()));
    assert!(report.has_bugs(), "what is proved is found");
    let kinds = |told| {
        let object: serde_json::Value =
            serde_json::from_str(&json::to_json(&report, told)).unwrap();
        let findings = object["findings"].as_array().unwrap().clone();
        findings
            .iter()
            .map(|it| format!("{} {}", it["kind"], it["status"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    let bugs = ["data-race predicted", "deadlock predicted"];
    assert_eq!(kinds(Told::Bugs), bugs);
    assert_eq!(kinds(Told::Everything).len(), 3);
}

#[test]
fn nothing_is_lost_that_was_not_merged() {
    let mut report = report(Vec::new());
    report.findings = vec![race(), deadlock(), race()];
    let text = terminal::plain(&report, &options("/nowhere".as_ref()));
    assert_eq!(text.matches("bug[]: ").count(), 3, "{text}");
}

#[test]
fn nothing_found() {
    let options = options("/nowhere".as_ref());
    let mut report = report(Vec::new());
    check_terminal("nothing.txt", &report, &options);
    report.unconfirmed = 1;
    report.runs = 1;
    check_terminal("nothing_confirmed.txt", &report, &options);
    assert!(!report.has_bugs());
    assert!(mixed().has_bugs());
}

#[test]
fn a_long_story_is_cut_in_its_middle() {
    let position = at("bank.rs", 7, 20, "f");
    let story = (0..100).map(|it| moment(it % 2, position.clone(), &format!("step {it}")));
    let finding = Finding {
        story: story.collect(),
        locations: Vec::new(),
        ..race()
    };
    check_terminal(
        "long_story.txt",
        &report(vec![finding]),
        &options("/nowhere".as_ref()),
    );
}
