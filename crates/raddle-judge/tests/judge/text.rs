//! Traces as text: `T1: acq(l) w(x,1) rel(l)`, one line for each run of a thread.
//!
//! Names stand for addresses, given out in order of appearance; `x+2:1` is one byte, two behind `x`;
//! accesses are of four bytes where nothing else is said.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Access, Atomicity, Event, EventKind};
use raddle_trace::ids::{Address, AllocId, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::wire::{Mark, Ordering, Role};

/// Distance of two names' addresses.
const STRIDE: u64 = 0x100;

#[derive(Default)]
struct Builder {
    names: Vec<String>,
    events: Vec<Event>,
    ticks: Vec<Tick>,
    allocations: u64,
    /// Serial numbers, by address.
    live: BTreeMap<u64, AllocId>,
    /// Values of semaphores, by address.
    semaphores: BTreeMap<u64, u64>,
}

/// The events of a text.
pub fn trace(text: &str) -> Vec<Event> {
    let mut builder = Builder::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (thread, operations) = line.split_once(':').expect("a thread, then a colon");
        let thread = self::thread(thread.trim());
        for operation in operations.split_whitespace() {
            builder.add(thread, operation);
        }
    }
    builder.events
}

/// The indices of an order: `0-2 5 4`.
pub fn order(text: &str) -> Vec<EventIndex> {
    let number = |text: &str| text.parse::<u64>().expect("an event's number");
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => number(part)..=number(part),
    };
    text.split_whitespace()
        .flat_map(range)
        .map(EventIndex)
        .collect()
}

