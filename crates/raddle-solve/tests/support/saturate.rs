//! Refutes a question about a window without any search: draws conclusions until they contradict each
//! other or nothing new follows. What it refutes has no solution; of the rest it knows nothing.
//!
//! The conclusions are those of M2 (Pavlogiannis, POPL 2020): of two sections of one lock, if one begins
//! before the other ends it ends before the other begins; a read that has one source left comes after
//! it, and no other write comes between. Order is kept in vector clocks over the chains.

use super::facts::Facts;
use super::instance::{Formula, Source, When};

/// An order that cannot be.
#[derive(Debug)]
struct Contradiction {
    rounds: usize,
}

/// Whether no order can satisfy the facts and the assumptions, as far as conclusions go: then how many
/// rounds of conclusions it takes to see that.
/// Shared holds and holds or reads with a Boolean condition are left out of account.
pub fn refutes(facts: &Facts<'_>, assumptions: &[Formula]) -> Option<usize> {
    match Saturation::new(facts, assumptions) {
        None => Some(0),
        Some(saturation) => saturation
            .run()
            .err()
            .map(|Contradiction { rounds }| rounds),
    }
}

/// From and to.
type Interval = (usize, Option<usize>);

struct Saturation<'a> {
    facts: &'a Facts<'a>,
    /// The chain of each event and its place there.
    place: Vec<(usize, usize)>,
    chains: usize,
    successors: Vec<Vec<usize>>,
    /// A pair that is assumed to be adjacent has the same neighbours.
    adjacent: Option<(usize, usize)>,
    /// For each event and chain, how many of the chain's events come before it or are it.
    clock: Vec<u32>,
    /// For each resource and chain, the exclusive holds in the order of the chain: from, to.
    holds: Vec<Vec<Vec<Interval>>>,
    /// For each location and chain, the writes in the order of the chain.
    writes: Vec<Vec<Vec<usize>>>,
    found: Vec<(usize, usize)>,
    rounds: usize,
}

impl<'a> Saturation<'a> {
    /// Nothing if the assumptions contradict each other at sight.
    fn new(facts: &'a Facts<'a>, assumptions: &[Formula]) -> Option<Self> {
        let mut chains = facts.chains;
        let mut length = vec![0; chains];
        let mut place = Vec::new();
        for chain in &facts.events {
            let chain = chain.unwrap_or_else(|| {
                chains += 1;
                length.push(0);
                chains - 1
            });
            place.push((chain, length[chain]));
            length[chain] += 1;
        }
        let mut saturation = Self {
            facts,
            place,
            chains,
            successors: vec![Vec::new(); facts.events.len()],
            adjacent: None,
            clock: Vec::new(),
            holds: Vec::new(),
            writes: Vec::new(),
            found: Vec::new(),
            rounds: 0,
        };
        saturation.sort();
        for assumption in assumptions {
            match assumption {
                Formula::Constant(false) => return None,
                Formula::Adjacent(a, b) => saturation.adjacent = Some((*a, *b)),
                _ => {}
            }
        }
        for &(a, b) in &facts.edges {
            saturation.add(a, b);
        }
        for assumption in assumptions {
            if let Formula::Before(a, b) = assumption {
                saturation.add(*a, *b);
            }
        }
        Some(saturation)
    }

    fn sort(&mut self) {
        for holds in &self.facts.resources {
            let mut by_chain = vec![Vec::new(); self.chains];
            for hold in holds
                .iter()
                .filter(|h| h.exclusive && when_matters(&h.when))
            {
                by_chain[self.place[hold.from].0].push((hold.from, hold.to));
            }
            by_chain
                .iter_mut()
                .for_each(|of| of.sort_by_key(|(from, _)| self.place[*from].1));
            self.holds.push(by_chain);
        }
        for writes in &self.facts.writes_of {
            let mut by_chain = vec![Vec::new(); self.chains];
            for &write in writes {
                let event = self.facts.writes[write].event;
                by_chain[self.place[event].0].push(event);
            }
            by_chain
                .iter_mut()
                .for_each(|of| of.sort_by_key(|&event| self.place[event].1));
            self.writes.push(by_chain);
        }
    }

    fn add(&mut self, a: usize, b: usize) {
        self.successors[a].push(b);
        let Some((one, other)) = self.adjacent else {
            return;
        };
        for (x, y) in [(one, other), (other, one)] {
            if a == x && b != y {
                self.successors[y].push(b);
            }
            if b == x && a != y {
                self.successors[a].push(y);
            }
        }
    }

    /// Draws conclusions until nothing is new.
    fn run(mut self) -> Result<(), Contradiction> {
        loop {
            self.tick()?;
            self.exclusion()?;
            self.reads()?;
            let mut found = std::mem::take(&mut self.found);
            found.retain(|&(a, b)| !self.before(a, b));
            if found.is_empty() {
                return Ok(());
            }
            found.sort_unstable();
            found.dedup();
            found.into_iter().for_each(|(a, b)| self.add(a, b));
            self.rounds += 1;
        }
    }

