//! A total order that agrees with what is known.
//!
//! The chains are merged. Of the events that may come next, the one that was created first does; an
//! event that ends a prefix comes as soon as it can. Where the known order leaves a choice, the merge
//! behaves like a scheduler: an event that would begin a hold while another excludes it, or overwrite a
//! value that a read is still to take, or stand apart from the event it must be adjacent to, waits. If all
//! wait, the first goes ahead, and what it violates is noted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::When;
use super::holds::HoldId;
use super::place::{Event, index};
use super::reads::{Read, Source, Taken, Write};
use crate::sat::Search;

/// A constraint that a schedule violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Violation {
    /// Two holds that exclude each other overlap.
    Overlap(HoldId, HoldId),
    /// A read that has no choices yet takes a source that is not admitted.
    Source(Read),
    /// A write comes between a read and the source it has chosen.
    Overwritten(Taken, Write),
    /// An event comes between two adjacent ones: the pair's number.
    Between(u32, Event),
}

/// What happens at an event, in this order: a hold that ends there excludes one that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Begin(HoldId),
    Read(Read),
    Write(Write),
    End(HoldId),
}

/// The merge, its result and its scratch space.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The events in order.
    pub(super) order: Vec<Event>,
    /// For each event its place in `order`.
    pub(super) position: Vec<u32>,
    /// For each read, what it takes.
    pub(super) sources: Vec<Source>,
    /// For each read, whether it counts.
    pub(super) counted: Vec<bool>,
    pub(super) violations: Vec<Violation>,

    /// What happens at event `i` is `actions[starts[i]..starts[i + 1]]`.
    actions: Vec<Action>,
    starts: Vec<u32>,
    indexed: (usize, usize, usize, usize),

    /// For each chain, the position of its next event.
    next: Vec<u32>,
    /// For each event, how many edges into it are still to be passed.
    pending: Vec<u32>,
    /// The edges that leave an event, as lists.
    first_out: Vec<u32>,
    next_out: Vec<u32>,
    /// For each event, one that must be adjacent to it.
    partner: Vec<Option<Event>>,
    is_limit: Vec<bool>,
    /// For each resource, the counting holds that have begun and not ended.
    holders: Vec<Vec<HoldId>>,
    /// For each location, the last source, and how many reads are still to take it.
    last: Vec<(Source, u32)>,
    /// For each write, how many reads have chosen it.
    takers: Vec<u32>,
    /// For each read, its choice.
    chosen: Vec<Option<u32>>,
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    waiting: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// How many events between a pair of adjacent ones are noted at a time.
const MOST_BETWEEN: usize = 8;

impl Schedule {
    /// Makes the schedule for the known order of `theory`.
    pub(super) fn make(&mut self, theory: &Order, search: &Search) {
        self.index(theory);
        self.reset(theory);
        for chain in 0..index(self.next.len()) {
            self.offer(theory, chain);
        }
        loop {
            if let Some(Reverse((key, chain))) = self.ready.pop() {
                // A chain is offered anew whenever it may go on; only the newest offer is good.
                if self
                    .head(theory, chain)
                    .is_some_and(|head| self.key(head) == key)
                {
                    self.run(theory, search, chain);
                }
            } else if let Some(chain) = self.longest_waiting(theory) {
                self.waiting.retain(|other| *other != chain);
                let event = self
                    .head(theory, chain)
                    .expect("a chain that waits has a head");
                self.execute(theory, search, event);
                self.offer(theory, chain);
            } else {
                break;
            }
        }
        assert_eq!(
            self.order.len(),
            theory.graph.places.len(),
            "the known order has a cycle"
        );
        self.look_at_pairs(theory);
        self.clean(theory);
    }

    /// Runs a chain for as long as its events are the first that may come.
    fn run(&mut self, theory: &Order, search: &Search, chain: u32) {
        while let Some(event) = self.head(theory, chain) {
            let key = self.key(event);
            if self.pending[event.index()] > 0 {
                return;
            }
            if self
                .ready
                .peek()
                .is_some_and(|Reverse((first, _))| *first < key)
            {
                self.ready.push(Reverse((key, chain)));
                return;
            }
            if self.must_wait(theory, search, event) {
                if !self.waiting.contains(&chain) {
                    self.waiting.push(chain);
                }
                return;
            }
            self.execute(theory, search, event);
            if let Some(partner) = self.partner[event.index()]
                && self.position[partner.index()] == NONE
            {
                let partner_chain = theory.graph.places.of(partner).chain;
                self.waiting.retain(|other| *other != partner_chain);
                self.execute(theory, search, partner);
                self.offer(theory, partner_chain);
            }
        }
    }

    /// The chain that goes ahead if all wait.
    fn longest_waiting(&self, theory: &Order) -> Option<u32> {
        let key = |chain: &u32| self.head(theory, *chain).map(|head| self.key(head));
        self.waiting.iter().copied().min_by_key(key)
    }

    /// The next event of a chain.
    fn head(&self, theory: &Order, chain: u32) -> Option<Event> {
        let next = self.next[chain as usize] as usize;
        theory.graph.places.chains()[chain as usize]
            .get(next)
            .copied()
    }