pub fn thread(text: &str) -> ThreadId {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

impl Builder {
    fn add(&mut self, thread: ThreadId, operation: &str) {
        let (name, rest) = operation.split_once('(').unwrap_or((operation, ")"));
        let arguments: Vec<&str> = rest.trim_end_matches(')').split(',').collect();
        let kind = self.kind(name, &arguments);
        let index = thread.0 as usize;
        if self.ticks.len() <= index {
            self.ticks.resize(index + 1, Tick(0));
        }
        let tick = self.ticks[index];
        let event = Event { thread, tick, kind };
        self.ticks[index] = event.next_tick();
        self.events.push(event);
    }

    fn address(&mut self, name: &str) -> Address {
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Address(0x1000 + STRIDE * index as u64)
    }

    /// Address and size of `name+offset:size`.
    fn place(&mut self, text: &str) -> (Address, u64) {
        let (text, size) = text.split_once(':').unwrap_or((text, "4"));
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        let address = self.address(name);
        (address.after(number(offset)), number(size))
    }

    fn access(&mut self, place: &str, value: &str) -> Access {
        let (addr, size) = self.place(place);
        Access {
            site: SiteId(1),
            addr,
            size: size as u8,
            value: number(value),
        }
    }

    fn kind(&mut self, name: &str, arguments: &[&str]) -> EventKind {
        let argument = |index: usize| arguments.get(index).copied().unwrap_or("0");
        let atomicity = |role| Atomicity {
            order: Ordering::SeqCst,
            role,
        };
        let site = SiteId(1);
        let plain = atomicity(Role::None);
        match name {
            "r" => EventKind::Read(self.access(argument(0), argument(1))),
            "w" => EventKind::Write(self.access(argument(0), argument(1))),
            "ar" => EventKind::AtomicLoad(self.access(argument(0), argument(1)), plain),
            "aw" => EventKind::AtomicStore(self.access(argument(0), argument(1)), plain),
            "rmw" => EventKind::Rmw {
                access: self.access(argument(0), argument(1)),
                atomicity: plain,
                new: number(argument(2)),
            },
            "cas" | "casfail" => EventKind::Cas {
                access: self.access(argument(0), argument(1)),
                atomicity: plain,
                new: number(argument(2)),
                success: name == "cas",
            },
            "lock" => EventKind::Cas {
                access: self.access(argument(0), "0"),
                atomicity: atomicity(Role::Lock),
                new: 1,
                success: true,
            },
            "unlock" | "downgrade" => EventKind::Rmw {
                access: self.access(argument(0), "1"),
                atomicity: atomicity(match name {
                    "unlock" => Role::Unlock,
                    _ => Role::Downgrade,
                }),
                new: u64::from(name == "downgrade"),
            },
            "rr" | "rw" => {
                let (addr, len) = self.place(argument(0));
                match name {
                    "rr" => EventKind::RangeRead { site, addr, len },
                    _ => EventKind::RangeWrite { site, addr, len },
                }
            }
            "value" => EventKind::Value {
                site,
                addr: Address(0),
                value: number(argument(0)),
            },
            "enter" => EventKind::Enter {
                site,
                frame: self.address(argument(0)),
                return_address: Address(0),
            },
            "exit" => EventKind::Exit {
                site,
                frame: self.address(argument(0)),
            },
            _ => EventKind::Action {
                pc: Address(0),
                action: self.action(name, arguments),
            },
        }
    }

    fn action(&mut self, name: &str, arguments: &[&str]) -> Action {
        let argument = |index: usize| arguments.get(index).copied().unwrap_or("0");
        let object = match argument(0).parse::<ThreadId>() {
            Ok(_) => Address(0),
            Err(_) if arguments[0].is_empty() => Address(0),
            Err(_) => self.place(argument(0)).0,
        };
        let by = || argument(1).parse().ok();
        match name {
            "fork" => Action::Fork {
                child: thread(argument(0)),
            },
            "begin" => Action::Begin {
                creator: argument(0).parse().ok(),
                stack_low: Address(0),
                stack_size: 0,
            },
            "end" => Action::End,
            "join" => Action::Join {
                thread: thread(argument(0)),
                errno: 0,
            },
            "reqjoin" => Action::Request {
                lock: Address(thread(argument(0)).0.into()),
                wants: Mark::Join,
                tried: false,
            },
            "acq" | "try" => Action::Lock {
                lock: object,
                tried: name == "try",
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
            "req" | "busy" => Action::Request {
                lock: object,
                wants: Mark::Lock,
                tried: name == "busy",
            },
            "reqread" => Action::Request {
                lock: object,
                wants: Mark::ReadLock,
                tried: false,
            },
            "reqsem" => Action::Request {
                lock: object,
                wants: Mark::SemWait,
                tried: true,
            },
            "wait" => Action::CondWait {
                cond: object,
                mutex: self.address(argument(1)),
            },
            "wake" | "timeout" => Action::CondWake {
                cond: object,
                timed_out: name == "timeout",
                notifier: by(),
            },
            "notify" | "notifyall" => Action::CondNotify {
                cond: object,
                woken: number(argument(1)),
                all: name == "notifyall",
            },
            "fwait" => Action::FutexWait {
                futex: object,
                expected: number(argument(1)),
            },
            "fwake" | "frefused" | "ftimeout" => Action::FutexWake {
                futex: object,
                errno: match name {
                    "fwake" => 0,
                    "frefused" => 11,
                    _ => 110,
                },
                waker: by(),
            },
            "fnotify" => Action::FutexNotify {
                futex: object,
                woken: number(argument(1)),
                most: arguments.get(2).map_or(1, |most| number(most)),
            },
            "post" => Action::SemPost {
                semaphore: object,
                value: self.semaphore(object, arguments, |value| value + 1),
            },
            "take" => Action::SemWait {
                semaphore: object,
                value: self.semaphore(object, arguments, |value| value - 1),
            },
            "arrive" => Action::BarrierArrive {
                barrier: object,
                round: number(argument(1)),
                count: 2,
            },
            "leave" => Action::BarrierLeave {
                barrier: object,
                round: number(argument(1)),
            },
            "start" => Action::OnceStart { once: object },
            "done" | "giveup" => Action::OnceDone {
                once: object,
                succeeded: name == "done",
            },
            "pass" => Action::OncePass { once: object },
            "alloc" => {
                self.allocations += 1;
                let id = AllocId(self.allocations);
                self.live.insert(object.0, id);
                Action::Alloc {
                    addr: object,
                    size: number(argument(1)),
                    id,
                }
            }
            "free" => Action::Free {
                addr: object,
                size: 0,
                id: self.live.remove(&object.0).unwrap_or_default(),
            },
            "destroy" => Action::Destroy { object },
            "input" => Action::Input {
                buffer: object,
                len: self.place(argument(0)).1,
                descriptor: 0,
            },
            "from" | "to" => {
                let (addr, len) = self.place(argument(0));
                match name {
                    "from" => Action::CopyFrom { addr, len },
                    _ => Action::CopyTo { addr, len },
                }
            }
            "yield" => Action::Yield,
            _ => panic!("unknown operation {name}"),
        }
    }
}

impl Builder {
    /// The value of a semaphore after an operation: the second argument, or what follows from before.
    fn semaphore(
        &mut self,
        object: Address,
        arguments: &[&str],
        change: impl Fn(u64) -> u64,
    ) -> u64 {
        let value = self.semaphores.entry(object.0).or_default();
        *value = match arguments.get(1) {
            Some(given) => number(given),
            None => change(*value),
        };
        *value
    }
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("expected a number, found {text}"))
}
