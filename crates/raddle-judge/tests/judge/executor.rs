//! Tiny random programs, and a machine that runs them: the judge accepts exactly the orders that the
//! machine can run.
//!
//! The machine knows nothing of the judge. It runs a program once, under a random schedule, for a
//! trace. Then every order of the trace's events that keeps program order is tried on it, one more
//! event at a time: the event can come next if the machine, in some state that the order may have led
//! to, does just that. States differ by whom a notification has reached.

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind};
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Mark, Ordering, Role};

const PROGRAMS: u64 = 2500;
/// Orders tried of one program, at most.
const MOST_ORDERS: usize = 250;
/// Events of a trace, at most.
const MOST_EVENTS: usize = 16;
const VARIABLES: u64 = 2;
const BARRIER_COUNT: usize = 2;

/// A statement. Each thread has one register.
#[derive(Clone, Debug)]
enum Statement {
    Read(u64),
    AtomicRead(u64),
    Write(u64, u64),
    /// Writes the register plus one.
    WriteNext(u64),
    Add(u64),
    /// Compares with the first number, stores the second, and leaves what was there.
    Exchange(u64, u64, u64),
    /// If the register is this number.
    If(u64, Vec<Statement>),
    Lock(u64),
    Unlock(u64),
    /// What to do with the lock, if it is got.
    TryLock(u64, Vec<Statement>),
    ReadLock,
    ReadUnlock,
    WriteLock,
    WriteUnlock,
    Post,
    Take,
    /// With this mutex.
    Wait(u64),
    Notify,
    Once(Vec<Statement>),
    Barrier,
    Fork(usize),
    Join(usize),
    End,
    // Parts of the above.
    StartWait(u64),
    Awake,
    Busy,
    Done,
    Leave(u64),
}

use Statement as S;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Status {
    /// Not created.
    Unborn,
    Alive,
    Ended,
}

#[derive(Clone, Debug)]
struct Thread {
    status: Status,
    /// What is left to do, last first.
    left: Vec<Statement>,
    register: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fresh,
    Running,
    Done,
}

#[derive(Clone, Debug)]
struct Machine {
    threads: Vec<Thread>,
    memory: Vec<u64>,
    /// Owner of each mutex.
    mutexes: [Option<usize>; 2],
    readers: Vec<usize>,
    writer: Option<usize>,
    semaphore: u64,
    /// Waiters of the condition, and whether a notification has reached them.
    waiting: Vec<(usize, bool)>,
    stage: Stage,
    arrived: usize,
    round: u64,
}

/// Where objects lie.
const fn variable(number: u64) -> Address {
    Address(0x100 * (number + 1))
}
const fn mutex(number: u64) -> Address {
    Address(0x1000 + 0x100 * number)
}
const RWLOCK: Address = Address(0x2000);
const SEMAPHORE: Address = Address(0x3000);
const CONDITION: Address = Address(0x4000);
const ONCE: Address = Address(0x5000);
const BARRIER: Address = Address(0x6000);

impl Machine {
    fn new(program: &[Vec<Statement>]) -> Machine {
        let thread = |(index, code): (usize, &Vec<Statement>)| Thread {
            status: if index == 0 {
                Status::Alive
            } else {
                Status::Unborn
            },
            left: code.iter().rev().cloned().collect(),
            register: 0,
        };
        Machine {
            threads: program.iter().enumerate().map(thread).collect(),
            memory: vec![0; VARIABLES as usize],
            mutexes: [None; 2],
            readers: Vec::new(),
            writer: None,
            semaphore: 0,
            waiting: Vec::new(),
            stage: Stage::Fresh,
            arrived: 0,
            round: 0,
        }
    }

    /// What a thread may do next, and where that leads; nothing if it is blocked.
    fn successors(&self, me: usize) -> Vec<(EventKind, Machine)> {
        if self.threads[me].status != Status::Alive {
            return Vec::new();
        }
        let mut next = self.clone();
        loop {
            let Some(statement) = next.threads[me].left.pop() else {
                return Vec::new();
            };
            let S::If(number, body) = statement else {
                return next.execute(me, statement);
            };
            if next.threads[me].register == number {
                next.threads[me].left.extend(body.into_iter().rev());
            }
        }
    }

