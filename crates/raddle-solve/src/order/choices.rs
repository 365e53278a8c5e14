//! Which sources the known order leaves to a read.
//!
//! A source is ruled out if it is a write after the read, or one that another write hides: the known order
//! puts the other between the two.

use super::by_place::{of_chain, within};
use super::graph::{Graph, Premise, Premises, path};
use super::place::Event;
use super::reach::{Change, Reach};
use super::reads::{LocationInfo, Read, ReadInfo, Reads, Source, Write};
use super::{Values, When};
use crate::lit::Lit;

impl Reads {
    /// The sources that an order leaves to a read, those nearest before it in the order of creation
    /// first, then those created after it: what it took in the observed run comes first.
    pub(super) fn possible(&self, graph: &Graph, order: &Reach, read: Read) -> Vec<Source> {
        let info = self.read(read);
        let visible = self.visible(graph, order, info);
        let sources = self.sources[info.from.0 as usize].iter().copied();
        let mut possible: Vec<Source> = sources
            .filter(|source| self.writer(*source) != Some(info.event))
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

    /// The last write of the read's location in each chain that comes before the read.
    fn visible(&self, graph: &Graph, order: &Reach, read: &ReadInfo) -> Vec<Event> {
        let place = graph.places.of(read.event);
        let location = &self.locations[read.location.0 as usize];
        let last = |chain: u32| {
            let pos = order.previous_in(chain, place)?;
            Some(self.event_of(location.last_by(chain, pos)?))
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
            return Some(path(*visible.first()?, read.event));
        };
        let reaches = |a: Event, b: Event| order.reaches(graph.places.of(a), graph.places.of(b));
        if reaches(read.event, writer) {
            return Some(path(read.event, writer));
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

    /// Calls `dead` for each choice of a read without one that a new step of the closure rules out: a write
    /// after the read, or one that is overwritten by another before the read.
    pub(super) fn ruled_out_by(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        change: &Change,
        mut dead: impl FnMut(Lit, Premises),
    ) {
        let (from, to) = (change.from_chain, change.to_chain);
        if values.limits_from(graph, to, change.to) {
            self.ruled_out_of_counting(graph, change, &mut dead);
        }
        // A step says something new only of the writes between its ends and those of its neighbours.
        for read in within(of_chain(&self.opened, from), change.from_first, change.from) {
            if self.is_undecided(graph, read)
                && let Some(next) = self.location(read).first_from(to, change.to)
                && self.position(graph, next) < change.to_end
            {
                self.later_than(graph, read, (to, change.to), &mut dead);
            }
        }
        for read in within(of_chain(&self.opened, to), change.to, change.to_end - 1) {
            if self.is_undecided(graph, read)
                && let Some(last) = self.location(read).last_by(from, change.from)
                && self.position(graph, last) >= change.from_first
            {
                self.hidden_behind(graph, values, read, self.event_of(last), &mut dead);
            }
        }
    }

    /// Calls `dead` for the choices of reads that count from now on, because they come before the event
    /// that limits them.
    fn ruled_out_of_counting(
        &self,
        graph: &Graph,
        change: &Change,
        dead: &mut impl FnMut(Lit, Premises),
    ) {
        let opened = of_chain(&self.opened, change.from_chain);
        for read in within(opened, change.from_first, change.from) {
            let info = self.read(read);
            if info.held == 0 && info.when.is_met_by(graph, change) {
                self.ruled_out(graph, read, dead);
            }
        }
    }

    /// Calls `dead` for the choices of a read that come after it: those of `chain` from `pos` on.
    fn later_than(
        &self,
        graph: &Graph,
        read: Read,
        (chain, pos): (u32, u32),
        dead: &mut impl FnMut(Lit, Premises),
    ) {
        let info = self.read(read);
        let of_chain = info.by_chain.get(&chain).map_or(&[][..], Vec::as_slice);
        let begin = of_chain.partition_point(|place| place.0 < pos);
        for &(pos, number) in &of_chain[begin..] {
            let choice = info.choices[number as usize];
            dead(!choice.lit, path(info.event, graph.places.at(chain, pos)));
        }
    }

    fn location(&self, read: Read) -> &LocationInfo {
        &self.locations[self.read(read).location.0 as usize]
    }

    /// A write's position in its chain.
    fn position(&self, graph: &Graph, write: Write) -> u32 {
        graph.places.of(self.event_of(write)).pos
    }

    /// Calls `dead` for choices of a read that come before `last`, a write that comes before the read. Below
    /// one that is false the others of its chain have had their turn.
    fn hidden_behind(
        &self,
        graph: &Graph,
        values: &Values<'_>,
        read: Read,
        last: Event,
        dead: &mut impl FnMut(Lit, Premises),
    ) {
        let info = self.read(read);
        let seen = Premise::Path(last, info.event);
        let place = graph.places.of(last);
        for (&chain, of_chain) in &info.by_chain {
            let Some(limit) = graph.reach.previous_in(chain, place) else {
                continue;
            };
            let end = of_chain.partition_point(|place| place.0 <= limit);
            for &(pos, number) in of_chain[..end].iter().rev() {
                let choice = info.choices[number as usize];
                if values.search.value(choice.lit) == Some(false) {
                    break;
                }
                let hidden = Premise::Path(graph.places.at(chain, pos), last);
                dead(!choice.lit, [seen, hidden, Premise::None]);
            }
        }
        if let Some(number) = info.initial {
            let choice = info.choices[number as usize];
            dead(!choice.lit, path(last, info.event));
        }
    }
}
