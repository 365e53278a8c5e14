//! `raddle predict`: bugs from a trace alone, recorded or in STD text, each accepted by the judge.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Said, exit, fresh_dir, program, raddle, root, run, say};
use serde::Deserialize;

/// What `--format json` prints, as far as it is looked at.
#[derive(Debug, Deserialize)]
struct Report {
    runs: u64,
    events: u64,
    findings: Vec<Finding>,
    unconfirmed: u64,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Finding {
    kind: String,
    status: String,
    severity: String,
    proved_by: String,
    locations: Vec<Location>,
    clip: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Location {
    file: String,
    line: u32,
    function: String,
    access: String,
}

/// Records the run of a program in which each thread runs until it blocks.
fn record(source: &Path, dir: &Path) -> PathBuf {
    let trace = dir.join("recorded.trace");
    let path = trace.to_str().unwrap();
    let args = ["--strategy", "rr", "--runs", "1", "--trace", path];
    run(source, dir, &args).expect(exit::CLEAN).unwrap();
    trace
}

fn std_text(dir: &Path, lines: &[&str]) -> PathBuf {
    let path = dir.join("trace.std");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn text(trace: &Path, args: &[&str]) -> Said {
    let mut command = raddle(["predict"]);
    say(command.arg(trace).args(args))
        .expect(exit::CLEAN)
        .unwrap()
}

fn json(trace: &Path, args: &[&str]) -> Report {
    let said = text(trace, &[&["--format", "json"], args].concat());
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.all()))
}

/// Lines of a program that end in `// @label`, for each of these labels.
fn lines(source: &Path, labels: &[&str]) -> Vec<u32> {
    let text = fs::read_to_string(source).unwrap();
    let line = |label: &&str| {
        let mut lines = (1..).zip(text.lines());
        let found = lines.find(|(_, line)| line.ends_with(&format!("// @{label}")));
        found.map_or_else(|| panic!("no line is `{label}`"), |it| it.0)
    };
    labels.iter().map(line).collect()
}

#[test]
fn a_recorded_run_shows_the_race_that_it_did_not_have() {
    let dir = fresh_dir("predict-race");
    let source = program("check/bug/parallel_sum.c");
    let trace = record(&source, &dir);
    let report = json(&trace, &[]);
    assert_eq!(report.runs, 1);
    assert!(report.events > 0);
    let [race] = report.findings.as_slice() else {
        panic!("one race: {report:?}");
    };
    assert_eq!(
        (&*race.kind, &*race.status, &*race.severity),
        ("data-race", "predicted", "bug")
    );
    assert!(
        ["happens-before", "sync-preserving", "maximal"].contains(&&*race.proved_by),
        "{race:?}"
    );
    assert_eq!(race.clip, None);
    let mut found: Vec<_> = race.locations.iter().map(|it| it.line).collect();
    found.sort_unstable();
    assert_eq!(found, lines(&source, &["part", "total"]));

    let said = text(&trace, &[]);
    for word in [
        "predicted[R1]: data race",
        "accepted by the judge",
        "not confirmed by a run",
        &format!("raddle check {}", source.display()),
    ] {
        assert!(unwrapped(&said).contains(word), "{word}: {}", said.all());
    }
}

/// Standard output without the breaks of long lines.
fn unwrapped(said: &Said) -> String {
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn correct_programs_give_no_prediction() {
    let dir = fresh_dir("predict-ok");
    for name in ["parallel_sum.c", "dining_order.cpp", "refcount.c"] {
        let trace = record(&program("check/ok").join(name), &dir);
        let report = json(&trace, &[]);
        assert!(report.findings.is_empty(), "{name}: {report:?}");
    }
}

#[test]
fn other_bugs_are_predicted_from_recorded_runs() {
    let dir = fresh_dir("predict-kinds");
    for (name, kind) in [
        ("dining_order.cpp", "deadlock"),
        ("refcount.c", "use-after-free"),
    ] {
        let trace = record(&program("check/bug").join(name), &dir);
        let report = json(&trace, &[]);
        let kinds: Vec<_> = report.findings.iter().map(|it| &*it.kind).collect();
        assert_eq!(kinds, [kind], "{name}: {report:?}");
    }
}

#[test]
fn std_text_is_read_as_it_is_and_imported() {
    let dir = fresh_dir("predict-std");
    let trace = std_text(
        &dir,
        &[
            "T0|fork(T1)|main:1",
            "T0|fork(T2)|main:2",
            "T1|w(balance)|src/account.c:17:5",
            "T1|acq(l)|18",
            "T1|rel(l)|19",
            "T2|acq(l)|20",
            "T2|rel(l)|21",
            "T2|r(balance)|audit",
        ],
    );
    let report = json(&trace, &[]);
    let [race] = report.findings.as_slice() else {
        panic!("one race: {report:?}");
    };
    assert_eq!((&*race.kind, &*race.status), ("data-race", "predicted"));
    let places: Vec<_> = race
        .locations
        .iter()
        .map(|it| (&*it.file, it.line, &*it.function, &*it.access))
        .collect();
    assert_eq!(
        places,
        [("src/account.c", 17, "", "write"), ("", 0, "audit", "read")]
    );
    let said = text(&trace, &[]);
    assert!(said.stdout.contains("writes `balance`"), "{}", said.all());

    let imported = dir.join("imported.trace");
    say(raddle(["trace", "import", "--std", "-o"])
        .arg(&imported)
        .arg(&trace))
    .expect(exit::CLEAN)
    .unwrap();
    assert_eq!(json(&imported, &[]).findings, report.findings);
}

#[test]
fn std_text_shows_a_deadlock_unless_a_gate_forbids_it() {
    let dir = fresh_dir("predict-std-deadlock");
    let fork = ["T0|fork(T1)|1", "T0|fork(T2)|2"];
    let one = ["T1|acq(a)|3", "T1|acq(b)|4", "T1|rel(b)|5", "T1|rel(a)|6"];
    let other = ["T2|acq(b)|7", "T2|acq(a)|8", "T2|rel(a)|9", "T2|rel(b)|10"];
    let trace = std_text(&dir, &[&fork[..], &one, &other].concat());
    let report = json(&trace, &[]);
    let kinds: Vec<_> = report.findings.iter().map(|it| &*it.kind).collect();
    assert_eq!(kinds, ["deadlock"]);
    let functions: Vec<_> = report.findings[0]
        .locations
        .iter()
        .map(|it| (&*it.function, &*it.access))
        .collect();
    assert_eq!(
        functions,
        [("location 4", "request"), ("location 8", "request")]
    );

    let gated = |thread: &str, part: &[&str]| {
        let mut lines = vec![format!("{thread}|acq(gate)|20")];
        lines.extend(part.iter().map(|line| (*line).to_owned()));
        lines.push(format!("{thread}|rel(gate)|21"));
        lines
    };
    let lines = [gated("T1", &one), gated("T2", &other)].concat();
    let lines = fork.iter().copied().chain(lines.iter().map(String::as_str));
    let trace = std_text(&dir, &lines.collect::<Vec<_>>());
    let report = json(&trace, &["--all"]);
    assert!(report.findings.is_empty(), "{report:?}");
}

#[test]
fn what_nothing_proves_is_counted_and_not_told() {
    let dir = fresh_dir("predict-unproved");
    // What T2 reads of `y` puts its write behind that of T1.
    let trace = std_text(
        &dir,
        &[
            "T0|fork(T1)|1",
            "T0|fork(T2)|2",
            "T1|w(x)|3",
            "T1|acq(l)|4",
            "T1|w(y)|5",
            "T1|rel(l)|6",
            "T2|acq(l)|7",
            "T2|r(y)|8",
            "T2|rel(l)|9",
            "T2|w(x)|10",
        ],
    );
    let report = json(&trace, &["--all"]);
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(report.unconfirmed, 1);
    let said = text(&trace, &[]);
    assert!(
        said.stdout
            .contains("no bugs predicted, 1 suspicion not proved"),
        "{}",
        said.all()
    );
}

#[test]
fn published_traces_give_what_is_known_of_them() {
    for (name, kinds) in [
        ("Bensalem", &["deadlock"][..]),
        ("DiningPhil", &["deadlock"]),
        ("StringBuffer", &["deadlock"]),
        ("Transfer", &[]),
    ] {
        let trace = root().join("tests/data/std").join(format!("{name}.std"));
        let report = json(&trace, &[]);
        let found: Vec<_> = report.findings.iter().map(|it| &*it.kind).collect();
        assert_eq!(found, kinds, "{name}");
    }
}

#[test]
fn a_users_pattern_is_predicted_too() {
    let dir = fresh_dir("predict-pattern");
    let trace = std_text(
        &dir,
        &[
            "T0|fork(T1)|1",
            "T0|fork(T2)|2",
            "T1|acq(l)|3",
            "T1|w(x)|4",
            "T1|rel(l)|5",
            "T1|acq(l)|6",
            "T1|r(x)|7",
            "T1|rel(l)|8",
            "T2|acq(l)|9",
            "T2|w(x)|10",
            "T2|rel(l)|11",
        ],
    );
    assert!(json(&trace, &[]).findings.is_empty());
    let config = dir.join("mine.toml");
    let pattern = r#"
        [[pattern]]
        name = "overwritten"
        threads = ["mine", "other", "mine"]
        variables = "x-x-x"
        regions = "u1-u2-u3"
        access = "w-w-r"
    "#;
    fs::write(&config, pattern).unwrap();
    let report = json(&trace, &["--config", config.to_str().unwrap()]);
    let found = report.findings.iter();
    let found: Vec<_> = found.map(|it| (&*it.kind, it.locations.len())).collect();
    assert_eq!(found, [("pattern:overwritten", 3)], "{report:?}");
}

#[test]
fn a_broken_trace_is_an_error_that_says_where() {
    let dir = fresh_dir("predict-broken");
    let trace = record(&program("check/bug/parallel_sum.c"), &dir);
    let whole = fs::read(&trace).unwrap();
    let mut bytes = whole.clone();
    let middle = bytes.len() / 4;
    bytes[middle] ^= 0xff;
    let broken = dir.join("broken.trace");
    fs::write(&broken, bytes).unwrap();
    let said = say(raddle(["predict"]).arg(&broken))
        .expect(exit::USAGE)
        .unwrap();
    for word in ["broken.trace", " byte "] {
        assert!(said.stderr.contains(word), "{word}: {}", said.all());
    }

    fs::write(&broken, "neither a trace nor STD\n").unwrap();
    let said = say(raddle(["predict"]).arg(&broken))
        .expect(exit::USAGE)
        .unwrap();
    assert!(said.stderr.contains("not a Raddle trace"), "{}", said.all());

    let text = std_text(&dir, &["T0|fork(T1)|1", "T1|jump(x)|2"]);
    let said = say(raddle(["predict"]).arg(&text))
        .expect(exit::USAGE)
        .unwrap();
    assert!(said.stderr.contains("line 2"), "{}", said.all());

    say(raddle(["predict"]).arg(dir.join("no-such.trace")))
        .expect(exit::USAGE)
        .unwrap();
    say(raddle(["predict", "--window", "0"]).arg(&trace))
        .expect(exit::USAGE)
        .unwrap();
}

#[test]
fn a_trace_that_was_cut_is_read_as_far_as_it_goes() {
    let dir = fresh_dir("predict-cut");
    let trace = record(&program("check/bug/parallel_sum.c"), &dir);
    let whole = fs::read(&trace).unwrap();
    fs::write(&trace, &whole[..whole.len() - 1]).unwrap();
    let said = text(&trace, &[]);
    assert!(
        unwrapped(&said).contains("the trace is incomplete"),
        "{}",
        said.all()
    );
}
