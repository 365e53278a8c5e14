//! Traces of simulated multithreaded programs.
//!
//! The first thread starts the others and waits for them. Threads take locks, sometimes nested, and
//! read and write variables; most variables have a lock that most accesses hold. A random scheduler
//! runs the threads a few steps at a time. A few locks and variables are much busier than the rest, and
//! few different values are written, so that a read could take its value from many writes.

use super::rng::Rng;

/// What a program is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub events: usize,
    pub threads: usize,
    pub locks: usize,
    pub variables: usize,
    /// Threads compute with what they read, and branch on it.
    pub computing: bool,
}

/// What a written value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// It does not depend on anything.
    Constant,
    /// The thread's last read value plus this, reduced to the range of values.
    LastReadPlus(u64),
}

/// What happens in one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Fork(usize),
    Join(usize),
    Acquire(usize),
    Release(usize),
    Read {
        variable: usize,
        value: u64,
    },
    Write {
        variable: usize,
        value: u64,
        computed: Computed,
    },
    /// The thread's last read value was less than the limit, or it was not.
    Branch {
        limit: u64,
        taken: bool,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happening {
    pub thread: usize,
    pub action: Action,
}

/// A run. Variables are zero at first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub events: Vec<Happening>,
    pub threads: usize,
    pub locks: usize,
    pub variables: usize,
}

/// Values are 0 to 3: few, so that the same one is often written.
pub const VALUES: u64 = 4;

impl Shape {
    /// A program whose run has so many events.
    pub fn new(events: usize, threads: usize) -> Self {
        Self {
            events,
            threads,
            locks: 3 + events / 250,
            variables: 8 + events / 25,
            computing: false,
        }
    }
}

impl Trace {
    /// Runs a program.
    pub fn simulate(shape: Shape, seed: u64) -> Self {
        let mut run = Run {
            shape,
            rng: Rng::new(seed),
            owner: vec![None; shape.locks],
            memory: vec![0; shape.variables],
            held: vec![Vec::new(); shape.threads],
            last_read: vec![None; shape.threads],
            started: vec![false; shape.threads],
            events: Vec::new(),
        };
        run.started[0] = true;
        run.run();
        Self {
            events: run.events,
            threads: shape.threads,
            locks: shape.locks,
            variables: shape.variables,
        }
    }

    /// Pairs of accesses that may race: of one variable, one of them a write, of different threads that
    /// hold no common lock. Each access is paired with a few of the other threads' that are near in the
    /// run, and with a few that are anywhere.
    pub fn candidates(&self, rng: &mut Rng, count: usize) -> Vec<(usize, usize)> {
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); self.threads];
        let mut accesses: Vec<Vec<(usize, bool, Vec<usize>)>> = vec![Vec::new(); self.variables];
        for (index, event) in self.events.iter().enumerate() {
            let locks = &mut held[event.thread];
            match event.action {
                Action::Acquire(lock) => locks.push(lock),
                Action::Release(lock) => locks.retain(|&l| l != lock),
                Action::Read { variable, .. } => {
                    accesses[variable].push((index, false, locks.clone()));
                }
                Action::Write { variable, .. } => {
                    accesses[variable].push((index, true, locks.clone()));
                }
                _ => {}
            }
        }
        accesses.retain(|of| of.len() > 1);
        // Busy variables are in many pairs: how many accesses the variables before each one have.
        let mut total = 0;
        let count_up = |of: &Vec<_>| {
            total += of.len();
            total - of.len()
        };
        let counted: Vec<usize> = accesses.iter().map(count_up).collect();
        let mut pairs = Vec::new();
        for _ in 0..count * 50 {
            if pairs.len() == count || accesses.is_empty() {
                break;
            }
            let access = rng.below(total);
            let of = &accesses[counted.partition_point(|&before| before <= access) - 1];
            let first = rng.below(of.len() - 1);
            let reach = if rng.percent(70) { 4 } else { of.len() };
            let second = first + 1 + rng.below(reach.min(of.len() - first - 1));
            let ((a, a_writes, a_locks), (b, b_writes, b_locks)) = (&of[first], &of[second]);
            if (*a_writes || *b_writes)
                && self.events[*a].thread != self.events[*b].thread
                && !a_locks.iter().any(|lock| b_locks.contains(lock))
                && !pairs.contains(&(*a, *b))
            {
                pairs.push((*a, *b));
            }
        }
        pairs
    }
}

