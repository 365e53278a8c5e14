//! `raddle check` on programs whose heads say what it has to find: bugs, from a run that passes, each with a clip that
//! replays every time; and nothing in the correct twin of each program.
//!
//! A head has lines of these kinds:
//!
//! ```text
//! //@ expect: data-race set get       must be reported as a confirmed bug, at the lines that end in `// @set`, `// @get`
//! //@ expect: deadlock|hang           one of these kinds, anywhere
//! //@ also: double-free               true as well, and may be reported
//! //@ consequence: panic|crash        some confirmed bug comes to this, and the failure itself may be reported, too;
//!                                     `none`: no confirmed bug comes to anything
//! //@ proved: maximal                 this is what found the order that shows each confirmed bug
//! //@ none                            nothing may be reported
//! //@ unconfirmed: 0                  so many predictions are left that no run has confirmed
//! ```

mod common;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use common::{Said, exit, for_each, fresh_dir, program, programs, raddle, run, say};
use serde::Deserialize;

/// Times that each clip is replayed.
const REPLAYS: u32 = 100;

/// Held by the test that runs programs, so that tests don't get into each other's way.
static RUNNING: Mutex<()> = Mutex::new(());

/// What `--format json` prints, as far as it is looked at.
#[derive(Deserialize)]
struct Report {
    version: u32,
    findings: Vec<Finding>,
    unconfirmed: u64,
}

#[derive(Deserialize)]
struct Finding {
    id: String,
    kind: String,
    status: String,
    severity: String,
    consequence: String,
    proved_by: String,
    locations: Vec<Location>,
    clip: Option<PathBuf>,
    replay: Option<String>,
}

#[derive(Deserialize)]
struct Location {
    file: PathBuf,
    line: u32,
}

/// Findings that a line of a head speaks of.
struct Rule {
    /// The line, for messages.
    text: String,
    kinds: Vec<String>,
    /// Sorted; none: wherever it is.
    lines: Vec<u32>,
}

/// What a program's head says.
#[derive(Default)]
struct Head {
    expect: Vec<Rule>,
    also: Vec<Rule>,
    consequence: Option<String>,
    proved: Option<String>,
    unconfirmed: Option<u64>,
}

impl Head {
    fn parse(text: &str) -> Result<Self, String> {
        let labels = labels(text)?;
        let mut head = Self::default();
        let mut none = false;
        for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
            match line.split_once(": ") {
                Some(("expect", rule)) => head.expect.push(Rule::parse(rule, &labels)?),
                Some(("also", rule)) => head.also.push(Rule::parse(rule, &labels)?),
                Some(("consequence", words)) => head.consequence = Some(words.to_owned()),
                Some(("proved", method)) => head.proved = Some(method.to_owned()),
                Some(("unconfirmed", number)) => {
                    let number = number.parse().map_err(|_| format!("no number: {number}"))?;
                    head.unconfirmed = Some(number);
                }
                None if line == "none" => none = true,
                _ => return Err(format!("`//@ {line}` says nothing that is known")),
            }
        }
        if none == head.expect.is_empty() {
            Ok(head)
        } else {
            Err("a head either expects something or says `//@ none`".to_owned())
        }
    }

    /// All that is wrong with what was reported.
    fn complaints(&self, report: &Report, file: &Path) -> Vec<String> {
        let mut wrong = Vec::new();
        if report.version != 1 {
            wrong.push(format!("the report is of version {}", report.version));
        }
        let bugs: Vec<_> = report.findings.iter().filter(|it| it.is_bug()).collect();
        for rule in &self.expect {
            if !bugs.iter().any(|bug| rule.covers(bug, file)) {
                wrong.push(format!("not found: {}", rule.text));
            }
        }
        for bug in &bugs {
            let mut rules = self.expect.iter().chain(&self.also);
            if !rules.any(|rule| rule.covers(bug, file)) && !self.comes_to(&bug.kind) {
                wrong.push(format!("not expected: {bug}"));
            }
            wrong.extend(bug.complaints());
            let proved_by = &bug.proved_by;
            if self.proved.as_ref().is_some_and(|it| it != proved_by) {
                wrong.push(format!("proved by {proved_by}: {bug}"));
            }
        }
        wrong.extend(self.consequence_complaint(&bugs));
        if self.unconfirmed.is_some_and(|it| it != report.unconfirmed) {
            wrong.push(format!("{} unconfirmed", report.unconfirmed));
        }
        wrong
    }

    /// Whether the head names this consequence.
    fn comes_to(&self, consequence: &str) -> bool {
        let named = self.consequence.as_deref().unwrap_or_default();
        named.split('|').any(|it| it == consequence)
    }

    fn consequence_complaint(&self, bugs: &[&Finding]) -> Option<String> {
        let expected = self.consequence.as_deref()?;
        let mut as_expected = bugs.iter().map(|bug| self.comes_to(&bug.consequence));
        let is_fine = match expected {
            "none" => as_expected.all(|it| it),
            _ => as_expected.any(|it| it),
        };
        (!is_fine).then(|| format!("the consequence is not {expected}"))
    }
}

