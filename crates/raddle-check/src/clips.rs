//! Keeps runs as clips. A run that cannot be repeated is no clip.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_report::{Finding, headline};
use raddle_run::Error;
use raddle_run::inputs;
use raddle_run::launch::{Detail, Plan, Record, RunResult};
use raddle_run::program::Program;
use raddle_run::replay;
use raddle_trace::clip::Clip;
use raddle_trace::event::Event;
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::schedule::{Moment, Switch};

use crate::reading::{self, Events, Wanted};
use crate::timeline::Timeline;
use crate::volatile;

/// Where clips go: gives a path that is not taken.
pub type NewPath<'a> = dyn Fn() -> std::io::Result<PathBuf> + 'a;

/// The clips of one command.
pub struct Clips<'a> {
    new_path: &'a NewPath<'a>,
    /// Those that were written and not taken away again.
    kept: RefCell<BTreeSet<PathBuf>>,
}

/// A run that was kept.
#[derive(Debug)]
pub struct Kept {
    /// Its clip; its trace lies beside it.
    pub clip: PathBuf,
    /// What came of it when it was repeated.
    pub result: RunResult,
    /// Its events, as many as fit into memory.
    pub events: Vec<Event>,
    /// Those right before which something of their threads was thinned out.
    gaps: Vec<EventIndex>,
    /// How many of them that is.
    pub extent: Extent,
    /// Its tables.
    pub trailer: Arc<Trailer>,
}

/// How many of a run's events are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Those at its beginning, perhaps without some that concern one thread only.
    Beginning,
    /// Some of those that may concern other threads: what is like what came before is left out.
    Thinned,
    /// All but those that concern one thread only.
    Sifted,
    /// All.
    Whole,
}

/// What it takes to repeat a run.
#[derive(Clone, Copy)]
pub(crate) struct Repeatable<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) switches: &'a [Switch],
    pub(crate) failure: Option<&'a Outcome>,
    /// Which of its events are looked at.
    pub(crate) wanted: Wanted,
}

impl<'a> Repeatable<'a> {
    /// A run that was asked to do this, and did that.
    pub(crate) fn new(plan: &'a Plan, result: &'a RunResult) -> Self {
        Self {
            plan,
            switches: &result.switches,
            failure: result.failure.as_ref().map(|it| &it.outcome),
            wanted: Wanted::All,
        }
    }

    /// The same, with so much of its first switches.
    fn with_first(self, count: usize) -> Self {
        Self {
            switches: &self.switches[..count],
            ..self
        }
    }
}

impl Kept {
    /// Its events, thread by thread.
    #[must_use]
    pub fn timeline(&self) -> Timeline<'_> {
        Timeline::new(&self.events).with_gaps(&self.gaps)
    }
}

/// The tables of a recorded run.
pub(crate) fn read_tables(path: &Path) -> Result<Arc<Trailer>, Error> {
    let reader = TraceReader::open(path).map_err(Error::reading(path))?;
    Ok(reader.trailer().cloned().unwrap_or_default())
}

/// How many switches come before an event.
pub(crate) fn needed(switches: &[Switch], event: &Event) -> usize {
    let later = |it: &Switch| it.from == event.thread && it.tick > event.tick;
    switches.iter().position(later).unwrap_or(switches.len())
}

/// Takes a clip, its trace and its inputs away.
fn remove(clip: &Path) -> Result<(), Error> {
    let inputs = inputs::beside(clip);
    let inputs = inputs.exists().then_some(inputs);
    let files = [clip.with_extension("trace"), clip.to_owned()];
    for file in files.into_iter().chain(inputs) {
        std::fs::remove_file(&file).map_err(Error::file("remove", &file))?;
    }
    Ok(())
}

/// Writes into a clip what it shows.
fn label(clip: &Path, shows: String) -> Result<(), Error> {
    let text = std::fs::read_to_string(clip).map_err(Error::file("read", clip))?;
    let mut labelled = Clip::parse(&text).map_err(Error::runtime)?;
    labelled.shows = Some(shows);
    let tables = read_tables(&clip.with_extension("trace"))?;
    let text = replay::print_clip(&labelled, Some(&tables));
    std::fs::write(clip, text).map_err(Error::file("write", clip))
}

impl<'a> Clips<'a> {
    /// Clips at these paths.
    pub fn new(new_path: &'a NewPath<'a>) -> Self {
        Self {
            new_path,
            kept: RefCell::default(),
        }
    }

