//! Reads, and the writes they take their value from.
//!
//! A read takes its value from the last write of its location before it, or from the location's initial
//! value if there is none. While a schedule gives a read an admissible source by itself, the search
//! knows nothing of the read. When one does not, the read is *opened*: it gets a literal for each source
//! that the fixed order does not rule out, and a clause that one of them holds.
//!
//! If the literal of write `w` and read `r` holds, then `w` comes before `r`, and for every other write
//! `v` of the location: if `w` comes before `v`, so does `r`; if `v` comes before `r`, then also before
//! `w` (the from-read and write orders of Zord: He, Sun and Fan, "Satisfiability Modulo Ordering
//! Consistency Theory for Multi-Threaded Program Verification", PLDI 2021). For each chain the first such
//! `v`, or the last, is enough. What the known order leaves open is left to the schedule.

use std::collections::BTreeMap;

use super::When;
use super::by_place::{ByPlace, insert, of_chain, remove, within};
use super::graph::{Derived, Graph};
use super::place::{Event, index};
use super::reach::Change;
use crate::bits::Term;
use crate::lit::Lit;

/// Something that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub(super) u32);

/// An event's write of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write(pub(super) u32);

/// An event's read of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(pub(super) u32);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The location's initial value.
    Initial,
    /// A write of the location.
    Write(Write),
}

/// A set of sources that reads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sources(pub(super) u32);

#[derive(Debug)]
pub(super) struct LocationInfo {
    pub(super) initial: Option<Term>,
    /// The writes in each chain, by position.
    pub(super) writes: BTreeMap<u32, Vec<(u32, Write)>>,
}

#[derive(Debug)]
pub(super) struct WriteInfo {
    pub(super) location: Location,
    pub(super) event: Event,
    pub(super) value: Option<Term>,
}

#[derive(Debug)]
pub(super) struct ReadInfo {
    pub(super) location: Location,
    pub(super) event: Event,
    pub(super) from: Sources,
    pub(super) when: When,
    /// The term that stands for its value.
    pub(super) value: Option<Term>,
    /// Its sources and their literals, best first; empty until it is opened.
    pub(super) choices: Vec<Choice>,
    /// The choices of writes: for each chain with any, by position.
    pub(super) by_chain: BTreeMap<u32, Vec<(u32, u32)>>,
    /// The choice of the initial value.
    pub(super) initial: Option<u32>,
    pub(super) opened: bool,
    /// The number of its choices that hold.
    pub(super) held: u32,
}

/// A source of a read that has a literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) source: Source,
    pub(super) lit: Lit,
}

/// A true choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Taken {
    pub(super) read: Read,
    pub(super) choice: u32,
}

/// All locations, writes and reads.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pub(super) locations: Vec<LocationInfo>,
    pub(super) writes: Vec<WriteInfo>,
    pub(super) reads: Vec<ReadInfo>,
    /// The reads with a term for their value.
    pub(super) valued: Vec<Read>,
    /// Sorted.
    pub(super) sources: Vec<Vec<Source>>,
    /// The choices that hold, in the order in which they became true.
    taken: Vec<Taken>,
    /// For each chain: the taken writes in it, by position.
    by_writer: ByPlace<Taken>,
    /// For each chain: the reads in it with a taken choice, by position.
    by_reader: ByPlace<Taken>,
    /// For each chain: the opened reads in it, by position.
    pub(super) opened: ByPlace<Read>,
    /// Opened since the last propagation.
    pub(super) fresh: Vec<Read>,
}

impl LocationInfo {
    /// The first write in `chain` at `pos` or later.
    pub(super) fn first_from(&self, chain: u32, pos: u32) -> Option<Write> {
        let list = self.writes.get(&chain)?;
        list.get(list.partition_point(|(at, _)| *at < pos))
            .map(|(_, write)| *write)
    }

    /// The last write in `chain` at `pos` or earlier.
    pub(super) fn last_by(&self, chain: u32, pos: u32) -> Option<Write> {
        let list = self.writes.get(&chain)?;
        let at = list.partition_point(|(at, _)| *at <= pos).checked_sub(1)?;
        Some(list[at].1)
    }
}

impl Reads {
    pub(super) fn add_location(&mut self, initial: Option<Term>) -> Location {
        self.locations.push(LocationInfo {
            initial,
            writes: BTreeMap::new(),
        });
        Location(index(self.locations.len() - 1))
    }

    pub(super) fn add_write(
        &mut self,
        graph: &Graph,
        location: Location,
        event: Event,
        value: Option<Term>,
    ) -> Write {
        let write = Write(index(self.writes.len()));
        let place = graph.places.of(event);
        let info = &mut self.locations[location.0 as usize];
        let list = info.writes.entry(place.chain).or_default();
        let at = list.partition_point(|(pos, _)| *pos < place.pos);
        assert!(
            list.get(at).is_none_or(|(pos, _)| *pos != place.pos),
            "an event writes a location at most once"
        );
        list.insert(at, (place.pos, write));
        self.writes.push(WriteInfo {
            location,
            event,
            value,
        });
        write
    }

    pub(super) fn add_sources(&mut self, location: Location, sources: &[Source]) -> Sources {
        for source in sources {
            if let Source::Write(write) = source {
                let of = self.writes[write.0 as usize].location;
                assert!(of == location, "a source writes another location");
            }
        }
        let mut sorted = sources.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        self.sources.push(sorted);
        Sources(index(self.sources.len() - 1))
    }

    pub(super) fn add_read(
        &mut self,
        location: Location,
        event: Event,
        from: Sources,
        when: When,
    ) -> Read {
        self.reads.push(ReadInfo {
            location,
            event,
            from,
            when,
            value: None,
            choices: Vec::new(),
            by_chain: BTreeMap::new(),
            initial: None,
            opened: false,
            held: 0,
        });
        Read(index(self.reads.len() - 1))
    }