    fn execute(mut self, me: usize, statement: Statement) -> Vec<(EventKind, Machine)> {
        let register = self.threads[me].register;
        let kind = match statement {
            S::Read(x) | S::AtomicRead(x) => {
                let value = self.memory[x as usize];
                self.threads[me].register = value;
                match statement {
                    S::Read(_) => EventKind::Read(access(x, value)),
                    _ => EventKind::AtomicLoad(access(x, value), PLAIN),
                }
            }
            S::Write(x, value) => {
                self.memory[x as usize] = value;
                EventKind::Write(access(x, value))
            }
            S::WriteNext(x) => {
                self.memory[x as usize] = register + 1;
                EventKind::Write(access(x, register + 1))
            }
            S::Add(x) => {
                let old = self.memory[x as usize];
                self.memory[x as usize] = old + 1;
                EventKind::Rmw {
                    access: access(x, old),
                    atomicity: PLAIN,
                    new: old + 1,
                }
            }
            S::Exchange(x, expected, new) => {
                let old = self.memory[x as usize];
                let success = old == expected;
                if success {
                    self.memory[x as usize] = new;
                }
                self.threads[me].register = old;
                EventKind::Cas {
                    access: access(x, old),
                    atomicity: PLAIN,
                    new,
                    success,
                }
            }
            S::If(..) => unreachable!("conditions are no events"),
            S::Lock(l) => {
                if self.mutexes[l as usize].is_some() {
                    return Vec::new();
                }
                self.mutexes[l as usize] = Some(me);
                action(Action::Lock {
                    lock: mutex(l),
                    tried: false,
                })
            }
            S::TryLock(l, body) => match self.mutexes[l as usize] {
                None => {
                    self.mutexes[l as usize] = Some(me);
                    self.threads[me].left.extend(body.into_iter().rev());
                    action(Action::Lock {
                        lock: mutex(l),
                        tried: true,
                    })
                }
                Some(_) => {
                    self.threads[me].left.push(S::Busy);
                    action(Action::Request {
                        lock: mutex(l),
                        wants: Mark::Lock,
                        tried: true,
                    })
                }
            },
            S::Busy => EventKind::Value {
                site: SiteId(1),
                addr: Address(0),
                value: 16,
            },
            S::Unlock(l) => {
                self.mutexes[l as usize] = None;
                action(Action::Unlock { lock: mutex(l) })
            }
            S::ReadLock => {
                if self.writer.is_some() {
                    return Vec::new();
                }
                self.readers.push(me);
                action(Action::ReadLock {
                    lock: RWLOCK,
                    tried: false,
                })
            }
            S::ReadUnlock => {
                self.readers.retain(|&reader| reader != me);
                action(Action::ReadUnlock { lock: RWLOCK })
            }
            S::WriteLock => {
                if self.writer.is_some() || !self.readers.is_empty() {
                    return Vec::new();
                }
                self.writer = Some(me);
                action(Action::WriteLock {
                    lock: RWLOCK,
                    tried: false,
                })
            }
            S::WriteUnlock => {
                self.writer = None;
                action(Action::WriteUnlock { lock: RWLOCK })
            }
            S::Post => {
                self.semaphore += 1;
                action(Action::SemPost {
                    semaphore: SEMAPHORE,
                    value: self.semaphore,
                })
            }
            S::Take => {
                if self.semaphore == 0 {
                    return Vec::new();
                }
                self.semaphore -= 1;
                action(Action::SemWait {
                    semaphore: SEMAPHORE,
                    value: self.semaphore,
                })
            }
            S::Wait(l) => {
                let rest = [S::Lock(l), S::Awake, S::StartWait(l)];
                self.threads[me].left.extend(rest);
                self.mutexes[l as usize] = None;
                action(Action::Unlock { lock: mutex(l) })
            }
            S::StartWait(l) => {
                self.waiting.push((me, false));
                action(Action::CondWait {
                    cond: CONDITION,
                    mutex: mutex(l),
                })
            }
            S::Awake => {
                if !self.waiting.contains(&(me, true)) {
                    return Vec::new();
                }
                self.waiting.retain(|&(waiter, _)| waiter != me);
                action(Action::CondWake {
                    cond: CONDITION,
                    timed_out: false,
                    notifier: Some(ThreadId(0)),
                })
            }
            S::Notify => return self.notify(),
            S::Once(body) => match self.stage {
                Stage::Fresh => {
                    self.stage = Stage::Running;
                    self.threads[me].left.push(S::Done);
                    self.threads[me].left.extend(body.into_iter().rev());
                    action(Action::OnceStart { once: ONCE })
                }
                Stage::Running => return Vec::new(),
                Stage::Done => action(Action::OncePass { once: ONCE }),
            },
            S::Done => {
                self.stage = Stage::Done;
                action(Action::OnceDone {
                    once: ONCE,
                    succeeded: true,
                })
            }
            S::Barrier => {
                let round = self.round;
                self.arrived += 1;
                if self.arrived == BARRIER_COUNT {
                    (self.arrived, self.round) = (0, round + 1);
                }
                self.threads[me].left.push(S::Leave(round));
                action(Action::BarrierArrive {
                    barrier: BARRIER,
                    round,
                    count: BARRIER_COUNT as u64,
                })
            }
            S::Leave(round) => {
                if self.round == round {
                    return Vec::new();
                }
                action(Action::BarrierLeave {
                    barrier: BARRIER,
                    round,
                })
            }
            S::Fork(child) => {
                self.threads[child].status = Status::Alive;
                action(Action::Fork {
                    child: ThreadId(child as u32),
                })
            }
            S::Join(child) => {
                if self.threads[child].status != Status::Ended {
                    return Vec::new();
                }
                action(Action::Join {
                    thread: ThreadId(child as u32),
                    errno: 0,
                })
            }
            S::End => {
                self.threads[me].status = Status::Ended;
                action(Action::End)
            }
        };
        vec![(kind, self)]
    }

