//! Programs whose heads say what `raddle check` has to find in them, and reports held against them.
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

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use raddle_trace::ids::EventIndex;
use serde::Deserialize;

use super::{Said, exit, programs, raddle, rederive, run, say};

/// What `--format json` prints, as far as it is looked at.
#[derive(Deserialize)]
pub struct Report {
    pub version: u32,
    pub findings: Vec<Finding>,
    pub unconfirmed: u64,
}

#[derive(Deserialize)]
pub struct Finding {
    pub id: String,
    pub kind: String,
    pub headline: String,
    pub status: String,
    pub severity: String,
    pub consequence: String,
    pub proved_by: String,
    pub message: Option<String>,
    pub locations: Vec<Location>,
    pub interleaving: Vec<Step>,
    pub clip: Option<PathBuf>,
    pub replay: Option<String>,
}

#[derive(Deserialize)]
pub struct Location {
    pub file: PathBuf,
    pub line: u32,
}

#[derive(Deserialize)]
pub struct Step {
    pub file: PathBuf,
    pub line: u32,
    pub thread: String,
    pub what: String,
    pub event: Option<u64>,
}

/// Findings that a line of a head speaks of.
pub struct Rule {
    /// The line, for messages.
    pub text: String,
    pub kinds: Vec<String>,
    /// Sorted; none: wherever it is.
    pub lines: Vec<u32>,
}

/// What a program's head says.
#[derive(Default)]
pub struct Head {
    pub expect: Vec<Rule>,
    pub also: Vec<Rule>,
    pub consequence: Option<String>,
    pub proved: Option<String>,
    pub unconfirmed: Option<u64>,
}

impl Head {
    pub fn parse(text: &str) -> Result<Self, String> {
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
    pub fn complaints(&self, report: &Report, file: &Path) -> Vec<String> {
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
    pub fn is_bug(&self) -> bool {
        self.status == "confirmed" && self.severity == "bug"
    }

    /// The events by which it is told, in the recording of its clip.
    pub fn events(&self) -> Vec<EventIndex> {
        let events = self.interleaving.iter().filter_map(|it| it.event);
        events.map(EventIndex).collect()
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
    pub fn replayed(&self, times: u32) -> Result<(), String> {
        let clip = self
            .clip
            .as_ref()
            .ok_or_else(|| format!("{} has no clip", self.id))?;
        let (timeout, sameness) = match self.consequence.as_str() {
            "hang" => ("0.5", "same outcome"),
            _ => ("20", "same outcome, same"),
        };
        let code = match (self.consequence.as_str(), &self.message) {
            ("none", None) => exit::CLEAN,
            // Its run may fail for another reason, which the message then says.
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

/// Complains unless the run that is predicted from, each thread until it blocks, passes.
pub fn expect_first_run_passes(source: &Path, out: &Path) -> Result<(), String> {
    // It may show a data race all the same.
    run(source, out, &["--strategy", "rr", "--runs", "1"])
        .expect_line("1 runs, 0 failures, ")
        .map_err(|error| format!("the run to predict from has to pass: {error}"))?;
    Ok(())
}

/// Holds what is found in a program against its head, and replays the clip of each bug.
pub fn check(source: &Path, out: &Path, replays: u32) -> Result<(), String> {
    let head = Head::parse(&fs::read_to_string(source).unwrap())?;
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
    bugs.try_for_each(|bug| {
        rederive::check(bug).map_err(|error| format!("{bug}: {error}"))?;
        bug.replayed(replays)
    })
}

/// The report that was printed.
pub fn parse(said: &Said) -> Result<Report, String> {
    serde_json::from_str(&said.stdout)
        .map_err(|error| format!("what came is no report: {error}: {}", said.all()))
}

/// Complains unless each buggy program has a correct twin of its name, and their heads say so.
pub fn expect_twins(bug: &str, ok: &str) {
    let names = |folder| {
        let paths = programs(folder).into_iter();
        paths
            .map(|it| it.file_name().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(bug), names(ok));
    for (folder, is_buggy) in [(bug, true), (ok, false)] {
        for source in programs(folder) {
            let head = Head::parse(&fs::read_to_string(&source).unwrap());
            let head = head.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
            assert_eq!(head.expect.is_empty(), !is_buggy, "{}", source.display());
        }
    }
}
