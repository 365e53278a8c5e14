//! Races by the language's rule, against a reference that spells happens-before out.
//!
//! The reference makes every edge of the definition: program order, synchronises-with as [atomics.order] and
//! [atomics.fences] word it, locks, semaphores, threads. Whether one event happens before another is a
//! search through the edges. It knows no clocks, and which write a read takes is known from the machine that made
//! the trace.

use std::collections::BTreeSet;

use raddle_predict::races::{Code, certain};
use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind};
use raddle_trace::ids::{Address, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Ordering, Role};

use crate::machine::Random;

const THREADS: u64 = 4;
const PLAIN: u64 = 0x1000;
const ATOMIC: u64 = 0x2000;
const LOCK: u64 = 0x3000;
const SEMAPHORE: u64 = 0x4000;

/// What an event does, for the reference.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    address: u64,
    reads: bool,
    writes: bool,
    is_atomic: bool,
    acquires: bool,
    releases: bool,
    is_fence: bool,
    /// The write whose value it reads.
    from: Option<usize>,
}

/// A trace, and what the reference has to know of it.
#[derive(Default)]
struct Made {
    events: Vec<Event>,
    facts: Vec<Facts>,
    /// All edges but program order and those of atomics.
    edges: Vec<(usize, usize)>,
}

fn acquires(order: Ordering) -> bool {
    [Ordering::Acquire, Ordering::AcqRel, Ordering::SeqCst].contains(&order)
}

fn releases(order: Ordering) -> bool {
    [Ordering::Release, Ordering::AcqRel, Ordering::SeqCst].contains(&order)
}

/// Runs random steps, one thread at a time.
struct Machine<'r> {
    random: &'r mut Random,
    made: Made,
    /// Latest write, and value, of plain and atomic variables.
    memory: [(Option<usize>, u64); 4],
    holder: Option<u64>,
    unlocks: Vec<usize>,
    posts: Vec<usize>,
    value: u64,
    /// By thread: its creation, and whether it has begun and ended.
    forks: Vec<Option<usize>>,
    ended: Vec<bool>,
}

