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
use super::graph::{Derived, Graph, Premise, Premises};
use super::place::{Event, Place, index};
use super::reach::{Change, Reach};
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
pub struct Sources(u32);

#[derive(Debug)]
pub(super) struct LocationInfo {
    pub(super) initial: Option<Term>,
    /// The writes in each chain, by position.
    writes: BTreeMap<u32, Vec<(u32, Write)>>,
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
    /// The choices of writes, by chain and position.
    by_place: Vec<(u32, u32, u32)>,
    pub(super) opened: bool,
    /// The number of its choices that hold.
    held: u32,
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
    sources: Vec<Vec<Source>>,
    /// The choices that hold, in the order in which they became true.
    taken: Vec<Taken>,
    /// For each chain: the taken writes in it, by position.
    by_writer: Vec<Vec<(u32, Taken)>>,
    /// For each chain: the reads in it with a taken choice, by position.
    by_reader: Vec<Vec<(u32, Taken)>>,
    /// For each chain: the opened reads in it, by position.
    opened: Vec<Vec<(u32, Read)>>,
    /// Opened since the last propagation.
    fresh: Vec<Read>,
}

impl LocationInfo {
    /// The first write in `chain` at `pos` or later.
    fn first_from(&self, chain: u32, pos: u32) -> Option<Write> {
        let list = self.writes.get(&chain)?;
        list.get(list.partition_point(|(at, _)| *at < pos))
            .map(|(_, write)| *write)
    }

