//! Where preemptions can matter: the sites whose accesses interfere with another thread's.
//!
//! Two accesses to a word interfere if different threads make them, one of them writes, neither is
//! bound to come first, and no lock keeps them apart. Bound to come first means by creation and
//! joining of threads alone: any other order is the scheduler's doing. Accesses that a common lock
//! keeps apart can only change places as a whole, and for that the operations on the lock are
//! scheduling points already (the same reduction as in CHESS, Musuvathi et al., OSDI 2008).
//!
//! One run shows only what its own path touches. Sites that it did not execute are unknown, and
//! count as interfering; sites that it executed may still interfere in another run.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use raddle_trace::action::Action;
use raddle_trace::allocations::{Allocations, Location};
use raddle_trace::event::{Event, EventKind, LockChange, LockMode};
use raddle_trace::file::TraceReader;
use raddle_trace::ids::{Address, SiteId, ThreadId};
use raddle_trace::sharing::SiteSet;
use raddle_trace::wire::SiteRecord;

use crate::error::Error;

const WORD_BYTES: u64 = 8;
/// Of a longer range only this much is looked at.
const MAX_RANGE_BYTES: u64 = 1 << 20;
/// A word that was touched under more circumstances than this is taken to interfere.
const MAX_TOUCHES: usize = 64;

/// What one or several runs have shown.
#[derive(Clone, Debug, Default)]
pub struct Interference {
    /// Sites that were executed.
    executed: SiteSet,
    /// Sites that were seen to interfere.
    pub seen: SiteSet,
}

impl Interference {
    /// Adds what a recorded run shows.
    pub fn learn(&mut self, trace: &Path) -> Result<(), Error> {
        let mut run = Run::default();
        for event in TraceReader::open(trace).map_err(Error::reading(trace))? {
            let event = event.map_err(Error::reading(trace))?;
            event
                .site()
                .into_iter()
                .for_each(|it| self.executed.insert(it));
            run.observe(&event);
        }
        self.seen.extend(&run.interfering());
        Ok(())
    }

    /// The sites that are scheduling points, as the runtime reads them, for a program with so many
    /// bytes of site records.
    pub fn visible(&self, sites_len: u64) -> Vec<u8> {
        let sites = sites_len as usize / size_of::<SiteRecord>();
        let mut bits = vec![0xff; sites / 8 + 1];
        for (index, bits) in bits.iter_mut().enumerate() {
            let byte = |set: &SiteSet| set.as_bytes().get(index).copied().unwrap_or(0);
            *bits = !byte(&self.executed) | byte(&self.seen);
        }
        bits
    }
}

/// Whether every site of a set has its bit.
pub fn covers(visible: &[u8], sites: &SiteSet) -> bool {
    let missing = |(index, byte): (usize, &u8)| byte & !visible.get(index).unwrap_or(&0) != 0;
    !sites.as_bytes().iter().enumerate().any(missing)
}

/// One run while it is looked at.
#[derive(Default)]
struct Run {
    allocations: Allocations,
    threads: BTreeMap<ThreadId, Thread>,
    circumstances: Vec<Circumstance>,
    known: BTreeMap<Circumstance, usize>,
    words: HashMap<Location, Vec<Touch>>,
    always: SiteSet,
}

#[derive(Default)]
struct Thread {
    /// For each thread, its last span that comes before now by creation and joining alone; for
    /// this one, its current span. Spans are counted from 1, and end where a thread is created.
    clock: Vec<u32>,
    locks: BTreeMap<Address, LockMode>,
    /// The current circumstance, until clock or locks change.
    now: Option<usize>,
}

/// Under what circumstances an access is made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Circumstance {
    thread: ThreadId,
    clock: Vec<u32>,
    locks: Vec<(Address, LockMode)>,
}

/// The accesses to a word under one circumstance.
struct Touch {
    circumstance: usize,
    reads: Vec<SiteId>,
    writes: Vec<SiteId>,
    /// Written without a site: freed, or by libc or the kernel for the program.
    siteless: bool,
}

impl Run {
    fn observe(&mut self, event: &Event) {
        let thread = event.thread;
        if let Some(it) = event.footprint() {
            self.touch(thread, it.site, it.addr, it.len, it.writes);
        }
        if let EventKind::Action { action, .. } = event.kind {
            match action {
                Action::Free { addr, size, .. } => self.free(thread, addr, size),
                Action::Fork { child } => self.fork(thread, child),
                Action::Join { thread: ended, .. } => self.join(thread, ended),
                _ => {}
            }
        }
        if let Some(action) = event.lock_action() {
            let me = self.thread(thread);
            match action.change {
                LockChange::Acquire(mode) => me.locks.insert(action.lock, mode),
                LockChange::Release(_) => me.locks.remove(&action.lock),
                LockChange::Downgrade => me.locks.insert(action.lock, LockMode::Shared),
            };
            me.now = None;
        }
        self.allocations.observe(event);
    }