    /// An event's turn: the smallest comes first.
    fn key(&self, event: Event) -> u32 {
        if self.is_limit[event.index()] {
            0
        } else {
            event.index() as u32 + 1
        }
    }

    /// Lets a chain go on if no edge holds its next event back.
    fn offer(&mut self, theory: &Order, chain: u32) {
        if let Some(head) = self.head(theory, chain)
            && self.pending[head.index()] == 0
        {
            self.ready.push(Reverse((self.key(head), chain)));
        }
    }

    /// Carries an event out.
    fn execute(&mut self, theory: &Order, search: &Search, event: Event) {
        let chain = theory.graph.places.of(event).chain;
        self.position[event.index()] = index(self.order.len());
        self.order.push(event);
        self.next[chain as usize] += 1;
        let mut wake = self.is_limit[event.index()];
        let (begin, end) = (self.starts[event.index()], self.starts[event.index() + 1]);
        for at in begin..end {
            wake |= self.act(theory, search, self.actions[at as usize]);
        }
        let mut out = self.first_out[event.index()];
        while out != NONE {
            let to = theory.graph.edges()[out as usize].to;
            self.pending[to.index()] -= 1;
            let place = theory.graph.places.of(to);
            if place.pos == self.next[place.chain as usize] && place.chain != chain {
                self.offer(theory, place.chain);
            }
            out = self.next_out[out as usize];
        }
        if wake || self.partner[event.index()].is_some() {
            for chain in std::mem::take(&mut self.waiting) {
                self.offer(theory, chain);
            }
        }
    }

    /// What an action does; true if something that waits may now go on.
    fn act(&mut self, theory: &Order, search: &Search, action: Action) -> bool {
        match action {
            Action::Begin(id) => {
                let info = &theory.holds.infos()[id.0 as usize];
                if !self.counts(search, info.hold.when) {
                    return false;
                }
                let resource = info.resource.0 as usize;
                let excluded = self.holders[resource]
                    .iter()
                    .filter(|other| excludes(theory, **other, id));
                let overlaps = excluded.map(|other| Violation::Overlap(*other, id));
                self.violations.extend(overlaps);
                self.holders[resource].push(id);
                false
            }
            Action::End(id) => {
                let resource = theory.holds.infos()[id.0 as usize].resource.0 as usize;
                self.holders[resource].retain(|other| *other != id);
                true
            }
            Action::Read(read) => self.take(theory, search, read),
            Action::Write(write) => {
                let location = theory.reads.writes[write.0 as usize].location.0 as usize;
                let takers = self.takers[write.0 as usize];
                self.last[location] = (Source::Write(write), takers);
                false
            }
        }
    }

    fn take(&mut self, theory: &Order, search: &Search, read: Read) -> bool {
        let info = theory.reads.read(read);
        let counts = self.counts(search, info.when);
        self.counted[read.0 as usize] = counts;
        let (source, takers) = &mut self.last[info.location.0 as usize];
        self.sources[read.0 as usize] = *source;
        if let Some(choice) = self.chosen[read.0 as usize] {
            let wanted = info.choices[choice as usize].source;
            if wanted == *source {
                *takers -= 1;
                return *takers == 0;
            }
            let Source::Write(last) = *source else {
                unreachable!("a write that was chosen comes before the read");
            };
            let taken = Taken { read, choice };
            self.violations.push(Violation::Overwritten(taken, last));
            return false;
        }
        if counts && !info.opened && !theory.reads.admits(info.from, *source) {
            self.violations.push(Violation::Source(read));
        }
        false
    }

    /// Whether an event had better come later.
    fn must_wait(&self, theory: &Order, search: &Search, event: Event) -> bool {
        let (begin, end) = (self.starts[event.index()], self.starts[event.index() + 1]);
        let mut taken_here = None;
        for action in &self.actions[begin as usize..end as usize] {
            match *action {
                Action::Begin(id) => {
                    let info = &theory.holds.infos()[id.0 as usize];
                    let holders = &self.holders[info.resource.0 as usize];
                    if holders.iter().any(|other| excludes(theory, *other, id))
                        && self.counts(search, info.hold.when)
                    {
                        return true;
                    }
                }
                Action::Read(read) => {
                    if self.chosen[read.0 as usize].is_some() {
                        taken_here = Some(theory.reads.read(read).location);
                    }
                }
                Action::Write(write) => {
                    let location = theory.reads.writes[write.0 as usize].location;
                    let own = u32::from(taken_here == Some(location));
                    if self.last[location.0 as usize].1 > own {
                        return true;
                    }
                }
                Action::End(_) => {}
            }
        }
        self.partner[event.index()].is_some_and(|partner| {
            self.position[partner.index()] == NONE && !self.can_follow(theory, event, partner)
        })
    }