impl Rule {
    fn parse(text: &str, labels: &BTreeMap<&str, u32>) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let kinds = words.next().ok_or("a kind is missing")?;
        let lines: Result<Vec<_>, _> = words
            .map(|word| {
                labels
                    .get(word)
                    .ok_or(format!("no line ends in `// @{word}`"))
            })
            .collect();
        let mut lines: Vec<_> = lines?.into_iter().copied().collect();
        lines.sort_unstable();
        Ok(Self {
            text: format!("{text} (lines {lines:?})"),
            kinds: kinds.split('|').map(str::to_owned).collect(),
            lines,
        })
    }

    /// Whether it speaks of this finding. A memory error may name further lines, such as that of the allocation.
    fn covers(&self, finding: &Finding, file: &Path) -> bool {
        let mut found = finding.lines(file);
        let all_there = self.lines.iter().all(|line| {
            let at = found.iter().position(|it| it == line);
            at.map(|at| found.remove(at)).is_some()
        });
        let is_memory_error = matches!(
            finding.kind.as_str(),
            "use-after-free" | "double-free" | "null-dereference"
        );
        let is_exact = self.lines.is_empty() || is_memory_error || found.is_empty();
        self.kinds.contains(&finding.kind) && all_there && is_exact
    }
}

impl Finding {
    fn is_bug(&self) -> bool {
        self.status == "confirmed" && self.severity == "bug"
    }

    /// Its lines in the program's own file.
    fn lines(&self, file: &Path) -> Vec<u32> {
        let own = self
            .locations
            .iter()
            .filter(|it| it.file.file_name() == file.file_name());
        own.map(|it| it.line).collect()
    }

    /// What a confirmed finding lacks.
    fn complaints(&self) -> Vec<String> {
        let is_there = self.clip.as_deref().is_some_and(Path::is_file);
        let command = self.replay.as_deref().unwrap_or_default();
        let lacks = [
            (self.locations.is_empty(), "says no place"),
            (!is_there, "has no clip"),
            (
                !command.starts_with("raddle replay "),
                "says no command that replays it",
            ),
        ];
        let lacks = lacks.into_iter().filter(|(lacks, _)| *lacks);
        lacks
            .map(|(_, what)| format!("{} {what}", self.id))
            .collect()
    }

    /// Replays the clip: the same each time, and a failing run if the finding says so.
    fn replayed(&self, times: u32) -> Result<(), String> {
        let clip = self
            .clip
            .as_ref()
            .ok_or_else(|| format!("{} has no clip", self.id))?;
        let (timeout, sameness) = match self.consequence.as_str() {
            "hang" => ("0.5", "same outcome"),
            _ => ("20", "same outcome, same"),
        };
        let code = match self.consequence.as_str() {
            "none" => exit::CLEAN,
            _ => exit::FOUND,
        };
        let count = times.to_string();
        let mut replay = raddle(["replay", "--quiet", "--times", &count, "--timeout", timeout]);
        say(replay.arg(clip))
            .expect(code)
            .and_then(|said| said.expect_line(&format!("replayed {times} of {times}: {sameness}")))
            .map_err(|error| format!("{self}: {error}"))?;
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at", self.id, self.kind)?;
        for place in &self.locations {
            write!(f, " {}:{}", place.file.display(), place.line)?;
        }
        write!(f, ", consequence {}", self.consequence)
    }
}