    /// Writes into the clip of each finding what the report says of it, and takes the others away.
    ///
    /// # Errors
    /// If a file cannot be written or removed.
    pub fn settle(&self, findings: &[Finding]) -> Result<(), Error> {
        let here = std::env::current_dir().unwrap_or_default();
        for clip in self.kept.take() {
            let shown = findings.iter().find(|it| it.clip.as_ref() == Some(&clip));
            match shown {
                Some(finding) => label(&clip, headline(finding, &here))?,
                None => remove(&clip)?,
            }
        }
        Ok(())
    }

    /// Takes a clip away again.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn discard(&self, kept: Kept) -> Result<(), Error> {
        self.kept.borrow_mut().remove(&kept.clip);
        remove(&kept.clip)
    }

    /// Repeats a run twice and writes its clip; none if it did not go the same way each time. `shows_at` is when it shows
    /// what it is kept for, if that is not how it ends.
    ///
    /// # Errors
    /// If the program cannot be run or a file cannot be written.
    pub(crate) fn keep(
        &self,
        program: &Program,
        run: Repeatable<'_>,
        shows_at: Option<Moment>,
    ) -> Result<Option<Kept>, Error> {
        let Repeatable {
            plan,
            switches,
            failure,
            wanted,
        } = run;
        // What was found is kept, even if the time is over.
        let program = &program.unhurried();
        let clip = (self.new_path)().map_err(Error::system("find a place for a clip"))?;
        let trace = clip.with_extension("trace");
        let success = Outcome::new(Ending::Success);
        let expected = failure.unwrap_or(&success);
        let mut again = replay::plan(plan, switches);
        again.record = Some(Record {
            path: trace.clone(),
            detail: Detail::Positions,
        });
        let first = replay::replay(program, &again, Some(expected), None)?;
        let scratch = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
        again.record = Some(Record {
            path: scratch.path().join("again.trace"),
            detail: Detail::Events,
        });
        let second = replay::replay(program, &again, Some(expected), Some(&trace))?;
        if first.mismatch.is_some() || second.mismatch.is_some() {
            std::fs::remove_file(&trace).map_err(Error::file("remove", &trace))?;
            return Ok(None);
        }
        let Events {
            mut events,
            gaps,
            trailer,
            extent,
            ..
        } = reading::read(&trace, program, first.result.events, wanted)?;
        volatile::interpret(program, &first.result, &mut events);
        // The repeated run was recorded, so it knows of a crash where it happened.
        let outcome = first.result.failure.as_ref().map(|it| it.outcome.clone());
        let outcome = outcome.unwrap_or_else(|| program.usual.outcome());
        let exit = || Moment::of_exit(events.iter()).filter(|_| outcome.ending.is_in_order());
        let mut text = Clip {
            run: program.spec(plan),
            shows: None,
            shows_at: shows_at.or_else(exit),
            expected: Some(outcome),
            switches: switches.to_vec(),
        };
        if let Some(inputs) = &plan.inputs {
            inputs.keep_beside(&clip, &mut text.run)?;
        }
        let text = replay::print_clip(&text, Some(&trailer));
        std::fs::write(&clip, text).map_err(Error::file("write", &clip))?;
        self.kept.borrow_mut().insert(clip.clone());
        Ok(Some(Kept {
            clip,
            result: first.result,
            events,
            gaps,
            extent,
            trailer,
        }))
    }

    /// Keeps a run as a clip if `find` finds in it what it is kept for: with the first `needed` of its switches if that
    /// is enough, else with all.
    ///
    /// # Errors
    /// If the program cannot be run or a file cannot be written.
    pub(crate) fn keep_what_shows<T>(
        &self,
        program: &Program,
        run: Repeatable<'_>,
        needed: usize,
        shows_at: Option<Moment>,
        mut find: impl FnMut(&Kept) -> Option<T>,
    ) -> Result<Option<(Kept, T)>, Error> {
        // Without its last switches a run that was told something by the outside need not come back from there
        // in the same order.
        let all = run.switches.len();
        let mut counts = match run.plan.inputs {
            Some(_) => vec![all],
            None => vec![needed, all],
        };
        counts.dedup();
        for count in counts {
            let Some(kept) = self.keep(program, run.with_first(count), shows_at)? else {
                continue;
            };
            match find(&kept) {
                Some(found) => return Ok(Some((kept, found))),
                None => self.discard(kept)?,
            }
        }
        Ok(None)
    }
}