struct Run {
    shape: Shape,
    rng: Rng,
    owner: Vec<Option<usize>>,
    memory: Vec<u64>,
    held: Vec<Vec<usize>>,
    last_read: Vec<Option<u64>>,
    started: Vec<bool>,
    events: Vec<Happening>,
}

impl Run {
    fn run(&mut self) {
        let ending = self.shape.events.saturating_sub(2 * self.shape.threads);
        let mut next_fork = 1;
        while self.events.len() < ending {
            let running: Vec<usize> = (0..self.shape.threads)
                .filter(|&thread| self.started[thread])
                .collect();
            let thread = *self.rng.pick(&running);
            for _ in 0..1 + self.rng.below(12) {
                self.step(thread);
            }
            if next_fork < self.shape.threads && self.rng.percent(60) {
                self.emit(0, Action::Fork(next_fork));
                self.started[next_fork] = true;
                next_fork += 1;
            }
        }
        for thread in (0..next_fork).rev() {
            while let Some(lock) = self.held[thread].pop() {
                self.owner[lock] = None;
                self.emit(thread, Action::Release(lock));
            }
            if thread != 0 {
                self.emit(0, Action::Join(thread));
            }
        }
    }

    fn emit(&mut self, thread: usize, action: Action) {
        self.events.push(Happening { thread, action });
    }

    /// A few are much busier than the rest.
    fn one_of(&mut self, count: usize) -> usize {
        let busy = self.rng.percent(20);
        self.rng.below(if busy { count.min(3) } else { count })
    }

    fn step(&mut self, thread: usize) {
        let depth = self.held[thread].len();
        if depth > 0 && self.rng.percent(22) {
            let lock = self.held[thread].pop().expect("a lock is held");
            self.owner[lock] = None;
            return self.emit(thread, Action::Release(lock));
        }
        if depth < 2 && self.rng.percent(if depth == 0 { 18 } else { 6 }) {
            let lock = self.one_of(self.shape.locks);
            // Locks are taken in the order of their numbers, so that the program cannot deadlock.
            if self.owner[lock].is_none() && self.held[thread].iter().all(|&held| held < lock) {
                self.owner[lock] = Some(thread);
                self.held[thread].push(lock);
                return self.emit(thread, Action::Acquire(lock));
            }
        }
        self.access(thread);
    }

    fn access(&mut self, thread: usize) {
        let mut variable = self.one_of(self.shape.variables);
        if let Some(&lock) = self.held[thread].last()
            && self.rng.percent(80)
        {
            // The variables of a lock are those with its number modulo the number of locks.
            let of_lock = self
                .shape
                .variables
                .saturating_sub(lock)
                .div_ceil(self.shape.locks);
            variable = lock + self.shape.locks * self.rng.below(of_lock.max(1));
            variable = variable.min(self.shape.variables - 1);
        }
        if self.rng.percent(65) {
            let value = self.memory[variable];
            self.last_read[thread] = Some(value);
            self.emit(thread, Action::Read { variable, value });
            if self.shape.computing && self.rng.percent(30) {
                let limit = 1 + self.rng.next() % (VALUES - 1);
                self.emit(
                    thread,
                    Action::Branch {
                        limit,
                        taken: value < limit,
                    },
                );
            }
            return;
        }
        let (value, computed) = match self.last_read[thread] {
            Some(last) if self.shape.computing && self.rng.percent(60) => {
                let more = self.rng.next() % VALUES;
                ((last + more) % VALUES, Computed::LastReadPlus(more))
            }
            _ => (self.rng.next() % VALUES, Computed::Constant),
        };
        self.memory[variable] = value;
        self.emit(
            thread,
            Action::Write {
                variable,
                value,
                computed,
            },
        );
    }
}
