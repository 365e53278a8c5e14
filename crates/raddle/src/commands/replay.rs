//! `raddle replay`: runs a clip again.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use raddle_run::inputs::Inputs;
use raddle_run::launch::{Detail, Plan, Record, RunResult};
use raddle_run::program::Program;
use raddle_run::usual::Usual;
use raddle_run::{gdb, replay};
use raddle_trace::clip::Clip;

use crate::exit::Exit;
use crate::output::{say, sayln};
use crate::{launch, report, state};

/// Options of `raddle replay`.
#[derive(Args)]
pub struct Replay {
    /// The clip, as `raddle run` wrote it
    clip: PathBuf,
    /// Replay it so many times
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: u64,
    /// Stop in gdb at the failing point
    #[arg(long)]
    gdb: bool,
    /// One more argument for gdb
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, requires = "gdb")]
    gdb_arg: Vec<OsString>,
    /// Write the replay's trace to FILE
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The shell command that judged the clip's run
    #[arg(long, value_name = "COMMAND")]
    oracle: Option<String>,
    /// Longest time that a replay may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = launch::parse_seconds, default_value = "20")]
    timeout: Duration,
    /// Don't print what the program prints
    #[arg(long, short)]
    quiet: bool,
}

impl Replay {
    /// Replays, and says whether it went as the clip says.
    pub fn run(&self) -> Result<Exit> {
        let clip = read_clip(&self.clip)?;
        let out = state_dir(&self.clip);
        let binary = launch::clip_binary(&clip.run, &out)?;
        let mut program = Program::of_clip(&clip.run, &binary)?;
        program.usual = Usual::of_clip(clip.expected.as_ref());
        program.timeout = self.timeout;
        program.oracle = self.oracle.clone();
        let mut plan = replay::clip_plan(&clip);
        plan.inputs = Inputs::of_clip(&self.clip, &clip.run)?;
        if self.gdb {
            let status = gdb::debug(&program, &clip, plan, &self.gdb_arg)?;
            return Ok(if status.success() {
                Exit::Clean
            } else {
                Exit::Usage
            });
        }
        self.repeat(&clip, &program, plan)
    }

    fn repeat(&self, clip: &Clip, program: &Program, mut plan: Plan) -> Result<Exit> {
        let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
        let beside = self.clip.with_extension("trace");
        let original = beside.exists().then_some(beside.as_path());
        let path = self.trace.clone();
        plan.record = Some(Record {
            detail: if path.is_some() {
                Detail::Positions
            } else {
                Detail::Events
            },
            path: path.unwrap_or_else(|| scratch.path().join("replay.trace")),
        });
        let mut failed = false;
        for time in 1..=self.times {
            let replayed = replay::replay(program, &plan, clip.expected.as_ref(), original)?;
            if let Some(mismatch) = &replayed.mismatch {
                self.show(&replayed.result)?;
                sayln!("replay {time} of {}: NOT the same: {mismatch}", self.times);
                return Ok(Exit::Internal);
            }
            failed = replayed.result.failure.is_some();
            if time == self.times {
                self.show(&replayed.result)?;
                if let Some(shows) = &clip.shows {
                    sayln!("it shows: {shows}");
                }
                let events = replayed.result.events.unwrap_or(0);
                let compared = if replayed.compared {
                    format!("same {events} events")
                } else {
                    format!("{events} events, no trace beside the clip to compare them with")
                };
                sayln!(
                    "replayed {time} of {}: same outcome, {compared}",
                    self.times
                );
            }
        }
        Ok(if failed { Exit::Found } else { Exit::Clean })
    }

    /// Passes on what the program wrote, and tells how it failed.
    fn show(&self, result: &RunResult) -> Result<()> {
        if !self.quiet {
            let written = std::io::stdout()
                .write_all(&result.stdout)
                .and_then(|()| std::io::stderr().write_all(&result.stderr));
            written.context("cannot pass on the program's output")?;
        }
        match &result.failure {
            Some(failure) => {
                sayln!("{}", report::headline(&failure.outcome));
                say(&report::details(failure));
            }
            None => sayln!("the program did not fail"),
        }
        Ok(())
    }
}

fn read_clip(path: &Path) -> Result<Clip> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the clip {}", path.display()))?;
    Clip::parse(&text).with_context(|| format!("{} is not a clip", path.display()))
}

/// The directory that the program of a clip, or of the trace beside it, was built under.
pub fn state_dir(clip: &Path) -> PathBuf {
    let clips = clip.parent().filter(|it| it.ends_with("clips"));
    let dir = clips.and_then(Path::parent);
    dir.map_or_else(|| state::DEFAULT_DIR.into(), Path::to_owned)
}
