//! Makes the runs of a search, each with files of its own, and replays them if that is wanted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use raddle_trace::outcome::{Ending, Outcome};

use crate::error::Error;
use crate::explore::{Search, label};
use crate::launch::{Detail, Plan, Record, RunResult, launch_unless};
use crate::program::Program;
use crate::replay::{self, Mismatch};
use crate::watch::{Recording, Sighting, Watcher};

/// Most events of a run that was ended with which the watcher is bothered.
const LONGEST_LOOKED_AT: u64 = 8 << 20;

/// Makes the runs of a search.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a> {
    pub program: &'a Program,
    pub search: &'a Search,
    /// Looks at every run.
    pub watcher: Option<&'a dyn Watcher>,
    /// A directory for traces that nobody will miss.
    pub scratch: &'a Path,
}

/// A run that was made, and perhaps repeated.
pub(crate) struct Made {
    pub plan: Plan,
    pub result: RunResult,
    /// How the replay went, if there was one.
    pub replayed: Option<Result<(), Mismatch>>,
    /// What the watcher saw.
    pub seen: Vec<Sighting>,
}

impl Runner<'_> {
    /// Makes one run, and replays it if every run is. Its files are those of `place`, of which there is one
    /// for each run that is under way.
    pub fn make(&self, mut plan: Plan, place: u64, unwanted: &AtomicBool) -> Result<Made, Error> {
        plan.label = label(&plan, self.search.preemptions);
        if plan.record.is_none() {
            plan.record = self.record(place);
        }
        let result = launch_unless(self.program, &plan, unwanted)?;
        plan.inputs = result.inputs.clone();
        let seen = self.look(&plan, &result)?;
        let replayed = match &plan.record {
            Some(original) if self.search.verify => {
                let again = self.scratch.join(format!("again-{place}.trace"));
                Some(self.verify(&plan, &result, &original.path, again)?)
            }
            _ => None,
        };
        Ok(Made {
            plan,
            result,
            replayed,
            seen,
        })
    }

    /// Shows a run to the watcher, unless it was ended and is longer than anybody would wait for.
    fn look(&self, plan: &Plan, result: &RunResult) -> Result<Vec<Sighting>, Error> {
        if result.cut.is_some() && result.head.ticks > LONGEST_LOOKED_AT {
            return Ok(Vec::new());
        }
        match (self.watcher, &plan.record, &result.executed) {
            (Some(watcher), Some(record), Some(executed)) => {
                let trace = &record.path;
                match watcher.look(Recording { trace, executed }) {
                    // How it ended counts nevertheless.
                    Err(Error::OutOfTime) => Ok(Vec::new()),
                    looked => looked,
                }
            }
            _ => Ok(Vec::new()),
        }
    }

    fn record(&self, place: u64) -> Option<Record> {
        let own = || self.scratch.join(format!("run-{place}.trace"));
        match &self.search.record {
            Some(path) => Some(Record {
                path: if self.is_alone() { path.clone() } else { own() },
                detail: Detail::Positions,
            }),
            None if self.search.verify || self.watcher.is_some() => Some(Record {
                path: own(),
                detail: Detail::Events,
            }),
            None => None,
        }
    }

    fn is_alone(&self) -> bool {
        self.search.jobs == NonZeroUsize::MIN
    }

    /// Puts a run's trace where the user wants it, if it was recorded elsewhere.
    pub fn deliver(&self, plan: &Plan) -> Result<(), Error> {
        let (Some(wanted), Some(record)) = (&self.search.record, &plan.record) else {
            return Ok(());
        };
        if record.path == *wanted || record.detail != Detail::Positions {
            return Ok(());
        }
        if std::fs::rename(&record.path, wanted).is_ok() {
            return Ok(());
        }
        // The two may be on different file systems.
        let copied = std::fs::copy(&record.path, wanted);
        copied.map(|_| ()).map_err(Error::file("write", wanted))
    }

    /// Replays a run that was just recorded.
    fn verify(
        &self,
        plan: &Plan,
        result: &RunResult,
        original: &Path,
        again: PathBuf,
    ) -> Result<Result<(), Mismatch>, Error> {
        let mut plan = replay::plan(plan, &result.switches);
        plan.record = Some(Record {
            path: again,
            detail: Detail::Events,
        });
        let ended = Outcome::new(Ending::Success);
        let expected = result.failure.as_ref().map_or(&ended, |it| &it.outcome);
        let replayed = replay::replay(self.program, &plan, Some(expected), Some(original))?;
        Ok(replayed.mismatch.map_or(Ok(()), Err))
    }
}
