//! Which events of a trace are looked at, so that a prediction stays within its memory and its time.
//!
//! If not all events of a trace fit, first those are passed over that concern one thread only: a pass over the file finds
//! out which memory threads share, a second one takes the events that touch it and all others that may matter to several
//! threads. What is passed over constrains nothing, so what is proved of the rest holds for the whole. If the rest is too
//! much still, or two passes would take too long, the beginning is looked at, and what is proved of a beginning holds for
//! the whole, too. A trace is not thinned as the runs of a check are ([`crate::thinning`]): what is predicted from a thinned
//! run is a guess for the program to decide, and here nothing is run.

use std::path::Path;

use raddle_predict::view::{Shared, Survey};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use super::bounds::{Bounds, Scarce, remedy};
use super::input::Error;
use super::source::{Source, Tables};

/// Of the time, events that are kept may be read for one part in so many: what follows takes the more time the longer they
/// took, also where the machine is busy. Text takes a tenth of what is done with its events, a recorded trace a thirtieth.
const PART_OF_TEXT: u32 = 16;
const PART_OF_RECORDED: u32 = 64;

/// The whole first pass over the file may take this part,
const PART_OF_FIRST_PASS: u32 = 8;

/// and both passes together this one.
const PART_OF_PASSES: u32 = 5;

/// Events after which bounds are looked at.
const LOOK: u64 = 1 << 12;

/// How much of a trace is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// Its beginning.
    Beginning {
        /// Why.
        scarce: Scarce,
    },
    /// What may concern several threads, or the beginning of that.
    Sifted {
        /// Which events of the trace these are.
        numbers: Vec<u32>,
        /// How many events it has.
        of: u64,
        /// How many others may concern several threads.
        left_out: u64,
        /// Why.
        scarce: Scarce,
    },
}

/// What is looked at of a trace.
pub(super) struct Narrowed {
    pub(super) events: Vec<Event>,
    pub(super) extent: Extent,
    pub(super) tables: Tables,
}

impl Extent {
    /// The number in the trace of an event that is looked at.
    pub(super) fn number(&self, index: EventIndex) -> EventIndex {
        match self {
            Self::Whole | Self::Beginning { .. } => index,
            Self::Sifted { numbers, .. } => EventIndex(numbers[index.0 as usize].into()),
        }
    }

    /// How many events the trace has, of which so many are looked at; none if they were not counted.
    pub(super) fn events(&self, looked_at: u64) -> Option<u64> {
        match self {
            Self::Whole => Some(looked_at),
            Self::Beginning { .. } => None,
            Self::Sifted { of, .. } => Some(*of),
        }
    }

    /// What the user should know, where so many events are looked at.
    pub(super) fn note(&self, looked_at: u64) -> Option<String> {
        match self {
            Self::Whole => None,
            Self::Beginning { scarce } => {
                let remedy = remedy(*scarce, None);
                Some(format!(
                    "only the first {looked_at} of the trace's events were looked at, {remedy}"
                ))
            }
            Self::Sifted {
                of,
                left_out,
                scarce,
                ..
            } => {
                let rest = match left_out {
                    0 => String::new(),
                    _ => format!(
                        ", and only the first {looked_at} others were looked at ({left_out} were not)"
                    ),
                };
                let remedy = remedy(*scarce, Some(*of));
                Some(format!(
                    "of the trace's {of} events those that concern one thread only were passed over{rest}, {remedy}"
                ))
            }
        }
    }
}

/// Reads as much of a trace as there is memory and time for.
pub(super) fn read(path: &Path, bounds: Bounds) -> Result<Narrowed, Error> {
    let (most, scarce) = bounds.most_events();
    let first = First::pass(Source::open(path)?, bounds, most)?;
    match first.end {
        End::Fits => Ok(first.beginning(Extent::Whole)),
        End::Cut(scarce) => Ok(first.beginning(Extent::Beginning { scarce })),
        End::Surveyed(shared) => {
            let of = first.count;
            // They are read again, with the names.
            drop((first.events, first.source));
            second_pass(Source::open(path)?, bounds, *shared, most, of, scarce)
        }
    }
}

/// The first pass: the events that fit, and what a survey of all shows if they do not.
struct First {
    source: Source,
    events: Vec<Event>,
    count: u64,
    end: End,
}

/// How the first pass ended.
enum End {
    /// All events are in memory.
    Fits,
    /// They are too many. This tells which concern one thread only.
    Surveyed(Box<Shared>),
    /// It was given up.
    Cut(Scarce),
}

impl First {
    fn pass(mut source: Source, bounds: Bounds, most: u64) -> Result<Self, Error> {
        let (mut events, mut count) = (Vec::new(), 0);
        let mut survey = None;
        let end = loop {
            if count % LOOK == 0
                && let Some(scarce) = lacks(&source, survey.as_ref(), bounds)
            {
                break End::Cut(scarce);
            }
            let Some(event) = source.next()? else {
                break match survey {
                    None => End::Fits,
                    Some(survey) => End::Surveyed(Box::new(Survey::shared(survey))),
                };
            };
            count += 1;
            if count <= most {
                events.push(event);
                continue;
            }
            let surveyed = match &mut survey {
                Some(survey) => survey.observe(&event),
                None => {
                    let survey = survey.insert(Survey::default());
                    let mut all = events.iter().chain([&event]);
                    all.try_for_each(|it| survey.observe(it))
                }
            };
            // The view would refuse as many events or threads, too.
            if surveyed.is_err() {
                break End::Cut(Scarce::Memory);
            }
        };
        Ok(Self {
            source,
            events,
            count,
            end,
        })
    }

    fn beginning(self, extent: Extent) -> Narrowed {
        Narrowed {
            events: self.events,
            extent,
            tables: self.source.finish(),
        }
    }
}

/// What there is too little of to go on with the first pass.
fn lacks(source: &Source, survey: Option<&Survey>, bounds: Bounds) -> Option<Scarce> {
    let surveyed = survey.map_or(0, |it| it.bytes() as u64);
    let is_too_large = bounds.are_too_large(source.name_bytes().max(surveyed));
    let is_late = bounds.is_over(match survey {
        Some(_) => PART_OF_FIRST_PASS,
        None if source.is_text() => PART_OF_TEXT,
        None => PART_OF_RECORDED,
    });
    let memory = is_too_large.then_some(Scarce::Memory);
    memory.or(is_late.then_some(Scarce::Time))
}

/// The second pass: the events that may concern several threads, of so many.
fn second_pass(
    mut source: Source,
    bounds: Bounds,
    mut shared: Shared,
    most: u64,
    of: u64,
    scarce: Scarce,
) -> Result<Narrowed, Error> {
    let (mut events, mut numbers) = (Vec::new(), Vec::new());
    let mut left_out = 0;
    let mut counted = 0;
    let mut scarce = scarce;
    while let Some(event) = source.next()? {
        if counted % LOOK == 0 && bounds.is_over(PART_OF_PASSES) {
            left_out = of - counted;
            scarce = Scarce::Time;
            break;
        }
        if shared.concerns(&event) {
            match (events.len() as u64) < most {
                true => {
                    events.push(event);
                    numbers.push(counted as u32);
                }
                false => left_out += 1,
            }
        }
        counted += 1;
    }
    Ok(Narrowed {
        events,
        extent: Extent::Sifted {
            numbers,
            of,
            left_out,
            scarce,
        },
        tables: source.finish(),
    })
}
