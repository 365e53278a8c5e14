//! A line on the terminal that says how a command is getting on.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use raddle_check::check;
use raddle_run::explore;

/// How often the line is drawn while a stage lasts.
const REDRAW: Duration = Duration::from_millis(100);
/// Moves the cursor to the line's start and clears the line.
const CLEAR: &str = "\r\x1b[K";
/// Columns of a bar.
const BAR: usize = 20;

/// The line. It is drawn only if standard error is a terminal.
pub struct Line {
    visible: bool,
    drawn: Option<(&'static str, Instant)>,
}

impl Line {
    /// A line, unless nobody wants it.
    pub fn new(quiet: bool) -> Line {
        Line {
            visible: !quiet && std::io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Shows how far a stage has come. A new stage is shown at once, since nobody knows how long its first
    /// step takes.
    pub fn show(&mut self, stage: &'static str, text: impl FnOnce() -> String) {
        let lately = self
            .drawn
            .is_some_and(|(before, at)| before == stage && at.elapsed() < REDRAW);
        if self.visible && !lately {
            self.drawn = Some((stage, Instant::now()));
            draw(&text());
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw("");
        }
    }
}

/// How a search is getting on, of at most `runs` runs if anybody knows how many.
pub fn of_search(progress: &explore::Progress, runs: Option<u64>) -> String {
    let mut text = format!("run {}", progress.runs);
    if let Some(runs) = runs {
        text.push_str(&format!(" of {runs}"));
    }
    if let Some(left) = progress.frontier {
        text.push_str(&format!(", {left} schedules to go"));
    }
    text.push_str(&format!(", {} failed", progress.failures));
    text
}

/// The stage that a check is in, for [`Line::show`], and how it is getting on.
pub fn of_check(progress: check::Progress) -> (&'static str, String) {
    match progress {
        check::Progress::Recording { run, of } => {
            let of = of.map(|it| format!(" of {it}")).unwrap_or_default();
            ("recording", format!("recording run {run}{of}"))
        }
        check::Progress::Searching { runs, of } => ("searching", format!("run {runs} of {of}")),
        check::Progress::Predicting { events } => ("predicting", of_prediction(events)),
        check::Progress::Confirming {
            prediction,
            of,
            bugs,
        } => {
            let bar = bar(prediction.saturating_sub(1), of);
            let bugs = match bugs {
                0 => "no bugs so far".to_owned(),
                1 => "1 bug so far".to_owned(),
                bugs => format!("{bugs} bugs so far"),
            };
            let text = format!("{bar} confirming {prediction} of {of}, {bugs}");
            ("confirming", text)
        }
    }
}

/// What is going on while bugs are predicted.
pub fn of_prediction(events: usize) -> String {
    format!("predicting from {events} events")
}

fn bar(done: usize, of: usize) -> String {
    let full = (done * BAR).checked_div(of).unwrap_or(0).min(BAR);
    format!("[{}{}]", "#".repeat(full), ".".repeat(BAR - full))
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr();
    // A terminal that is gone needs no line.
    let _ = write!(stderr, "{CLEAR}{text}").and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_says_what_is_known() {
        let mut progress = explore::Progress {
            runs: 7,
            failures: 1,
            frontier: None,
        };
        assert_eq!(of_search(&progress, Some(9)), "run 7 of 9, 1 failed");
        progress.frontier = Some(3);
        assert_eq!(
            of_search(&progress, None),
            "run 7, 3 schedules to go, 1 failed"
        );
    }

    #[test]
    fn a_check_goes_through_its_stages() {
        let text = |progress| of_check(progress).1;
        assert_eq!(
            text(check::Progress::Recording {
                run: 2,
                of: Some(5)
            }),
            "recording run 2 of 5"
        );
        assert_eq!(
            text(check::Progress::Predicting { events: 100 }),
            "predicting from 100 events"
        );
        let confirming = |prediction, bugs| check::Progress::Confirming {
            prediction,
            of: 4,
            bugs,
        };
        assert_eq!(
            text(confirming(1, 0)),
            "[....................] confirming 1 of 4, no bugs so far"
        );
        assert_eq!(
            text(confirming(4, 2)),
            "[###############.....] confirming 4 of 4, 2 bugs so far"
        );
    }
}
