//! Random small programs, and a machine that runs them under a random scheduler and records.

use std::collections::{BTreeMap, BTreeSet};

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind};
use raddle_trace::ids::{Address, AllocId, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Ordering, Role};

/// Where the program's variables are: `WORDS` words of eight bytes.
const DATA: u64 = 0x1000;
const WORDS: u64 = 2;
const MUTEXES: u64 = 0x2000;
const SPINS: u64 = 0x3000;
const CONDITION: u64 = 0x4000;
const SEMAPHORE: u64 = 0x5000;
const HEAP: u64 = 0x6000;

/// Random numbers (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Which features programs use.
#[derive(Clone, Copy)]
pub struct Features {
    pub threads: u64,
    /// Steps of a thread, about.
    pub steps: u64,
    pub inlined_locks: bool,
    /// Locks within locks, and little else.
    pub nested_locks: bool,
    /// Condition variable, semaphore, heap object that is freed in the end.
    pub waiting: bool,
    /// Many waits and notifications, posts and takings.
    pub handing: bool,
    /// A heap object that anybody may use and one thread frees, somewhere.
    pub freeing: bool,
    pub relaxed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Read(u64, u8),
    Write(u64, u8),
    RangeWrite(u64, u64),
    Load(u64, Ordering),
    Store(u64, Ordering),
    Add(u64, Ordering),
    Exchange(u64),
    Lock(u64),
    Unlock(u64),
    ReadLock(u64),
    ReadUnlock(u64),
    Spin(u64),
    Unspin(u64),
    Wait,
    Wake,
    Notify,
    Post,
    Take,
    Fork(u32),
    Join(u32),
    Begin,
    End,
    Alloc,
    Free,
    Heap(bool),
}

/// A random program: a list of steps for each thread; the first creates and joins the others.
fn program(random: &mut Random, features: Features) -> Vec<Vec<Step>> {
    let workers = 1 + random.below(features.threads - 1) as u32;
    let mut program = vec![Vec::new()];
    let has_heap = features.waiting && random.chance(30);
    if has_heap || features.freeing {
        program[0].push(Step::Alloc);
    }
    for worker in 1..=workers {
        program[0].push(Step::Fork(worker));
    }
    block(random, features, &mut program[0], features.steps, 0);
    for worker in 1..=workers {
        let mut steps = vec![Step::Begin];
        if has_heap && random.chance(60) {
            steps.push(Step::Heap(random.chance(50)));
        }
        block(random, features, &mut steps, features.steps, 0);
        steps.push(Step::End);
        program.push(steps);
        if random.chance(50) {
            program[0].push(Step::Join(worker));
        }
    }
    if random.chance(40) {
        block(random, features, &mut program[0], 2, 0);
    }
    if has_heap && !features.freeing && random.chance(50) {
        program[0].push(Step::Free);
    }
    if features.freeing {
        let steps = &mut program[random.below(u64::from(workers) + 1) as usize];
        let first = steps.iter().take_while(|step| begins(step)).count();
        let at = first + random.below((steps.len() - first) as u64) as usize;
        steps.insert(at, Step::Free);
    }
    program
}

/// Steps that come before all others of a thread.
fn begins(step: &Step) -> bool {
    matches!(step, Step::Alloc | Step::Fork(_) | Step::Begin)
}

fn block(random: &mut Random, features: Features, into: &mut Vec<Step>, steps: u64, depth: u64) {
    for _ in 0..1 + random.below(steps) {
        let kinds = if depth < 2 { 14 } else { 8 };
        if features.handing && random.chance(60) {
            match random.below(7) {
                0 | 1 => into.extend([Step::Wait, Step::Wake]),
                2..=4 => into.push(Step::Notify),
                5 => into.push(Step::Post),
                _ => into.push(Step::Take),
            }
            continue;
        }
        let kind = match features.nested_locks && depth < 2 && random.chance(60) {
            true => 8,
            false => random.below(kinds),
        };
        match kind {
            0..=6 => into.push(access(random, features)),
            7 if features.waiting => {
                let choices = [Step::Notify, Step::Post, Step::Take];
                into.push(choices[random.below(3) as usize]);
            }
            8..=11 => {
                let lock = random.below(2);
                let (take, give) = match random.below(if features.inlined_locks { 4 } else { 3 }) {
                    0 | 1 => (Step::Lock(lock), Step::Unlock(lock)),
                    2 => (Step::ReadLock(lock), Step::ReadUnlock(lock)),
                    _ => (Step::Spin(lock), Step::Unspin(lock)),
                };
                // Nobody takes what he has.
                if into
                    .iter()
                    .rev()
                    .take(12)
                    .any(|step| same_lock(step, &take))
                {
                    continue;
                }
                into.push(take);
                block(random, features, into, 2, depth + 1);
                if features.waiting && matches!(take, Step::Lock(_)) && random.chance(15) {
                    into.extend([give, Step::Wait, Step::Wake, take]);
                    block(random, features, into, 1, depth + 1);
                }
                into.push(give);
            }
            _ => into.push(access(random, features)),
        }
    }
}

