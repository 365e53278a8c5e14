//! Reports for people.
//!
//! A finding is told in the order in which one asks: what, where, who, how, what came of it, how sure is that,
//! and last how to see it. Findings at the same places are told together, the gravest in full. Text has escape
//! codes for colours until the last moment; a stream that doesn't want them takes them out.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use raddle_trace::position::SourcePosition;

use crate::diagram::diagram;
use crate::finding::{Finding, Location, Report, Told};
use crate::headline::{doing, file_from, headline};
use crate::kind::{Consequence, Kind, Severity, Status};
use crate::snippet::{label, snippets};
use crate::source::Sources;
use crate::text::{clean, counted, cut, thousands, width, wrap};

/// Frames of a stack that are shown.
const FRAMES: usize = 8;
/// Columns that a frame takes beside its position and its function.
const FRAME_MARGIN: usize = 13;
/// A function's name is left out where there is less room for it.
const LEAST_FUNCTION: usize = 12;
/// Columns that the name of a type may take.
const LONGEST_TYPE: usize = 60;
/// Lines of the program's last words that are shown.
const OUTCOME_LINES: usize = 6;
/// Widths between which a terminal's own is taken.
const NARROWEST: usize = 40;
const WIDEST: usize = 120;
/// Where nobody knows how wide the terminal is.
const USUAL: usize = 100;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const BLUE: Style = AnsiColor::BrightBlue.on_default().bold();

/// How a report is to be told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which findings.
    pub told: Told,
    /// Columns to fill.
    pub width: usize,
    /// The directory that files are named from and looked for in.
    pub directory: PathBuf,
    /// Whether a position is in library code, which stacks leave out.
    pub library: fn(&SourcePosition) -> bool,
}

impl Default for Options {
    /// For this terminal and the current directory; nothing is library code.
    fn default() -> Self {
        let width = terminal_size::terminal_size().map_or(USUAL, |it| usize::from(it.0.0));
        Self {
            told: Told::default(),
            width: width.clamp(NARROWEST, WIDEST),
            directory: std::env::current_dir().unwrap_or_default(),
            library: |_| false,
        }
    }
}

/// Prints the report on standard output, in colour if that is a terminal and the user has nothing against it.
pub fn print(report: &Report, options: &Options) -> io::Result<()> {
    let mut stream = anstream::stdout().lock();
    stream.write_all(render(report, options).as_bytes())?;
    stream.flush()
}

/// Prints a report without its last line, in the same way.
pub fn print_without_summary(report: &Report, options: &Options) -> io::Result<()> {
    let mut stream = anstream::stdout().lock();
    stream.write_all(findings(report, options).as_bytes())?;
    stream.write_all(notes(report, options).as_bytes())?;
    stream.flush()
}

/// The report as text without escape codes.
#[must_use]
pub fn plain(report: &Report, options: &Options) -> String {
    anstream::adapter::strip_str(&render(report, options)).to_string()
}

/// The report as text with escape codes.
#[must_use]
pub fn render(report: &Report, options: &Options) -> String {
    let mut text = findings(report, options);
    text.push_str(&notes(report, options));
    let _ = writeln!(text, "{}", summary(report, options.told));
    text
}

fn notes(report: &Report, options: &Options) -> String {
    let mut text = String::new();
    for note in &report.notes {
        let note = wrap(&clean(note), options.width.saturating_sub(6)).join("\n      ");
        let _ = writeln!(text, "{BOLD}note{BOLD:#}: {note}");
    }
    text
}

fn findings(report: &Report, options: &Options) -> String {
    let mut text = String::new();
    let mut sources = Sources::new(&options.directory);
    for family in families(report, options.told) {
        push_finding(&mut text, family[0], options, &mut sources);
        push_facts(&mut text, family[0], report.offline, options);
        push_siblings(&mut text, &family[1..], options);
        text.push('\n');
    }
    text
}

