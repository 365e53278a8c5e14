//! Turns the chunks of a running program into a trace file.
//!
//! This is the other half of the work of a recording, and with two cores the slower half decides how long
//! it takes. So full chunks are only counted here; several of them make a block of the file, and the blocks are made by
//! threads of their own ([`crate::blocks`]). The tables at the end of the file need the run's outcome, and the
//! outcome of a crash needs the last event, so closing takes two steps: [`Recorder::drain`], then
//! [`Drained::finish`].

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_model::Outline;
use raddle_trace::event::Event;
use raddle_trace::file::{Header, Summary, TraceReader, TraceWriter, Trailer};
use raddle_trace::ids::{SiteId, ThreadId, Tick};
use raddle_trace::outcome::{Outcome, ThreadInfo};
use raddle_trace::parts::SiteParts;
use raddle_trace::position::{CodePosition, SiteInfo};
use raddle_trace::run::RunSpec;
use raddle_trace::schedule::Switch;
use raddle_trace::sharing::Private;
use raddle_trace::sites::SiteTable;
use raddle_trace::used::Used;
use raddle_trace::wire::Message;

use crate::blocks::{BLOCK_CHUNKS, Done, Job, Makers};
use crate::control::{ControlFile, Head};
use crate::error::Error;
use crate::launch::Detail;
use crate::models;
use crate::objects::{Objects, variable};
use crate::program::Program;
use crate::ring::Ring;
use crate::watch::Executed;

/// Records a program that runs.
pub struct Recorder {
    /// The block that comes next, as far as its chunks are full.
    next: Job,
    makers: Makers,
    drained: Drained,
    /// Images whose sites are known.
    images: u32,
}

/// A trace file with all its events, still without its tables.
pub struct Drained {
    path: PathBuf,
    sites: Arc<SiteTable>,
    writer: TraceWriter<BufWriter<File>>,
    used: Used,
    /// The last event that stands at a site.
    last: Option<(ThreadId, Tick, SiteParts)>,
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
    /// Starts a trace file of the events that come through this ring, but for those that are to be left out.
    pub fn start(
        path: &Path,
        run: RunSpec,
        ring: Ring,
        leave_out: Option<Arc<Private>>,
    ) -> Result<Recorder, Error> {
        let writer = TraceWriter::create(path, &Header::new(run));
        Ok(Recorder {
            next: Job::default(),
            makers: Makers::new(ring, leave_out),
            drained: Drained {
                path: path.to_owned(),
                sites: Arc::default(),
                writer: writer.map_err(Error::trace(path))?,
                used: Used::default(),
                last: None,
            },
            images: 0,
        })
    }

    /// Records a chunk that is full.
    pub fn record(&mut self, full: Message, control: &ControlFile) -> Result<(), Error> {
        self.next.chunks.push(full);
        if self.next.chunks.len() == BLOCK_CHUNKS {
            self.read_sites(control)?;
            let job = self.next_job();
            if let Some(done) = self.makers.submit(job)? {
                self.keep(done)?;
            }
        }
        // What is made is written soon, in case that this process is killed.
        while let Some(done) = self.makers.ready() {
            self.keep(done)?;
        }
        Ok(())
    }

    /// Writes every event that is left into the file. The program has ended; `last` is the chunk that it wrote last.
    pub fn drain(mut self, control: &ControlFile, last: u32) -> Result<Drained, Error> {
        self.read_sites(control)?;
        while let Some(done) = self.makers.next() {
            self.keep(done)?;
        }
        self.next.last = Some(last);
        let job = self.next_job();
        let done = self.makers.make(job);
        self.keep(done)?;
        Ok(self.drained)
    }

    /// Turns to another block.
    fn next_job(&mut self) -> Job {
        let next = Job {
            position: self.next.end(),
            ..Job::default()
        };
        self.next.sites = self.drained.sites.clone();
        std::mem::replace(&mut self.next, next)
    }