fn same_lock(a: &Step, b: &Step) -> bool {
    let number = |step: &Step| match step {
        Step::Lock(lock) | Step::ReadLock(lock) => Some((false, *lock)),
        Step::Spin(lock) => Some((true, *lock)),
        _ => None,
    };
    number(a).is_some() && number(a) == number(b)
}

fn access(random: &mut Random, features: Features) -> Step {
    let word = DATA + 8 * random.below(WORDS);
    let order = match features.relaxed && random.chance(50) {
        true => Ordering::Relaxed,
        false => Ordering::SeqCst,
    };
    // Atomics have a word of their own most of the time.
    let atomic = DATA + 8 * WORDS.saturating_sub(random.below(2));
    if features.freeing && random.chance(25) {
        return Step::Heap(random.chance(50));
    }
    match random.below(13) {
        0..=3 => Step::Read(word, 4),
        4..=7 => Step::Write(word, 4),
        8 => {
            let size = 1 << random.below(4);
            let offset = random.below(8 / size) * size;
            match random.below(3) {
                0 => Step::Read(word + offset, size as u8),
                1 => Step::Write(word + offset, size as u8),
                _ => Step::RangeWrite(word, 1 + random.below(12)),
            }
        }
        9 => Step::Load(atomic, order),
        10 => Step::Store(atomic, order),
        11 => Step::Exchange(atomic),
        _ => Step::Add(atomic, order),
    }
}

#[derive(Default)]
struct Machine {
    memory: BTreeMap<u64, u8>,
    /// Holders of mutexes: the writer, or the readers.
    writers: BTreeMap<u64, u32>,
    readers: BTreeMap<u64, BTreeSet<u32>>,
    waiting: BTreeSet<u32>,
    notified: BTreeMap<u32, u32>,
    semaphore: u64,
    created: BTreeSet<u32>,
    ended: BTreeSet<u32>,
    is_freed: bool,
    ticks: BTreeMap<u32, Tick>,
    events: Vec<Event>,
}

/// The trace of a random program under a random scheduler.
pub fn run(random: &mut Random, features: Features) -> Vec<Event> {
    let program = program(random, features);
    let mut machine = Machine::default();
    machine.created.insert(0);
    if features.handing {
        machine.semaphore = random.below(3);
    }
    for address in DATA..DATA + 8 * (WORDS + 2) {
        machine.memory.insert(address, 0);
    }
    let mut next = vec![0; program.len()];
    let mut current = 0;
    loop {
        let enabled: Vec<usize> = (0..program.len())
            .filter(|&thread| {
                let step = program[thread].get(next[thread]);
                step.is_some_and(|step| machine.can(thread as u32, step))
            })
            .collect();
        if enabled.is_empty() {
            return machine.events;
        }
        if !enabled.contains(&current) || random.chance(35) {
            current = enabled[random.below(enabled.len() as u64) as usize];
        }
        let site = SiteId(100 * current as u32 + next[current] as u32);
        let step = program[current][next[current]];
        next[current] += 1;
        machine.step(random, current as u32, step, site);
    }
}

impl Machine {
    fn can(&self, thread: u32, step: &Step) -> bool {
        let free_to_read = |lock: &u64| !self.writers.contains_key(lock);
        let unread = |lock: &u64| self.readers.get(lock).is_none_or(BTreeSet::is_empty);
        self.created.contains(&thread)
            && match step {
                Step::Lock(lock) => free_to_read(lock) && unread(lock),
                Step::ReadLock(lock) => free_to_read(lock),
                Step::Spin(lock) => self.read(SPINS + 8 * lock, 4) == 0,
                Step::Wake => self.notified.contains_key(&thread),
                Step::Take => self.semaphore > 0,
                Step::Join(other) => self.ended.contains(other),
                Step::Heap(_) => !self.is_freed,
                _ => true,
            }
    }

