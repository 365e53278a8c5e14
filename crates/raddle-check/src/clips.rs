//! Keeps runs as clips. A run that cannot be repeated is no clip.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_run::Error;
use raddle_run::inputs;
use raddle_run::launch::{Detail, Plan, Record, RunResult};
use raddle_run::program::Program;
use raddle_run::replay;
use raddle_trace::clip::Clip;
use raddle_trace::event::Event;
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::schedule::Switch;

/// Where clips go: gives a path that is not taken.
pub type NewPath<'a> = dyn Fn() -> std::io::Result<PathBuf> + 'a;

/// Where clips go.
pub struct Clips<'a> {
    new_path: &'a NewPath<'a>,
}

/// A run that was kept.
#[derive(Debug)]
pub struct Kept {
    /// Its clip; its trace lies beside it.
    pub clip: PathBuf,
    /// What came of it when it was repeated.
    pub result: RunResult,
    /// Its events.
    pub events: Vec<Event>,
    /// Its tables.
    pub trailer: Arc<Trailer>,
}

/// What it takes to repeat a run.
#[derive(Clone, Copy)]
pub(crate) struct Repeatable<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) switches: &'a [Switch],
    pub(crate) failure: Option<&'a Outcome>,
}

impl<'a> Repeatable<'a> {
    /// A run that was asked to do this, and did that.
    pub(crate) fn new(plan: &'a Plan, result: &'a RunResult) -> Self {
        Self {
            plan,
            switches: &result.switches,
            failure: result.failure.as_ref().map(|it| &it.outcome),
        }
    }
}

/// A recorded run, read back.
///
/// # Errors
/// If the trace cannot be read.
pub fn read(path: &Path) -> Result<(Vec<Event>, Arc<Trailer>), Error> {
    let mut reader = TraceReader::open(path).map_err(Error::reading(path))?;
    let events = reader.by_ref().collect::<Result<Vec<Event>, _>>();
    let events = events.map_err(Error::reading(path))?;
    let trailer = reader.trailer().cloned().unwrap_or_default();
    Ok((events, trailer))
}

/// How many switches come before an event.
pub(crate) fn needed(switches: &[Switch], event: &Event) -> usize {
    let later = |it: &Switch| it.from == event.thread && it.tick > event.tick;
    switches.iter().position(later).unwrap_or(switches.len())
}

impl Kept {
    /// Takes clip and trace away again.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub fn discard(self) -> Result<(), Error> {
        let inputs = inputs::beside(&self.clip);
        let inputs = inputs.exists().then_some(inputs);
        let files = [self.clip.with_extension("trace"), self.clip];
        for file in files.into_iter().chain(inputs) {
            std::fs::remove_file(&file).map_err(Error::file("remove", &file))?;
        }
        Ok(())
    }
}

impl<'a> Clips<'a> {
    /// Clips at these paths.
    pub fn new(new_path: &'a NewPath<'a>) -> Self {
        Self { new_path }
    }

    /// Repeats a run twice and writes its clip; none if it did not go the same way each time.
    ///
    /// # Errors
    /// If the program cannot be run or a file cannot be written.
    pub fn keep(
        &self,
        program: &Program,
        plan: &Plan,
        switches: &[Switch],
        failure: Option<&Outcome>,
        shows: Option<&str>,
    ) -> Result<Option<Kept>, Error> {
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
        let (events, trailer) = read(&trace)?;
        // The repeated run was recorded, so it knows of a crash where it happened.
        let outcome = first.result.failure.as_ref().map(|it| it.outcome.clone());
        let mut text = Clip {
            run: program.spec(plan),
            shows: shows.map(str::to_owned),
            expected: Some(outcome.unwrap_or_else(|| program.usual.outcome())),
            switches: switches.to_vec(),
        };
        if let Some(inputs) = &plan.inputs {
            inputs.keep_beside(&clip, &mut text.run)?;
        }
        let text = replay::print_clip(&text, Some(&trailer));
        std::fs::write(&clip, text).map_err(Error::file("write", &clip))?;
        Ok(Some(Kept {
            clip,
            result: first.result,
            events,
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
        shows: Option<&str>,
        mut find: impl FnMut(&Kept) -> Option<T>,
    ) -> Result<Option<(Kept, T)>, Error> {
        let Repeatable {
            plan,
            switches,
            failure,
        } = run;
        // Without its last switches a run that was told something by the outside need not come back from there
        // in the same order.
        let all = switches.len();
        let mut counts = match plan.inputs {
            Some(_) => vec![all],
            None => vec![needed, all],
        };
        counts.dedup();
        for count in counts {
            let kept = self.keep(program, plan, &switches[..count], failure, shows)?;
            let Some(kept) = kept else {
                continue;
            };
            match find(&kept) {
                Some(found) => return Ok(Some((kept, found))),
                None => kept.discard()?,
            }
        }
        Ok(None)
    }
}
