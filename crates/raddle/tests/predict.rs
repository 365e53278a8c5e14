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
    notes: Vec<String>,
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
    let args = [
        "--strategy",
        "rr",
        "--runs",
        "1",
        "--no-races",
        "--trace",
        path,
    ];
    run(source, dir, &args).expect(exit::CLEAN).unwrap();
    trace
}

fn std_text(dir: &Path, lines: &[&str]) -> PathBuf {
    let path = dir.join("trace.std");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// Predicts; bugs that are proved decide about the exit code.
fn text(trace: &Path, args: &[&str]) -> Said {
    let said = say(raddle(["predict"]).arg(trace).args(args));
    let codes = [Some(exit::CLEAN), Some(exit::FOUND)];
    assert!(codes.contains(&said.code), "{}", said.all());
    said
}

fn json(trace: &Path, args: &[&str]) -> Report {
    let said = text(trace, &[&["--format", "json"], args].concat());
    let report: Report = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said.all()));
    let is_found = report.findings.iter().any(|it| it.severity == "bug");
    let expected = if is_found { exit::FOUND } else { exit::CLEAN };
    assert_eq!(said.code, Some(expected), "{}", said.all());
    report
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
        ("StringBuffer", &["deadlock"; 2]),
        ("Transfer", &[]),
        ("demo_Stack", &["data-race"; 11]),
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

/// A race that needs the critical sections of a lock in another order.
const RACE: &[&str] = &[
    "T0|fork(T1)|1",
    "T0|fork(T2)|2",
    "T1|acq(l)|3",
    "T1|w(x)|4",
    "T1|rel(l)|5",
    "T2|acq(l)|6",
    "T2|rel(l)|7",
    "T2|w(x)|8",
];

#[test]
fn proved_bugs_decide_about_the_exit_code() {
    let dir = fresh_dir("predict-exit");
    let trace = std_text(&dir, RACE);
    for args in [&[][..], &["--format", "json"]] {
        say(raddle(["predict"]).arg(&trace).args(args))
            .expect(exit::FOUND)
            .unwrap();
    }
    let trace = std_text(&dir, &["T0|fork(T1)|1", "T1|w(x)|2", "T0|w(y)|3"]);
    say(raddle(["predict"]).arg(&trace))
        .expect(exit::CLEAN)
        .unwrap();
}

#[test]
fn what_no_run_explains_is_told_with_its_line() {
    let dir = fresh_dir("predict-odd");
    let odd = [
        "T0|fork(T1)|1",
        "",
        "T0|acq(l)|2",
        "T1|acq(l)|3",
        "T1|rel(l)|4",
        "T0|rel(l)|5",
        "T0|rel(m)|6",
        "T0|join(T9)|7",
    ];
    let trace = std_text(&dir, &odd);
    let words = [
        "line 4: T1 acquires lock l, which T0 holds since line 3",
        "line 7: T0 releases lock m without having acquired it",
        "line 8: join of thread T9",
    ];
    let said = text(&trace, &[]);
    let report = json(&trace, &[]);
    let imported = say(raddle(["trace", "import", "--std", "-o"])
        .arg(dir.join("imported.trace"))
        .arg(&trace))
    .expect(exit::CLEAN)
    .unwrap();
    for word in words {
        assert!(unwrapped(&said).contains(word), "{word}: {}", said.all());
        assert!(
            report.notes.iter().any(|it| it.contains(word)),
            "{report:?}"
        );
        assert!(imported.stderr.contains(word), "{word}: {}", imported.all());
    }
    let trace = std_text(&dir, &["T0|w(x)|1", "T0|fork(T0)|2"]);
    let said = say(raddle(["predict"]).arg(&trace))
        .expect(exit::USAGE)
        .unwrap();
    assert!(
        said.stderr.contains("line 2: thread T0 forks itself"),
        "{}",
        said.all()
    );
}

/// Judges a file of witnesses.
fn judge(trace: &Path, witnesses: &Path, code: i32) -> Said {
    say(raddle(["trace", "judge"]).arg(trace).arg(witnesses))
        .expect(code)
        .unwrap()
}