impl Machine<'_> {
    fn new(random: &mut Random) -> Machine<'_> {
        Machine {
            random,
            made: Made::default(),
            memory: [(None, 0); 4],
            holder: None,
            unlocks: Vec::new(),
            posts: Vec::new(),
            value: 0,
            forks: vec![None; THREADS as usize],
            ended: vec![false; THREADS as usize],
        }
    }

    fn push(&mut self, thread: u64, kind: EventKind, facts: Facts) -> usize {
        let at = self.made.events.len();
        self.made.events.push(Event {
            thread: ThreadId(thread as u32),
            tick: Tick(at as u64),
            kind,
        });
        self.made.facts.push(facts);
        at
    }

    fn act(&mut self, thread: u64, action: Action) -> usize {
        let pc = Address(7);
        self.push(thread, EventKind::Action { pc, action }, Facts::default())
    }

    fn order(&mut self, of: &[Ordering]) -> Ordering {
        of[self.random.below(of.len() as u64) as usize]
    }

    fn step(&mut self) {
        let thread = self.random.below(THREADS);
        let is_running = thread == 0 || self.forks[thread as usize].is_some();
        if !is_running || self.ended[thread as usize] {
            return self.manage_threads();
        }
        match self.random.below(20) {
            0..6 => self.plain(thread),
            6..14 => self.atomic(thread),
            14 => self.fence(thread),
            15 | 16 => self.lock(thread),
            17 => self.semaphore(thread),
            _ => self.manage_threads(),
        }
    }

    /// Thread 0 creates and joins the others.
    fn manage_threads(&mut self) {
        let other = 1 + self.random.below(THREADS - 1);
        let at = other as usize;
        let child = ThreadId(other as u32);
        if self.forks[at].is_none() {
            self.forks[at] = Some(self.act(0, Action::Fork { child }));
        } else if !self.ended[at] && self.holder != Some(other) && self.random.below(8) == 0 {
            self.ended[at] = true;
            let end = self.act(other, Action::End);
            let joined = self.act(
                0,
                Action::Join {
                    thread: child,
                    errno: 0,
                },
            );
            self.made.edges.push((end, joined));
        }
    }

    fn access(&mut self, variable: usize) -> Access {
        let base = if variable < 2 { PLAIN } else { ATOMIC };
        Access {
            site: SiteId(1 + self.made.events.len() as u32),
            addr: Address(base + 8 * (variable as u64 % 2)),
            size: 4,
            value: self.memory[variable].1,
        }
    }

    fn facts(&self, variable: usize, access: &Access) -> Facts {
        Facts {
            address: access.addr.0,
            from: self.memory[variable].0,
            ..Facts::default()
        }
    }

    fn plain(&mut self, thread: u64) {
        // Now and then an atomic variable is accessed as a plain one.
        let variable = match self.random.below(12) {
            0 => 2 + self.random.below(2) as usize,
            _ => self.random.below(2) as usize,
        };
        let mut access = self.access(variable);
        let mut facts = self.facts(variable, &access);
        if self.random.below(2) == 0 {
            facts.reads = true;
            self.push(thread, EventKind::Read(access), facts);
        } else {
            self.value += 1;
            access.value = self.value;
            (facts.writes, facts.from) = (true, None);
            let at = self.push(thread, EventKind::Write(access), facts);
            self.memory[variable] = (Some(at), self.value);
        }
    }

    fn atomic(&mut self, thread: u64) {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let variable = 2 + self.random.below(2) as usize;
        let mut access = self.access(variable);
        let mut facts = self.facts(variable, &access);
        facts.is_atomic = true;
        let role = Role::None;
        let kind = self.random.below(4);
        let order = match kind {
            0 => self.order(&[Relaxed, Acquire, SeqCst]),
            1 => self.order(&[Relaxed, Release, SeqCst]),
            _ => self.order(&[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        };
        let atomicity = Atomicity { order, role };
        facts.reads = kind != 1;
        facts.writes = kind == 1 || kind == 2;
        let event = match kind {
            0 => EventKind::AtomicLoad(access, atomicity),
            1 => {
                self.value += 1;
                access.value = self.value;
                facts.from = None;
                EventKind::AtomicStore(access, atomicity)
            }
            2 => {
                self.value += 1;
                let new = self.value;
                EventKind::Rmw {
                    access,
                    atomicity,
                    new,
                }
            }
            _ => {
                let success = self.random.below(2) == 0;
                facts.writes = success;
                self.value += 1;
                let new = self.value;
                EventKind::Cas {
                    access,
                    atomicity,
                    new,
                    success,
                }
            }
        };
        facts.acquires = facts.reads && acquires(order);
        facts.releases = facts.writes && releases(order);
        let at = self.push(thread, event, facts);
        if facts.writes {
            self.memory[variable] = (Some(at), self.value);
        }
    }

    fn fence(&mut self, thread: u64) {
        use Ordering::{AcqRel, Acquire, Release, SeqCst};
        let order = self.order(&[Acquire, Release, AcqRel, SeqCst]);
        let site = SiteId(1 + self.made.events.len() as u32);
        let facts = Facts {
            is_fence: true,
            acquires: acquires(order),
            releases: releases(order),
            ..Facts::default()
        };
        self.push(thread, EventKind::Fence { site, order }, facts);
    }

    fn lock(&mut self, thread: u64) {
        let lock = Address(LOCK);
        if self.holder == Some(thread) {
            let at = self.act(thread, Action::Unlock { lock });
            self.unlocks.push(at);
            self.holder = None;
        } else if self.holder.is_none() {
            let at = self.act(thread, Action::Lock { lock, tried: false });
            self.made
                .edges
                .extend(self.unlocks.iter().map(|it| (*it, at)));
            self.holder = Some(thread);
        }
    }

    fn semaphore(&mut self, thread: u64) {
        let semaphore = Address(SEMAPHORE);
        if self.posts.is_empty() || self.random.below(2) == 0 {
            let at = self.act(
                thread,
                Action::SemPost {
                    semaphore,
                    value: 1,
                },
            );
            self.posts.push(at);
        } else {
            let at = self.act(
                thread,
                Action::SemWait {
                    semaphore,
                    value: 0,
                },
            );
            self.made
                .edges
                .extend(self.posts.iter().map(|it| (*it, at)));
        }
    }
}

/// The definition, edge by edge.
struct Reference<'m> {
    made: &'m Made,
    /// By event: what happens right before it, and what it reads from if that makes no order by itself.
    before: Vec<Vec<usize>>,
    read_from: Vec<Option<usize>>,
}

