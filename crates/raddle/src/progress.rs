//! How a command is getting on: a line on the terminal that is drawn again and again, or a line now and then where
//! standard error is a pipe or a file.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raddle_check::check;
use raddle_run::explore;

/// How often the line is drawn while it changes.
const REDRAW: Duration = Duration::from_millis(100);
/// How often the line is drawn if nothing changes but the time.
const TICK: Duration = Duration::from_secs(1);
/// When the first line is written to a log: commands that take less time have none.
const FIRST_IN_LOG: Duration = Duration::from_secs(1);
/// How often a line is written to a log.
const IN_LOG: Duration = Duration::from_secs(10);
/// A stage that lasts longer says for how long.
const LONG: Duration = Duration::from_secs(2);
/// Moves the cursor to the line's start and clears the line.
const CLEAR: &str = "\r\x1b[K";
/// Columns of a bar.
const BAR: usize = 20;

/// The line. A thread of its own draws it while a stage lasts.
pub struct Line {
    shared: Option<Arc<Shared>>,
    drawing: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    on_terminal: bool,
}

struct State {
    stage: Option<Stage>,
    /// When the line was drawn last.
    drawn: Option<Instant>,
    /// When a log gets its next line.
    due: Instant,
    is_over: bool,
}

/// What goes on.
struct Stage {
    name: &'static str,
    text: String,
    began: Instant,
}

impl Line {
    /// A line, unless nobody wants it.
    pub fn new(quiet: bool) -> Line {
        if quiet {
            return Line {
                shared: None,
                drawing: None,
            };
        }
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                stage: None,
                drawn: None,
                due: Instant::now() + FIRST_IN_LOG,
                is_over: false,
            }),
            changed: Condvar::new(),
            on_terminal: std::io::stderr().is_terminal(),
        });
        let drawn = Arc::clone(&shared);
        Line {
            shared: Some(shared),
            drawing: Some(std::thread::spawn(move || drawn.draw_while_needed())),
        }
    }

    /// Shows how far a stage has come. A new stage is shown at once, since nobody knows how long its first
    /// step takes.
    pub fn show(&mut self, name: &'static str, text: impl FnOnce() -> String) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        let before = state.stage.as_ref().filter(|it| it.name == name);
        let began = before.map(|it| it.began);
        let lately = state.drawn.is_some_and(|at| at.elapsed() < REDRAW);
        if began.is_some() && lately {
            return;
        }
        state.stage = Some(Stage {
            name,
            text: text(),
            began: began.unwrap_or_else(Instant::now),
        });
        if shared.on_terminal {
            state.draw();
        } else {
            state.drawn = Some(Instant::now());
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        state.stage = None;
        if state.drawn.take().is_some() && shared.on_terminal {
            write(CLEAR);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
        if let Some(shared) = &self.shared {
            shared.lock().is_over = true;
            shared.changed.notify_all();
        }
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw_while_needed(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let wait = match self.on_terminal {
                true => TICK,
                false => state.due.saturating_duration_since(Instant::now()),
            };
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                break;
            }
            if self.on_terminal {
                state.draw();
            } else if Instant::now() >= state.due {
                state.due = Instant::now() + IN_LOG;
                state.log();
            }
        }
    }
}

impl State {
    fn draw(&mut self) {
        if let Some(stage) = &self.stage {
            self.drawn = Some(Instant::now());
            write(&format!("{CLEAR}{}", stage.told()));
        }
    }

    fn log(&self) {
        if let Some(stage) = &self.stage {
            write(&format!("raddle: {}\n", stage.told()));
        }
    }
}

impl Stage {
    fn told(&self) -> String {
        let lasted = self.began.elapsed();
        match lasted < LONG {
            true => self.text.clone(),
            false => format!("{}, {} s", self.text, lasted.as_secs()),
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr();
    // A terminal that is gone needs no line.
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
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

/// The stage that a check is in, for [`Line::show`], and how it is getting on; none if it tells of something else.
pub fn of_check(progress: &check::Progress) -> Option<(&'static str, String)> {
    Some(match progress {
        check::Progress::Found(_) => return None,
        check::Progress::Recording { run, of } => {
            let of = of.map(|it| format!(" of {it}")).unwrap_or_default();
            ("recording", format!("recording run {run}{of}"))
        }
        check::Progress::Searching { runs, of } => ("searching", format!("run {runs} of {of}")),
        check::Progress::Predicting { events } => ("predicting", of_prediction(*events)),
        check::Progress::Confirming {
            prediction,
            of,
            bugs,
        } => {
            let bar = bar(prediction.saturating_sub(1), *of);
            let bugs = match bugs {
                0 => "no bugs so far".to_owned(),
                1 => "1 bug so far".to_owned(),
                bugs => format!("{bugs} bugs so far"),
            };
            let text = format!("{bar} confirming {prediction} of {of}, {bugs}");
            ("confirming", text)
        }
    })
}

/// What is going on while bugs are predicted.
pub fn of_prediction(events: usize) -> String {
    format!("predicting from {events} events")
}

fn bar(done: usize, of: usize) -> String {
    let full = (done * BAR).checked_div(of).unwrap_or(0).min(BAR);
    format!("[{}{}]", "#".repeat(full), ".".repeat(BAR - full))
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
        let text = |progress| of_check(&progress).unwrap().1;
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
