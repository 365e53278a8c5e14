//! Reads that may find other values than they found.
//!
//! A thread does what it did as long as the reads that its branches and addresses depend on find what they
//! found (the control-flow abstraction of Huang, Meredith and Roșu, "Maximal Sound Predictive Race Detection
//! with Control Flow Abstraction", PLDI 2014, made finer by the program's own code). Any other read is
//! *free*. What is stored after a free read found something else is not known, if the read's value went into
//! it: such a store is a source of free reads only.
//!
//! Which reads are free is said by instruction, and by a slice of a single function. That is an estimate: a
//! free read's value may yet be kept in memory that the view leaves out, and decide something later. So what
//! is found with leeway is proved only when the threads have been executed again with their new values.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Influence, Influences, Model, ModuleId};
use raddle_solve::{Lit, Location, Source, Sources, When};
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::SiteId;
use raddle_trace::wire::Role;

use super::Maximal;
use crate::table::Table;
use crate::view::{Lane, Pos};

/// Of the stores that a read may find only if they store what they stored, so many before it are looked at.
const UNCERTAIN_EARLIER: usize = 3;

/// And so many behind it.
const UNCERTAIN_LATER: usize = 1;

/// Which instructions' reads are free, and what is made of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leeway {
    free: BTreeSet<SiteId>,
    /// The loads that go into stores.
    fed: BTreeSet<SiteId>,
    /// The loads that go into each store.
    stores: BTreeMap<SiteId, Vec<Feed>>,
}

/// A load that goes into a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Feed {
    load: SiteId,
    /// Whether not only its latest execution does.
    carried: bool,
}

impl Leeway {
    /// What a program's model gives to the sites of a trace.
    #[must_use]
    pub fn new(model: &Model, trailer: &Trailer) -> Self {
        let numbers: BTreeMap<(u64, u32), SiteId> = trailer
            .sites
            .iter()
            .map(|info| ((info.module, info.index), info.site))
            .collect();
        let mut influences = Influences::new(model);
        let mut leeway = Self::default();
        for info in &trailer.sites {
            let module = ModuleId(info.module);
            if influences.of(module, info.index) != Influence::Control {
                leeway.free(info.site);
            }
            for feed in influences.feeds(module, info.index) {
                if let Some(&load) = numbers.get(&(info.module, feed.load)) {
                    leeway.feed(load, info.site, feed.carried);
                }
            }
        }
        leeway
    }

    /// What a site reads decides nothing.
    pub fn free(&mut self, load: SiteId) {
        self.free.insert(load);
    }

    /// What a site reads goes into what another one stores; also what it read before its latest execution,
    /// if it is carried on.
    pub fn feed(&mut self, load: SiteId, store: SiteId, carried: bool) {
        self.fed.insert(load);
        let feeds = self.stores.entry(store).or_default();
        feeds.push(Feed { load, carried });
    }

    /// Whether an event reads, and may find something else. What a lock's code finds decides whether it is
    /// taken, and so does what a compare-exchange finds.
    #[must_use]
    pub fn is_free(&self, event: &Event) -> bool {
        let takes_place = match event.kind {
            EventKind::Read(_) => true,
            EventKind::AtomicLoad(_, atomicity) | EventKind::Rmw { atomicity, .. } => {
                atomicity.role == Role::None
            }
            _ => false,
        };
        takes_place && event.site().is_some_and(|site| self.free.contains(&site))
    }

    fn feeds(&self, event: &Event) -> &[Feed] {
        let feeds = event.site().and_then(|site| self.stores.get(&site));
        feeds.map_or(&[], Vec::as_slice)
    }
}

/// What the walk through a window knows of free reads.
#[derive(Default)]
pub(super) struct Kept {
    /// By thread and instruction: that its latest read, and that all its reads found what they found.
    latest: Table<(Lane, SiteId), (Lit, Lit)>,
    /// Of each free read: that it found what it found, if that matters to a store.
    pub(super) reads: BTreeMap<Pos, Option<Lit>>,
}

impl Kept {
    /// Nobody minds what free reads find.
    pub(super) fn forget(&mut self) {
        for kept in self.reads.values_mut() {
            *kept = None;
        }
    }
}