impl<'m> Reference<'m> {
    fn new(made: &'m Made, forks: &[Option<usize>]) -> Self {
        let count = made.events.len();
        let mut before = vec![Vec::new(); count];
        let thread = |at: usize| made.events[at].thread;
        for at in 0..count {
            before[at].extend((0..at).rfind(|it| thread(*it) == thread(at)));
            let is_first = before[at].is_empty();
            if let Some(fork) = forks[thread(at).0 as usize].filter(|_| is_first) {
                before[at].push(fork);
            }
        }
        for &(from, to) in &made.edges {
            before[to].push(from);
        }
        let mut read_from = vec![None; count];
        for (at, facts) in made.facts.iter().enumerate() {
            let Some(from) = facts.from.filter(|_| facts.reads) else {
                continue;
            };
            if !(facts.is_atomic && made.facts[from].is_atomic) {
                read_from[at] = Some(from);
                continue;
            }
            let heads = heads(made, from);
            if facts.acquires {
                before[at].extend(&heads);
            }
            let fences = (at..count).filter(|it| {
                let facts = &made.facts[*it];
                facts.is_fence && facts.acquires && thread(*it) == thread(at)
            });
            for fence in fences {
                before[fence].extend(&heads);
            }
        }
        Self {
            made,
            before,
            read_from,
        }
    }

    /// Whether an event comes before another, if what that one reads makes no order.
    fn comes_before(&self, first: usize, second: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut left: Vec<usize> = self.before[second].clone();
        while let Some(at) = left.pop() {
            if at == first {
                return true;
            }
            if at > first && seen.insert(at) {
                left.extend(&self.before[at]);
                left.extend(self.read_from[at]);
            }
        }
        false
    }

    fn races(&self) -> BTreeSet<(u64, u64)> {
        let facts = &self.made.facts;
        let mut races = BTreeSet::new();
        for second in 0..facts.len() {
            for first in 0..second {
                let (a, b) = (&facts[first], &facts[second]);
                let conflict = a.address != 0
                    && a.address == b.address
                    && (a.writes || b.writes)
                    && !(a.is_atomic && b.is_atomic)
                    && self.made.events[first].thread != self.made.events[second].thread;
                if conflict && !self.comes_before(first, second) {
                    races.insert((first as u64, second as u64));
                }
            }
        }
        races
    }
}

/// The releases with which a load synchronises that takes this write's value: operations and fences.
fn heads(made: &Made, write: usize) -> Vec<usize> {
    let mut heads = Vec::new();
    let mut at = Some(write);
    while let Some(it) = at.filter(|it| made.facts[*it].is_atomic) {
        let facts = &made.facts[it];
        if facts.releases {
            heads.push(it);
        }
        let fences = (0..it).filter(|fence| {
            let facts = &made.facts[*fence];
            let is_own = made.events[*fence].thread == made.events[it].thread;
            is_own && facts.is_fence && facts.releases
        });
        heads.extend(fences);
        // Only a read-modify-write stands in the sequence of the write before.
        at = facts.from.filter(|_| facts.reads);
    }
    heads
}

#[test]
fn what_is_found_is_what_the_definition_says() {
    let (mut all, mut without) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let mut machine = Machine::new(&mut random);
        for _ in 0..40 {
            machine.step();
        }
        let Machine { made, forks, .. } = machine;
        let expected = Reference::new(&made, &forks).races();
        let found = certain(&made.events, &Code::all_traced());
        let least = certain(&made.events, &Code::least_ordered());
        assert!(found.is_empty() || !least.is_empty(), "seed {seed}");
        let found: BTreeSet<(u64, u64)> = found.iter().map(|it| (it.a.0, it.b.0)).collect();
        let told = || {
            let lines = made.events.iter().zip(&made.facts).enumerate();
            let lines = lines.map(|(at, (it, facts))| {
                format!("{at}: {} {} from {:?}", it.thread, it.kind, facts.from)
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        for race in &found {
            assert!(expected.contains(race), "seed {seed}: {race:?}\n{}", told());
        }
        // Of a word with many accesses, a later one of the same thread may stand for an earlier one.
        for &(first, second) in &expected {
            let stands_for = |it: u64| {
                let (a, b) = (&made.events[first as usize], &made.events[it as usize]);
                let facts = &made.facts;
                it >= first
                    && a.thread == b.thread
                    && facts[first as usize].address == facts[it as usize].address
            };
            let is_found = found.iter().any(|it| it.1 == second && stands_for(it.0));
            assert!(
                is_found,
                "seed {seed}: ({first}, {second}) is missing\n{}",
                told()
            );
        }
        all += expected.len();
        without += usize::from(expected.is_empty());
    }
    assert!(all > 20_000, "only {all} races");
    assert!(without > 50, "only {without} traces without a race");
}