    /// A notification reaches any one of those who wait.
    fn notify(self) -> Vec<(EventKind, Machine)> {
        let kind = |woken| {
            action(Action::CondNotify {
                cond: CONDITION,
                woken,
                all: false,
            })
        };
        let asleep = (0..self.waiting.len()).filter(|&index| !self.waiting[index].1);
        let reached: Vec<_> = asleep
            .map(|index| {
                let mut next = self.clone();
                next.waiting[index].1 = true;
                (kind(1), next)
            })
            .collect();
        match reached.is_empty() {
            true => vec![(kind(0), self)],
            false => reached,
        }
    }
}

const PLAIN: Atomicity = Atomicity {
    order: Ordering::SeqCst,
    role: Role::None,
};

fn access(x: u64, value: u64) -> Access {
    Access {
        site: SiteId(1),
        addr: variable(x),
        size: 4,
        value,
    }
}

fn action(action: Action) -> EventKind {
    EventKind::Action {
        pc: Address(0),
        action,
    }
}

/// Whether the machine did what the trace shows. How many a notification woke, and how many a
/// semaphore has left, the program cannot see.
fn is_same(recorded: &EventKind, done: &EventKind) -> bool {
    let plain = |kind: &EventKind| match *kind {
        EventKind::Action {
            action: Action::CondNotify { cond, .. },
            ..
        } => action(Action::CondNotify {
            cond,
            woken: 0,
            all: false,
        }),
        EventKind::Action {
            action: Action::SemPost { semaphore, .. },
            ..
        } => action(Action::SemPost {
            semaphore,
            value: 0,
        }),
        EventKind::Action {
            action: Action::SemWait { semaphore, .. },
            ..
        } => action(Action::SemWait {
            semaphore,
            value: 0,
        }),
        kind => kind,
    };
    plain(recorded) == plain(done)
}

/// Whether both load or update the same place; what they find may differ.
fn is_same_load(recorded: &EventKind, done: &EventKind) -> bool {
    match (recorded, done) {
        (EventKind::Read(left), EventKind::Read(right))
        | (EventKind::AtomicLoad(left, _), EventKind::AtomicLoad(right, _))
        | (EventKind::Rmw { access: left, .. }, EventKind::Rmw { access: right, .. }) => {
            left.addr == right.addr
        }
        _ => false,
    }
}

/// No program computes it.
const UNKNOWN: u64 = 0x4000_0000;

