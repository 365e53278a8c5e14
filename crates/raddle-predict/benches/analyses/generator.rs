//! Long traces, made up event by event: threads that work by themselves, in critical sections, and
//! now and then without a lock.

use std::fmt::{self, Display, Formatter};

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::ids::{Address, SiteId, ThreadId, Tick};

const LOCKS: u64 = 0x10_0000;
const CELLS: u64 = 0x100_0000;
const PRIVATE: u64 = 0x1000_0000;

/// What a trace is like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    threads: u32,
    locks: u64,
    cells: u64,
    /// Accesses of a thread to its own memory.
    private_percent: u64,
    /// Shared accesses without a lock.
    bare_percent: u64,
}

impl Shape {
    /// Those that are measured.
    pub fn all() -> impl Iterator<Item = Self> {
        let shape = |name, threads, locks, cells, private_percent, bare_percent| Self {
            name,
            threads,
            locks,
            cells,
            private_percent,
            bare_percent,
        };
        [
            shape("mostly private", 8, 64, 256, 80, 1),
            shape("hundred cells", 8, 16, 100, 0, 5),
            shape("many locks and cells", 8, 10_000, 100_000, 20, 2),
            shape("many threads", 32, 64, 256, 20, 2),
        ]
        .into_iter()
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} threads, {} locks, {} shared cells, {} % private accesses, {} % without a lock",
            self.name,
            self.threads,
            self.locks,
            self.cells,
            self.private_percent,
            self.bare_percent
        )
    }
}

/// An endless trace.
pub struct Generator {
    shape: Shape,
    state: u64,
    ticks: Vec<Tick>,
    /// Held lock and accesses left, by thread.
    sections: Vec<Option<(u64, u64)>>,
    /// Who holds a lock.
    holders: Vec<bool>,
    forked: u32,
    thread: u32,
}

impl Generator {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            state: 1,
            ticks: vec![Tick(0); shape.threads as usize],
            sections: vec![None; shape.threads as usize],
            holders: vec![false; shape.locks as usize],
            forked: 0,
            thread: 0,
        }
    }

    /// A linear congruential generator (Knuth's MMIX).
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    fn access(site: u64, addr: u64, writes: bool) -> EventKind {
        let access = Access {
            site: SiteId((2 * site + u64::from(writes)) as u32),
            addr: Address(addr),
            size: 8,
            value: 0,
        };
        match writes {
            true => EventKind::Write(access),
            false => EventKind::Read(access),
        }
    }

    fn action(action: Action) -> EventKind {
        EventKind::Action {
            pc: Address(1),
            action,
        }
    }

    fn step(&mut self) -> EventKind {
        if self.thread == 0 && self.forked + 1 < self.shape.threads {
            self.forked += 1;
            let child = ThreadId(self.forked);
            return Self::action(Action::Fork { child });
        }
        let thread = self.thread as usize;
        if self.below(100) < self.shape.private_percent {
            let addr = PRIVATE + 0x10_0000 * u64::from(self.thread) + 8 * self.below(4096);
            return Self::access(1000, addr, self.below(3) == 0);
        }
        match self.sections[thread] {
            Some((lock, 0)) => {
                self.sections[thread] = None;
                self.holders[lock as usize] = false;
                let lock = Address(LOCKS + 64 * lock);
                Self::action(Action::Unlock { lock })
            }
            Some((lock, left)) => {
                self.sections[thread] = Some((lock, left - 1));
                // A lock protects the cells with its remainder.
                let own = (self.shape.cells / self.shape.locks).max(1);
                let cell = self.below(own) * self.shape.locks + lock;
                let addr = CELLS + 8 * (cell % self.shape.cells);
                Self::access(lock % 50, addr, self.below(3) == 0)
            }
            None => {
                let lock = self.below(self.shape.locks);
                if self.holders[lock as usize] || self.below(100) < self.shape.bare_percent {
                    let cell = self.below(self.shape.cells);
                    return Self::access(100 + cell % 10, CELLS + 8 * cell, false);
                }
                self.holders[lock as usize] = true;
                self.sections[thread] = Some((lock, 1 + self.below(6)));
                let lock = Address(LOCKS + 64 * lock);
                let tried = false;
                Self::action(Action::Lock { lock, tried })
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if self.forked + 1 >= self.shape.threads && self.below(8) == 0 {
            self.thread = self.below(self.shape.threads.into()) as u32;
        }
        let kind = self.step();
        let tick = &mut self.ticks[self.thread as usize];
        let event = Event {
            thread: ThreadId(self.thread),
            tick: *tick,
            kind,
        };
        *tick = event.next_tick();
        Some(event)
    }
}
