//! Random problems.

mod formulas;

use std::ops::RangeInclusive;

use super::instance::{Formula, Hold, Instance, Read, Source, Step, When, Write};
use super::rng::Rng;

/// How much there is of everything in a problem. Numbers named `…_percent` are chances.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Events in each round; a round ends with questions.
    pub events: RangeInclusive<usize>,
    pub rounds: RangeInclusive<usize>,
    pub chains: RangeInclusive<usize>,
    pub lone_percent: usize,
    pub edges: RangeInclusive<usize>,
    pub booleans: RangeInclusive<usize>,
    pub clauses: RangeInclusive<usize>,
    /// Clauses, edges and reads that the order of the events' numbers satisfies.
    pub run_percent: usize,
    pub resources: usize,
    pub holds: RangeInclusive<usize>,
    pub locations: usize,
    pub writes: RangeInclusive<usize>,
    pub reads: RangeInclusive<usize>,
    /// Reads that are put on an event which also writes.
    pub rmw_percent: usize,
    /// Holds and reads that only count under a condition.
    pub guard_percent: usize,
    /// Atoms that speak of adjacency.
    pub adjacent_percent: usize,
    /// Atoms that compare bit-vectors.
    pub compare_percent: usize,
    pub unknowns: RangeInclusive<usize>,
    /// The widths of values; none, then nothing has a value.
    pub widths: Option<RangeInclusive<usize>>,
    /// At most so many reads have a value.
    pub valued_reads: usize,
    pub questions: RangeInclusive<usize>,
}

impl Mix {
    /// Events in chains, fixed edges, clauses and nothing else.
    pub fn orders() -> Self {
        Self {
            events: 3..=6,
            rounds: 1..=1,
            chains: 0..=3,
            lone_percent: 25,
            edges: 0..=2,
            booleans: 0..=3,
            clauses: 0..=9,
            run_percent: 30,
            resources: 0,
            holds: 0..=0,
            locations: 0,
            writes: 0..=0,
            reads: 0..=0,
            rmw_percent: 0,
            guard_percent: 0,
            adjacent_percent: 0,
            compare_percent: 0,
            unknowns: 0..=0,
            widths: None,
            valued_reads: 0,
            questions: 1..=3,
        }
    }

    /// Something of all there is.
    pub fn everything() -> Self {
        Self {
            events: 3..=6,
            chains: 1..=3,
            clauses: 0..=4,
            resources: 1,
            holds: 0..=3,
            locations: 2,
            writes: 1..=4,
            reads: 0..=3,
            rmw_percent: 30,
            guard_percent: 30,
            adjacent_percent: 10,
            compare_percent: 15,
            unknowns: 0..=1,
            widths: Some(1..=2),
            valued_reads: 2,
            ..Self::orders()
        }
    }
}

/// A random problem.
pub fn problem(mix: &Mix, seed: u64) -> Instance {
    let mut maker = Maker {
        mix,
        rng: Rng::new(seed),
        instance: Instance::default(),
        chains: Vec::new(),
        chain_of: Vec::new(),
        booleans: 0,
        unknowns: Vec::new(),
        taken: Vec::new(),
        locations: Vec::new(),
        writes: Vec::new(),
        sources: Vec::new(),
        reads: Vec::new(),
        writer: None,
    };
    maker.vocabulary();
    for _ in 0..maker.rng.within(&mix.rounds) {
        maker.round();
    }
    maker.instance
}

struct Maker<'a> {
    mix: &'a Mix,
    rng: Rng,
    instance: Instance,
    /// The events of each chain.
    chains: Vec<Vec<usize>>,
    /// The chain of each event and its place in it.
    chain_of: Vec<Option<(usize, usize)>>,
    booleans: usize,
    /// The width of each unknown.
    unknowns: Vec<u32>,
    /// What holds take of chains: resource, chain, first place, last place.
    taken: Vec<(usize, usize, usize, usize)>,
    /// The width of each location's values.
    locations: Vec<Option<u32>>,
    /// The location and event of each write.
    writes: Vec<(usize, usize)>,
    /// The location of each set of sources.
    sources: Vec<usize>,
    /// The width of each read's value, and its event.
    reads: Vec<(Option<u32>, usize)>,
    /// The event whose written value is being made: it may only depend on what comes before it.
    writer: Option<usize>,
}

