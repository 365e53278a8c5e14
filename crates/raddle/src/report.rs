//! How failing runs, and what a search came to, are told to people.

use std::fmt::Write as _;
use std::path::Path;

use raddle_report::{Report, Told, terminal};
use raddle_run::explore::{Coverage, Explored, Slow, Unsteady};
use raddle_run::outcome::Failure;
use raddle_run::symbols::{inside_package, interesting, is_library};
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::packages::Packages;
use raddle_trace::position::SourcePosition;

/// Frames of a stack that are shown.
const FRAMES: usize = 8;

/// One line: what kind of failure, and its first words.
pub fn headline(outcome: &Outcome) -> String {
    let kind = match outcome.ending {
        Ending::Signal(_) => "crash",
        ending => ending.name(),
    };
    let message = outcome.message.lines().next().unwrap_or_default();
    let mut text = kind.to_owned();
    if !message.is_empty() {
        let _ = write!(text, ": {message}");
    }
    text
}

/// Where it failed, as far as that is known.
fn place(outcome: &Outcome) -> Option<String> {
    let thread = outcome.thread.filter(|_| !stands_still(outcome));
    let mut parts = Vec::new();
    parts.extend(thread.map(|it| format!("in {it}")));
    let position = outcome.position.as_ref();
    parts.extend(position.map(|it| format!("at {}", with_function(it))));
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// What is known of a failure beyond its headline.
pub fn details(failure: &Failure) -> String {
    let mut text = String::new();
    let outcome = &failure.outcome;
    let rest = outcome.message.split_once('\n').map_or("", |it| it.1);
    push_indented(&mut text, "  ", rest);
    if let Some(place) = place(outcome) {
        let _ = writeln!(text, "  {place}");
    }
    if let Some(object) = outcome.object {
        let _ = writeln!(text, "  object {object}");
    }
    for stuck in &failure.stuck {
        let _ = writeln!(text, "  {} waits {}", stuck.info.thread, stuck.awaits());
        push_stack(&mut text, "       ", &stuck.stack);
    }
    if failure.stuck.is_empty() && failure.stack.len() > 1 {
        text.push_str("  stack:\n");
        push_stack(&mut text, "       ", &failure.stack);
    }
    text
}

/// Adds to each finding the command that repeats it.
pub fn add_commands(report: &mut Report, oracle: Option<&str>) {
    for finding in &mut report.findings {
        let clip = finding.clip.as_deref();
        finding.replay = clip.map(|it| replay_command(it, oracle));
    }
}

/// How findings of analyses are told in the terminal.
pub fn terminal_options(told: Told) -> terminal::Options {
    terminal::Options {
        told,
        library: is_library,
        ..terminal::Options::default()
    }
}

/// What a search came to: with how many data races, if they were looked for. The last line is for machines, too.
pub fn summary(explored: &Explored, races: Option<usize>, verified: bool) -> String {
    let mut text = String::new();
    let _ = write!(
        text,
        "{} runs, {} failures",
        explored.runs, explored.failures
    );
    let _ = match races {
        Some(races) => write!(text, ", {races} data races"),
        None => write!(text, ", data races not looked for"),
    };
    if verified {
        let _ = write!(text, ", {} verified", explored.verified);
    }
    text.push('\n');
    text
}

/// What is said of a run whose replay was not the same.
pub fn does_not_repeat(unsteady: &Unsteady) -> String {
    let Unsteady {
        run,
        seed,
        mismatch,
    } = unsteady;
    format!(
        "this program does not repeat: the replay of run {run} (seed {seed}) differs: {mismatch}"
    )
}

/// What is said of runs that were not done in time.
pub fn too_slow(slow: &Slow) -> Option<String> {
    let (events, time) = slow.most;
    let runs = match slow.runs {
        0 => return None,
        1 => "1 run was too slow here, and does not count".to_owned(),
        runs => format!("{runs} runs were too slow here, and do not count"),
    };
    let time = time.as_secs_f64();
    Some(format!(
        "{runs}: {events} events in {time:.0} s, and not done (--timeout gives more)"
    ))
}

/// How much of the schedules an exhaustive search has seen.
pub fn exhaustion(coverage: &Coverage) -> String {
    let schedules = coverage.schedules;
    let bound = match (coverage.bounded, coverage.preemptions) {
        (false, _) => "and there are no others".to_owned(),
        (true, 1) => "with at most 1 preemption".to_owned(),
        (true, most) => format!("with at most {most} preemptions"),
    };
    if coverage.complete {
        format!("exhausted: {schedules} schedules {bound}")
    } else {
        format!(
            "not exhausted: {schedules} schedules, at least {} more to go",
            coverage.left
        )
    }
}

/// The command that replays a clip, ready to paste.
pub fn replay_command(clip: &Path, oracle: Option<&str>) -> String {
    let mut text = format!("raddle replay {}", shell_word(&clip.to_string_lossy()));
    if let Some(oracle) = oracle {
        let _ = write!(text, " --oracle {}", shell_word(oracle));
    }
    text
}

/// A text as a word for the shell.
pub fn shell_word(text: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+=:,@%".contains(it);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn stands_still(outcome: &Outcome) -> bool {
    matches!(outcome.ending, Ending::Deadlock | Ending::Hang)
}

/// A position as the user would write it, seen from the current directory.
fn with_function(position: &SourcePosition) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let mut position = position.clone();
    if let Ok(inside) = Path::new(&position.file).strip_prefix(&here) {
        position.file = inside.to_string_lossy().into_owned();
    }
    if position.function.is_empty() || position.file.is_empty() {
        position.to_string()
    } else {
        format!("{position} ({})", position.function)
    }
}