/// What an update that finds another value writes is nothing that others may rely on.
fn forget_update(update: &EventKind, machine: &mut Machine) {
    if let EventKind::Rmw { access, .. } = update {
        let is_there = |x: &u64| variable(*x) == access.addr;
        let written = (0..VARIABLES).find(is_there);
        machine.memory[written.expect("a variable") as usize] = UNKNOWN;
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// What a program is about, besides memory.
#[derive(Clone, Copy)]
enum Theme {
    Mutexes,
    ReadWriteLocks,
    Semaphores,
    Conditions,
    Onces,
    Barriers,
    Atomics,
}

const THEMES: [Theme; 7] = [
    Theme::Mutexes,
    Theme::ReadWriteLocks,
    Theme::Semaphores,
    Theme::Conditions,
    Theme::Onces,
    Theme::Barriers,
    Theme::Atomics,
];

fn memory_statement(random: &mut Random) -> Statement {
    let x = random.below(VARIABLES);
    match random.below(5) {
        0 | 1 => S::Read(x),
        2 => S::Write(x, random.below(2)),
        3 => S::WriteNext(x),
        _ => {
            let body = vec![S::Write(x, random.below(2))];
            S::If(random.below(2), body)
        }
    }
}

fn themed(random: &mut Random, theme: Theme, out: &mut Vec<Statement>) {
    let inner = memory_statement(random);
    let x = random.below(VARIABLES);
    match theme {
        Theme::Mutexes => {
            let l = random.below(2);
            match random.below(3) {
                0 => out.push(S::TryLock(l, vec![inner, S::Unlock(l)])),
                1 if l == 0 => {
                    out.extend([S::Lock(0), S::Lock(1), inner, S::Unlock(1), S::Unlock(0)])
                }
                _ => out.extend([S::Lock(l), inner, S::Unlock(l)]),
            }
        }
        Theme::ReadWriteLocks => match random.below(2) {
            0 => out.extend([S::ReadLock, inner, S::ReadUnlock]),
            _ => out.extend([S::WriteLock, inner, S::WriteUnlock]),
        },
        Theme::Semaphores => match random.below(2) {
            0 => out.extend([inner, S::Post]),
            _ => out.extend([S::Take, inner]),
        },
        Theme::Conditions => match random.below(3) {
            0 => out.extend([S::Lock(0), S::Wait(0), S::Unlock(0)]),
            1 => out.extend([S::Lock(0), inner, S::Notify, S::Unlock(0)]),
            _ => out.extend([S::Notify, inner]),
        },
        Theme::Onces => out.push(S::Once(vec![inner])),
        Theme::Barriers => out.extend([inner, S::Barrier]),
        Theme::Atomics => out.push(match random.below(3) {
            0 => S::Add(x),
            1 => S::Exchange(x, random.below(2), random.below(3)),
            _ => S::AtomicRead(x),
        }),
    }
}

/// A first thread that reads every variable, so that the trace shows their first values, then
/// creates and perhaps joins the others.
fn program(random: &mut Random) -> Vec<Vec<Statement>> {
    let theme = THEMES[random.below(THEMES.len() as u64) as usize];
    let workers = match theme {
        Theme::Barriers => 2,
        _ => 2 + random.below(2) as usize,
    };
    let mut first: Vec<Statement> = (0..VARIABLES).map(S::Read).collect();
    first.extend((1..=workers).map(S::Fork));
    let joins = random.below(3) == 0;
    let mut threads = vec![first];
    for _ in 0..workers {
        let mut code = Vec::new();
        for _ in 0..=random.below(2) {
            match random.below(3) {
                0 => code.push(memory_statement(random)),
                _ => themed(random, theme, &mut code),
            }
        }
        if joins {
            code.push(S::End);
        }
        threads.push(code);
    }
    if joins {
        threads[0].push(S::Join(1 + random.below(workers as u64) as usize));
        threads[0].push(memory_statement(random));
    }
    threads
}

/// One run under a random schedule.
fn record(random: &mut Random, program: &[Vec<Statement>]) -> Vec<Event> {
    let mut machine = Machine::new(program);
    let mut ticks = vec![Tick(0); program.len()];
    let mut events = Vec::new();
    while events.len() < MOST_EVENTS {
        let mut choices = Vec::new();
        for thread in 0..program.len() {
            let successors = machine.successors(thread);
            choices.extend(successors.into_iter().map(|next| (thread, next)));
        }
        if choices.is_empty() {
            break;
        }
        let chosen = random.below(choices.len() as u64) as usize;
        let (thread, (kind, next)) = choices.swap_remove(chosen);
        let event = Event {
            thread: ThreadId(thread as u32),
            tick: ticks[thread],
            kind,
        };
        ticks[thread] = event.next_tick();
        events.push(event);
        machine = next;
    }
    // A request that ends its thread was not answered within the trace, so it may yet be granted;
    // the machine's are refusals.
    let is_request = |event: &Event| {
        matches!(
            event.kind,
            EventKind::Action {
                action: Action::Request { .. },
                ..
            }
        )
    };
    let is_last = |event: &Event| event.next_tick() == ticks[event.thread.0 as usize];
    events.retain(|event| !(is_request(event) && is_last(event)));
    events
}

/// Tries orders of one program's trace.
struct Trial<'t> {
    judge: Judge<'t, 't>,
    events: &'t [Event],
    /// By thread: its events.
    lines: Vec<Vec<usize>>,
    orders: usize,
    accepted: usize,
    refused: usize,
    random: Random,
    description: String,
}

/// An order's end.
#[derive(Clone)]
struct Reached {
    order: Vec<EventIndex>,
    /// States that it may have led to.
    states: Vec<Machine>,
    executed: Vec<usize>,
    /// Threads whose last load found another value: what they do next is not in the trace.
    astray: Vec<bool>,
}

impl Trial<'_> {
    fn explore(&mut self, reached: &Reached) {
        let threads = self.lines.len();
        let first = self.random.below(threads as u64) as usize;
        for thread in (first..threads).chain(0..first) {
            if self.orders >= MOST_ORDERS {
                return;
            }
            let Some(&at) = self.lines[thread].get(reached.executed[thread]) else {
                continue;
            };
            if reached.astray[thread] {
                self.expect(reached, at, None);
                continue;
            }
            let recorded = &self.events[at].kind;
            let successors: Vec<_> = reached
                .states
                .iter()
                .flat_map(|state| state.successors(thread))
                .collect();
            let into = |fits: fn(&EventKind, &EventKind) -> bool| {
                let fitting = successors.iter().filter(|(done, _)| fits(recorded, done));
                fitting.map(|(_, next)| next.clone()).collect::<Vec<_>>()
            };
            let (same, load) = (into(is_same), into(is_same_load));
            let astray = same.is_empty() && !load.is_empty();
            let mut states = if astray { load } else { same };
            if astray {
                let update = |state| forget_update(recorded, state);
                states.iter_mut().for_each(update);
            }
            let next = (!states.is_empty()).then(|| {
                let mut next = reached.clone();
                next.order.push(EventIndex(at as u64));
                next.executed[thread] += 1;
                next.astray[thread] = astray;
                next.states = states;
                next
            });
            self.expect(reached, at, next.as_ref());
            if let Some(next) = next {
                self.explore(&next);
            }
        }
    }

    /// The judge should say of the longer order what the machine did.
    fn expect(&mut self, reached: &Reached, at: usize, next: Option<&Reached>) {
        let mut order = reached.order.clone();
        order.push(EventIndex(at as u64));
        let witness = Witness {
            order,
            listing: Listing::Every,
            rule: ReadRule::SameValue,
            claim: Claim::Feasible,
        };
        self.orders += 1;
        let verdict = self.judge.judge(&witness);
        match (&verdict, next) {
            (Ok(_), Some(_)) => self.accepted += 1,
            (Err(_), None) => self.refused += 1,
            _ => panic!(
                "the machine says {}, the judge {verdict:?}\norder {:?}\n{}",
                next.is_some(),
                witness
                    .order
                    .iter()
                    .map(|index| index.0)
                    .collect::<Vec<_>>(),
                self.description
            ),
        }
    }
}

