//! `raddle predict`: what `raddle check` predicts, from a trace alone.
//!
//! Nothing is run, so that traces of other tools and of programs that are gone can be looked into. What is told
//! was proved and accepted by the judge; only `raddle check` shows it on the program. Exit code 2 if a bug was
//! proved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use raddle_check::offline::{Bounds, Options, Predicted, Trace};
use raddle_model::Model;
use raddle_run::models;
use raddle_trace::run::RunSpec;

use crate::commands::check::PredictArgs;
use crate::commands::replay::state_dir;
use crate::exit::Exit;
use crate::launch::{self, VolatileArg, parse_seconds, parse_size};
use crate::memory;
use crate::progress::{self, Line};
use crate::report;

/// Options of `raddle predict`.
#[derive(Args)]
pub struct Predict {
    /// The trace: one that Raddle recorded, or RAPID's STD text
    trace: PathBuf,
    /// Write the order of events that proves each finding to this file: plain text, whose head says what its
    /// lines mean. `raddle trace judge` checks it
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    /// What volatile accesses mean to other threads: nothing, or that loads acquire and stores release [default: plain]
    #[arg(long, value_enum)]
    volatile: Option<VolatileArg>,
    /// Longest time that is spent, in seconds; what is not looked at then is told [default: as long as it takes]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time: Option<Duration>,
    /// Memory for the trace and what is predicted from it: 500M, 2G. Of a longer trace what concerns one thread only is passed
    /// over, and then the beginning is looked at [default: half of what is free, at most 4G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    #[command(flatten)]
    predict: PredictArgs,
}

impl Predict {
    /// Predicts, and tells what was accepted. Bugs that are proved count as found.
    pub fn run(&self) -> Result<Exit> {
        let began = Instant::now();
        let config = self.predict.config.load()?;
        let memory = self.memory.or(config.check.memory);
        let bounds = Bounds {
            memory: Some(memory.unwrap_or_else(memory::usual)),
            time: self.time.map(|time| (began, time)),
        };
        let mut line = Line::new(self.predict.quiet);
        line.show("reading", || format!("reading {}", self.trace.display()));
        let read = Trace::read_within(&self.trace, bounds);
        line.clear();
        let mut trace = read?;
        let options = Options {
            predict: self.predict.options(&config),
            until: self.time.and_then(|time| began.checked_add(time)),
            atomic: config.atomic.clone(),
            volatile: self.volatile.or(config.volatile).unwrap_or_default().into(),
            witnesses: self.witness.is_some(),
        };
        line.show("predicting", || progress::of_prediction(trace.events()));
        let out = config.check.out.clone();
        let out = out.unwrap_or_else(|| state_dir(&self.trace));
        let model = model(trace.run(), &out);
        let predicted = trace.predict(model.as_ref(), &options);
        line.clear();
        let Predicted {
            mut report,
            witnesses,
        } = predicted?;
        if let (Some(path), Some(text)) = (&self.witness, witnesses) {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if !report.findings.is_empty() {
            report.notes.push(advice(trace.run()));
        }
        self.predict.teller(&config).tell(&report)?;
        Ok(match report.has_bugs() {
            true => Exit::Found,
            false => Exit::Clean,
        })
    }
}

/// The executable's program model, if that is still the one that was recorded.
pub(super) fn model(run: &RunSpec, out: &Path) -> Option<Model> {
    let binary = launch::recorded_binary(run, out)?;
    models::of_binary(&binary)
}

/// How predictions are confirmed.
fn advice(run: &RunSpec) -> String {
    if run.program.as_os_str().is_empty() {
        return "these are predictions; the trace was imported, so that there is no program to confirm them on. \
                `raddle check` records, predicts and confirms where there is one"
            .to_owned();
    }
    let words = launch::recorded_program(run);
    let words = words
        .iter()
        .map(|it| report::shell_word(&it.to_string_lossy()));
    let words: Vec<String> = words.collect();
    format!(
        "these are predictions; to confirm them on the program: raddle check {}",
        words.join(" ")
    )
}