/// The user's own frames after that of the package that they call, and the innermost one if there are none.
fn push_stack(text: &mut String, indent: &str, stack: &[SourcePosition]) {
    // Packages that lie elsewhere than in a registry are never left out.
    let none = Packages::default();
    let own = stack.iter().filter(|it| !is_library(it));
    let own: Vec<_> = inside_package(stack, &none)
        .into_iter()
        .chain(own)
        .collect();
    let shown = if own.is_empty() {
        interesting(stack, &none).into_iter().collect()
    } else {
        own
    };
    for frame in shown.iter().take(FRAMES) {
        let _ = writeln!(text, "{indent}at {}", with_function(frame));
    }
    if shown.len() > FRAMES {
        let _ = writeln!(text, "{indent}and {} more", shown.len() - FRAMES);
    }
}

fn push_indented(text: &mut String, indent: &str, lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(text, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::ids::ThreadId;

    fn at(file: &str, line: u32, function: &str) -> SourcePosition {
        SourcePosition {
            function: function.into(),
            file: file.into(),
            line,
            column: 5,
        }
    }

    #[test]
    fn a_headline_says_what_and_where() {
        let outcome = Outcome {
            thread: Some(ThreadId(1)),
            position: Some(at("bank.rs", 31, "bank::transfer")),
            message: "money is gone\n left: 1".into(),
            ..Outcome::new(Ending::Panic)
        };
        assert_eq!(headline(&outcome), "panic: money is gone");
        assert_eq!(
            place(&outcome).unwrap(),
            "in T1 at bank.rs:31:5 (bank::transfer)"
        );
    }

    #[test]
    fn an_exhausted_search_says_so() {
        let mut coverage = Coverage {
            schedules: 12,
            complete: true,
            bounded: true,
            preemptions: 2,
            left: 0,
        };
        assert_eq!(
            exhaustion(&coverage),
            "exhausted: 12 schedules with at most 2 preemptions"
        );
        coverage.complete = false;
        coverage.left = 3;
        assert!(exhaustion(&coverage).starts_with("not exhausted: 12"));
    }

    #[test]
    fn library_frames_are_left_out_unless_there_are_no_others() {
        let library = at("/rustc/x/library/std/src/sync.rs", 1, "std::lock");
        let mut text = String::new();
        push_stack(&mut text, "", &[library.clone(), at("a.rs", 2, "f")]);
        assert_eq!(text, "at a.rs:2:5 (f)\n");
        text.clear();
        push_stack(&mut text, "", &[library]);
        assert!(text.contains("std::lock"));
    }

    #[test]
    fn commands_can_be_pasted() {
        let command = replay_command(Path::new("my clips/a.clip"), Some("grep -q it's"));
        assert_eq!(
            command,
            r"raddle replay 'my clips/a.clip' --oracle 'grep -q it'\''s'"
        );
    }
}