    /// Computes the clocks; a cycle is a contradiction.
    fn tick(&mut self) -> Result<(), Contradiction> {
        let count = self.place.len();
        let mut waiting = vec![0_u32; count];
        self.successors
            .iter()
            .flatten()
            .for_each(|&next| waiting[next] += 1);
        self.clock.clear();
        self.clock.resize(count * self.chains, 0);
        let mut ready: Vec<usize> = (0..count).filter(|&event| waiting[event] == 0).collect();
        let mut done = 0;
        while let Some(event) = ready.pop() {
            done += 1;
            let (chain, place) = self.place[event];
            let own = event * self.chains..(event + 1) * self.chains;
            self.clock[own.start + chain] = place as u32 + 1;
            for &next in &self.successors[event] {
                for (chain, from) in own.clone().enumerate() {
                    let time = self.clock[from];
                    let to = &mut self.clock[next * self.chains + chain];
                    *to = time.max(*to);
                }
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    ready.push(next);
                }
            }
        }
        if done == count {
            Ok(())
        } else {
            self.contradiction()
        }
    }

    fn contradiction(&self) -> Result<(), Contradiction> {
        Err(Contradiction {
            rounds: self.rounds,
        })
    }

    fn before(&self, a: usize, b: usize) -> bool {
        let (chain, place) = self.place[a];
        a != b && self.clock[b * self.chains + chain] as usize > place
    }

    fn counts(&self, when: &When, event: usize) -> bool {
        match when {
            When::Always => true,
            When::Before(cut) => self.before(event, *cut),
            When::If(_) => false,
        }
    }

    fn exclusion(&mut self) -> Result<(), Contradiction> {
        let mut found = Vec::new();
        for (resource, holds) in self.facts.resources.iter().enumerate() {
            for hold in holds
                .iter()
                .filter(|h| h.exclusive && self.counts(&h.when, h.from))
            {
                let own = self.place[hold.from].0;
                for chain in (0..self.chains).filter(|&chain| chain != own) {
                    let others = &self.holds[resource][chain];
                    // The others that count begin before the cut: a first part of the chain.
                    let begun = others.partition_point(|&(from, _)| {
                        let counted = match hold.when {
                            When::Before(cut) => self.before(from, cut),
                            _ => true,
                        };
                        counted && hold.to.is_none_or(|to| self.before(from, to))
                    });
                    match others[..begun].last() {
                        None => {}
                        Some((_, None)) => return self.contradiction(),
                        Some((_, Some(to))) if self.before(*to, hold.from) => {}
                        Some((_, Some(to))) => found.push((*to, hold.from)),
                    }
                }
            }
        }
        self.found.extend(found);
        Ok(())
    }

    fn reads(&mut self) -> Result<(), Contradiction> {
        let mut found = Vec::new();
        for read in &self.facts.reads {
            if !self.counts(&read.when, read.event) {
                continue;
            }
            let writes = &self.writes[read.location];
            // In each chain, the last write that is known to come before the read.
            let latest = |of: &Vec<usize>| {
                of[..of.partition_point(|&w| self.before(w, read.event))]
                    .last()
                    .copied()
            };
            let latest: Vec<usize> = writes.iter().filter_map(latest).collect();
            let possible = |source: &&Source| match **source {
                Source::Initial => latest.is_empty(),
                Source::Write(write) => {
                    let write = self.facts.writes[write].event;
                    write != read.event
                        && !self.before(read.event, write)
                        && !latest.iter().any(|&later| self.before(write, later))
                }
            };
            let mut left = self.facts.sources[read.sources].iter().filter(possible);
            let (Some(&only), another) = (left.next(), left.next()) else {
                return self.contradiction();
            };
            if another.is_some() {
                continue;
            }
            let first_after = |event: Option<usize>, of: &Vec<usize>| {
                let known = |&w: &usize| event.is_none_or(|event| self.before(event, w));
                of[of.partition_point(|w| !known(w))..].first().copied()
            };
            let source = match only {
                Source::Initial => None,
                Source::Write(write) => Some(self.facts.writes[write].event),
            };
            if let Some(source) = source {
                found.push((source, read.event));
                found.extend(
                    latest
                        .iter()
                        .filter(|&&w| w != source)
                        .map(|&w| (w, source)),
                );
            }
            let after = writes.iter().filter_map(|of| first_after(source, of));
            found.extend(after.filter(|&w| w != read.event).map(|w| (read.event, w)));
        }
        self.found.extend(found);
        Ok(())
    }
}

/// Whether it can be told from the order alone if something counts.
fn when_matters(when: &When) -> bool {
    !matches!(when, When::If(_))
}
