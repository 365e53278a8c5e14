//! Turns the chunks of a running program into a trace file.
//!
//! Decoding and compressing take longer than the program needs to fill a chunk, so they happen on a
//! thread of their own; the launcher only copies bytes. The tables at the end of the file need the
//! run's outcome, and the outcome of a crash needs the last event, so closing takes two steps:
//! [`Recorder::drain`], then [`Drained::finish`].

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use raddle_model::Model;
use raddle_trace::decode::{SlotDecoder, slots};
use raddle_trace::event::Event;
use raddle_trace::file::{Header, Summary, TraceReader, TraceWriter, Trailer};
use raddle_trace::ids::SiteId;
use raddle_trace::outcome::{Outcome, ThreadInfo};
use raddle_trace::position::{CodePosition, SiteInfo};
use raddle_trace::run::RunSpec;
use raddle_trace::schedule::Switch;
use raddle_trace::sites::SiteTable;
use raddle_trace::used::Used;
use raddle_trace::wire::Image;

use crate::control::{ControlFile, Head};
use crate::error::Error;
use crate::launch::Detail;
use crate::program::Program;

/// Chunks that may wait for the decoder before the program has to.
const QUEUE: usize = 8;

/// Records a program that runs.
pub struct Recorder {
    queue: SyncSender<Packet>,
    worker: JoinHandle<Result<Drained, Error>>,
    /// Images the worker knows.
    images: usize,
}

enum Packet {
    /// All sites there are now, in place of those known before.
    Sites(Vec<u8>, Vec<Image>),
    /// Slots of one chunk.
    Chunk(Vec<u8>),
}

/// A trace file with all its events, still without its tables.
pub struct Drained {
    path: PathBuf,
    writer: TraceWriter<BufWriter<File>>,
    sites: SiteTable,
    decoder: SlotDecoder,
    used: Used,
    /// The last event that stands at a site.
    pub last: Option<Event>,
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
        let drained = Drained {
            path: path.to_owned(),
            writer: writer.map_err(Error::trace(path))?,
            sites: SiteTable::default(),
            decoder: SlotDecoder::new(),
            used: Used::default(),
            last: None,
        };
        let (queue, packets) = sync_channel(QUEUE);
        let worker = std::thread::Builder::new()
            .name("raddle-record".to_owned())
            .spawn(move || drained.work(&packets))
            .map_err(Error::system("start a thread"))?;
        Ok(Recorder {
            queue,
            worker,
            images: 0,
        })
    }

    /// Takes the slots of a chunk.
    pub fn chunk(&mut self, control: &ControlFile, bytes: Vec<u8>) -> Result<(), Error> {
        let read = Error::system("read the program's sites");
        let head = control.head().map_err(read)?;
        if head.images.len() != self.images {
            self.images = head.images.len();
            let sites = control.sites(&head);
            let sites = sites.map_err(Error::system("read the program's sites"))?;
            self.send(Packet::Sites(sites, head.images));
        }
        self.send(Packet::Chunk(bytes));
        Ok(())
    }

    /// Waits until every chunk is in the file.
    pub fn drain(self) -> Result<Drained, Error> {
        drop(self.queue);
        self.worker
            .join()
            .unwrap_or_else(|_| Err(Error::runtime("the recorder's thread panicked")))
    }

    fn send(&self, packet: Packet) {
        // A worker that has stopped reports its reason when it is joined.
        let _ = self.queue.send(packet);
    }
}

impl Drained {
    fn work(mut self, packets: &Receiver<Packet>) -> Result<Drained, Error> {
        let mut events = Vec::new();
        for packet in packets {
            match packet {
                Packet::Sites(sites, images) => {
                    self.sites = SiteTable::new(&sites, &images).map_err(Error::runtime)?;
                }
                Packet::Chunk(bytes) => {
                    let decoded = self.decoder.decode(&self.sites, slots(&bytes), &mut events);
                    for event in &events {
                        self.used.observe(event);
                        let pushed = self.writer.push(event);
                        pushed.map_err(Error::trace(&self.path))?;
                    }
                    let last = events.iter().rev().find(|it| it.site().is_some());
                    self.last = last.copied().or(self.last);
                    events.clear();
                    decoded.map_err(Error::runtime)?;
                }
            }
        }
        Ok(self)
    }

    /// What the model knows of an event's site.
    pub fn site_of(&self, program: &Program, event: &Event) -> Option<SiteInfo> {
        site_info(&self.sites, program.model().as_slice(), event.site()?)
    }

    /// All events, from the first on.
    pub fn events(&mut self) -> Result<TraceReader<BufReader<File>>, Error> {
        self.writer.flush().map_err(Error::trace(&self.path))?;
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
            let sites = self.used.sites.iter();
            trailer.sites = sites
                .filter_map(|site| site_info(&self.sites, &models, site))
                .collect();
            trailer.code = program.with_symbols(&end.head.images, |symbols| {
                let code = self.used.pcs.iter().map(|pc| CodePosition {
                    pc: *pc,
                    positions: symbols.return_address(pc.0),
                });
                code.filter(|it| !it.positions.is_empty()).collect()
            });
        }
        let written = self.writer.finish(&trailer);
        written.map_err(Error::trace(&self.path))
    }
}

/// The models of the instrumented shared libraries that a run has loaded.
fn library_models(program: &Program, head: &Head) -> Vec<Model> {
    let libraries = head.image_paths.iter().filter(|it| **it != program.binary);
    libraries
        .filter_map(|library| Model::read(&raddle_model::model_path(library)).ok())
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
