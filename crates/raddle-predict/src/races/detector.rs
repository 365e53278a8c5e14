//! Goes through a run and holds each access against those before.

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId};
use raddle_trace::wire::Ordering;

use super::atomics::{Atomics, acquires, releases};
use super::clock::{Clock, Lane, Threads};
use super::code::Code;
use super::frames::{Stacks, unknown};
use super::objects::{Objects, Step};
use super::shadow::{Entry, Origin, Shadow, does, words};
use super::{Instruction, Race};
use crate::table::Table;

/// Of a block that is freed only this much is looked at.
const MOST_FREED: u64 = 1 << 16;

/// Marks a call into the runtime among sources.
const CALL: u32 = 1 << 31;

/// Finds the certain races of a run, when shown each of its events in order.
#[derive(Debug)]
pub struct Detector<'c> {
    code: &'c Code<'c>,
    threads: Threads,
    stacks: Stacks,
    objects: Objects,
    atomics: Atomics,
    shadow: Shadow,
    /// What threads know that have been created and not begun, and whether unknown code created them.
    created: Table<u32, (Clock, bool)>,
    calls: Table<u64, u32>,
    found: Table<(u32, u32), usize>,
    races: Vec<Found>,
    events: u32,
    /// How much memory the shadow may take.
    most_bytes: u64,
    /// Whether the run has more events or threads than can be numbered, or touches more memory; the rest is not looked at.
    is_over: bool,
}

/// A race, with the sources of its accesses.
#[derive(Debug)]
struct Found {
    earlier: u32,
    later: u32,
    sources: (u32, u32),
    instances: u64,
}

/// An event while it is looked at.
#[derive(Clone, Copy)]
struct Now {
    lane: Lane,
    index: u32,
}

/// Bytes that an event touches.
#[derive(Clone, Copy)]
struct Touch {
    addr: Address,
    len: u64,
    source: u32,
    does: u8,
    /// What they are afterwards, if that is known.
    value: Option<u64>,
}

/// What an atomic operation is.
#[derive(Clone, Copy)]
struct Operation {
    reads: bool,
    writes: bool,
    order: Ordering,
    /// The value found, if it reads, and left.
    found: u64,
    left: u64,
}

impl<'c> Detector<'c> {
    /// A detector for a run of a program whose code has learnt the run's sites.
    #[must_use]
    pub fn new(code: &'c Code<'c>) -> Self {
        Self {
            code,
            threads: Threads::default(),
            stacks: Stacks::default(),
            objects: Objects::default(),
            atomics: Atomics::default(),
            shadow: Shadow::default(),
            created: Table::default(),
            calls: Table::default(),
            found: Table::default(),
            races: Vec::new(),
            events: 0,
            most_bytes: u64::MAX,
            is_over: false,
        }
    }