/// Sources of one value.
pub(super) struct Pool {
    pub(super) all: Sources,
    certain: Sources,
    /// Those that have the value only if a literal holds, in the order of the trace.
    uncertain: Vec<(Pos, Source, Lit)>,
}

impl Pool {
    /// The few uncertain ones that are nearest to a read.
    fn near(&self, read: Pos) -> &[(Pos, Source, Lit)] {
        let at = self.uncertain.partition_point(|(pos, ..)| *pos < read);
        let end = self.uncertain.len().min(at + UNCERTAIN_LATER);
        &self.uncertain[at.saturating_sub(UNCERTAIN_EARLIER)..end]
    }
}

impl Maximal<'_> {
    /// Takes note of what an event does to values that are not certain: of a free read, that it may or may
    /// not find what it found, and of a store, whether it stores what it stored.
    pub(super) fn follow_values(&mut self, pos: Pos, kept: &mut Kept) {
        let event = self.event(pos);
        let Some(site) = event.site() else { return };
        let lane = self.view.lane(pos);
        let leeway = self.terms.leeway.clone();
        if leeway.is_free(event) && !leeway.fed.contains(&site) {
            kept.reads.insert(pos, None);
        } else if leeway.is_free(event) {
            let this = self.solver.boolean();
            let before = kept.latest.get(&(lane, site)).map(|before| before.1);
            let all = match before {
                Some(before) => {
                    let all = self.solver.boolean();
                    self.solver.require(&[!all, this]);
                    self.solver.require(&[!all, before]);
                    all
                }
                None => this,
            };
            kept.latest.insert((lane, site), (this, all));
            kept.reads.insert(pos, Some(this));
        }
        let needed: Vec<Lit> = leeway
            .feeds(event)
            .iter()
            .filter_map(|feed| {
                let (latest, all) = kept.latest.get(&(lane, feed.load))?;
                Some(if feed.carried { *all } else { *latest })
            })
            .collect();
        if !needed.is_empty() && self.view.writes(pos) {
            let intact = self.solver.boolean();
            for needed in needed {
                self.solver.require(&[!intact, needed]);
            }
            self.intact.insert(pos, intact);
        }
    }

    /// Tells the certain ones among sources from the others.
    pub(super) fn pool(&mut self, location: Location, sources: &[(Source, Option<Pos>)]) -> Pool {
        let all: Vec<Source> = sources.iter().map(|(source, _)| *source).collect();
        let mut certain = Vec::with_capacity(all.len());
        let mut uncertain = Vec::new();
        for &(source, pos) in sources {
            match pos.and_then(|pos| Some((pos, *self.intact.get(&pos)?))) {
                Some((pos, intact)) => uncertain.push((pos, source, intact)),
                None => certain.push(source),
            }
        }
        uncertain.sort_unstable();
        let all = self.solver.sources(location, &all);
        Pool {
            all,
            certain: match uncertain.is_empty() {
                true => all,
                false => self.solver.sources(location, &certain),
            },
            uncertain,
        }
    }

    /// Lets a read, if it counts, find one of the certain sources, or another one that has the value, too.
    pub(super) fn read_from(&mut self, pool: &Pool, location: Location, read: Pos, when: When) {
        let Some(node) = self.node(read) else { return };
        let counts = match when {
            _ if pool.uncertain.is_empty() => {
                self.solver.read(location, node, pool.certain, when);
                return;
            }
            When::Always => Lit::TRUE,
            When::Before(end) => self.solver.before(node, end),
            When::If(counts) => counts,
        };
        let from_certain = self.solver.boolean();
        let when = When::If(from_certain);
        self.solver.read(location, node, pool.certain, when);
        let mut clause = vec![!counts, from_certain];
        for &(_, source, intact) in pool.near(read) {
            let from_it = self.solver.boolean();
            let only = self.solver.sources(location, &[source]);
            self.solver.read(location, node, only, When::If(from_it));
            self.solver.require(&[!from_it, intact]);
            clause.push(from_it);
        }
        self.solver.require(&clause);
    }
}