/// The lines that end in `// @label`, by label.
fn labels(text: &str) -> Result<BTreeMap<&str, u32>, String> {
    let mut labels = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, label)) = line.rsplit_once(" // @") else {
            continue;
        };
        if labels.insert(label, number).is_some() {
            return Err(format!("two lines end in `// @{label}`"));
        }
    }
    Ok(labels)
}

/// `RADDLE_TEST_REPLAYS`, or as many as usual.
fn replays() -> u32 {
    std::env::var("RADDLE_TEST_REPLAYS").map_or(REPLAYS, |text| {
        text.parse().expect("RADDLE_TEST_REPLAYS is a number")
    })
}

/// Holds what is found in a program against its head.
fn check(source: &Path, out: &Path) -> Result<(), String> {
    let head = Head::parse(&fs::read_to_string(source).unwrap())?;
    run(source, out, &["--strategy", "rr", "--runs", "1"])
        .expect(exit::CLEAN)
        .map_err(|error| format!("the run to predict from has to pass: {error}"))?;
    let mut command = raddle(["check", "--format", "json", "--out"]);
    let said = say(command.arg(out).arg(source));
    let report = parse(&said)?;
    let wrong = head.complaints(&report, source);
    if !wrong.is_empty() {
        return Err(format!("{}\n{}", wrong.join("; "), said.all()));
    }
    said.expect(match head.expect[..] {
        [] => exit::CLEAN,
        _ => exit::FOUND,
    })?;
    let mut bugs = report.findings.iter().filter(|it| it.is_bug());
    bugs.try_for_each(|bug| bug.replayed(replays()))
}

fn parse(said: &Said) -> Result<Report, String> {
    serde_json::from_str(&said.stdout)
        .map_err(|error| format!("what came is no report: {error}: {}", said.all()))
}

/// Checks all programs of a folder.
fn check_all(folder: &str) {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir(&folder.replace('/', "-"));
    for_each(&programs(folder), |source| {
        check(source, &out.join(source.file_name().unwrap()))
    });
}

#[test]
fn bugs_are_predicted_from_a_run_that_passes() {
    check_all("check/bug");
}

#[test]
fn nothing_is_found_in_correct_programs() {
    check_all("check/ok");
}

#[test]
fn figures_of_the_paper_are_as_it_says() {
    check_all("check/pecan");
}

/// What `raddle check` says of a program that is kept apart.
fn say_of(name: &str, out: &str, options: &[&str]) -> Said {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = raddle(["check", "--format", "json", "--out"]);
    command.arg(fresh_dir(out)).arg(program(name));
    say(command.args(options))
}

#[test]
fn further_runs_show_what_the_first_does_not() {
    let name = "check/runs/rare_branch.c";
    let first = say_of(name, "first-run", &[]);
    assert_eq!(first.code, Some(exit::CLEAN), "{}", first.all());
    let more = say_of(name, "more-runs", &["--runs", "20"]);
    let report = parse(&more).unwrap();
    let race = report.findings.iter().find(|it| it.kind == "data-race");
    assert!(race.is_some_and(Finding::is_bug), "{}", more.all());
}

#[test]
fn the_same_check_says_the_same_with_any_number_of_jobs() {
    for source in ["check/pecan/figure1.c", "check/bug/string_buffer.c"] {
        let told = |out: &str, jobs: &str| {
            let said = say_of(source, out, &["--all", "--jobs", jobs]);
            let here = fresh_dir(out).to_string_lossy().into_owned();
            said.stdout.replace(&here, "")
        };
        let (one, other) = (told("one-check", "1"), told("other-check", "1"));
        assert_eq!(one, other);
        assert_eq!(one, told("third-check", "3"));
        assert!(one.contains("\"confirmed\""), "{one}");
    }
}

