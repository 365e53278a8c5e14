//! The check of a whole assignment: makes a schedule and tells the search what it violates.

use super::adjacent::Pair;
use super::holds::HoldId;
use super::place::{Event, index};
use super::reads::{Choice, Read, Source, Taken, Write};
use super::schedule::Violation;
use super::{Order, Role, When};
use crate::bits::Term;
use crate::lit::Lit;
use crate::sat::{Check, Search};

impl Order {
    /// Makes a schedule; if it violates constraints that the search does not know of, adds them.
    pub(crate) fn check(&mut self, search: &mut Search) -> Check {
        let mut schedule = std::mem::take(&mut self.schedule);
        schedule.make(self, search);
        self.schedule = schedule;
        let mut verdict = Check::Consistent;
        for violation in std::mem::take(&mut self.schedule.violations) {
            if !self.known.insert(violation) {
                continue;
            }
            verdict = Check::Extended;
            match violation {
                Violation::Overlap(a, b) => self.separate(search, a, b),
                Violation::Source(read) => self.open(search, read),
                Violation::Overwritten(taken, write) => self.protect(search, taken, write),
                Violation::Between(pair, event) => self.push_out(search, pair, event),
            }
        }
        verdict
    }

    /// The events in the order of the last schedule.
    pub(crate) fn scheduled(&self) -> &[Event] {
        &self.schedule.order
    }

    /// An event's place in the last schedule.
    pub(crate) fn position(&self, event: Event) -> usize {
        self.schedule.position[event.index()] as usize
    }

    /// What a read takes in the last schedule.
    pub(crate) fn source(&self, read: Read) -> Source {
        self.schedule.sources[read.0 as usize]
    }

    /// Whether a read counts in the last schedule.
    pub(crate) fn counted(&self, read: Read) -> bool {
        self.schedule.counted[read.0 as usize]
    }

    /// The term that a read takes in the last schedule.
    pub(crate) fn source_term(&self, read: Read) -> Option<Term> {
        let location = self.reads.read(read).location;
        self.reads.term_of(location, self.source(read))
    }

    /// The reads whose values are spoken of, and their terms, in the order of the last schedule.
    pub(crate) fn valued_in_order(&self) -> Vec<(Read, Term)> {
        let reads = self.reads.valued.iter();
        let mut valued: Vec<(Read, Term)> = reads
            .filter_map(|read| Some((*read, self.reads.read(*read).value?)))
            .collect();
        valued.sort_by_key(|(read, _)| self.position(self.reads.read(*read).event));
        valued
    }

    /// The literal that a read takes what it takes in the last schedule.
    pub(crate) fn choice_of_source(&mut self, search: &mut Search, read: Read) -> Lit {
        if !self.reads.read(read).opened {
            self.open(search, read);
        }
        let source = self.source(read);
        let mut choices = self.reads.read(read).choices.iter();
        let choice = choices.find(|choice| choice.source == source);
        choice.expect("a source in a schedule is possible").lit
    }

    /// One of two holds ends before the other begins.
    fn separate(&mut self, search: &mut Search, a: HoldId, b: HoldId) {
        let holds = [a, b].map(|id| self.holds.infos()[id.0 as usize].hold);
        let mut clause = Vec::with_capacity(4);
        for hold in holds {
            clause.extend(self.unless(search, hold.when, hold.from));
        }
        for (one, other) in [(holds[0], holds[1]), (holds[1], holds[0])] {
            clause.extend(one.to.map(|end| self.before(search, end, other.from)));
        }
        search.clause(&clause);
    }

    /// Gives a read a literal for each source that it can have.
    pub(super) fn open(&mut self, search: &mut Search, read: Read) {
        let (when, event) = {
            let info = self.reads.read(read);
            (info.when, info.event)
        };
        let mut clause: Vec<Lit> = self.unless(search, when, event).into_iter().collect();
        let sources = self.reads.possible(&self.graph, &self.fixed, read);
        let mut choices = Vec::with_capacity(sources.len());
        for source in sources {
            let taken = Taken {
                read,
                choice: index(choices.len()),
            };
            let first = choices.is_empty();
            let lit = self.variable(search, first, Role::Choice(taken)).is(true);
            clause.push(lit);
            choices.push(Choice { source, lit });
        }
        self.reads.open(&self.graph, read, choices);
        search.clause(&clause);
    }

    /// A write does not come between a read and the write that it has chosen.
    fn protect(&mut self, search: &mut Search, taken: Taken, between: Write) {
        let info = self.reads.read(taken.read);
        let choice = info.choices[taken.choice as usize];
        let reader = info.event;
        let between = self.reads.event_of(between);
        let mut clause = vec![!choice.lit, self.before(search, reader, between)];
        if let Source::Write(write) = choice.source {
            let writer = self.reads.event_of(write);
            clause.push(self.before(search, between, writer));
        }
        search.clause(&clause);
    }

    /// An event is on the same side of both events of a pair.
    fn push_out(&mut self, search: &mut Search, pair: u32, event: Event) {
        let Pair { a, b, lit } = self.pairs.pairs[pair as usize];
        for (one, other) in [(a, b), (b, a)] {
            let before_one = self.before(search, event, one);
            let after_other = self.before(search, other, event);
            search.clause(&[!lit, before_one, after_other]);
        }
    }

    /// The literal that something does not count; nothing if it always does.
    fn unless(&mut self, search: &mut Search, when: When, first: Event) -> Option<Lit> {
        match when {
            When::Always => None,
            When::Before(limit) => Some(!self.before(search, first, limit)),
            When::If(lit) => Some(!lit),
        }
    }
}