/// Findings that belong together, the gravest first: of those with a common place the one that made the program
/// fail, then the one that is first in the report.
fn families(report: &Report, told: Told) -> Vec<Vec<&Finding>> {
    let mut told: Vec<&Finding> = report.told(told).collect();
    told.sort_by_key(|it| (it.status, it.severity, !it.consequence.is_failure()));
    let mut families: Vec<Vec<&Finding>> = Vec::new();
    let mut left: VecDeque<&Finding> = told.into();
    while let Some(first) = left.pop_front() {
        let mut family = vec![first];
        left.retain(|it| {
            let is_sibling = first.siblings.contains(&it.id);
            if is_sibling {
                family.push(it);
            }
            !is_sibling
        });
        families.push(family);
    }
    families
}

fn push_finding(text: &mut String, finding: &Finding, options: &Options, sources: &mut Sources) {
    text.push_str(&snippets(finding, options, sources));
    text.push('\n');
    push_stacks(text, &finding.locations, options);
    let diagram = diagram(&finding.story, options.width);
    if !diagram.is_empty() {
        let _ = writeln!(text, "{diagram}");
    }
}

/// Who was where. What a thread's further location shares with an earlier one is not said again.
fn push_stacks(text: &mut String, locations: &[Location], options: &Options) {
    let mut told: Vec<(&Location, Vec<&SourcePosition>)> = Vec::new();
    for location in locations {
        let frames = own_frames(location, options);
        if told
            .iter()
            .any(|(it, stack)| same_doing(it, location) && *stack == frames)
        {
            continue;
        }
        let mut heading = doing(location);
        if let Some(owner) = &location.owner {
            let _ = write!(heading, " of `{}`", cut(&clean(owner), LONGEST_TYPE));
        }
        if let Some(note) = &location.note {
            let _ = write!(heading, ", {}", clean(note));
        }
        let _ = writeln!(text, "  {BOLD}{}{BOLD:#} {heading}", location.thread);
        let callers = &frames[1..];
        let known = told.iter().any(|(it, stack)| {
            it.thread == location.thread && !callers.is_empty() && stack[1..] == *callers
        });
        let shown = if known { 1 } else { frames.len().min(FRAMES) };
        for frame in &frames[..shown] {
            let _ = writeln!(text, "       at {}", with_function(frame, options));
        }
        if known {
            let _ = writeln!(text, "       called as above");
        } else if frames.len() > shown {
            let _ = writeln!(text, "       and {} more", frames.len() - shown);
        }
        told.push((location, frames));
    }
    if !told.is_empty() {
        text.push('\n');
    }
}

fn same_doing(one: &Location, other: &Location) -> bool {
    let key = |it: &Location| (it.thread, it.access, it.variable.clone(), it.note.clone());
    key(one) == key(other)
}

/// The innermost position in a package, the location's own, and the frames around them that are not a library's.
fn own_frames<'a>(location: &'a Location, options: &Options) -> Vec<&'a SourcePosition> {
    let stack = &location.stack;
    let is_shown = |it: &&SourcePosition| !(options.library)(it);
    let at = stack.iter().position(|it| *it == location.position);
    let inside = location.inside.as_ref();
    let entered = inside.and_then(|inside| stack.iter().position(|it| it == inside));
    let between = match (entered, at) {
        (Some(entered), Some(at)) if entered < at => &stack[entered + 1..at],
        _ => &[],
    };
    let between = between.iter().filter(|it| it.line != 0).filter(is_shown);
    let callers = stack[at.map_or(0, |at| at + 1)..].iter().filter(is_shown);
    let inner = inside.into_iter().chain(between);
    inner.chain([&location.position]).chain(callers).collect()
}

/// A position with its function. If there is no room for both, the function's name is cut, and never the position.
fn with_function(position: &SourcePosition, options: &Options) -> String {
    let mut shown = position.clone();
    shown.file = file_from(position, &options.directory);
    match (position.file.as_str(), position.function.as_str()) {
        ("", "") => "an unknown place".to_owned(),
        ("", _) | (_, "") => clean(&shown.to_string()),
        (_, function) => {
            let place = shown.to_string();
            let room = options.width.saturating_sub(width(&place) + FRAME_MARGIN);
            match room {
                0..LEAST_FUNCTION => place,
                _ => format!("{place} ({})", cut(&clean(function), room)),
            }
        }
    }
}

