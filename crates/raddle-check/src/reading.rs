//! Reads the events of recorded runs: all of them, or those that may concern other threads.
//!
//! Most of what a program does concerns one thread only. In a guided run nobody asks for it, and of a run whose events do
//! not fit into memory it is what is left out first: the run is predicted from as far as it goes, but without its
//! program's code being executed again, which would need every value that a thread has read. What is left out is told by
//! instruction ([`raddle_predict::view::Sieve`]), so that equal steps of two runs can still be counted.

use std::path::Path;
use std::sync::Arc;

use raddle_predict::view::Survey;
use raddle_run::Error;
use raddle_run::program::Program;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::sharing::{Private, SiteSet};

use crate::clips::Extent;

/// A guided run is read without what concerns one thread only if it has more events than this; below, nothing is gained.
pub(crate) const WORTH_SIFTING: u64 = 1 << 16;

/// Which events of a run are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All, if they fit into memory.
    All,
    /// Those that may concern other threads.
    Concerning,
}

/// Events of a recorded run, and its tables.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) events: Vec<Event>,
    pub(crate) trailer: Arc<Trailer>,
    pub(crate) extent: Extent,
    /// How many come after those that fit into memory.
    pub(crate) left_out: u64,
}

/// Reads a recorded run that has so many events, if that is known.
///
/// # Errors
/// If the trace cannot be read, or not in time.
pub(crate) fn read(
    path: &Path,
    program: &Program,
    count: Option<u64>,
    wanted: Wanted,
) -> Result<Events, Error> {
    let mut reader = TraceReader::open(path).map_err(Error::reading(path))?;
    let most = usize::try_from(program.most_events).unwrap_or(usize::MAX);
    let fits = count.is_none_or(|it| it <= program.most_events);
    let is_sifted = match wanted {
        Wanted::All => !fits,
        Wanted::Concerning => count.is_some_and(|it| it > WORTH_SIFTING),
    };
    let mut sift = Sift::new(&program.private);
    let mut read = Events {
        events: Vec::new(),
        trailer: reader.trailer().cloned().unwrap_or_default(),
        extent: match is_sifted {
            true => Extent::Sifted,
            false => Extent::Whole,
        },
        left_out: 0,
    };
    if let Some(count) = count.filter(|_| !is_sifted) {
        read.events.reserve_exact(count as usize);
    }
    loop {
        if program.is_out_of_time() {
            return Err(Error::OutOfTime);
        }
        let batch = reader.next_batch().map_err(Error::reading(path))?;
        if batch.is_empty() {
            return Ok(read);
        }
        match is_sifted {
            true => read.events.extend(batch.iter().filter(|it| sift.keeps(it))),
            false => read.events.extend_from_slice(batch),
        }
        if read.events.len() > most {
            read.extent = Extent::Beginning;
            read.left_out += (read.events.len() - most) as u64;
            read.events.truncate(most);
        }
    }
}

/// Shows the events of a recorded run of a program one after another.
///
/// # Errors
/// If the trace cannot be read, or not in time.
pub(crate) fn each(
    path: &Path,
    program: &Program,
    mut see: impl FnMut(&Event),
) -> Result<(), Error> {
    let mut reader = TraceReader::open(path).map_err(Error::reading(path))?;
    loop {
        if program.is_out_of_time() {
            return Err(Error::OutOfTime);
        }
        let batch = reader.next_batch().map_err(Error::reading(path))?;
        if batch.is_empty() {
            return Ok(());
        }
        batch.iter().for_each(&mut see);
    }
}

/// Whether an event concerns one thread only.
pub(crate) fn is_private(private: &Private, event: &Event) -> bool {
    match event.kind {
        EventKind::Branches(_) => true,
        _ => event.site().is_some_and(|it| private.sites.contains(it)),
    }
}

/// Passes over events that concern one thread only, of each thread in its order.
struct Sift<'p> {
    private: &'p Private,
    /// By thread: whether its latest event may be followed by a wait that no event shows.
    may_wait: Vec<bool>,
}

impl<'p> Sift<'p> {
    fn new(private: &'p Private) -> Self {
        Self {
            private,
            may_wait: Vec::new(),
        }
    }

    /// Whether an event is kept.
    fn keeps(&mut self, event: &Event) -> bool {
        let thread = event.thread.0 as usize;
        if thread >= self.may_wait.len() {
            self.may_wait.resize(thread + 1, false);
        }
        let site = event.site();
        let may_wait = site.is_some_and(|it| self.private.hidden.contains(it));
        let may_have_waited = std::mem::replace(&mut self.may_wait[thread], may_wait);
        may_have_waited || !is_private(self.private, event)
    }
}

/// Which instructions concern other threads, as far as runs have shown.
#[derive(Default)]
pub(crate) struct Concerns {
    executed: SiteSet,
    concerning: SiteSet,
}

impl Concerns {
    /// Adds what a recorded run shows. Returns the instructions that concern one thread only. Those after which code may
    /// run that is not traced, the `hidden` ones, concern others: what order there is shows in them.
    ///
    /// # Errors
    /// If the trace cannot be read, or not in time.
    pub(crate) fn learn(
        &mut self,
        program: &Program,
        trace: &Path,
        hidden: SiteSet,
    ) -> Result<Private, Error> {
        let mut survey = Survey::default();
        let mut surveyed = Ok(());
        each(trace, program, |event| {
            if surveyed.is_ok() {
                surveyed = survey.observe(event);
            }
        })?;
        surveyed.map_err(Error::runtime)?;
        let mut sieve = survey.sieve(hidden.clone());
        each(trace, program, |event| {
            if surveyed.is_ok() {
                surveyed = sieve.observe(event);
            }
        })?;
        surveyed.map_err(Error::runtime)?;
        let sifted = sieve.finish();
        self.executed.extend(&sifted.executed);
        self.concerning.extend(&sifted.concerning);
        let mut private = Private {
            hidden,
            ..Private::default()
        };
        let executed = self.executed.iter();
        let unconcerning = executed.filter(|it| !self.concerning.contains(*it));
        unconcerning.for_each(|it| private.sites.insert(it));
        Ok(private)
    }
}
