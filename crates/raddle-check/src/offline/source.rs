//! Files that events come from, one after another: recorded traces, and STD text of other tools.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_trace::event::Event;
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::run::RunSpec;
use raddle_trace::std_format::StdImport;

use super::input::Error;

/// A trace that is read from its first event on.
pub(super) struct Source {
    path: PathBuf,
    form: Form,
}

enum Form {
    Recorded(Box<TraceReader<BufReader<File>>>),
    Std(Box<StdImport<BufReader<File>>>),
}

/// What a trace says besides its events.
pub(super) struct Tables {
    pub(super) run: RunSpec,
    pub(super) trailer: Arc<Trailer>,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
}

impl Source {
    /// Opens a trace.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open {
            path: path.to_owned(),
            source,
        };
        let form = match is_std(path).map_err(failed)? {
            true => {
                let file = File::open(path).map_err(failed)?;
                Form::Std(Box::new(StdImport::new(BufReader::new(file))))
            }
            false => {
                let reader = TraceReader::open(path).map_err(|source| Error::Trace {
                    path: path.to_owned(),
                    source,
                })?;
                Form::Recorded(Box::new(reader))
            }
        };
        Ok(Self {
            path: path.to_owned(),
            form,
        })
    }

    /// The next event; none after the last.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Event>, Error> {
        match &mut self.form {
            Form::Recorded(reader) => {
                let event = reader.next().transpose();
                event.map_err(|source| Error::Trace {
                    path: self.path.clone(),
                    source,
                })
            }
            Form::Std(import) => {
                let event = import.next().transpose();
                event.map_err(|source| Error::Std {
                    path: self.path.clone(),
                    source,
                })
            }
        }
    }

    /// Whether it is STD text.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.form, Form::Std(_))
    }

    /// Bytes that the names take which it has met, more or less.
    pub(super) fn name_bytes(&self) -> u64 {
        match &self.form {
            Form::Recorded(_) => 0,
            Form::Std(import) => import.name_count() as u64 * BYTES_A_NAME,
        }
    }

    /// What it says besides the events that were read.
    pub(super) fn finish(self) -> Tables {
        match self.form {
            Form::Recorded(reader) => Tables {
                run: reader.header().run.clone(),
                trailer: reader.trailer().cloned().unwrap_or_default(),
                notes: reader.truncated().iter().map(ToString::to_string).collect(),
            },
            Form::Std(import) => Tables {
                run: RunSpec::default(),
                notes: warnings(&import),
                trailer: Arc::new(Trailer {
                    names: Some(import.into_names()),
                    ..Trailer::default()
                }),
            },
        }
    }
}

/// What a short name takes in the tables that lead to its number and back.
const BYTES_A_NAME: u64 = 150;

/// Warnings of an imported text that are told one by one.
const MOST_WARNINGS: usize = 10;

/// What no run explains in an imported text.
fn warnings<R: BufRead>(import: &StdImport<R>) -> Vec<String> {
    let (warnings, more) = import.warnings();
    let told = warnings.iter().take(MOST_WARNINGS);
    let mut notes: Vec<String> = told.map(|it| format!("the trace, {it}")).collect();
    let more = more + (warnings.len() - notes.len()) as u64;
    if more > 0 {
        notes.push(format!(
            "the trace has {more} more lines that no run explains; `raddle trace import` lists them"
        ));
    }
    notes
}

/// Bytes of a file's start that are looked at to tell STD text from a trace.
const SAMPLE_BYTES: u64 = 256;

/// Whether a file is STD text, by its name or by its first line that is not blank.
fn is_std(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|it| it == "std") {
        return Ok(true);
    }
    let mut start = Vec::new();
    file.take(SAMPLE_BYTES).read_to_end(&mut start)?;
    let mut lines = start.split(|byte| *byte == b'\n');
    let is_blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let line = lines.find(|line| !is_blank(line)).unwrap_or_default();
    let bars = line.iter().filter(|byte| **byte == b'|').count();
    Ok(bars == 2 && line.contains(&b'('))
}