impl Maker<'_> {
    fn vocabulary(&mut self) {
        for _ in 0..self.rng.within(&self.mix.chains) {
            self.instance.say(Step::Chain);
            self.chains.push(Vec::new());
        }
        for _ in 0..self.rng.within(&self.mix.booleans) {
            self.instance.say(Step::Boolean);
            self.booleans += 1;
        }
        if let Some(widths) = &self.mix.widths {
            for _ in 0..self.rng.within(&self.mix.unknowns) {
                let width = self.rng.within(widths) as u32;
                let hint = self.rng.next() & ((1 << width) - 1);
                self.instance.say(Step::Unknown { width, hint });
                self.unknowns.push(width);
            }
        }
        for _ in 0..self.mix.resources {
            self.instance.say(Step::Resource);
        }
    }

    fn round(&mut self) {
        let missing = 2_usize.saturating_sub(self.chain_of.len());
        let count = self.rng.within(&self.mix.events).max(missing);
        (0..count).for_each(|_| self.event());
        for _ in 0..self.mix.locations.saturating_sub(self.locations.len()) {
            self.location();
        }
        // What is said last must not always be the same.
        let mut jobs = Vec::new();
        for (range, job) in [
            (&self.mix.edges, Self::edge as fn(&mut Self)),
            (&self.mix.clauses, Self::clause),
            (&self.mix.holds, Self::hold),
            (&self.mix.writes, Self::write),
        ] {
            jobs.extend(vec![job; self.rng.within(range)]);
        }
        let reads = self.rng.within(&self.mix.reads);
        for index in (1..jobs.len()).rev() {
            let other = self.rng.below(index + 1);
            jobs.swap(index, other);
        }
        // Most reads come after all writes, as a write that is not there yet is no source.
        let late = jobs.len();
        for _ in 0..reads {
            let place = if self.rng.percent(50) {
                late
            } else {
                self.rng.below(late + 1)
            };
            jobs.insert(place.min(jobs.len()), Self::read);
        }
        jobs.iter().for_each(|job| job(self));
        for _ in 0..self.rng.within(&self.mix.questions) {
            let count = self.rng.below(4);
            let assumptions = (0..count).map(|_| self.assumption()).collect();
            self.instance.say(Step::Solve(assumptions));
        }
    }

    fn event(&mut self) {
        let lone = self.chains.is_empty() || self.rng.percent(self.mix.lone_percent);
        let chain = (!lone).then(|| self.rng.below(self.chains.len()));
        let event = self.instance.say(Step::Event(chain));
        self.chain_of
            .push(chain.map(|chain| (chain, self.chains[chain].len())));
        if let Some(chain) = chain {
            self.chains[chain].push(event);
        }
    }

    fn any_event(&mut self) -> usize {
        self.rng.below(self.chain_of.len())
    }

    fn two_events(&mut self) -> (usize, usize) {
        let a = self.any_event();
        let b = self.rng.below(self.chain_of.len() - 1);
        (a, if b >= a { b + 1 } else { b })
    }

    fn edge(&mut self) {
        let (a, b) = self.two_events();
        let with_run = self.rng.percent(self.mix.run_percent.max(80));
        let (a, b) = if with_run {
            (a.min(b), a.max(b))
        } else {
            (a, b)
        };
        self.instance.say(Step::Order(a, b));
    }

    fn clause(&mut self) {
        let length = 1 + self.rng.below(3);
        let mut clause: Vec<Formula> = (0..length).map(|_| self.formula(1)).collect();
        if self.rng.percent(self.mix.run_percent) {
            let (a, b) = self.two_events();
            let place = self.rng.below(clause.len() + 1);
            clause.insert(place, Formula::Before(a.min(b), a.max(b)));
        }
        self.instance.say(Step::Require(clause));
    }

    fn when(&mut self, event: usize) -> When {
        if !self.rng.percent(self.mix.guard_percent) {
            return When::Always;
        }
        match self.any_event() {
            cut if cut != event && self.rng.percent(60) => When::Before(cut),
            _ => When::If(self.formula(1)),
        }
    }

    fn hold(&mut self) {
        let resource = self.rng.below(self.mix.resources);
        let Some((from, to)) = self.free_interval(resource) else {
            return;
        };
        let exclusive = self.rng.percent(70);
        let when = self.when(from);
        self.instance.say(Step::Hold(Hold {
            resource,
            from,
            to,
            exclusive,
            when,
        }));
    }

    /// Two events, or one, between which no hold of the resource in the same chain lies.
    fn free_interval(&mut self, resource: usize) -> Option<(usize, Option<usize>)> {
        let (a, b) = self.two_events();
        let open = self.rng.percent(12);
        let places = match (self.chain_of[a], self.chain_of[b]) {
            (Some((chain, first)), _) if open => vec![(chain, first, usize::MAX)],
            (_, _) if open => vec![],
            (Some((one, first)), Some((other, last))) if one == other => {
                vec![(one, first.min(last), first.max(last))]
            }
            (one, other) => [one, other]
                .iter()
                .flatten()
                .map(|&(chain, place)| (chain, place, place))
                .collect(),
        };
        let clash = |&(chain, first, last): &(usize, usize, usize)| {
            self.taken.iter().any(|&(of, other, start, end)| {
                of == resource && other == chain && start <= last && first <= end
            })
        };
        if places.iter().any(clash) {
            return None;
        }
        self.taken.extend(
            places
                .iter()
                .map(|&(chain, first, last)| (resource, chain, first, last)),
        );
        let in_chain = places.len() == 1 && !open;
        let (from, to) = if in_chain {
            (a.min(b), a.max(b))
        } else {
            (a, b)
        };
        Some((from, (!open).then_some(to)))
    }

    fn location(&mut self) {
        let width = self.mix.widths.is_some().then(|| self.width());
        let initial = width
            .filter(|_| self.rng.percent(80))
            .map(|width| self.bits(width, 0));
        self.instance.say(Step::Location(initial));
        self.locations.push(width);
    }

    fn write(&mut self) {
        let location = self.rng.below(self.locations.len());
        let event = self.any_event();
        if self.writes.contains(&(location, event)) {
            return;
        }
        let width = self.locations[location].filter(|_| self.rng.percent(85));
        self.writer = Some(event);
        let value = width.map(|width| self.bits(width, 1));
        self.writer = None;
        self.instance.say(Step::Write(Write {
            location,
            event,
            value,
        }));
        self.writes.push((location, event));
    }

    fn read(&mut self) {
        let location = self.rng.below(self.locations.len());
        let known: Vec<usize> = (0..self.sources.len())
            .filter(|&s| self.sources[s] == location)
            .collect();
        let writers = self.writes.iter().filter(|(of, _)| *of == location);
        let writers: Vec<usize> = writers.map(|(_, event)| *event).collect();
        let event = if !writers.is_empty() && self.rng.percent(self.mix.rmw_percent) {
            *self.rng.pick(&writers)
        } else {
            self.any_event()
        };
        let sources = if !known.is_empty() && self.rng.percent(30) {
            *self.rng.pick(&known)
        } else {
            self.some_sources(location, event)
        };
        let when = self.when(event);
        let valued = self
            .reads
            .iter()
            .filter(|(width, _)| width.is_some())
            .count();
        let width = self.locations[location]
            .filter(|_| valued < self.mix.valued_reads && self.rng.percent(90));
        let hint = self.rng.next() & (u64::MAX >> (64 - width.unwrap_or(1)));
        self.instance.say(Step::Read(Read {
            location,
            event,
            sources,
            when,
            width,
            hint,
        }));
        self.reads.push((width, event));
    }

    fn some_sources(&mut self, location: usize, event: usize) -> usize {
        let keep = 25 + self.rng.below(75);
        let mut from = Vec::new();
        let earlier = self
            .writes
            .iter()
            .filter(|&&(of, writer)| of == location && writer < event);
        let latest = earlier.max_by_key(|(_, writer)| *writer).copied();
        let with_run = self.rng.percent(self.mix.run_percent);
        if with_run && latest.is_none() || self.rng.percent(keep) {
            from.push(Source::Initial);
        }
        for write in 0..self.writes.len() {
            let wanted = with_run && latest == Some(self.writes[write]);
            if self.writes[write].0 == location && (wanted || self.rng.percent(keep)) {
                from.push(Source::Write(write));
            }
        }
        self.sources.push(location);
        self.instance.say(Step::Sources { location, from })
    }
}