#[test]
fn every_buggy_program_has_a_correct_twin() {
    let names = |folder| {
        let paths = programs(folder).into_iter();
        paths
            .map(|it| it.file_name().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(names("check/bug").len() >= 26);
    assert_eq!(names("check/bug"), names("check/ok"));
    for (folder, is_buggy) in [("check/bug", true), ("check/ok", false)] {
        for source in programs(folder) {
            let head = Head::parse(&fs::read_to_string(&source).unwrap());
            let head = head.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
            assert_eq!(head.expect.is_empty(), !is_buggy, "{}", source.display());
        }
    }
}

/// What is wrong with findings, each `kind line… -> consequence`, of a program with three labelled lines.
fn complaints(head: &str, findings: &[&str]) -> Vec<String> {
    let text = format!("{head}\n\nw(x); // @write\nr(x); // @read\nr(x); // @again\n");
    let head = Head::parse(&text).unwrap();
    let any_file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let findings = findings.iter().enumerate().map(|(number, text)| {
        let (found, consequence) = text.split_once(" -> ").unwrap();
        let mut words = found.split(' ');
        let kind = words.next().unwrap();
        let places: Vec<_> = words
            .map(|line| format!(r#"{{"file":"/home/x.c","line":{line},"column":1}}"#))
            .collect();
        format!(
            r#"{{"id":"F{number}","kind":"{kind}","status":"confirmed","severity":"bug","proved_by":"x",
                "consequence":"{consequence}","locations":[{}],"instances":1,"input":null,
                "clip":"{any_file}","replay":"raddle replay x"}}"#,
            places.join(","),
        )
    });
    let findings: Vec<_> = findings.collect();
    let json = format!(
        r#"{{"version":1,"findings":[{}],"unconfirmed":0}}"#,
        findings.join(",")
    );
    let report = serde_json::from_str(&json).unwrap();
    head.complaints(&report, Path::new("x.c"))
}

#[test]
fn what_is_wrong_is_noticed() {
    let race = "//@ expect: data-race write read";
    let cases: [(&str, &[&str], &[&str]); 12] = [
        (race, &["data-race 4 3 -> none"], &[]),
        (race, &[], &["not found"]),
        (
            race,
            &["data-race 3 3 -> none"],
            &["not found", "not expected"],
        ),
        (
            race,
            &["deadlock 3 4 -> none"],
            &["not found", "not expected"],
        ),
        (
            race,
            &["data-race 3 4 -> none", "data-race 3 5 -> none"],
            &["not expected"],
        ),
        (
            "//@ expect: data-race write read",
            &["data-race 3 4 -> panic", "panic 9 -> panic"],
            &["not expected"],
        ),
        ("//@ none", &[], &[]),
        ("//@ none", &["deadlock 3 4 -> none"], &["not expected"]),
        (
            "//@ expect: double-free write",
            &["double-free 3 4 -> crash"],
            &[],
        ),
        (
            "//@ expect: crash|deadlock",
            &["deadlock 9 -> deadlock"],
            &[],
        ),
        (
            "//@ expect: deadlock",
            &["deadlock -> deadlock"],
            &["F0 says no place"],
        ),
        (
            "//@ expect: atomicity-violation write read read",
            &["atomicity-violation 3 4 -> none"],
            &["not found", "not"],
        ),
    ];
    for (head, findings, expected) in cases {
        let wrong = complaints(head, findings);
        let is_so = wrong.len() == expected.len()
            && wrong
                .iter()
                .zip(expected)
                .all(|(it, start)| it.starts_with(start));
        assert!(is_so, "{head}, {findings:?}: {wrong:?}");
    }
}

#[test]
fn consequences_are_held_against_the_head() {
    let findings = ["data-race 3 4 -> none", "data-race 3 5 -> panic"];
    for (consequence, is_fine) in [
        ("panic", true),
        ("crash", false),
        ("crash|panic", true),
        ("none", false),
    ] {
        let head = format!("//@ expect: data-race\n//@ consequence: {consequence}");
        let wrong = complaints(&head, &findings);
        assert_eq!(wrong.is_empty(), is_fine, "{consequence}: {wrong:?}");
    }
}

#[test]
fn what_is_left_unconfirmed_is_held_against_the_head() {
    assert!(complaints("//@ none\n//@ unconfirmed: 0", &[]).is_empty());
    let wrong = complaints("//@ none\n//@ unconfirmed: 1", &[]);
    assert_eq!(wrong, ["0 unconfirmed"]);
}

#[test]
fn heads_that_say_nothing_are_refused() {
    for head in [
        "",
        "//@ nothing",
        "//@ none\n//@ expect: deadlock",
        "//@ none\n//@ unconfirmed: few",
        "//@ expect: data-race a b",
    ] {
        assert!(Head::parse(head).is_err(), "{head:?}");
    }
}