/// What came of it, how it is known, and the command. `offline`: no program was run.
fn push_facts(text: &mut String, finding: &Finding, offline: bool, options: &Options) {
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "  {BLUE}{name:<12}{BLUE:#} {value}");
    };
    if let Some(consequence) = consequence(finding, options) {
        let name = match finding.kind.is_failure() {
            true => "message:",
            false => "consequence:",
        };
        fact(name, &consequence.join("\n               "));
    }
    if finding.instances > 1 {
        fact("instances:", &finding.instances.to_string());
    }
    if let Some(run) = finding.first_run {
        let mut seen = match run {
            1 => "in the undisturbed run".to_owned(),
            run => format!("in run {run}"),
        };
        if let Some(how) = &finding.found_by {
            let _ = write!(seen, ": {}", clean(how));
        }
        fact("first seen:", &seen);
    }
    let proof = match (finding.proved_by.as_str(), finding.status) {
        ("" | "run", Status::Confirmed) => "a run of the program".to_owned(),
        ("", Status::Predicted) => "not confirmed: no run has shown it".to_owned(),
        (by, Status::Confirmed) => {
            let moment = moment(finding).map(|it| format!(": {it}"));
            let moment = moment.unwrap_or_default();
            format!("{}, confirmed by a run{moment}", clean(by))
        }
        (by, Status::Predicted) if offline => {
            format!("{}, accepted by the judge; no run has shown it", clean(by))
        }
        (by, Status::Predicted) => format!("{}; not confirmed: no run has shown it", clean(by)),
    };
    fact("proved by:", &proof);
    if let Some(input) = &finding.input {
        fact("input:", &clean(&input.to_string_lossy()));
    }
    if let Some(replay) = &finding.replay {
        fact("replay:", &format!("{BOLD}{}{BOLD:#}", clean(replay)));
    }
}

/// By what a run shows a race.
fn moment(finding: &Finding) -> Option<&'static str> {
    let is_race = finding.kind == Kind::DataRace;
    let told = match finding.proved_by.as_str() {
        "happens-before" => "no step orders them",
        _ => "both threads right before",
    };
    is_race.then_some(told)
}

/// How the program ended; nothing if the headline has said all of it, or no run could have shown it.
fn consequence(finding: &Finding, options: &Options) -> Option<Vec<String>> {
    let words = clean(finding.outcome_text.as_deref().unwrap_or_default());
    let mut lines: Vec<String> = words.trim().lines().map(str::to_owned).collect();
    if finding.kind.is_failure() {
        if lines.len() < 2 {
            return None;
        }
    } else if finding.consequence.is_failure() {
        let mut name = finding.consequence.name().to_owned();
        // Memory errors are told at their own places.
        let place = finding.outcome_at.as_ref().filter(|it| it.line != 0);
        if let Some(at) = place.filter(|_| finding.consequence != Consequence::Crash) {
            let _ = write!(
                name,
                " at {}:{}",
                file_from(at, &options.directory),
                at.line
            );
        }
        match lines.first_mut() {
            Some(first) => *first = format!("{name}: {first}"),
            None => lines.push(name),
        }
    } else if finding.status == Status::Predicted {
        return None;
    } else if lines.is_empty() {
        lines.push("none in this run".to_owned());
    }
    if lines.len() > OUTCOME_LINES {
        lines.truncate(OUTCOME_LINES - 1);
        lines.push("...".to_owned());
    }
    Some(lines)
}