    pub(super) fn read(&self, read: Read) -> &ReadInfo {
        &self.reads[read.0 as usize]
    }

    pub(super) fn admits(&self, from: Sources, source: Source) -> bool {
        self.sources[from.0 as usize].binary_search(&source).is_ok()
    }

    pub(super) fn event_of(&self, write: Write) -> Event {
        self.writes[write.0 as usize].event
    }

    /// The event that writes a source.
    pub(super) fn writer(&self, source: Source) -> Option<Event> {
        match source {
            Source::Initial => None,
            Source::Write(write) => Some(self.event_of(write)),
        }
    }

    /// The term that a source gives.
    pub(super) fn term_of(&self, location: Location, source: Source) -> Option<Term> {
        match source {
            Source::Initial => self.locations[location.0 as usize].initial,
            Source::Write(write) => self.writes[write.0 as usize].value,
        }
    }

    /// Gives a read its choices.
    pub(super) fn open(&mut self, graph: &Graph, read: Read, choices: Vec<Choice>) {
        let mut by_chain: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for (number, choice) in (0..).zip(&choices) {
            if let Some(writer) = self.writer(choice.source) {
                let place = graph.places.of(writer);
                by_chain
                    .entry(place.chain)
                    .or_default()
                    .push((place.pos, number));
            }
        }
        by_chain.values_mut().for_each(|list| list.sort_unstable());
        let info = &mut self.reads[read.0 as usize];
        info.choices = choices;
        info.by_chain = by_chain;
        let initial = |choice: &Choice| choice.source == Source::Initial;
        info.initial = info.choices.iter().position(initial).map(index);
        info.opened = true;
        let place = graph.places.of(info.event);
        insert(&mut self.opened, place, read);
        self.fresh.push(read);
    }

    /// A choice has become true: draws the conclusions from the order known so far.
    pub(super) fn take(&mut self, graph: &Graph, taken: Taken, derived: &mut Vec<Derived>) {
        let info = self.read(taken.read);
        let choice = info.choices[taken.choice as usize];
        let reader = graph.places.of(info.event);
        let location = &self.locations[info.location.0 as usize];
        match choice.source {
            Source::Initial => {
                for &(_, first) in location.writes.values().filter_map(|list| list.first()) {
                    let event = self.event_of(first);
                    if event != info.event {
                        derived.push(Derived::by(choice.lit, info.event, event));
                    }
                }
            }
            Source::Write(write) => {
                derived.push(Derived::by(choice.lit, self.event_of(write), info.event));
                let writer = graph.places.of(self.event_of(write));
                for &chain in location.writes.keys() {
                    if let Some(pos) = graph.reach.next_in(chain, writer) {
                        self.read_before(taken, chain, pos, derived);
                    }
                    if let Some(pos) = graph.reach.previous_in(chain, reader) {
                        self.written_before(taken, chain, pos, derived);
                    }
                }
                insert(&mut self.by_writer, writer, taken);
                insert(&mut self.by_reader, reader, taken);
            }
        }
        self.taken.push(taken);
        self.reads[taken.read.0 as usize].held += 1;
    }

    /// The number of true choices, to come back to with [`Reads::undo_to`].
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    pub(super) fn undo_to(&mut self, graph: &Graph, mark: usize) {
        for taken in self.taken.split_off(mark) {
            let info = &mut self.reads[taken.read.0 as usize];
            info.held -= 1;
            if let Source::Write(write) = info.choices[taken.choice as usize].source {
                let writer = graph.places.of(self.writes[write.0 as usize].event);
                remove(&mut self.by_writer, writer, taken);
                remove(&mut self.by_reader, graph.places.of(info.event), taken);
            }
        }
    }

    /// The true choices.
    pub(super) fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// Conclusions about true choices from a new step of the closure.
    pub(super) fn derive_from(&self, change: &Change, derived: &mut Vec<Derived>) {
        let writers = of_chain(&self.by_writer, change.from_chain);
        for taken in within(writers, change.from_first, change.from) {
            self.read_before(taken, change.to_chain, change.to, derived);
        }
        let readers = of_chain(&self.by_reader, change.to_chain);
        for taken in within(readers, change.to, change.to_end - 1) {
            self.written_before(taken, change.from_chain, change.from, derived);
        }
    }

    /// The taken write comes before `pos` of `chain`: the read comes before the next write there.
    fn read_before(&self, taken: Taken, chain: u32, pos: u32, derived: &mut Vec<Derived>) {
        let (info, lit, writer) = self.sides(taken);
        let location = &self.locations[info.location.0 as usize];
        if let Some(next) = location.first_from(chain, pos) {
            let next = self.event_of(next);
            if next != info.event {
                derived.push(Derived::by_path(lit, (writer, next), info.event, next));
            }
        }
    }

    /// `pos` of `chain` comes before the read: the last write there comes before the taken one.
    fn written_before(&self, taken: Taken, chain: u32, pos: u32, derived: &mut Vec<Derived>) {
        let (info, lit, writer) = self.sides(taken);
        let location = &self.locations[info.location.0 as usize];
        if let Some(last) = location.last_by(chain, pos) {
            let last = self.event_of(last);
            if last != writer {
                derived.push(Derived::by_path(lit, (last, info.event), last, writer));
            }
        }
    }

    /// The read, the literal and the writer of a choice that takes a write.
    fn sides(&self, taken: Taken) -> (&ReadInfo, Lit, Event) {
        let info = self.read(taken.read);
        let choice = &info.choices[taken.choice as usize];
        let Source::Write(write) = choice.source else {
            unreachable!("only choices of writes are listed by place");
        };
        (info, choice.lit, self.event_of(write))
    }
}
