//! Turns the chunks of a running program into a trace file.
//!
//! This is the other half of the work of a recording, and with two cores the slower half decides how long
//! it takes. So slots go straight into the file's columns; there is no list of events in between, and no
//! thread besides the launcher's, since the ring lets the program go on meanwhile. The tables at the end of
//! the file need the run's outcome, and the outcome of a crash needs the last event, so closing takes two
//! steps: [`Recorder::drain`], then [`Drained::finish`].

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use raddle_model::Model;
use raddle_trace::decode::{EventSink, SlotDecoder, slots};
use raddle_trace::event::Event;
use raddle_trace::file::{Header, Summary, TraceReader, TraceWriter, Trailer, WriteError};
use raddle_trace::ids::{SiteId, ThreadId, Tick};
use raddle_trace::outcome::{Outcome, ThreadInfo};
use raddle_trace::parts::SiteParts;
use raddle_trace::position::{CodePosition, SiteInfo};
use raddle_trace::run::RunSpec;
use raddle_trace::schedule::Switch;
use raddle_trace::sites::SiteTable;
use raddle_trace::used::Used;

use crate::control::{ControlFile, Head};
use crate::error::Error;
use crate::launch::Detail;
use crate::models;
use crate::program::Program;

/// Records a program that runs.
pub struct Recorder {
    /// Slots that were read and are to be recorded, as they stand in shared memory. Their place is used again.
    pub slots: Vec<u8>,
    drained: Drained,
    decoder: SlotDecoder,
    /// Images whose sites are known.
    images: u32,
}

/// A trace file with all its events, still without its tables.
pub struct Drained {
    path: PathBuf,
    sites: SiteTable,
    sink: Sink,
}

/// Where decoded events go.
struct Sink {
    writer: TraceWriter<BufWriter<File>>,
    used: Used,
    last: Last,
    /// Why the file could not be written.
    failure: Option<WriteError>,
}

/// The last event that stands at a site, as numbers: it is kept at each event, and copying a structure that
/// was put together just before would wait for its parts to reach memory.
#[derive(Default)]
struct Last {
    is_some: bool,
    thread: u32,
    tick: u64,
    site: u32,
    addr: u64,
    value: u64,
    new: u64,
    stored: bool,
}

/// What only the end of a run tells.
pub struct End<'a> {
    /// The runtime's last words.
    pub head: &'a Head,
    /// The switches made.
    pub switches: &'a [Switch],
    /// How the run ended.
    pub outcome: Outcome,
    /// What the threads were doing.
    pub threads: &'a [ThreadInfo],
}

impl Recorder {
    /// Starts a trace file.
    pub fn start(path: &Path, run: RunSpec) -> Result<Recorder, Error> {
        let writer = TraceWriter::create(path, &Header::new(run));
        let sink = Sink {
            writer: writer.map_err(Error::trace(path))?,
            used: Used::default(),
            last: Last::default(),
            failure: None,
        };
        Ok(Recorder {
            slots: Vec::new(),
            drained: Drained {
                path: path.to_owned(),
                sites: SiteTable::default(),
                sink,
            },
            decoder: SlotDecoder::new(),
            images: 0,
        })
    }

    /// Records `bytes`, the slots of a chunk.
    pub fn chunk(&mut self, control: &ControlFile, bytes: Vec<u8>) -> Result<(), Error> {
        self.slots = bytes;
        self.record(control)
    }

    /// Records the slots that were read.
    pub fn record(&mut self, control: &ControlFile) -> Result<(), Error> {
        let read = Error::system("read the program's sites");
        let images = control.image_count().map_err(read)?;
        let Drained { path, sites, sink } = &mut self.drained;
        if images != self.images {
            self.images = images;
            let read = || -> std::io::Result<_> {
                let head = control.head()?;
                Ok((control.sites(&head)?, head.images))
            };
            let (records, images) = read().map_err(Error::system("read the program's sites"))?;
            *sites = SiteTable::new(&records, &images).map_err(Error::runtime)?;
        }
        let decoded = self.decoder.decode(sites, slots(&self.slots), sink);
        if let Some(failure) = sink.failure.take() {
            return Err(Error::trace(path.as_path())(failure));
        }
        decoded.map_err(Error::runtime)
    }

