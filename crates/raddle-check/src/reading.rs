//! Reads the events of recorded runs: all of them, or those that may concern other threads.
//!
//! Most of what a program does concerns one thread only. In a guided run nobody asks for it, and of a run whose events do
//! not fit into memory it is what is left out first: the run is predicted from, but without its program's code being
//! executed again, which would need every value that a thread has read. What is left out is told by instruction
//! ([`raddle_predict::view::Sieve`]), so that equal steps of two runs can still be counted. If the rest is still too much,
//! it is thinned ([`crate::thinning`]); where nothing may be missing in between, its beginning is read instead.

use std::path::Path;
use std::sync::Arc;

use raddle_predict::view::Survey;
use raddle_run::Error;
use raddle_run::host;
use raddle_run::program::Program;
use raddle_trace::event::Event;
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::sharing::{Private, SiteSet};
use raddle_trace::sifting::Sifter;

use crate::clips::Extent;
use crate::thinning::{MOST_ALIKE, Taken, Thinning};

/// A guided run is read without what concerns one thread only if it has more events than this; below, nothing is gained.
pub(crate) const WORTH_SIFTING: u64 = 1 << 16;

/// Which events of a run are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All, if they fit into memory.
    All,
    /// Those that may concern other threads.
    Concerning,
    /// Of these so few as a [`Thinning`] leaves that keeps so many which are alike.
    Thinned(u32),
}

impl Wanted {
    /// What is wanted when such a run is kept: its clip tells what its threads did on their own, too.
    pub(crate) fn for_a_clip(self) -> Self {
        match self {
            Self::All | Self::Concerning => Self::All,
            Self::Thinned(_) => self,
        }
    }
}

/// Events of a recorded run, and its tables.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) events: Vec<Event>,
    /// Those right before which something of their threads was thinned out, in order.
    pub(crate) gaps: Vec<EventIndex>,
    pub(crate) trailer: Arc<Trailer>,
    pub(crate) extent: Extent,
    /// How many come after those that fit into memory.
    pub(crate) left_out: u64,
}

/// Reads a recorded run that has so many events, if that is known.
///
/// # Errors
/// If the trace cannot be read, or not in time, or the user interrupts it.
pub(crate) fn read(
    path: &Path,
    program: &Program,
    count: Option<u64>,
    wanted: Wanted,
) -> Result<Events, Error> {
    let fits = count.is_none_or(|it| it <= program.most_events);
    let mut thinned = None;
    let extent = match wanted {
        Wanted::Thinned(most_alike) => {
            let mut thinning = Thinning::new(most_alike);
            each_concerning(path, program, |event| thinning.observe(event))?;
            thinned = Some(thinning.finish());
            Extent::Thinned
        }
        Wanted::All if !fits => Extent::Sifted,
        Wanted::Concerning if count.is_some_and(|it| it > WORTH_SIFTING) => Extent::Sifted,
        Wanted::All | Wanted::Concerning => Extent::Whole,
    };
    let mut taken = Taken::default();
    if let Some(count) = count.filter(|_| extent == Extent::Whole) {
        taken.events.reserve_exact(count as usize);
    }
    let most = usize::try_from(program.most_events).unwrap_or(usize::MAX);
    let mut left_out = 0;
    let mut take = |event: &Event| {
        if taken.events.len() >= most {
            left_out += 1;
            return;
        }
        match &mut thinned {
            Some(thinned) => thinned.take(event, &mut taken),
            None => taken.events.push(*event),
        }
    };
    let tables = match extent {
        Extent::Whole => each(path, program, &mut take)?,
        _ => each_concerning(path, program, &mut take)?,
    };
    Ok(Events {
        extent: match left_out {
            0 => extent,
            _ => Extent::Beginning,
        },
        events: taken.events,
        gaps: taken.gaps,
        trailer: tables,
        left_out,
    })
}

/// What is wanted of a recorded run that does not fit into memory, to predict from it: what may concern other threads if
/// that fits, else no less of it than has to be.
///
/// # Errors
/// If the trace cannot be read, or not in time, or the user interrupts it.
pub(crate) fn fitting(path: &Path, program: &Program) -> Result<Wanted, Error> {
    let mut wanted = Wanted::All;
    for most_alike in MOST_ALIKE {
        let mut concerning = 0;
        let mut thinning = Thinning::new(most_alike);
        each_concerning(path, program, |event| {
            concerning += 1;
            thinning.observe(event);
        })?;
        if concerning <= program.most_events {
            return Ok(Wanted::All);
        }
        wanted = Wanted::Thinned(most_alike);
        if thinning.len() <= program.most_events {
            break;
        }
    }
    Ok(wanted)
}

/// Shows the events of a recorded run of a program one after another. Returns its tables.
///
/// # Errors
/// If the trace cannot be read, or not in time, or the user interrupts it.
pub(crate) fn each(
    path: &Path,
    program: &Program,
    mut see: impl FnMut(&Event),
) -> Result<Arc<Trailer>, Error> {
    let mut reader = TraceReader::open(path).map_err(Error::reading(path))?;
    loop {
        if program.is_out_of_time() {
            return Err(Error::OutOfTime);
        }
        if host::interrupted() {
            return Err(Error::Interrupted);
        }
        let batch = reader.next_batch().map_err(Error::reading(path))?;
        if batch.is_empty() {
            return Ok(reader.trailer().cloned().unwrap_or_default());
        }
        batch.iter().for_each(&mut see);
    }
}

/// The same of those events that may concern other threads.
fn each_concerning(
    path: &Path,
    program: &Program,
    mut see: impl FnMut(&Event),
) -> Result<Arc<Trailer>, Error> {
    let mut sifter = Sifter::new(&program.private);
    each(path, program, |event| {
        if sifter.keeps(event) {
            see(event);
        }
    })
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
    /// If the trace cannot be read, or not in time, or the user interrupts it.
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
