//! Traces as text: `T1: acq(l) w(x)@3 rel(l)`, one line for each run of a thread.
//!
//! Names stand for addresses, in order of appearance; `x+2:1` is one byte, two behind `x`; accesses
//! are of four bytes where nothing else is said. `w(p:8)=x` writes the address of `x`, `r(p:8)=7` reads a
//! number; without it the value is 0. `@3` gives the instruction's number; without it an event has one of
//! its own, from 100.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind};
use raddle_trace::ids::{Address, AllocId, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Mark, Ordering, Role};

#[derive(Default)]
struct Reader {
    names: Vec<String>,
    events: Vec<Event>,
    ticks: BTreeMap<ThreadId, Tick>,
    allocations: u64,
}

/// The events of a text.
pub fn trace(text: &str) -> Vec<Event> {
    let mut reader = Reader::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (thread, operations) = line.split_once(':').expect("a thread, then a colon");
        let thread = thread.trim().parse().expect("a thread");
        for operation in operations.split_whitespace() {
            reader.add(thread, operation);
        }
    }
    reader.events
}

impl Reader {
    fn add(&mut self, thread: ThreadId, operation: &str) {
        let (operation, site) = match operation.split_once('@') {
            Some((operation, site)) => (operation, number(site) as u32),
            None => (operation, 100 + self.events.len() as u32),
        };
        let (operation, value) = operation.split_once('=').unwrap_or((operation, "0"));
        let (name, rest) = operation.split_once('(').unwrap_or((operation, ")"));
        let arguments: Vec<&str> = rest.trim_end_matches(')').split(',').collect();
        let value = match value.parse() {
            Ok(number) => number,
            Err(_) => self.place(value).0.0,
        };
        let kind = match self.access(name, &arguments, SiteId(site), value) {
            Some(kind) => kind,
            None => EventKind::Action {
                pc: Address(site.into()),
                action: self.action(name, &arguments),
            },
        };
        let tick = self.ticks.entry(thread).or_default();
        let event = Event {
            thread,
            tick: *tick,
            kind,
        };
        *tick = event.next_tick();
        self.events.push(event);
    }

    /// Address and size of `name+offset:size`.
    fn place(&mut self, text: &str) -> (Address, u64) {
        let (text, size) = text.split_once(':').unwrap_or((text, "4"));
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        let address = Address(0x1000 + 0x100 * index as u64);
        (address.after(number(offset)), number(size))
    }

    fn access(
        &mut self,
        name: &str,
        arguments: &[&str],
        site: SiteId,
        value: u64,
    ) -> Option<EventKind> {
        let orders = [
            ("x", Ordering::Relaxed),
            ("a", Ordering::Acquire),
            ("r", Ordering::Release),
            ("s", Ordering::SeqCst),
        ];
        if let "call" | "ret" = name {
            let frame = Address(number(arguments[0]));
            let return_address = frame;
            return Some(match name {
                "call" => EventKind::Enter {
                    site,
                    frame,
                    return_address,
                },
                _ => EventKind::Exit { site, frame },
            });
        }
        let argument = |index: usize| arguments.get(index).copied().unwrap_or("s");
        let order = |index: usize| {
            let found = orders.iter().find(|(name, _)| *name == argument(index));
            found.expect("an ordering").1
        };
        if name == "fence" {
            let order = order(0);
            return Some(EventKind::Fence { site, order });
        }
        let is_access = matches!(
            name,
            "r" | "w"
                | "ar"
                | "aw"
                | "rmw"
                | "lock"
                | "refused"
                | "unlock"
                | "rlock"
                | "wlock"
                | "runlock"
                | "wunlock"
                | "downgrade"
                | "rr"
                | "rw"
        );
        if !is_access {
            return None;
        }
        let (addr, size) = self.place(arguments[0]);
        let access = |value| Access {
            site,
            addr,
            size: size as u8,
            value,
        };
        let atomicity = |role| Atomicity {
            order: order(1),
            role,
        };
        Some(match name {
            "r" => EventKind::Read(access(value)),
            "w" => EventKind::Write(access(value)),
            "ar" => EventKind::AtomicLoad(access(value), atomicity(Role::None)),
            "aw" => EventKind::AtomicStore(access(value), atomicity(Role::None)),
            "rmw" => EventKind::Rmw {
                access: access(0),
                atomicity: atomicity(Role::None),
                new: 0,
            },
            "lock" => EventKind::Cas {
                access: access(0),
                atomicity: atomicity(Role::Lock),
                new: 1,
                success: true,
            },
            "refused" => EventKind::Cas {
                access: access(1),
                atomicity: atomicity(Role::Lock),
                new: 1,
                success: false,
            },
            "rlock" | "wlock" => EventKind::Cas {
                access: access(value),
                atomicity: atomicity(match name {
                    "rlock" => Role::ReadLock,
                    _ => Role::WriteLock,
                }),
                new: value + 1,
                success: true,
            },
            "runlock" | "wunlock" => EventKind::Rmw {
                access: access(value),
                atomicity: atomicity(match name {
                    "runlock" => Role::ReadUnlock,
                    _ => Role::WriteUnlock,
                }),
                new: value - 1,
            },
            "downgrade" => EventKind::Rmw {
                access: access(value),
                atomicity: atomicity(Role::Downgrade),
                new: value,
            },
            "unlock" => EventKind::Rmw {
                access: access(1),
                atomicity: atomicity(Role::Unlock),
                new: 0,
            },
            "rr" => EventKind::RangeRead {
                site,
                addr,
                len: size,
            },
            _ => EventKind::RangeWrite {
                site,
                addr,
                len: size,
            },
        })
    }