/// The other findings at the same places, in two lines each.
fn push_siblings(text: &mut String, siblings: &[&Finding], options: &Options) {
    if siblings.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {BOLD}at the same places{BOLD:#}:");
    for finding in siblings {
        let style = style(finding);
        let name = format!("{}[{}]", label(finding), finding.id);
        let rest = wrap(
            &headline(finding, &options.directory),
            options.width.saturating_sub(name.len() + 4),
        );
        let (first, more) = rest.split_first().expect("wrapping leaves a line");
        let _ = writeln!(text, "  {style}{name}{style:#}: {first}");
        for line in more {
            let _ = writeln!(text, "    {line}");
        }
        let mut facts = Vec::new();
        if finding.consequence.is_failure() && !finding.kind.is_failure() {
            facts.push(finding.consequence.name().to_owned());
        }
        facts.extend(finding.replay.as_deref().map(clean));
        if !facts.is_empty() {
            let _ = writeln!(text, "    {}", facts.join("; "));
        }
    }
}

fn style(finding: &Finding) -> Style {
    match (finding.status, finding.severity) {
        (Status::Predicted, _) => BLUE,
        (_, Severity::Warning) => YELLOW,
        (_, Severity::Bug) => RED,
    }
}

/// What it all came to, in one line.
fn summary(report: &Report, told: Told) -> String {
    let sure = report.findings.iter().filter(|it| report.is_sure_bug(it));
    let mut kinds: Vec<(&Kind, usize)> = Vec::new();
    for finding in sure {
        match kinds.iter_mut().find(|it| *it.0 == finding.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&finding.kind, 1)),
        }
    }
    kinds.sort();
    let bugs: usize = kinds.iter().map(|it| it.1).sum();
    let bugs = (bugs > 0).then(|| {
        let kinds: Vec<String> = kinds.iter().map(|(kind, n)| kind.counted(*n)).collect();
        (counted(bugs as u64, "bug"), kinds.join(", "))
    });
    let are_hidden = report.told(told).count() < report.findings.len();
    let is_more = report.told(Told::Warnings).count() > report.told(told).count();
    let hint = match (are_hidden, is_more) {
        (false, _) => "",
        (true, true) => " (shown with --all)",
        (true, false) => " (shown with --unconfirmed)",
    };
    let events = counted(report.events, "event");
    if report.offline {
        return format!("{}; {events}", predicted(report, bugs, hint));
    }
    let confirmed = confirmed(report, bugs, hint);
    format!("{confirmed}; {}, {events}", counted(report.runs, "run"))
}

/// What runs of the program have shown.
fn confirmed(report: &Report, bugs: Option<(String, String)>, hint: &str) -> String {
    let mut parts = vec![match bugs {
        Some((bugs, kinds)) => format!("{RED}{bugs} confirmed{RED:#} ({kinds})"),
        None if report.unconfirmed > 0 || !report.findings.is_empty() => {
            format!("{GREEN}no bugs confirmed{GREEN:#}")
        }
        None => format!("{GREEN}nothing found{GREEN:#}"),
    }];
    let warnings = report
        .findings
        .iter()
        .filter(|it| it.status == Status::Confirmed && it.severity == Severity::Warning);
    let warnings = warnings.count() as u64;
    if warnings > 0 {
        parts.push(counted(warnings, "warning"));
    }
    if report.unconfirmed > 0 {
        parts.push(format!("{} unconfirmed", thousands(report.unconfirmed)));
    }
    format!("{}{hint}", parts.join(", "))
}

/// What a trace alone implies.
fn predicted(report: &Report, bugs: Option<(String, String)>, hint: &str) -> String {
    let is_any = bugs.is_some();
    let mut text = match bugs {
        Some((bugs, kinds)) => format!("{BLUE}{bugs} predicted{BLUE:#} ({kinds})"),
        None => format!("{GREEN}no bugs predicted{GREEN:#}"),
    };
    let warnings = report.findings.iter().filter(|it| !report.is_sure_bug(it));
    let warnings = warnings.count() as u64;
    if warnings > 0 {
        let _ = write!(text, ", {}{hint}", counted(warnings, "warning"));
    }
    let unproved = report
        .unconfirmed
        .saturating_sub(report.findings.len() as u64);
    if unproved > 0 {
        let _ = write!(text, ", {} not proved", counted(unproved, "suspicion"));
    }
    if is_any {
        text.push_str("; proved on the trace and accepted by the judge, not confirmed by a run");
    }
    text
}