    fn fork(&mut self, parent: ThreadId, child: ThreadId) {
        let me = self.thread(parent);
        let clock = me.clock.clone();
        // What the parent does from now on is not behind the child.
        me.step(parent);
        let new = self.thread(child);
        for (thread, spans) in (0..).map(ThreadId).zip(clock) {
            raise(&mut new.clock, thread, spans);
        }
        new.now = None;
    }

    fn join(&mut self, parent: ThreadId, ended: ThreadId) {
        let theirs = self.thread(ended).clock.clone();
        let me = self.thread(parent);
        for (thread, spans) in (0..).map(ThreadId).zip(theirs) {
            raise(&mut me.clock, thread, spans);
        }
        me.now = None;
    }

    /// A thread, in its first span if it is new.
    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        self.threads.entry(id).or_insert_with(|| {
            let mut thread = Thread::default();
            thread.step(id);
            thread
        })
    }

    /// Freeing writes every word of a block; only those that were touched before matter.
    fn free(&mut self, thread: ThreadId, addr: Address, size: u64) {
        for start in
            (addr.0..addr.0.saturating_add(size.min(MAX_RANGE_BYTES))).step_by(WORD_BYTES as usize)
        {
            if self.words.contains_key(&self.place(Address(start))) {
                self.touch(thread, None, Address(start), 1, true);
            }
        }
    }

    /// The word around an address.
    fn place(&self, address: Address) -> Location {
        let start = Address(address.0 / WORD_BYTES * WORD_BYTES);
        match self.allocations.locate(start) {
            Location::Other(_) => Location::Other(start),
            heap => heap,
        }
    }

    fn touch(
        &mut self,
        thread: ThreadId,
        site: Option<SiteId>,
        addr: Address,
        len: u64,
        writes: bool,
    ) {
        if len == 0 {
            return;
        }
        let now = self.circumstance(thread);
        let first = addr.0 / WORD_BYTES;
        let last = addr.0.saturating_add(len.min(MAX_RANGE_BYTES) - 1) / WORD_BYTES;
        for word in first..=last {
            let place = self.place(Address(word * WORD_BYTES));
            let touches = self.words.entry(place).or_default();
            if touches.len() >= MAX_TOUCHES {
                site.into_iter().for_each(|it| self.always.insert(it));
                continue;
            }
            let at = touches.iter().rposition(|it| it.circumstance == now);
            let at = at.unwrap_or_else(|| {
                touches.push(Touch {
                    circumstance: now,
                    reads: Vec::new(),
                    writes: Vec::new(),
                    siteless: false,
                });
                touches.len() - 1
            });
            let touch = &mut touches[at];
            touch.siteless |= site.is_none() && writes;
            let sites = if writes {
                &mut touch.writes
            } else {
                &mut touch.reads
            };
            if let Some(site) = site
                && !sites.contains(&site)
            {
                sites.push(site);
            }
        }
    }

    fn circumstance(&mut self, thread: ThreadId) -> usize {
        let me = self.thread(thread);
        if let Some(now) = me.now {
            return now;
        }
        let circumstance = Circumstance {
            thread,
            clock: me.clock.clone(),
            locks: me.locks.iter().map(|(lock, mode)| (*lock, *mode)).collect(),
        };
        let fresh = self.circumstances.len();
        let now = *self.known.entry(circumstance.clone()).or_insert(fresh);
        if now == fresh {
            self.circumstances.push(circumstance);
        }
        self.thread(thread).now = Some(now);
        now
    }

    fn interfering(&self) -> SiteSet {
        let mut sites = self.always.clone();
        for touches in self.words.values() {
            if touches.len() >= MAX_TOUCHES {
                let all = touches
                    .iter()
                    .flat_map(|it| it.reads.iter().chain(&it.writes));
                all.for_each(|it| sites.insert(*it));
                continue;
            }
            for (index, one) in touches.iter().enumerate() {
                for other in &touches[..index] {
                    let apart = |it: &Touch| &self.circumstances[it.circumstance];
                    if apart(one).excludes(apart(other)) {
                        continue;
                    }
                    one.mark(other, &mut sites);
                    other.mark(one, &mut sites);
                }
            }
        }
        sites
    }
}

impl Thread {
    /// Begins a new span of the thread itself.
    fn step(&mut self, me: ThreadId) {
        let spans = self.clock.get(me.0 as usize).copied().unwrap_or(0);
        raise(&mut self.clock, me, spans + 1);
        self.now = None;
    }
}

fn raise(clock: &mut Vec<u32>, thread: ThreadId, spans: u32) {
    let index = thread.0 as usize;
    if clock.len() <= index {
        clock.resize(index + 1, 0);
    }
    clock[index] = clock[index].max(spans);
}

impl Circumstance {
    /// Whether accesses under the two cannot meet.
    fn excludes(&self, other: &Circumstance) -> bool {
        self.thread == other.thread
            || self.precedes(other)
            || other.precedes(self)
            || self.locks.iter().any(|(lock, mode)| {
                let theirs = other.locks.iter().find(|it| it.0 == *lock);
                theirs.is_some_and(|it| (*mode, it.1) != (LockMode::Shared, LockMode::Shared))
            })
    }

