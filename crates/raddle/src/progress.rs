//! A line on the terminal that says how a search is getting on.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use raddle_run::explore::Progress;

/// The line. It is drawn only if standard error is a terminal.
pub struct Line(ProgressBar);

impl Line {
    /// A line for a search of at most `runs` runs; 0 if nobody knows how many.
    pub fn new(runs: u64, quiet: bool) -> Line {
        let bar = if runs == 0 {
            ProgressBar::no_length()
        } else {
            ProgressBar::new(runs)
        };
        bar.set_draw_target(if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Line(bar)
    }

    /// Shows how far the search has come.
    pub fn show(&self, progress: &Progress) {
        self.0.set_position(progress.runs);
        let of = self.0.length().map(|it| format!(" of {it}"));
        let left = match progress.frontier {
            Some(left) => format!(", {left} schedules to go"),
            None => String::new(),
        };
        self.0.set_message(format!(
            "run {}{}{left}, {} failed",
            progress.runs,
            of.unwrap_or_default(),
            progress.failures
        ));
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