    fn read_sites(&mut self, control: &ControlFile) -> Result<(), Error> {
        let read = Error::system("read the program's sites");
        let images = control.image_count().map_err(read)?;
        if images != self.images {
            self.images = images;
            let read = || -> std::io::Result<_> {
                let head = control.head()?;
                Ok((control.sites(&head)?, head.images))
            };
            let (records, images) = read().map_err(Error::system("read the program's sites"))?;
            let sites = SiteTable::new(&records, &images).map_err(Error::runtime)?;
            self.drained.sites = Arc::new(sites);
        }
        Ok(())
    }

    /// Appends a block that is made.
    fn keep(&mut self, done: Done) -> Result<(), Error> {
        let Drained {
            path,
            writer,
            used,
            last,
            ..
        } = &mut self.drained;
        done.packed.map_err(Error::trace(path.as_path()))?;
        if done.block.events > 0 {
            used.observe_block(&done.block);
            *last = done.block.last.or(*last);
            let appended = writer.append(&done.block);
            appended.map_err(Error::trace(path.as_path()))?;
        }
        done.decoded?;
        self.makers.reuse(done.block);
        Ok(())
    }
}

impl Drained {
    /// The last event that stands at a site.
    pub fn last(&self) -> Option<Event> {
        let (thread, tick, parts) = self.last?;
        let kind = parts.join();
        Some(Event { thread, tick, kind })
    }

    /// What the model knows of an event's site.
    pub fn site_of(&self, program: &Program, event: &Event) -> Option<SiteInfo> {
        site_info(&self.sites, program.outline().as_slice(), event.site()?)
    }

    /// All events, from the first on.
    pub fn events(&mut self) -> Result<TraceReader<BufReader<File>>, Error> {
        self.writer.flush().map_err(Error::trace(&self.path))?;
        TraceReader::open(&self.path).map_err(Error::reading(&self.path))
    }

    /// Writes the tables and closes the file.
    pub fn finish(
        self,
        program: &Program,
        detail: Detail,
        end: End<'_>,
    ) -> Result<(Summary, Executed), Error> {
        let mut trailer = Trailer {
            switches: end.switches.to_vec(),
            outcome: Some(end.outcome),
            threads: end.threads.to_vec(),
            packages: program.packages().clone(),
            ..Trailer::default()
        };
        if detail == Detail::Positions {
            let libraries = library_outlines(program, end.head);
            let outlines = program.outline().into_iter().chain(&libraries);
            let outlines: Vec<&Outline> = outlines.collect();
            let sites = self.used.sites.iter();
            trailer.sites = sites
                .filter_map(|site| site_info(&self.sites, &outlines, site))
                .collect();
            let objects = Objects::new(&outlines);
            trailer.code = program.with_symbols(&end.head.images, |symbols| {
                let code = self.used.pcs.iter().map(|pc| {
                    let positions = symbols.return_address(pc.0);
                    CodePosition {
                        pc: *pc,
                        object: objects.at(&positions),
                        positions,
                    }
                });
                code.filter(|it| !it.positions.is_empty()).collect()
            });
        }
        let written = self.writer.finish(&trailer);
        let summary = written.map_err(Error::trace(&self.path))?;
        Ok((summary, Executed::new(self.sites, self.used.sites)))
    }
}

/// The outlines of the instrumented shared libraries that a run has loaded.
fn library_outlines(program: &Program, head: &Head) -> Vec<Outline> {
    let libraries = head.image_paths.iter().filter(|it| **it != program.binary);
    libraries
        .filter_map(|library| models::outline_of(library))
        .collect()
}

fn site_info(sites: &SiteTable, outlines: &[&Outline], site: SiteId) -> Option<SiteInfo> {
    let shape = sites.shape(site)?;
    let place = sites.module_site(site)?;
    let module = raddle_model::ModuleId(place.module);
    let known = outlines.iter().find_map(|it| it.site(module, place.index));
    Some(SiteInfo {
        site,
        module: place.module,
        index: place.index,
        shape,
        positions: known
            .map(crate::symbols::site_positions)
            .unwrap_or_default(),
        variable: known.and_then(|it| it.info().name.as_ref()).map(variable),
    })
}