    /// Whether `partner` can come right after `event`.
    fn can_follow(&self, theory: &Order, event: Event, partner: Event) -> bool {
        let mut between = 0;
        let mut out = self.first_out[event.index()];
        while out != NONE {
            between += u32::from(theory.graph.edges()[out as usize].to == partner);
            out = self.next_out[out as usize];
        }
        let (place, other) = (
            theory.graph.places.of(event),
            theory.graph.places.of(partner),
        );
        let ahead = u32::from(other.chain == place.chain);
        self.next[other.chain as usize] + ahead == other.pos
            && self.pending[partner.index()] == between
    }

    fn counts(&self, search: &Search, when: When) -> bool {
        match when {
            When::Always => true,
            When::Before(limit) => self.position[limit.index()] == NONE,
            When::If(lit) => search.value(lit) == Some(true),
        }
    }

    /// Notes what stands between events that must be adjacent.
    fn look_at_pairs(&mut self, theory: &Order) {
        for (number, pair) in theory.pairs.active() {
            let (a, b) = (self.position[pair.a.index()], self.position[pair.b.index()]);
            let between = self.order[a.min(b) as usize..a.max(b) as usize]
                .iter()
                .skip(1);
            let some = between.take(MOST_BETWEEN);
            self.violations
                .extend(some.map(|event| Violation::Between(number, *event)));
        }
    }

    /// Lists what happens at each event, if something was added.
    fn index(&mut self, theory: &Order) {
        let (holds, reads) = (theory.holds.infos(), &theory.reads);
        let events = theory.graph.places.len();
        let now = (events, holds.len(), reads.reads.len(), reads.writes.len());
        if self.indexed == now {
            return;
        }
        self.indexed = now;
        let mut all: Vec<(Event, Action)> = Vec::new();
        for (id, info) in (0..).map(HoldId).zip(holds) {
            all.push((info.hold.from, Action::Begin(id)));
            all.extend(info.hold.to.map(|to| (to, Action::End(id))));
        }
        all.extend(
            (0..)
                .zip(&reads.reads)
                .map(|(id, info)| (info.event, Action::Read(Read(id)))),
        );
        all.extend(
            (0..)
                .zip(&reads.writes)
                .map(|(id, info)| (info.event, Action::Write(Write(id)))),
        );
        all.sort_unstable();
        self.starts.clear();
        self.starts.resize(events + 1, 0);
        for (event, _) in &all {
            self.starts[event.index() + 1] += 1;
        }
        for at in 0..events {
            self.starts[at + 1] += self.starts[at];
        }
        self.actions.clear();
        self.actions
            .extend(all.into_iter().map(|(_, action)| action));
        self.pending.resize(events, 0);
        self.first_out.resize(events, NONE);
        self.partner.resize(events, None);
        self.is_limit.resize(events, false);
        self.sources.resize(reads.reads.len(), Source::Initial);
        self.counted.resize(reads.reads.len(), false);
        self.takers.resize(reads.writes.len(), 0);
        self.chosen.resize(reads.reads.len(), None);
    }

    /// Prepares for a new merge.
    fn reset(&mut self, theory: &Order) {
        self.order.clear();
        self.position.clear();
        self.position.resize(theory.graph.places.len(), NONE);
        self.violations.clear();
        self.next.clear();
        self.next.resize(theory.graph.places.chains().len(), 0);
        self.next_out.clear();
        for (number, edge) in (0..).zip(theory.graph.edges()) {
            self.pending[edge.to.index()] += 1;
            let first = &mut self.first_out[edge.from.index()];
            self.next_out.push(std::mem::replace(first, number));
        }
        for (_, pair) in theory.pairs.active() {
            self.partner[pair.a.index()] = Some(pair.b);
            self.partner[pair.b.index()] = Some(pair.a);
        }
        for limit in &theory.limits {
            self.is_limit[limit.index()] = true;
        }
        self.holders.resize_with(theory.holds.resources(), Vec::new);
        self.holders.iter_mut().for_each(Vec::clear);
        self.last.clear();
        self.last
            .resize(theory.reads.locations.len(), (Source::Initial, 0));
        for taken in theory.reads.taken() {
            let info = theory.reads.read(taken.read);
            self.chosen[taken.read.0 as usize] = Some(taken.choice);
            match info.choices[taken.choice as usize].source {
                Source::Initial => self.last[info.location.0 as usize].1 += 1,
                Source::Write(write) => self.takers[write.0 as usize] += 1,
            }
        }
        self.ready.clear();
        self.waiting.clear();
    }

    /// Takes back what [`Schedule::reset`] marked, in time that does not depend on the events.
    fn clean(&mut self, theory: &Order) {
        for edge in theory.graph.edges() {
            self.first_out[edge.from.index()] = NONE;
        }
        for (_, pair) in theory.pairs.active() {
            self.partner[pair.a.index()] = None;
            self.partner[pair.b.index()] = None;
        }
        for taken in theory.reads.taken() {
            self.chosen[taken.read.0 as usize] = None;
            let info = theory.reads.read(taken.read);
            if let Source::Write(write) = info.choices[taken.choice as usize].source {
                self.takers[write.0 as usize] = 0;
            }
        }
    }
}

fn excludes(theory: &Order, a: HoldId, b: HoldId) -> bool {
    let infos = theory.holds.infos();
    infos[a.0 as usize].excludes(&infos[b.0 as usize])
}
