//! The object for machines.

use raddle_report::{Finding, Kind, Told, json};
use serde_json::Value;

use crate::check;
use crate::examples::*;
use crate::together::mixed;

#[test]
fn the_object() {
    check("mixed.json", &json::to_json(&mixed(), Told::Bugs));
    check("mixed_all.json", &json::to_json(&mixed(), Told::Everything));
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let mut findings = vec![race(), atomicity(), deadlock()];
    let one = json::to_json(&report(findings.clone()), Told::Everything);
    findings.reverse();
    assert_eq!(json::to_json(&report(findings), Told::Everything), one);
}

#[test]
fn it_has_the_promised_shape() {
    let kinds = [
        (Kind::DataRace, "data-race"),
        (Kind::AtomicityViolation, "atomicity-violation"),
        (Kind::AtomicSetViolation, "atomic-set-violation"),
        (Kind::Deadlock, "deadlock"),
        (Kind::UseAfterFree, "use-after-free"),
        (Kind::DoubleFree, "double-free"),
        (Kind::NullDereference, "null-dereference"),
        (Kind::Assertion, "assertion"),
        (Kind::Panic, "panic"),
        (Kind::Crash, "crash"),
        (Kind::Hang, "hang"),
        (Kind::Exit, "exit"),
        (Kind::ScheduleSensitiveBranch, "schedule-sensitive-branch"),
        (
            Kind::Pattern("torn \"config\"\n".into()),
            "pattern:torn \"config\"\n",
        ),
    ];
    for (kind, name) in kinds {
        let finding = Finding {
            input: Some("in put".into()),
            ..bug(kind, race().locations)
        };
        let text = json::to_json(&report(vec![finding]), Told::Bugs);
        let object: Value = serde_json::from_str(&text).unwrap();
        check_object(&object);
        assert_eq!(object["findings"][0]["kind"], name);
    }
    check_object(&serde_json::from_str(&json::to_json(&mixed(), Told::Everything)).unwrap());
}

fn check_object(object: &Value) {
    let keys = [
        "version",
        "program",
        "instrumented",
        "runs",
        "events",
        "findings",
        "unconfirmed",
        "notes",
    ];
    check_keys(object, &keys);
    let notes = object["notes"].as_array().unwrap();
    assert!(notes.iter().all(Value::is_string));
    check_keys(&object["instrumented"], &["functions", "sites"]);
    assert_eq!(object["version"], 1);
    assert!(object["program"].is_string());
    for number in ["runs", "events", "unconfirmed"] {
        assert!(object[number].is_u64());
    }
    for finding in object["findings"].as_array().unwrap() {
        check_finding(finding);
    }
}

/// Keys of a source position.
const FRAME: [&str; 4] = ["file", "line", "column", "function"];

fn check_finding(finding: &Value) {
    let keys = [
        "id",
        "kind",
        "headline",
        "status",
        "severity",
        "proved_by",
        "consequence",
        "message",
        "locations",
        "interleaving",
        "instances",
        "first_run",
        "found_by",
        "siblings",
        "input",
        "clip",
        "trace",
        "replay",
    ];
    check_keys(finding, &keys);
    let one_of = |key: &str, words: &[&str]| {
        let word = finding[key].as_str().unwrap();
        assert!(words.contains(&word), "{word}");
    };
    one_of("status", &["confirmed", "predicted"]);
    one_of("severity", &["bug", "warning"]);
    let consequences = [
        "none",
        "assertion",
        "panic",
        "crash",
        "deadlock",
        "hang",
        "exit",
    ];
    one_of("consequence", &consequences);
    assert!(finding["instances"].is_u64());
    for optional in ["message", "found_by", "input", "clip", "trace", "replay"] {
        assert!(finding[optional].is_string() || finding[optional].is_null());
    }
    assert_eq!(
        finding["status"] == "confirmed",
        finding["clip"].is_string()
    );
    for location in finding["locations"].as_array().unwrap() {
        let keys = [
            "thread", "access", "variable", "owner", "note", "inside", "stack",
        ];
        check_keys(location, &[&FRAME[..], &keys].concat());
        for frame in location["stack"].as_array().unwrap() {
            check_keys(frame, &FRAME);
        }
        assert!(location["line"].is_u64() && location["column"].is_u64());
        assert!(location["thread"].as_str().unwrap().starts_with('T'));
    }
    for step in finding["interleaving"].as_array().unwrap() {
        let keys = ["thread", "what", "value", "event"];
        check_keys(step, &[&FRAME[..], &keys].concat());
    }
}

fn check_keys(object: &Value, keys: &[&str]) {
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    let found: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut found = found;
    found.sort_unstable();
    assert_eq!(found, expected);
}
