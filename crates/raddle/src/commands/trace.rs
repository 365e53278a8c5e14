//! `raddle trace`: looks into a recorded run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use raddle_check::offline;
use raddle_trace::dump::Dumper;
use raddle_trace::file::{Header, TraceReader, TraceWriter, Trailer};
use raddle_trace::filter::{Filter, Place};
use raddle_trace::ids::{Address, ThreadId};
use raddle_trace::position::SourcePosition;
use raddle_trace::run::RunSpec;
use raddle_trace::stack::Stacks;
use raddle_trace::stats::Stats;
use raddle_trace::std_format::{StdExport, StdImport};

use crate::commands::predict::model;
use crate::commands::replay::state_dir;
use crate::exit::Exit;
use crate::output::sayln;
use crate::report;

/// What to do with a trace.
#[derive(Args)]
pub struct Trace {
    #[command(subcommand)]
    command: TraceCommand,
}

/// Which events of a trace are printed, and how.
#[derive(Args)]
struct Dump {
    /// The trace
    trace: PathBuf,
    /// Only this thread's events, such as T1
    #[arg(long)]
    thread: Option<ThreadId>,
    /// Only events of this file, such as queue.rs, or of a line of it, such as queue.rs:14
    #[arg(long, value_name = "FILE[:LINE]")]
    file: Option<Place>,
    /// Only events that touch the byte at this address, or act on the object there, such as 0x7ff0
    #[arg(long, value_parser = parse_address)]
    address: Option<Address>,
    /// Only the last so many of these events of each thread
    #[arg(long, value_name = "N", conflicts_with = "count")]
    last: Option<u64>,
    /// Only events from this index on
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only so many events
    #[arg(long)]
    count: Option<u64>,
    /// Under each event the calls that led to it
    #[arg(long)]
    stacks: bool,
}