    fn action(&mut self, name: &str, arguments: &[&str]) -> Action {
        let thread = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
        let count = |index: usize| arguments.get(index).map_or(0, |text| number(text));
        let object = match (arguments[0], thread(0)) {
            ("", _) | (_, Some(_)) => Address(0),
            (name, None) => self.place(name).0,
        };
        match name {
            "fork" => Action::Fork {
                child: thread(0).expect("a thread"),
            },
            "begin" => Action::Begin {
                creator: thread(0),
                stack_low: Address(0),
                stack_size: 0,
            },
            "end" => Action::End,
            "join" => Action::Join {
                thread: thread(0).expect("a thread"),
                errno: 0,
            },
            "acq" => Action::Lock {
                lock: object,
                tried: false,
            },
            "rel" => Action::Unlock { lock: object },
            "racq" => Action::ReadLock {
                lock: object,
                tried: false,
            },
            "rrel" => Action::ReadUnlock { lock: object },
            "wacq" => Action::WriteLock {
                lock: object,
                tried: false,
            },
            "wrel" => Action::WriteUnlock { lock: object },
            "once" => Action::OnceStart { once: object },
            "done" => Action::OnceDone {
                once: object,
                succeeded: true,
            },
            "pass" => Action::OncePass { once: object },
            "try" => Action::Request {
                lock: object,
                wants: Mark::Lock,
                tried: true,
            },
            "tryacq" => Action::Lock {
                lock: object,
                tried: true,
            },
            "ask" => Action::Request {
                lock: object,
                wants: Mark::Lock,
                tried: false,
            },
            "askjoin" => Action::Request {
                lock: Address(thread(0).map_or(0, |ThreadId(id)| id.into())),
                wants: Mark::Join,
                tried: false,
            },
            "wait" => Action::CondWait {
                cond: object,
                mutex: self.place(arguments[1]).0,
            },
            "wake" => Action::CondWake {
                cond: object,
                timed_out: false,
                notifier: thread(1),
            },
            "notify" => Action::CondNotify {
                cond: object,
                woken: 1,
                all: false,
            },
            "notifyall" => Action::CondNotify {
                cond: object,
                woken: count(1),
                all: true,
            },
            "fwait" => Action::FutexWait {
                futex: object,
                expected: count(1),
            },
            "fwake" => Action::FutexWake {
                futex: object,
                errno: 0,
                waker: thread(1),
            },
            "fnotify" => Action::FutexNotify {
                futex: object,
                woken: arguments.get(1).map_or(1, |text| number(text)),
                most: 1,
            },
            "post" => Action::SemPost {
                semaphore: object,
                value: count(1),
            },
            "take" => Action::SemWait {
                semaphore: object,
                value: count(1),
            },
            "arrive" => Action::BarrierArrive {
                barrier: object,
                round: count(1),
                count: 2,
            },
            "leave" => Action::BarrierLeave {
                barrier: object,
                round: count(1),
            },
            "alloc" => {
                self.allocations += 1;
                Action::Alloc {
                    addr: object,
                    size: count(1),
                    id: AllocId(self.allocations),
                }
            }
            "free" => Action::Free {
                addr: object,
                size: count(1),
                id: AllocId(0),
            },
            _ => panic!("unknown operation {name}"),
        }
    }
}

fn number(text: &str) -> u64 {
    let parsed = text.parse();
    parsed.unwrap_or_else(|_| panic!("expected a number, found {text}"))
}