    fn precedes(&self, other: &Circumstance) -> bool {
        let index = self.thread.0 as usize;
        let seen = other.clock.get(index).copied().unwrap_or(0);
        self.clock.get(index).is_some_and(|span| *span <= seen)
    }
}

impl Touch {
    /// If this writes, the other's accesses interfere with its writes.
    fn mark(&self, other: &Touch, sites: &mut SiteSet) {
        if self.siteless || !self.writes.is_empty() {
            let theirs = other.reads.iter().chain(&other.writes);
            theirs.chain(&self.writes).for_each(|it| sites.insert(*it));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::event::Access;
    use raddle_trace::ids::Tick;

    const LOCK: Address = Address(0x9000);
    const WORD: Address = Address(0x1000);

    fn event(thread: u32, kind: EventKind) -> Event {
        Event {
            thread: ThreadId(thread),
            tick: Tick(0),
            kind,
        }
    }

    fn access(site: u32, addr: Address) -> Access {
        Access {
            site: SiteId(site),
            addr,
            size: 4,
            value: 0,
        }
    }

    fn write(thread: u32, site: u32) -> Event {
        event(thread, EventKind::Write(access(site, WORD)))
    }

    fn read(thread: u32, site: u32) -> Event {
        event(thread, EventKind::Read(access(site, WORD)))
    }

    fn act(thread: u32, action: Action) -> Event {
        let pc = Address(0);
        event(thread, EventKind::Action { pc, action })
    }

    fn fork(thread: u32, child: u32) -> Event {
        let child = ThreadId(child);
        act(thread, Action::Fork { child })
    }

    fn join(thread: u32, ended: u32) -> Event {
        let ended = ThreadId(ended);
        act(
            thread,
            Action::Join {
                thread: ended,
                errno: 0,
            },
        )
    }

    fn locked(thread: u32, inside: Event) -> [Event; 3] {
        let lock = act(
            thread,
            Action::Lock {
                lock: LOCK,
                tried: false,
            },
        );
        [lock, inside, act(thread, Action::Unlock { lock: LOCK })]
    }

    fn check(events: &[Event], sites: &[u32]) {
        let mut run = Run::default();
        events.iter().for_each(|it| run.observe(it));
        let found: Vec<u32> = run.interfering().iter().map(|it| it.0).collect();
        assert_eq!(found, sites);
    }

    #[test]
    fn unordered_accesses_interfere_if_one_writes() {
        check(&[fork(0, 1), write(0, 1), read(1, 2)], &[1, 2]);
        check(&[fork(0, 1), read(0, 1), read(1, 2)], &[]);
        check(&[fork(0, 1), write(1, 1), write(1, 2)], &[]);
    }

    #[test]
    fn creation_and_joining_order_accesses() {
        check(&[write(0, 1), fork(0, 1), write(1, 2)], &[]);
        check(&[fork(0, 1), write(1, 2), join(0, 1), write(0, 3)], &[]);
        let siblings = [fork(0, 1), write(1, 2), join(0, 1), fork(0, 2), write(2, 3)];
        check(&siblings, &[]);
        let siblings = [fork(0, 1), fork(0, 2), write(1, 2), write(2, 3)];
        check(&siblings, &[2, 3]);
        let grandchild = [fork(0, 1), write(0, 9), fork(1, 2), write(2, 3)];
        check(&grandchild, &[3, 9]);
    }

    #[test]
    fn a_common_lock_keeps_accesses_apart() {
        let [a, b, c] = locked(0, write(0, 1));
        let [d, e, f] = locked(1, write(1, 2));
        check(&[fork(0, 1), a, b, c, d, e, f], &[]);
        check(&[fork(0, 1), a, b, c, e], &[1, 2]);
        check(&[fork(0, 1), a, b, c, d, e, f, read(1, 5)], &[1, 5]);
    }

    #[test]
    fn freeing_interferes_with_every_access() {
        let free = act(
            1,
            Action::Free {
                addr: WORD,
                size: 8,
                id: raddle_trace::ids::AllocId(1),
            },
        );
        check(&[fork(0, 1), read(0, 1), free], &[1]);
    }

    #[test]
    fn unknown_sites_are_visible_and_known_ones_only_if_they_interfere() {
        let mut interference = Interference::default();
        assert_eq!(interference.visible(16), [0xff]);
        interference.executed.insert(SiteId(0));
        interference.executed.insert(SiteId(1));
        interference.seen.insert(SiteId(1));
        assert_eq!(interference.visible(17 * 8), [0b1111_1110, 0xff, 0xff]);
        assert!(covers(&[0b10], &interference.seen));
        assert!(!covers(&[0b01], &interference.seen));
        assert!(!covers(&[], &interference.seen));
    }
}