#[derive(Subcommand)]
enum TraceCommand {
    /// Count its events, threads, locks
    Stats {
        /// The trace
        trace: PathBuf,
    },
    /// Print its events, one a line
    Dump(Dump),
    /// Print it in another format
    Export {
        /// As RAPID's STD text
        #[arg(long, required = true)]
        std: bool,
        /// The trace
        trace: PathBuf,
        /// Where to; standard output if none is given
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Make a trace of another format's file
    Import {
        /// From RAPID's STD text
        #[arg(long, required = true)]
        std: bool,
        /// The text
        file: PathBuf,
        /// The trace to write; beside the text if none is given
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Judge orders of its events, as `raddle predict --witness` writes them: exit code 0 if all are feasible and
    /// show their bugs, 2 if one does not, with the first thing wrong
    Judge {
        /// The trace: one that Raddle recorded, or RAPID's STD text
        trace: PathBuf,
        /// The witnesses
        witnesses: PathBuf,
    },
}

impl Trace {
    /// Does it.
    pub fn run(&self) -> Result<Exit> {
        match &self.command {
            TraceCommand::Stats { trace } => stats(trace),
            TraceCommand::Dump(dump) => dump.run(),
            TraceCommand::Export { trace, output, .. } => export(trace, output.as_deref()),
            TraceCommand::Import { file, output, .. } => import(file, output.as_deref()),
            TraceCommand::Judge { trace, witnesses } => judge(trace, witnesses),
        }
    }
}

/// Opens a trace, with a word if it is not whole.
fn open(path: &Path) -> Result<TraceReader<BufReader<File>>> {
    let reader =
        TraceReader::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    if let Some(truncation) = reader.truncated() {
        eprintln!("raddle: {}: {truncation}", path.display());
    }
    Ok(reader)
}

/// Runs `write` on standard output. A reader who leaves early, such as `head`, is no error.
fn to_stdout(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Exit> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    match written {
        Err(error) if is_closed_pipe(&error) => Ok(Exit::Clean),
        written => written.map(|()| Exit::Clean),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
}

fn stats(path: &Path) -> Result<Exit> {
    let mut reader = open(path)?;
    let mut stats = Stats::default();
    for event in &mut reader {
        stats.observe(&event.with_context(|| path.display().to_string())?);
    }
    to_stdout(|mut out| {
        let run = &reader.header().run;
        if !run.program.as_os_str().is_empty() {
            writeln!(out, "program         {}", run.program.display())?;
            writeln!(out, "build           {}", run.build)?;
            writeln!(
                out,
                "strategy        {}, seed {}",
                run.strategy.name, run.seed
            )?;
        }
        if let Some(outcome) = reader.trailer().and_then(|it| it.outcome.as_ref()) {
            writeln!(out, "outcome         {}", report::headline(outcome))?;
        }
        Ok(stats.write(reader.event_bytes(), &mut out)?)
    })
}

impl Dump {
    fn run(&self) -> Result<Exit> {
        let filter = Filter {
            thread: self.thread,
            place: self.file.clone(),
            address: self.address,
        };
        let mut passed_over = self.passed_over(&filter)?;
        let mut reader = open(&self.trace)?;
        let trailer = reader.trailer().cloned();
        let mut dumper = Dumper::new(trailer.clone());
        let mut stacks = Stacks::default();
        let mut left = self.count.unwrap_or(u64::MAX);
        to_stdout(|mut out| {
            while left > 0 {
                let index = reader.next_index().0;
                let Some(event) = reader.next() else { break };
                let event = event.with_context(|| self.trace.display().to_string())?;
                stacks.observe(&event);
                let is_wanted = index >= self.from && filter.admits(&event, trailer.as_deref());
                let over = passed_over.get_mut(&event.thread).filter(|it| **it > 0);
                match over {
                    Some(over) if is_wanted => {
                        *over -= 1;
                        dumper.skip(&event);
                    }
                    None if is_wanted => {
                        dumper.write(&event, &mut out)?;
                        if let Some(trailer) = trailer.as_ref().filter(|_| self.stacks) {
                            write_stack(&stacks.positions(&event, trailer), &mut out)?;
                        }
                        left -= 1;
                    }
                    _ => dumper.skip(&event),
                }
            }
            Ok(())
        })
    }

    /// How many events of each thread come before its last ones, if only these are wanted. The trace is read once
    /// more for that, so that no events need be kept.
    fn passed_over(&self, filter: &Filter) -> Result<BTreeMap<ThreadId, u64>> {
        let mut counts = BTreeMap::new();
        let Some(last) = self.last else {
            return Ok(counts);
        };
        let mut reader = open(&self.trace)?;
        let trailer = reader.trailer().cloned();
        while let (index, Some(event)) = (reader.next_index().0, reader.next()) {
            let event = event.with_context(|| self.trace.display().to_string())?;
            if index >= self.from && filter.admits(&event, trailer.as_deref()) {
                *counts.entry(event.thread).or_default() += 1;
            }
        }
        for count in counts.values_mut() {
            *count = u64::saturating_sub(*count, last);
        }
        Ok(counts)
    }
}

fn parse_address(text: &str) -> Result<Address> {
    let digits = text.strip_prefix("0x");
    let address = digits.and_then(|it| u64::from_str_radix(it, 16).ok());
    let address = address.context("an address is a hexadecimal number such as 0x7ff0")?;
    Ok(Address(address))
}

fn write_stack(positions: &[SourcePosition], out: &mut dyn Write) -> Result<()> {
    for position in positions {
        writeln!(out, "          at {position} ({})", position.function)?;
    }
    Ok(())
}

fn export(path: &Path, output: Option<&Path>) -> Result<Exit> {
    let reader = open(path)?;
    let trailer = reader.trailer().cloned();
    let names = trailer.as_ref().and_then(|it| it.names.as_ref());
    let write = |mut out: &mut dyn Write| {
        let mut exporter = StdExport::new(names);
        for event in reader {
            let event = event.with_context(|| path.display().to_string())?;
            exporter.write(&event, &mut out)?;
        }
        Ok(exporter.finish(&mut out)?)
    };
    let Some(output) = output else {
        return to_stdout(write);
    };
    let context = || format!("cannot write {}", output.display());
    let mut file = BufWriter::new(File::create(output).with_context(context)?);
    write(&mut file)?;
    file.flush().with_context(context)?;
    Ok(Exit::Clean)
}

fn import(path: &Path, output: Option<&Path>) -> Result<Exit> {
    let output = output.map_or_else(|| path.with_extension("trace"), Path::to_owned);
    if output == path {
        bail!("the trace would replace the text it comes from: give another name with --output");
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut reader = StdImport::new(BufReader::new(file));
    let mut writer = TraceWriter::create(&output, &Header::new(RunSpec::default()))
        .with_context(|| output.display().to_string())?;
    for event in &mut reader {
        let event = event.with_context(|| path.display().to_string())?;
        let pushed = writer.push(&event);
        pushed.with_context(|| output.display().to_string())?;
    }
    let (warnings, more) = reader.warnings();
    for warning in warnings {
        eprintln!("raddle: {}: {warning}", path.display());
    }
    if more > 0 {
        eprintln!(
            "raddle: {}: {more} more lines that no run explains",
            path.display()
        );
    }
    let trailer = Trailer {
        names: Some(reader.into_names()),
        ..Trailer::default()
    };
    let summary = writer.finish(&trailer);
    let summary = summary.with_context(|| output.display().to_string())?;
    sayln!("{} events in {}", summary.events, output.display());
    Ok(Exit::Clean)
}

/// Shows witnesses to the judge.
fn judge(path: &Path, file: &Path) -> Result<Exit> {
    let text = fs::read_to_string(file);
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    let trace = offline::Trace::read(path)?;
    let model = model(trace.run(), &state_dir(path));
    let judged = trace.judge(model.as_ref(), file, &text)?;
    let Some(objection) = judged.objection else {
        match judged.accepted {
            1 => sayln!("1 witness holds"),
            count => sayln!("{count} witnesses hold"),
        }
        return Ok(Exit::Clean);
    };
    sayln!("{}: {objection}", file.display());
    Ok(Exit::Found)
}
