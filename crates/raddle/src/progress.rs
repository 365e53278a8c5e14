//! A line on the terminal that says how a search is getting on.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use raddle_run::explore::Progress;

/// How often the line is drawn.
const REDRAW: Duration = Duration::from_millis(100);
/// Moves the cursor to the line's start and clears the line.
const CLEAR: &str = "\r\x1b[K";

/// The line. It is drawn only if standard error is a terminal.
pub struct Line {
    runs: Option<u64>,
    visible: bool,
    drawn: Option<Instant>,
}

impl Line {
    /// A line for a search of at most `runs` runs, if anybody knows how many.
    pub fn new(runs: Option<u64>, quiet: bool) -> Line {
        Line {
            runs,
            visible: !quiet && std::io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Shows how far the search has come.
    pub fn show(&mut self, progress: &Progress) {
        let lately = self.drawn.is_some_and(|it| it.elapsed() < REDRAW);
        if self.visible && !lately {
            self.drawn = Some(Instant::now());
            draw(&self.text(progress));
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if self.drawn.is_some() {
            draw("");
        }
    }

    fn text(&self, progress: &Progress) -> String {
        let mut text = format!("run {}", progress.runs);
        if let Some(runs) = self.runs {
            text.push_str(&format!(" of {runs}"));
        }
        if let Some(left) = progress.frontier {
            text.push_str(&format!(", {left} schedules to go"));
        }
        text.push_str(&format!(", {} failed", progress.failures));
        text
    }
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
    fn the_line_says_what_is_known() {
        let mut progress = Progress {
            runs: 7,
            failures: 1,
            frontier: None,
        };
        assert_eq!(
            Line::new(Some(9), true).text(&progress),
            "run 7 of 9, 1 failed"
        );
        progress.frontier = Some(3);
        assert_eq!(
            Line::new(None, true).text(&progress),
            "run 7, 3 schedules to go, 1 failed"
        );
    }
}