    fn read(&self, address: u64, size: u8) -> u64 {
        let bytes = (0..u64::from(size)).map(|i| self.memory.get(&(address + i)).copied());
        bytes
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(byte.unwrap_or(0)))
    }

    fn write(&mut self, address: u64, size: u64, value: u64) {
        for i in 0..size {
            let byte = value.to_le_bytes()[(i % 8) as usize];
            self.memory.insert(address + i, byte);
        }
    }

    fn step(&mut self, random: &mut Random, thread: u32, step: Step, site: SiteId) {
        let plain = |order| Atomicity {
            order,
            role: Role::None,
        };
        let access = |addr, size, value| Access {
            site,
            addr: Address(addr),
            size,
            value,
        };
        let value = random.below(3);
        let kind = match step {
            Step::Read(at, size) => EventKind::Read(access(at, size, self.read(at, size))),
            Step::Write(at, size) => {
                self.write(at, size.into(), value);
                EventKind::Write(access(at, size, value))
            }
            Step::RangeWrite(at, len) => {
                self.write(at, len, value);
                let addr = Address(at);
                EventKind::RangeWrite { site, addr, len }
            }
            Step::Heap(false) => EventKind::Read(access(HEAP, 4, self.read(HEAP, 4))),
            Step::Heap(true) => {
                self.write(HEAP, 4, value);
                EventKind::Write(access(HEAP, 4, value))
            }
            Step::Load(at, order) => {
                EventKind::AtomicLoad(access(at, 4, self.read(at, 4)), plain(order))
            }
            Step::Store(at, order) => {
                self.write(at, 4, value);
                EventKind::AtomicStore(access(at, 4, value), plain(order))
            }
            Step::Add(at, order) => {
                let old = self.read(at, 4);
                self.write(at, 4, old + value);
                EventKind::Rmw {
                    access: access(at, 4, old),
                    atomicity: plain(order),
                    new: old + value,
                }
            }
            Step::Exchange(at) => {
                let old = self.read(at, 4);
                let success = old == value;
                if success {
                    self.write(at, 4, value + 1);
                }
                EventKind::Cas {
                    access: access(at, 4, old),
                    atomicity: plain(Ordering::SeqCst),
                    new: value + 1,
                    success,
                }
            }
            Step::Spin(lock) | Step::Unspin(lock) => {
                let takes = matches!(step, Step::Spin(_));
                let at = SPINS + 8 * lock;
                let old = self.read(at, 4);
                self.write(at, 4, takes.into());
                let (order, role) = match takes {
                    true => (Ordering::Acquire, Role::Lock),
                    false => (Ordering::Release, Role::Unlock),
                };
                EventKind::Rmw {
                    access: access(at, 4, old),
                    atomicity: Atomicity { order, role },
                    new: takes.into(),
                }
            }
            _ => EventKind::Action {
                pc: Address(site.0.into()),
                action: self.act(random, thread, step),
            },
        };
        let tick = self.ticks.entry(thread).or_default();
        let event = Event {
            thread: ThreadId(thread),
            tick: *tick,
            kind,
        };
        *tick = event.next_tick();
        self.events.push(event);
    }

    fn act(&mut self, random: &mut Random, thread: u32, step: Step) -> Action {
        let mutex = |lock: u64| Address(MUTEXES + 64 * lock);
        let (cond, semaphore) = (Address(CONDITION), Address(SEMAPHORE));
        match step {
            Step::Lock(lock) => {
                self.writers.insert(lock, thread);
                Action::Lock {
                    lock: mutex(lock),
                    tried: false,
                }
            }
            Step::Unlock(lock) => {
                self.writers.remove(&lock);
                Action::Unlock { lock: mutex(lock) }
            }
            Step::ReadLock(lock) => {
                self.readers.entry(lock).or_default().insert(thread);
                Action::ReadLock {
                    lock: mutex(lock),
                    tried: false,
                }
            }
            Step::ReadUnlock(lock) => {
                self.readers.entry(lock).or_default().remove(&thread);
                Action::ReadUnlock { lock: mutex(lock) }
            }
            Step::Wait => {
                self.waiting.insert(thread);
                Action::CondWait {
                    cond,
                    mutex: mutex(0),
                }
            }
            Step::Wake => Action::CondWake {
                cond,
                timed_out: false,
                notifier: self.notified.remove(&thread).map(ThreadId),
            },
            Step::Notify => {
                let all = random.chance(30);
                let reach = if all { self.waiting.len() } else { 1 };
                let woken: Vec<u32> = self.waiting.iter().copied().take(reach).collect();
                for waiter in &woken {
                    self.waiting.remove(waiter);
                    self.notified.insert(*waiter, thread);
                }
                Action::CondNotify {
                    cond,
                    woken: woken.len() as u64,
                    all,
                }
            }
            Step::Post => {
                self.semaphore += 1;
                Action::SemPost {
                    semaphore,
                    value: self.semaphore,
                }
            }
            Step::Take => {
                self.semaphore -= 1;
                Action::SemWait {
                    semaphore,
                    value: self.semaphore,
                }
            }
            Step::Fork(child) => {
                self.created.insert(child);
                Action::Fork {
                    child: ThreadId(child),
                }
            }
            Step::Join(other) => Action::Join {
                thread: ThreadId(other),
                errno: 0,
            },
            Step::End => {
                self.ended.insert(thread);
                Action::End
            }
            Step::Alloc | Step::Free => {
                let (addr, size, id) = (Address(HEAP), 16, AllocId(1));
                self.is_freed = matches!(step, Step::Free);
                match self.is_freed {
                    true => Action::Free { addr, size, id },
                    false => Action::Alloc { addr, size, id },
                }
            }
            _ => Action::Begin {
                creator: Some(ThreadId(0)),
                stack_low: Address(0),
                stack_size: 0,
            },
        }
    }
}