    /// The last write in `chain` at `pos` or earlier.
    fn last_by(&self, chain: u32, pos: u32) -> Option<Write> {
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
            by_place: Vec::new(),
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

    /// The term that a source gives.
    pub(super) fn term_of(&self, location: Location, source: Source) -> Option<Term> {
        match source {
            Source::Initial => self.locations[location.0 as usize].initial,
            Source::Write(write) => self.writes[write.0 as usize].value,
        }
    }

    /// The sources that an order leaves to a read, those nearest before it in the order of creation
    /// first, then those created after it: what it took in the observed run comes first.
    pub(super) fn possible(&self, graph: &Graph, order: &Reach, read: Read) -> Vec<Source> {
        let info = self.read(read);
        let visible = self.visible(graph, order, info);
        let sources = self.sources[info.from.0 as usize].iter().copied();
        let mut possible: Vec<Source> = sources
            .filter(|source| *source == Source::Initial || self.writer(*source) != Some(info.event))
            .filter(|source| {
                self.obstacle(graph, order, info, &visible, *source)
                    .is_none()
            })
            .collect();
        possible.sort_by_key(|source| match self.writer(*source) {
            None => (1, 0),
            Some(event) if event < info.event => (0, info.event.index() - event.index()),
            Some(event) => (2, event.index()),
        });
        possible
    }

    /// The event that writes a source.
    fn writer(&self, source: Source) -> Option<Event> {
        match source {
            Source::Initial => None,
            Source::Write(write) => Some(self.event_of(write)),
        }
    }

    /// The last write of the read's location in each chain that comes before the read.
    fn visible(&self, graph: &Graph, order: &Reach, read: &ReadInfo) -> Vec<Event> {
        let place = graph.places.of(read.event);
        let location = &self.locations[read.location.0 as usize];
        let last = |chain: u32| {
            let pos = if chain == place.chain {
                place.pos.checked_sub(1)
            } else {
                order.last_before(chain, place)
            };
            Some(self.event_of(location.last_by(chain, pos?)?))
        };
        location
            .writes
            .keys()
            .filter_map(|chain| last(*chain))
            .collect()
    }

    /// Why an order rules a source out, if it does.
    fn obstacle(
        &self,
        graph: &Graph,
        order: &Reach,
        read: &ReadInfo,
        visible: &[Event],
        source: Source,
    ) -> Option<Premises> {
        let Some(writer) = self.writer(source) else {
            let seen = Premise::Path(*visible.first()?, read.event);
            return Some([seen, Premise::None, Premise::None]);
        };
        let reaches = |a: Event, b: Event| order.reaches(graph.places.of(a), graph.places.of(b));
        if reaches(read.event, writer) {
            let later = Premise::Path(read.event, writer);
            return Some([later, Premise::None, Premise::None]);
        }
        let last = *visible.iter().find(|last| reaches(writer, **last))?;
        let (hidden, seen) = (Premise::Path(writer, last), Premise::Path(last, read.event));
        Some([hidden, seen, Premise::None])
    }

    /// Calls `dead` for each choice of the reads opened last that the order known so far rules out.
    pub(super) fn ruled_out_fresh(&mut self, graph: &Graph, mut dead: impl FnMut(Lit, Premises)) {
        for read in std::mem::take(&mut self.fresh) {
            if self.is_undecided(graph, read) {
                self.ruled_out(graph, read, &mut dead);
            }
        }
    }

    /// Calls `dead` for each choice of a read that the order known so far rules out.
    fn ruled_out(&self, graph: &Graph, read: Read, dead: &mut impl FnMut(Lit, Premises)) {
        let info = self.read(read);
        let visible = self.visible(graph, &graph.reach, info);
        for choice in &info.choices {
            let obstacle = self.obstacle(graph, &graph.reach, info, &visible, choice.source);
            if let Some(because) = obstacle {
                dead(!choice.lit, because);
            }
        }
    }

    /// Whether a read has no choice yet but needs one, as far as is known.
    fn is_undecided(&self, graph: &Graph, read: Read) -> bool {
        let info = self.read(read);
        info.held == 0
            && match info.when {
                When::Before(limit) => graph.reaches(info.event, limit),
                When::Always | When::If(_) => true,
            }
    }

    /// Gives a read its choices.
    pub(super) fn open(&mut self, graph: &Graph, read: Read, choices: Vec<Choice>) {
        let places = (0..).zip(&choices).filter_map(|(number, choice)| {
            let place = graph.places.of(self.writer(choice.source)?);
            Some((place.chain, place.pos, number))
        });
        let mut by_place: Vec<(u32, u32, u32)> = places.collect();
        by_place.sort_unstable();
        let info = &mut self.reads[read.0 as usize];
        info.choices = choices;
        info.by_place = by_place;
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
                    let after = if chain == writer.chain {
                        Some(writer.pos + 1)
                    } else {
                        graph.reach.first_after(writer, chain)
                    };
                    if let Some(pos) = after {
                        self.read_before(taken, chain, pos, derived);
                    }
                    let before = if chain == reader.chain {
                        reader.pos.checked_sub(1)
                    } else {
                        graph.reach.last_before(chain, reader)
                    };
                    if let Some(pos) = before {
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
        for taken in within(
            &self.by_writer,
            change.from_chain,
            change.from_first,
            change.from,
        ) {
            self.read_before(taken, change.to_chain, change.to, derived);
        }
        for taken in within(
            &self.by_reader,
            change.to_chain,
            change.to,
            change.to_end - 1,
        ) {
            self.written_before(taken, change.from_chain, change.from, derived);
        }
    }

    /// Calls `dead` for each choice of a read without one that a new step of the closure rules out: a write
    /// after the read, or one that is overwritten by another before the read.
    pub(super) fn ruled_out_by(
        &self,
        graph: &Graph,
        change: &Change,
        mut dead: impl FnMut(Lit, Premises),
    ) {
        let open = |read: &Read| self.is_undecided(graph, *read);
        let (from, to) = (change.from_chain, change.to_chain);
        for read in within(&self.opened, from, change.from_first, change.from).filter(open) {
            let info = self.read(read);
            if let When::Before(limit) = info.when {
                let limit = graph.places.of(limit);
                if limit.chain == to && limit.pos >= change.to {
                    // It counts from now on.
                    self.ruled_out(graph, read, &mut dead);
                    continue;
                }
            }
            let begin = info
                .by_place
                .partition_point(|place| *place < (to, change.to, 0));
            let later = info.by_place[begin..]
                .iter()
                .take_while(|place| place.0 == to);
            for &(_, pos, number) in later {
                let path = Premise::Path(info.event, graph.places.at(to, pos));
                let choice = info.choices[number as usize];
                dead(!choice.lit, [path, Premise::None, Premise::None]);
            }
        }
        for read in within(&self.opened, to, change.to, change.to_end - 1).filter(open) {
            let location = &self.locations[self.read(read).location.0 as usize];
            if let Some(last) = location.last_by(from, change.from) {
                self.hidden_behind(graph, read, self.event_of(last), &mut dead);
            }
        }
    }

    /// Calls `dead` for each choice of a read that comes before `last`, a write that comes before the read.
    fn hidden_behind(
        &self,
        graph: &Graph,
        read: Read,
        last: Event,
        dead: &mut impl FnMut(Lit, Premises),
    ) {
        let info = self.read(read);
        let seen = Premise::Path(last, info.event);
        let place = graph.places.of(last);
        for of_chain in info.by_place.chunk_by(|a, b| a.0 == b.0) {
            let chain = of_chain[0].0;
            let limit = if chain == place.chain {
                place.pos.checked_sub(1)
            } else {
                graph.reach.last_before(chain, place)
            };
            let Some(limit) = limit else { continue };
            for &(_, pos, number) in of_chain.iter().take_while(|place| place.1 <= limit) {
                let hidden = Premise::Path(graph.places.at(chain, pos), last);
                let choice = info.choices[number as usize];
                dead(!choice.lit, [seen, hidden, Premise::None]);
            }
        }
        let initial = info
            .choices
            .iter()
            .find(|choice| choice.source == Source::Initial);
        if let Some(choice) = initial {
            dead(!choice.lit, [seen, Premise::None, Premise::None]);
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

/// A list for each chain, of items by position.
type ByPlace<T> = Vec<Vec<(u32, T)>>;

fn insert<T: Copy + Ord>(lists: &mut ByPlace<T>, place: Place, item: T) {
    let chain = place.chain as usize;
    if lists.len() <= chain {
        lists.resize_with(chain + 1, Vec::new);
    }
    let list = &mut lists[chain];
    let at = list.partition_point(|other| *other < (place.pos, item));
    list.insert(at, (place.pos, item));
}

fn remove<T: Copy + Ord>(lists: &mut ByPlace<T>, place: Place, item: T) {
    let list = &mut lists[place.chain as usize];
    let at = list.partition_point(|other| *other < (place.pos, item));
    list.remove(at);
}

/// The items of a chain from position `first` to `last`.
fn within<T: Copy>(
    lists: &ByPlace<T>,
    chain: u32,
    first: u32,
    last: u32,
) -> impl Iterator<Item = T> + '_ {
    let list = lists.get(chain as usize).map_or(&[][..], Vec::as_slice);
    let begin = list.partition_point(|(pos, _)| *pos < first);
    list[begin..]
        .iter()
        .take_while(move |(pos, _)| *pos <= last)
        .map(|(_, item)| *item)
}