    /// The same, which looks at a run no further once it takes so much memory.
    #[must_use]
    pub fn within(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// Whether it looked at the beginning of the run only, for want of memory or of numbers.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Looks at the next event.
    pub fn observe(&mut self, event: &Event) {
        let index = self.events;
        self.events = index.saturating_add(1);
        self.is_over |= self.events == u32::MAX || self.shadow.bytes() > self.most_bytes;
        if self.is_over {
            return;
        }
        let Some((lane, is_first)) = self.threads.lane(event.thread) else {
            self.is_over = true;
            return;
        };
        let now = Now { lane, index };
        if is_first {
            self.begin(now, event.thread);
        }
        let since = self.stacks.since(lane, &event.kind);
        if since != 0 {
            self.meet(now, since);
        }
        self.look_at(now, &event.kind);
        let next = match event.kind.site() {
            Some(site) => self.code.fact(site).next,
            None => 0,
        };
        let next = self.stacks.step(lane, &event.kind, next);
        if next & unknown::GIVES != 0 {
            let clock = self.threads.clock_after(lane, index);
            self.objects.unknown.join(clock);
        }
    }

    /// The races, by the later access.
    #[must_use]
    pub fn finish(self) -> Vec<Race> {
        let mut calls = vec![Address(0); self.calls.len()];
        for (pc, source) in &self.calls {
            calls[(source & !CALL) as usize] = Address(*pc);
        }
        let instruction = |source: u32| match source & CALL {
            0 => Instruction::Site(SiteId(source)),
            _ => Instruction::Call(calls[(source & !CALL) as usize]),
        };
        let races = self.races.into_iter().map(|it| {
            let (one, other) = it.sources;
            let mut instructions = [instruction(one), instruction(other)];
            instructions.sort_unstable();
            Race {
                a: EventIndex(it.earlier.into()),
                b: EventIndex(it.later.into()),
                instructions,
                instances: it.instances,
            }
        });
        races.collect()
    }

    /// A thread may have been in unknown code before this event.
    fn meet(&mut self, now: Now, since: u8) {
        if since & unknown::TAKES != 0 {
            self.threads
                .learn(now.lane, now.index, &self.objects.unknown);
        }
        if since & unknown::GIVES != 0 {
            let clock = self.threads.clock_after(now.lane, now.index);
            self.objects.unknown.join(clock);
        }
    }

    /// A thread's first event.
    fn begin(&mut self, now: Now, thread: ThreadId) {
        let base = match self.created.remove(&thread.0) {
            Some((clock, is_unknown)) => {
                self.threads.learn(now.lane, now.index, &clock);
                if is_unknown { unknown::ALL } else { 0 }
            }
            None if self.threads.count() == 1 || self.code.is_all_traced() => 0,
            None => {
                let all = Clock::of_all(self.threads.count(), now.index);
                self.threads.learn(now.lane, now.index, &all);
                unknown::ALL
            }
        };
        self.stacks.begin(now.lane, base);
    }

    #[inline]
    fn look_at(&mut self, now: Now, kind: &EventKind) {
        match *kind {
            EventKind::Read(access) => self.plain(now, &touch(&access, does::READ)),
            EventKind::Write(access) => self.plain(now, &touch(&access, does::WRITE)),
            EventKind::RangeRead { site, addr, len } => {
                self.plain(now, &range(site, addr, len, does::READ));
            }
            EventKind::RangeWrite { site, addr, len } => {
                self.plain(now, &range(site, addr, len, does::WRITE));
            }
            EventKind::Fence { order, .. } => self.fence(now, order),
            EventKind::Action { pc, ref action } => self.action(now, pc, action),
            EventKind::AtomicLoad(access, atomicity) => {
                let operation = Operation {
                    reads: true,
                    writes: false,
                    order: atomicity.order,
                    found: access.value,
                    left: access.value,
                };
                self.atomic(now, &access, operation);
            }
            EventKind::AtomicStore(access, atomicity) => {
                let operation = Operation {
                    reads: false,
                    writes: true,
                    order: atomicity.order,
                    found: 0,
                    left: access.value,
                };
                self.atomic(now, &access, operation);
            }
            EventKind::Rmw {
                access,
                atomicity,
                new,
            } => {
                let operation = Operation {
                    reads: true,
                    writes: true,
                    order: atomicity.order,
                    found: access.value,
                    left: new,
                };
                self.atomic(now, &access, operation);
            }
            EventKind::Cas {
                access,
                atomicity,
                new,
                success,
            } => {
                let failure = self.code.fact(access.site).failure;
                let operation = Operation {
                    reads: true,
                    writes: success,
                    order: match success {
                        true => atomicity.order,
                        false => failure.unwrap_or(atomicity.order),
                    },
                    found: access.value,
                    left: if success { new } else { access.value },
                };
                self.atomic(now, &access, operation);
            }
            EventKind::Value { .. }
            | EventKind::Enter { .. }
            | EventKind::Exit { .. }
            | EventKind::Branches(_) => {}
        }
    }

    /// An access that is not atomic.
    #[inline]
    fn plain(&mut self, now: Now, touch: &Touch) {
        let mut sources: Vec<(Lane, u32)> = Vec::new();
        for (word, mask, offset) in words(touch.addr.0, touch.len) {
            self.touch(now, touch, (word, mask), &mut sources);
            if touch.does & does::WRITE != 0 && self.shadow.has_releases(word) {
                self.atomics.overwrite(word, mask);
            }
            let value = touch.value.map(|it| placed(it, offset, word, touch.addr));
            if touch.does & does::WRITE != 0 || value.is_some() {
                self.shadow.set(word, mask, value);
            }
        }
        self.read_from(now, &sources);
    }

    fn atomic(&mut self, now: Now, access: &Access, operation: Operation) {
        let Operation {
            reads,
            writes,
            order,
            found,
            left,
        } = operation;
        let mut does = does::ATOMIC;
        does |= if reads { does::READ } else { 0 };
        does |= if writes { does::WRITE } else { 0 };
        let touch = touch(access, does);
        let mut sources: Vec<(Lane, u32)> = Vec::new();
        for (word, mask, offset) in words(touch.addr.0, touch.len) {
            let origin = match reads {
                true => {
                    let found = placed(found, offset, word, touch.addr);
                    self.shadow.origin(word, mask, found)
                }
                false => Origin::Traced,
            };
            let hidden = match origin {
                Origin::Traced => None,
                Origin::Unknown => Some(self.objects.unknown.clone()),
                Origin::Hidden => {
                    self.atomics.overwrite(word, mask);
                    Some(Clock::of_all(self.threads.count(), now.index))
                }
            };
            if let Some(clock) = hidden {
                self.atomics.release((word, mask), &clock);
            }
            // What a load synchronises with happens before the load itself.
            if reads {
                let threads = &mut self.threads;
                let learn = |clock: &Clock| threads.learn(now.lane, now.index, clock);
                self.atomics.load(now.lane, (word, mask), order, learn);
            }
            self.touch(now, &touch, (word, mask), &mut sources);
        }
        // What was read in a race is known to whatever takes what is written.
        self.read_from(now, &sources);
        for (word, mask, offset) in words(touch.addr.0, touch.len) {
            if writes {
                let clock = match releases(order) {
                    true => self.threads.clock_after(now.lane, now.index),
                    false => self.threads.clock(now.lane),
                };
                self.atomics
                    .store(now.lane, (word, mask), order, clock, reads);
            }
            self.shadow.note_release(word);
            let left = placed(left, offset, word, touch.addr);
            self.shadow.set(word, mask, Some(left));
        }
    }

    /// Holds an access to some bytes of a word against those before.
    #[inline]
    fn touch(
        &mut self,
        now: Now,
        touch: &Touch,
        (word, mask): (u64, u8),
        sources: &mut Vec<(Lane, u32)>,
    ) {
        let entry = Entry {
            index: now.index,
            source: touch.source,
            lane: now.lane,
            mask,
            does: touch.does,
        };
        let (found, races) = (&mut self.found, &mut self.races);
        let clock = self.threads.clock(now.lane);
        self.shadow.access(word, entry, clock, |other, is_source| {
            report(found, races, other, &entry);
            if is_source {
                sources.push((other.lane, other.index));
            }
        });
    }

    /// What a read takes in a race orders what follows.
    fn read_from(&mut self, now: Now, sources: &[(Lane, u32)]) {
        for &(lane, index) in sources {
            let known = self.threads.knowledge_at(lane, index);
            self.threads.learn(now.lane, now.index, &known);
        }
    }

    fn fence(&mut self, now: Now, order: Ordering) {
        if acquires(order)
            && let Some(seen) = self.atomics.acquire_fence(now.lane)
        {
            self.threads.learn(now.lane, now.index, seen);
        }
        if releases(order) {
            let clock = self.threads.clock_after(now.lane, now.index);
            self.atomics.release_fence(now.lane, clock);
        }
    }

    fn action(&mut self, now: Now, pc: Address, action: &Action) {
        let Now { lane, index } = now;
        match Objects::step(action) {
            Step::Takes => {
                let threads = &mut self.threads;
                let learn = |clock: &Clock| threads.learn(lane, index, clock);
                self.objects.take(action, learn);
                if let Some(holder) = self.objects.hold(action, lane) {
                    let mut known = self.threads.clock(holder).clone();
                    known.raise(holder, index);
                    self.threads.learn(lane, index, &known);
                }
            }
            Step::Gives => {
                let clock = self.threads.clock_after(lane, index);
                self.objects.give(action, clock);
            }
            Step::None => {}
        }
        match *action {
            Action::Fork { child } => {
                let clock = self.threads.clock_after(lane, index).clone();
                let kind = EventKind::Action {
                    pc,
                    action: *action,
                };
                let is_unknown = self.stacks.since(lane, &kind) & unknown::ALL == unknown::ALL;
                self.created.insert(child.0, (clock, is_unknown));
            }
            Action::Begin {
                stack_low,
                stack_size,
                ..
            } => self.forget(stack_low, stack_size),
            Action::Join { thread, errno: 0 } => {
                if let Some(joined) = self.threads.known(thread) {
                    let end = self.threads.clock(joined).clone();
                    let mut end = end;
                    end.raise(joined, index);
                    self.threads.learn(lane, index, &end);
                }
            }
            Action::Alloc { addr, size, .. } => self.forget(addr, size),
            Action::Free { addr, size, .. } => self.free(now, pc, addr, size),
            // The guard of a static is read by inlined code, and written by the runtime.
            Action::OnceDone { once, .. } => {
                let clock = self.threads.clock_after(lane, index).clone();
                for (word, mask, _) in words(once.0, 1) {
                    self.atomics.release((word, mask), &clock);
                    self.shadow.note_release(word);
                    self.shadow.set(word, mask, None);
                }
            }
            Action::Block | Action::Unblock | Action::Input { .. } => {
                self.meet(now, unknown::ALL);
            }
            _ => {}
        }
        if let Some(footprint) = action.footprint() {
            let source = self.call(pc);
            let does = match footprint.writes {
                true => does::WRITE,
                false => does::READ,
            };
            let touch = Touch {
                addr: footprint.addr,
                len: footprint.len,
                source,
                does,
                value: None,
            };
            self.plain(now, &touch);
        }
    }

    /// Memory is given back, which is a write to all of it: accesses before that it does not know of may come after.
    fn free(&mut self, now: Now, pc: Address, addr: Address, size: u64) {
        let source = self.call(pc);
        for (word, mask, _) in words(addr.0, size.min(MOST_FREED)) {
            let entry = Entry {
                index: now.index,
                source,
                lane: now.lane,
                mask,
                does: does::WRITE,
            };
            let (found, races) = (&mut self.found, &mut self.races);
            let clock = self.threads.clock(now.lane);
            self.shadow.free(word, entry, clock, |other| {
                report(found, races, other, &entry);
            });
        }
    }

    /// Memory gets another use.
    fn forget(&mut self, addr: Address, size: u64) {
        let atomics = &mut self.atomics;
        let end = addr.0.saturating_add(size);
        self.shadow.forget(addr.0, end, |word| atomics.forget(word));
    }

    fn call(&mut self, pc: Address) -> u32 {
        let next = self.calls.len() as u32 | CALL;
        *self.calls.entry(pc.0).or_insert(next)
    }
}

fn report(
    found: &mut Table<(u32, u32), usize>,
    races: &mut Vec<Found>,
    earlier: &Entry,
    later: &Entry,
) {
    let sources = (
        earlier.source.min(later.source),
        earlier.source.max(later.source),
    );
    let at = *found.entry(sources).or_insert_with(|| {
        races.push(Found {
            earlier: earlier.index,
            later: later.index,
            sources,
            instances: 0,
        });
        races.len() - 1
    });
    races[at].instances += 1;
}

#[inline]
fn touch(access: &Access, does: u8) -> Touch {
    Touch {
        addr: access.addr,
        len: access.size.into(),
        source: access.site.0 & !CALL,
        does,
        value: Some(access.value),
    }
}

fn range(SiteId(site): SiteId, addr: Address, len: u64, does: u8) -> Touch {
    Touch {
        addr,
        len,
        source: site & !CALL,
        does,
        value: None,
    }
}

/// A value of an access as it lies in a word of it, which begins at an offset of the access.
#[inline]
fn placed(value: u64, offset: u64, word: u64, addr: Address) -> u64 {
    match offset {
        0 => value << (8 * (addr.0 - word * super::shadow::WORD_BYTES)),
        _ => value >> (8 * offset),
    }
}