#[test]
fn the_judge_accepts_exactly_what_the_machine_can_do() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 1..=PROGRAMS {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let program = program(&mut random);
        let events = record(&mut random, &program);
        let recording = Recording::new(&events, None, None).expect("a trace");
        assert_eq!(recording.unexplained(), [], "seed {seed}");
        assert_eq!(recording.unseen(), [], "seed {seed}");
        let mut lines = vec![Vec::new(); program.len()];
        for (at, event) in events.iter().enumerate() {
            lines[event.thread.0 as usize].push(at);
        }
        let show = |(at, event): (usize, &Event)| format!("{at} {} {}\n", event.thread, event.kind);
        let mut trial = Trial {
            judge: Judge::new(&recording),
            events: &events,
            lines,
            orders: 0,
            accepted: 0,
            refused: 0,
            random,
            description: format!(
                "seed {seed}\n{}",
                events.iter().enumerate().map(show).collect::<String>()
            ),
        };
        trial.explore(&Reached {
            order: Vec::new(),
            states: vec![Machine::new(&program)],
            executed: vec![0; program.len()],
            astray: vec![false; program.len()],
        });
        accepted += trial.accepted;
        refused += trial.refused;
    }
    // Both answers were common, or the test has tested nothing.
    assert!(
        accepted > 200_000 && refused > 50_000,
        "{accepted} accepted, {refused} refused"
    );
}
