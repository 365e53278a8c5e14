//! From a witness's list to a whole order: every event that is executed, in program order.

use raddle_trace::ids::EventIndex;

use crate::objection::Objection;
use crate::recording::Recording;
use crate::table::Set;
use crate::witness::{Listing, Witness};

/// The complete order of a witness, as positions in the trace.
pub(crate) fn complete(
    recording: &Recording<'_>,
    witness: &Witness,
) -> Result<Vec<usize>, Objection> {
    complete_after(recording, witness, vec![0; recording.lines.len()])
}

/// The same, of a witness whose list begins when threads have executed some of their events already.
pub(crate) fn complete_after(
    recording: &Recording<'_>,
    witness: &Witness,
    executed: Vec<u32>,
) -> Result<Vec<usize>, Objection> {
    let named = witness.order.iter().copied().chain(witness.claim.events());
    for index in named {
        position(recording, index)?;
    }
    let mut filling = Filling {
        recording,
        listing: witness.listing,
        listed: witness.order.iter().map(|index| index.0 as usize).collect(),
        executed,
        order: Vec::with_capacity(witness.order.len()),
    };
    for index in &witness.order {
        filling.add(index.0 as usize)?;
    }
    if witness.listing == Listing::Some {
        for index in witness.claim.next_events() {
            filling.fill_up_to(index.0 as usize)?;
        }
    }
    Ok(filling.order)
}

/// An event's position, if there is such an event.
pub(crate) fn position(recording: &Recording<'_>, index: EventIndex) -> Result<usize, Objection> {
    let events = recording.events().len();
    let known = usize::try_from(index.0).ok().filter(|&at| at < events);
    known.ok_or(Objection::NoSuchEvent { index, events })
}

struct Filling<'r, 'a> {
    recording: &'r Recording<'a>,
    listing: Listing,
    listed: Set<usize>,
    /// By thread.
    executed: Vec<u32>,
    order: Vec<usize>,
}

impl Filling<'_, '_> {
    fn add(&mut self, at: usize) -> Result<(), Objection> {
        let name = |at| self.recording.name(at);
        let lines = &self.recording.lines;
        if lines.rank(at) < self.executed[lines.line(at).index()] {
            return Err(Objection::Twice { event: name(at) });
        }
        if self.listing == Listing::Every
            && let Some(missing) = self.missing_before(at)
        {
            let event = name(at);
            return Err(match self.listed.contains(&missing) {
                true => Objection::ProgramOrder {
                    event,
                    earlier: name(missing),
                },
                false => Objection::Gap {
                    event,
                    missing: name(missing),
                },
            });
        }
        self.fill_up_to(at)?;
        self.push(at);
        Ok(())
    }

    /// The first event that should precede `at` in its thread and has not come yet.
    fn missing_before(&self, at: usize) -> Option<usize> {
        let lines = &self.recording.lines;
        let line = lines.line(at);
        let next = self.executed[line.index()];
        (next < lines.rank(at)).then(|| lines.events(line)[next as usize] as usize)
    }

    /// Puts in what comes before `at` in its thread and is not listed.
    fn fill_up_to(&mut self, at: usize) -> Result<(), Objection> {
        while let Some(missing) = self.missing_before(at) {
            if self.listed.contains(&missing) {
                return Err(Objection::ProgramOrder {
                    event: self.recording.name(at),
                    earlier: self.recording.name(missing),
                });
            }
            self.push(missing);
        }
        Ok(())
    }

    fn push(&mut self, at: usize) {
        self.executed[self.recording.lines.line(at).index()] += 1;
        self.order.push(at);
    }
}