    /// Every event is in the file.
    pub fn drain(self) -> Drained {
        self.drained
    }
}

impl EventSink for Sink {
    #[inline(always)]
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        self.used.observe_site(parts);
        self.last = Last {
            is_some: true,
            thread: thread.0,
            tick: tick.0,
            site: parts.site.0,
            addr: parts.addr,
            value: parts.value,
            new: parts.new,
            stored: parts.stored,
        };
        if let Err(failure) = self.writer.push_site(thread, tick, parts) {
            self.failure.get_or_insert(failure);
        }
    }

    fn other(&mut self, event: &Event) {
        self.used.observe(event);
        if let Err(failure) = self.writer.push(event) {
            self.failure.get_or_insert(failure);
        }
    }
}

impl Drained {
    /// The last event that stands at a site.
    pub fn last(&self) -> Option<Event> {
        let last = &self.sink.last;
        let site = SiteId(last.site);
        let parts = SiteParts {
            site,
            shape: self.sites.shape(site).filter(|_| last.is_some)?,
            addr: last.addr,
            value: last.value,
            new: last.new,
            stored: last.stored,
        };
        Some(Event {
            thread: ThreadId(last.thread),
            tick: Tick(last.tick),
            kind: parts.join(),
        })
    }

    /// What the model knows of an event's site.
    pub fn site_of(&self, program: &Program, event: &Event) -> Option<SiteInfo> {
        site_info(&self.sites, program.model().as_slice(), event.site()?)
    }

    /// All events, from the first on.
    pub fn events(&mut self) -> Result<TraceReader<BufReader<File>>, Error> {
        self.sink.writer.flush().map_err(Error::trace(&self.path))?;
        TraceReader::open(&self.path).map_err(Error::reading(&self.path))
    }

    /// Writes the tables and closes the file.
    pub fn finish(self, program: &Program, detail: Detail, end: End<'_>) -> Result<Summary, Error> {
        let mut trailer = Trailer {
            switches: end.switches.to_vec(),
            outcome: Some(end.outcome),
            threads: end.threads.to_vec(),
            ..Trailer::default()
        };
        if detail == Detail::Positions {
            let libraries = library_models(program, end.head);
            let models: Vec<&Model> = program.model().into_iter().chain(&libraries).collect();
            let sites = self.sink.used.sites.iter();
            trailer.sites = sites
                .filter_map(|site| site_info(&self.sites, &models, site))
                .collect();
            trailer.code = program.with_symbols(&end.head.images, |symbols| {
                let code = self.sink.used.pcs.iter().map(|pc| CodePosition {
                    pc: *pc,
                    positions: symbols.return_address(pc.0),
                });
                code.filter(|it| !it.positions.is_empty()).collect()
            });
        }
        let written = self.sink.writer.finish(&trailer);
        written.map_err(Error::trace(&self.path))
    }
}

/// The models of the instrumented shared libraries that a run has loaded.
fn library_models(program: &Program, head: &Head) -> Vec<Model> {
    let libraries = head.image_paths.iter().filter(|it| **it != program.binary);
    libraries
        .filter_map(|library| models::of_binary(library))
        .collect()
}

fn site_info(sites: &SiteTable, models: &[&Model], site: SiteId) -> Option<SiteInfo> {
    let shape = sites.shape(site)?;
    let place = sites.module_site(site)?;
    let module = raddle_model::ModuleId(place.module);
    let known = models.iter().find_map(|it| it.site(module, place.index));
    Some(SiteInfo {
        site,
        module: place.module,
        index: place.index,
        shape,
        positions: known
            .map(crate::symbols::site_positions)
            .unwrap_or_default(),
        variable: known.and_then(|it| it.name()).map(str::to_owned),
    })
}