#[test]
fn witnesses_are_written_and_judged_again() {
    let dir = fresh_dir("predict-witness");
    let file = dir.join("proofs.txt");
    let path = file.to_str().unwrap();
    let traces = [
        "Account",
        "Bensalem",
        "DiningPhil",
        "StringBuffer",
        "demo_Stack",
    ];
    for name in traces {
        let trace = root().join("tests/data/std").join(format!("{name}.std"));
        let report = json(&trace, &["--all", "--witness", path]);
        let text = fs::read_to_string(&file).unwrap();
        let witnesses = text.lines().filter(|it| it.starts_with("witness ")).count();
        assert_eq!(witnesses, report.findings.len(), "{name}");
        assert!(witnesses > 0, "{name}");
        let said = judge(&trace, &file, exit::CLEAN);
        let expected = match witnesses {
            1 => "1 witness holds\n".to_owned(),
            count => format!("{count} witnesses hold\n"),
        };
        assert_eq!(said.stdout, expected);
        json(&trace, &["--all", "--witness", path]);
        assert!(
            fs::read_to_string(&file).unwrap() == text,
            "{name}: not the same again"
        );
    }
}

#[test]
fn the_witness_of_a_recorded_run_is_judged_by_its_values() {
    let dir = fresh_dir("predict-witness-recorded");
    let trace = record(&program("check/bug/parallel_sum.c"), &dir);
    let file = dir.join("proofs.txt");
    let report = json(&trace, &["--all", "--witness", file.to_str().unwrap()]);
    assert!(!report.findings.is_empty());
    judge(&trace, &file, exit::CLEAN);
}

#[test]
fn a_tampered_witness_is_refused() {
    let dir = fresh_dir("predict-witness-tampered");
    let trace = std_text(&dir, RACE);
    let file = dir.join("proofs.txt");
    let report = json(&trace, &["--witness", file.to_str().unwrap()]);
    assert_eq!(report.findings[0].proved_by, "lock-reordering");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("claim race 3 7\n"), "{text}");
    assert!(text.contains("order 0-1 5-6 2\n"), "{text}");
    assert!(text.contains("events 8\n"), "{text}");
    // What becomes of a change, and what is said of it.
    for (from, to, code, word) in [
        (
            "claim race 3 7\n",
            "claim race 3 6\n",
            exit::FOUND,
            "is not the next event",
        ),
        (
            "claim race 3 7\n",
            "claim race 3 3\n",
            exit::FOUND,
            "are of one thread",
        ),
        (
            "claim race 3 7\n",
            "claim deadlock 3 7\n",
            exit::FOUND,
            "waits for nobody",
        ),
        (
            "order 0-1 5-6 2\n",
            "order 5-6 0-1 2\n",
            exit::FOUND,
            "before its thread is created",
        ),
        (
            "order 0-1 5-6 2\n",
            "order 0-2 5-6\n",
            exit::FOUND,
            "holds the lock since",
        ),
        (
            "order 0-1 5-6 2\n",
            "order 0-1 5-6\n",
            exit::FOUND,
            "is not the next event",
        ),
        (
            "order 0-1 5-6 2\n",
            "order 0-1 5-6 2 2\n",
            exit::FOUND,
            "in the order twice",
        ),
        (
            "order 0-1 5-6 2\n",
            "order 0-1 5-6 2-3\n",
            exit::FOUND,
            "is not the next event",
        ),
        // Not a file of witnesses, or of another trace.
        (
            "order 0-1 ",
            "order 0-99999999999 ",
            exit::USAGE,
            "not in the trace of 8 events",
        ),
        (
            "claim race 3 7\n",
            "claim race 3\n",
            exit::USAGE,
            "is no claim",
        ),
        ("claim race 3 7\n", "", exit::USAGE, "has no line `claim`"),
        (
            "reads same-write",
            "reads anything",
            exit::USAGE,
            "is none of same-write",
        ),
        ("end\n", "", exit::USAGE, "has no `end`"),
        ("events 8\n", "events 9\n", exit::USAGE, "this one has 8"),
        (
            "raddle-witness 1",
            "raddle-witness 2",
            exit::USAGE,
            "line 1",
        ),
    ] {
        let tampered = text.replacen(from, to, 1);
        assert_ne!(tampered, text, "{from}");
        fs::write(&file, tampered).unwrap();
        let said = judge(&trace, &file, code);
        assert!(said.all().contains(word), "{from} to {to}: {}", said.all());
    }
    fs::write(&file, &text).unwrap();
    judge(&trace, &file, exit::CLEAN);
}
